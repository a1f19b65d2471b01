"""Words of SQL as names: each works as a key's name or is refused before anything is created."""
import unittest

from database import Case, setUpModule  # noqa: F401
from support import USAGE


class KeyNames(Case):
    def words(self, categories):
        return [word for (word,) in self.sql("SELECT word FROM pg_get_keywords() WHERE catcode = ANY(%s) ORDER BY word", list(categories))]

    def test_reserved_words_are_refused(self):
        for word in self.words("R"):
            self.assertIn("reserved word", self.refused(USAGE, "name_invalid", "define", "hits", "--key", word))

    def test_other_words_work(self):
        ours = ["filler", "rule_version", "rule_created", "keys", "amounts", "request_ids", "slots", "item", "replay"]
        refused = []
        for number, word in enumerate([*self.words("CT"), *ours]):
            counter = f"hits_{number}"
            layout = ("compact", "padded", "journal")[number % 3]
            answer = self.run_program("define", counter, "--key", word, "--layout", layout, "--retries", "once")
            if answer.code == USAGE:
                refused.append(word)
                continue
            self.assertEqual(answer.code, 0, (word, answer))
            self.run_checked("add", counter, "K", "--request-id", "7f3a")
            self.assertEqual(self.one(f"SELECT {counter}_add('K', request_id => '7f3a')"), False)
            self.assertEqual(self.one(f'SELECT total FROM {counter} WHERE "{word}" = %s', "K"), 1)
        self.assertNotIn("position", refused)
        self.assertLess(len(refused), 60)


if __name__ == "__main__":
    unittest.main()
