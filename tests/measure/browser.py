"""A page in Debian's Chromium, by its DevTools protocol over two pipes: no port is opened, and nothing but Python is needed.

    with Browser() as browser:
        browser.open(path, width=360, height=800)
        browser.evaluate("document.title")
"""
import base64
import json
import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

ANSWER_SECONDS = 60


class Browser:
    def __enter__(self):
        program = shutil.which("chromium")
        if program is None:
            raise AssertionError("there is no chromium here; ./test installs it")
        self.folder = tempfile.mkdtemp(prefix="splitcount_browser_")
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()
        # The browser reads what it is told from descriptor 3, and answers on 4.
        as_three_and_four = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                   f"--user-data-dir={self.folder}", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(["bash", "-c", as_three_and_four, "chromium", program, *options, "about:blank"],
                                        pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.folder})
        os.close(to_browser)
        os.close(from_browser)
        self.reader = os.fdopen(self.answers, "rb")
        self.number, self.unread = 0, b""
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.events = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(timeout=20)
        except (OSError, AssertionError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        self.reader.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def next_message(self):
        while b"\0" not in self.unread:
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise AssertionError("the browser has ended")
            self.unread += piece
        message, _, self.unread = self.unread.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            if self.session:
                self.events.append(answer)

    def open(self, path, width, height, dark=False, medium="", script=True):
        """Loads the file; what went on meanwhile is in `events`."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.show_as(dark, medium)
        self.events.clear()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.next_message())
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))" if script else "0")

    def show_as(self, dark=False, medium=""):
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def picture(self, whole=True):
        """A PNG of the page, or of what the window shows of it."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def pixel(self, x, y):
        """(red, green, blue) there."""
        clip = {"x": x, "y": y, "width": 1, "height": 1, "scale": 1}
        png = base64.b64decode(self.call("Page.captureScreenshot", format="png", clip=clip)["data"])
        return tuple(only_pixel(png))

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]

    def complaints(self):
        """What stands in the console, and what was thrown."""
        kinds = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        return [event["params"] for event in self.events if event["method"] in kinds]


def only_pixel(png):
    """Of a picture of one pixel: every filter of PNG leaves it as it is, since nothing is beside or above it."""
    width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
    if (width, height, depth) != (1, 1, 8) or colour not in (2, 6):
        raise AssertionError(f"not one pixel of true colour: {png[:33]}")
    data, at = b"", 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        data += png[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    return zlib.decompress(data)[1:4]
