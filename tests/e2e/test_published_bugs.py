"""scripts/published-bugs: kernels that are wrong as public reports say, and the same code without its defect."""
import csv
import pathlib
import subprocess
import unittest

from provided import python_with
from support import ASSAY, AssayTest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SOME = "FlagGems|OpenBLAS|/sort/|/softmax/"  # of each kind a few


class PublishedBugs(AssayTest):
    def run_script(self, *options, expect=0):
        python = python_with("numpy")
        if python is None:
            self.skipTest("no Python here has numpy: install Debian's python3-numpy")
        done = subprocess.run([python, ROOT / "scripts/published-bugs", "--assay", ASSAY, "--python", python, *options],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def test_those_that_smoke_is_said_to_catch_are_caught(self):
        self.run_script("--only", SOME, "--csv", "caught.csv")
        with open(self.folder / "caught.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(len(rows), 15)

    def test_without_their_defects_they_are_right(self):
        self.run_script("--right", "--only", SOME)

    def test_those_that_attacks_on_the_judge_found_are_caught(self):
        self.run_script("--imagined")
        self.run_script("--imagined", "--right", "--only", "/argmax_axis/|/norm2_axis/f16/")

    def test_there_are_many_each_with_its_report(self):
        listed = self.run_script("--list")
        self.assertGreaterEqual(sum("#" in line for line in listed.splitlines()), 120)
        self.run_script("--only", "no such report", expect=2)


if __name__ == "__main__":
    unittest.main()
