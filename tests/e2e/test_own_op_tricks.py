"""Tricks of kernels are caught on ops of a user too, of which nothing is known but a reference."""
import csv
import os
import unittest
import unittest.mock

from provided import PACKAGES, python_with
from support import AssayTest

# Those whose end does not depend on how busy the machine is. All of them: assay selftest --own-ops, on a quiet one.
TRICKS = ("zeros", "copies_input", "returns_early", "writes_past_its_output", "changes_its_input", "lowers_precision",
          "only_round_shapes", "first_launches_only", "exits", "garbage_everywhere", "looks_at_data", "rounds_up",
          "flushes_subnormals")


class OwnOpTricks(AssayTest):
    def test_tricks_are_caught(self):
        python = python_with("numpy")
        if python is None:
            self.skipTest(f"no Python here has numpy: install Debian's {PACKAGES['numpy']}")
        for trick in TRICKS:
            with self.subTest(trick), unittest.mock.patch.dict(os.environ, ASSAY_PYTHON=python):
                self.assay("selftest", "--own-ops", "--only", trick)
                with open(self.folder / "assay-selftest.csv", newline="", encoding="utf-8") as text:
                    rows = list(csv.DictReader(text, strict=True))
                self.assertTrue(all(row["case_id"].startswith("own_") for row in rows), rows)
                self.assertEqual({("none", "passed"), (trick, "caught")}, {(row["fault"], row["verdict"]) for row in rows})

    def test_without_numpy_it_is_refused(self):
        (self.folder / "numpy.py").write_text("raise ModuleNotFoundError('none', name='numpy')\n", encoding="utf-8")
        with unittest.mock.patch.dict(os.environ, PYTHONPATH=str(self.folder)):
            refused = self.assay("selftest", "--own-ops", expect=2)
        self.assertIn("needs the module 'numpy'", refused.stderr)
        self.assertFalse((self.folder / "assay-selftest.csv").exists())


if __name__ == "__main__":
    unittest.main()
