"""--report: one page that shows what was measured, in Debian's Chromium; names of others stay text; the file is there whole or
not at all."""
import json
import os
import re
import subprocess
import unittest
from pathlib import Path

import support
from browser import Browser

COMPARE = ("compare", "--sessions", "2", "--seconds", "1", "--rounds", "1", "--designs", "one_row,counter")
SHORT = (*COMPARE[:-1], "counter")
ADVISE = ("advise", "--sessions", "2", "--seconds", "1", "--rounds", "1")
HOSTILE = "</script><img src=x onerror=alert(1)>"
PLOTS = "Array.from(document.querySelectorAll('svg[role=img]'), (plot) => plot.getAttribute('aria-label'))"
PICTURES = os.environ.get("SPLITCOUNT_TEST_PICTURES")  # a folder that keeps what was seen, for people


def setUpModule():
    Seen.browser = unittest.enterModuleContext(Browser())


class Seen(support.Case):
    browser = None  # one for all

    def open(self, page, width=1280, height=900, **how):
        """Nothing is fetched and nothing complained of, and only boxes of their own scroll sideways."""
        self.browser.open(page, width, height, **how)
        self.assertEqual(self.browser.requests(), [page.as_uri()])
        self.assertEqual(self.browser.complaints(), [])
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
        if PICTURES:
            words = [self.id().rpartition(".")[2], width, *(f"{key}_{value}" for key, value in how.items())]
            Path(PICTURES, "-".join(map(str, words)) + ".png").write_bytes(self.browser.picture())

    def raw(self):
        return json.loads(self.browser.evaluate("document.getElementById('raw').textContent"))

    def assert_nothing_from_elsewhere(self, page):
        text = page.read_text().replace("http://www.w3.org/2000/svg", "")  # a name of SVG's and no address
        self.assertNotRegex(text, r"https?:|//[a-z]+\.|url\(|@import|<link|<iframe|\bfetch\(|XMLHttpRequest|innerHTML")
        self.assertIn("default-src 'none'", text)


    def assert_no_text_of_a_plot_is_cut(self):
        cut = self.browser.evaluate("""Array.from(document.querySelectorAll('svg[role=img] text')).filter((text) => {
            const one = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
            return one.left < all.left - 1 || one.right > all.right + 1 || one.bottom > all.bottom + 1;
        }).map((text) => text.textContent)""")
        self.assertEqual(cut, [])

    def assert_contrast(self):
        """4.5 to 1 between each text and its card, as WCAG AA asks for; worked out from what the browser computed."""
        pairs = self.browser.evaluate("""Array.from(document.querySelectorAll('h1, h2, p, dt, dd, td, th, summary, pre'), (node) => {
            let behind = node;
            while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
            return [getComputedStyle(node).color, getComputedStyle(behind).backgroundColor, node.textContent.slice(0, 30)];
        })""")
        self.assertGreater(len(pairs), 20)
        for text, behind, words in pairs:
            lighter, darker = sorted((luminance(text), luminance(behind)), reverse=True)
            self.assertGreaterEqual((lighter + 0.05) / (darker + 0.05), 4.5, (words, text, behind))

    def assert_good_everywhere(self, page, titles):
        """At a desktop, on a phone, in the dark and on paper: the plots are there, no text of them is cut, and nothing comes from
        elsewhere. The texts that stand for the plots."""
        self.assert_nothing_from_elsewhere(page)
        for how in ({}, {"width": 360, "height": 800}, {"width": 360, "height": 800, "dark": True}):
            self.open(page, **how)
            plots = self.browser.evaluate(PLOTS)
            self.assertEqual([plot.split(".")[0] for plot in plots], titles)
            self.assertGreaterEqual(self.browser.evaluate("document.querySelectorAll('svg[role=img] rect').length"), len(titles))
            self.assert_no_text_of_a_plot_is_cut()
        self.assertLess(max(self.browser.pixel(3, 3)), 60, "a dark page")
        self.assert_contrast()
        self.open(page, 760, 1000, dark=True, medium="print")
        self.assertEqual(self.browser.pixel(3, 3), (255, 255, 255), "paper is white, also for those who like it dark")
        self.open(page)
        return plots


