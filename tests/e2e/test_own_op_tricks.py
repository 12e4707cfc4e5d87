"""Tricks of kernels are caught on ops of a user too, of which nothing is known but a reference."""
import csv
import os
import unittest
import unittest.mock

from provided import PACKAGES, python_with
from support import AssayTest

RIGHT = {"remembers_all_elements", "remembers_some_elements", "looks_at_callers", "expects_the_order", "disk",
         "incremental", "periodic", "clock_little", "works_ahead_outside"}  # they find nothing to save


class OwnOpTricks(AssayTest):
    def test_every_trick_is_caught_and_no_right_kernel_is_flagged(self):
        python = python_with("numpy")
        if python is None:
            self.skipTest(f"no Python here has numpy: install Debian's {PACKAGES['numpy']}")
        with unittest.mock.patch.dict(os.environ, ASSAY_PYTHON=python):
            self.assay("selftest", "--own-ops")
        with open(self.folder / "assay-selftest.csv", newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text, strict=True))
        self.assertTrue(all(row["case_id"].startswith("own_") for row in rows))
        verdicts = {word: {row["fault"] for row in rows if row["verdict"] == word} for word in ("caught", "passed")}
        self.assertEqual(RIGHT | {"none"}, verdicts["passed"])
        self.assertGreater(len(verdicts["caught"]), 50)
        self.assertEqual(len(rows), sum(row["verdict"] in verdicts for row in rows))

    def test_without_numpy_it_is_refused(self):
        (self.folder / "numpy.py").write_text("raise ModuleNotFoundError('none', name='numpy')\n", encoding="utf-8")
        with unittest.mock.patch.dict(os.environ, PYTHONPATH=str(self.folder)):
            refused = self.assay("selftest", "--own-ops", expect=2)
        self.assertIn("needs the module 'numpy'", refused.stderr)
        self.assertFalse((self.folder / "assay-selftest.csv").exists())


if __name__ == "__main__":
    unittest.main()
