"""A search that did not get to its end is never taken for one that found nothing.

    python3 -m unittest model/run_test.py
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import run  # noqa: E402

COMPLETE = """
Full statespace search for:
State-vector 136 byte, depth reached 539, errors: 0
   752523 states, stored
"""


class JudgeTest(unittest.TestCase):
    def incomplete(self, output, status=0):
        return run.judge(output, status).incomplete

    def test_complete(self):
        self.assertEqual(run.judge(COMPLETE, 0), run.Found(states=752523, errors=0, incomplete=""))

    def test_depth(self):
        self.assertIn("depth", self.incomplete("error: max search depth too small\n" + COMPLETE))

    def test_memory(self):
        for line in ("pan: out of memory\n", "\t4.1943e+09 bytes limit\n", "Warning: Search not completed\n"):
            self.assertTrue(self.incomplete(line + COMPLETE), line)

    def test_other_kinds_of_search(self):
        self.assertTrue(self.incomplete(COMPLETE.replace("Full statespace", "Bit statespace")))

    def test_failure(self):
        self.assertTrue(self.incomplete("", status=139))
        self.assertTrue(self.incomplete(COMPLETE, status=1))

    def test_counterexample(self):
        output = COMPLETE.replace("errors: 0", "errors: 1") + "Warning: Search not completed\n"
        self.assertEqual(run.judge(output, 0), run.Found(states=752523, errors=1, incomplete=""))


if __name__ == "__main__":
    unittest.main()