class Page(Seen):
    def setUp(self):
        super().setUp()
        self.ok("define", "hits")

    def report(self, *words, name="report.html"):
        answer = self.run_program(*words, "--json", "--report", name)
        self.assertEqual(answer.code, support.DONE, answer)
        self.assertIn(f"splitcount: the report is in {name}\n", answer.err)
        self.measured = json.loads(answer.out)
        return self.path(name)


class CompareTest(Page):
    def test_it_shows_all_that_was_measured_on_a_phone_a_desktop_in_the_dark_and_on_paper(self):
        page = self.report(*COMPARE)
        self.assert_nothing_from_elsewhere(page)
        self.open(page)
        self.assertEqual(self.raw(), self.measured)
        words = self.browser.evaluate("document.body.innerText")
        for design in self.measured["designs"]:
            self.assertIn(design["what"], words)
            self.assertIn(f"{round(design['adds_per_second']['median']):,}", words)
        for fact in (self.measured["command"], self.measured["machine"]["system"], self.measured["isolation"], "Every total was exact",
                     *self.measured["settings"], *self.measured["settings"].values()):
            self.assertIn(fact, words)
        self.assert_plots(["Adds a second", "How long an add takes", "Adds that waited for a lock"])
        self.assertGreater(min(self.browser.pixel(3, 3)), 200, "a light page")
        self.assert_no_text_of_a_plot_is_cut()

        self.open(page, 360, 800)
        self.assert_plots(["Adds a second", "How long an add takes", "Adds that waited for a lock"])
        self.assert_no_text_of_a_plot_is_cut()
        self.assertTrue(self.browser.evaluate("(({scrollWidth, clientWidth}) => scrollWidth > clientWidth)(document.querySelector('.scroll'))"),
                        "the table scrolls in a box of its own")

        self.open(page, 360, 800, dark=True)
        self.assertLess(max(self.browser.pixel(3, 3)), 60, "a dark page")
        self.assert_contrast()
        self.open(page, 760, 1000, dark=True, medium="print")
        self.assertEqual(self.browser.pixel(3, 3), (255, 255, 255), "paper is white, also for those who like it dark")
        self.assertGreater(self.browser.evaluate("document.getElementById('raw').getBoundingClientRect().height"), 100)
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.querySelector('.result')).color"), "rgb(0, 0, 0)")
        self.open(page, script=False)
        self.assertIn('"adds_per_second"', page.read_text().split("<pre id=\"raw\">")[1].split("</pre>")[0])

    def assert_plots(self, titles):
        plots = self.browser.evaluate(PLOTS)
        self.assertEqual([plot.split(".")[0] for plot in plots], titles)
        for plot in plots:
            for design in self.measured["designs"]:
                self.assertIn(design["name"], plot, "the text that stands for a plot")
        self.assertGreaterEqual(self.browser.evaluate("document.querySelectorAll('svg[role=img] rect').length"), 3)


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class AdviseTest(Page):
    def test_the_curve_has_its_knee_marked(self):
        page = self.report(*ADVISE)
        self.open(page, 360, 800)
        plots = self.browser.evaluate(PLOTS)
        self.assertIn("Adds a second by slots", plots[0])
        self.assertIn("advised: 1 slot", plots[0])
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.curve, .knee, .knee-ring').length"), 3)
        words = self.browser.evaluate("document.body.innerText")
        self.assertIn(self.measured["advice"]["sentence"], words)
        self.assertIn(self.measured["advice"]["define"], words)


class HostileTest(Page):
    def test_names_of_others_stay_text(self):
        # A slash parts folders, so the name is spread over one: ./</script><img ...
        database = f"{HOSTILE} <!-- <script> &lt; {{{{nonce}}}} \u2028.db"
        self.path("<").mkdir()
        self.ok("--db", database, "define", "hits")
        page = self.report("--db", database, *SHORT)
        for script in (True, False):
            self.open(page, 360, 800, script=script)
        self.open(page, 360, 800)
        self.assertEqual(self.raw(), self.measured)
        self.assertIn(HOSTILE, self.raw()["command"])
        self.assertIn(HOSTILE, self.browser.evaluate("document.querySelector('h1').textContent"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 1)

        # And the policy stops what would get in all the same.
        broken = self.path("broken.html")
        broken.write_text(page.read_text().replace("<main>", "<main><img src=x onerror=\"document.title='in'\"><script>document.title='in'</script>"))
        self.browser.open(broken, 360, 800)
        self.assertNotEqual(self.browser.evaluate("document.title"), "in")
        self.assertGreaterEqual(len(self.browser.complaints()), 2, "each was refused, and the console says so")


class InspectTest(Page):
    def test_locks_and_pages_of_slots(self):
        self.ok("define", "page_views", "--key", "page", "--slots", "4", "--pick", "random")
        self.ok("add", "page_views", HOSTILE)
        for words, found, titles in ((("locks",), ("one row", "two slots"), ["Locks on the database"]),
                                     (("pages", "page_views", HOSTILE), ("page bytes", HOSTILE),
                                      ["Slots of the key and the pages that hold them", "Bytes that a slot takes"])):
            page = self.report("inspect", *words)
            plots = self.assert_good_everywhere(page, titles)
            if words == ("locks",):
                self.assertIn("one row twice: 1; two slots: 1", plots[0])
            else:
                self.assertIn("slots: 1; pages: 1", plots[0])
                self.assertIn(f"a slot: {self.measured['slot_bytes']}; if it is compact: {self.measured['slot_bytes']}; a page: 4,096", plots[1])
            raw = self.raw()
            self.assertEqual({name: raw[name] for name in self.measured}, self.measured)
            shown = self.browser.evaluate("document.body.innerText")
            for text in (*found, raw["command"], raw["machine"]["system"], *raw["settings"].values()):
                self.assertIn(text, shown)
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('img').length"), 0)
        self.refused(support.USAGE, "invalid_argument", "inspect", "locks", "--live", "--report", "live.html")


class FileTest(support.Case):
    def setUp(self):
        super().setUp()
        self.ok("define", "hits")

    def refused_at_once(self, code, path, sentence):
        answer = self.run_program("compare", "--sessions", "2", "--seconds", "60", "--report", path, timeout=20,
                                  preexec_fn=support.without_capabilities)
        self.assertEqual(answer.code, code, answer)
        self.assertEqual(answer.out, "")
        self.assert_one_sentence(answer.err)
        self.assertIn(sentence, answer.err)

    def test_what_cannot_be_written_is_refused_before_the_trial(self):
        self.path("folder.html").mkdir()
        self.path("shut").mkdir(mode=0o500)
        os.mkfifo(self.path("pipe.html"))
        files = self.files()
        self.refused_at_once(support.USAGE, "splitcount.db", "a name that ends in .html is")
        self.refused_at_once(support.FAILED, "nowhere/report.html", "there is no such folder")
        self.refused_at_once(support.FAILED, "folder.html", "it is a folder")
        self.refused_at_once(support.FAILED, "pipe.html", "it is no file")
        self.refused_at_once(support.FAILED, "shut/report.html", "Permission denied")
        self.refused_at_once(support.FAILED, "a" * 300 + ".html", "File name too long")
        self.assertEqual(self.files(), files)

    def test_a_trial_whose_report_fails_is_still_answered(self):
        self.path("gone").mkdir()
        process = subprocess.Popen([support.PROGRAM, *SHORT, "--json", "--report", "gone/report.html"], cwd=self.folder,
                                   env=support.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("2 designs", process.stderr.readline())  # the trial begins
        self.path("gone").rmdir()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, support.FAILED, err)
        self.assertEqual(json.loads(out)["report"], "compare")
        self.assertIn("gone/report.html", err)


if __name__ == "__main__":
    unittest.main()
