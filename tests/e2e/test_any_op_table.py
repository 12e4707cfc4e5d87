"""scripts/any-op-table: no right kernel of an unknown op is refused, and each wrong one is red in f32."""
import collections
import csv
import pathlib
import subprocess
import unittest

from provided import python_with
from support import AssayTest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/any-op-table"
BAND = "measured band"


class AnyOpTable(AssayTest):
    def run_script(self, *options, expect=0):
        python = python_with("numpy")
        if python is None:
            self.skipTest("no Python here has numpy: install Debian's python3-numpy")
        done = subprocess.run([python, SCRIPT, *options], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout[-2000:] + done.stderr[-2000:])
        return done

    def rows_of(self, name):
        with open(self.folder / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_it_refuses_no_right_kernel_and_misses_no_wrong_one(self):
        self.run_script("--quick", "--csv", "trials.csv", "--markdown", "table.md")
        rows = self.rows_of("trials.csv")
        right = [row for row in rows if row["kind"] == "right"]
        self.assertGreater(len(right), 500)
        self.assertEqual([row for row in right if row[BAND] != "1"], [])
        wrong = collections.defaultdict(list)
        for row in rows:
            if row["kind"] == "wrong":
                wrong[row["op"], row["kernel"], row["arithmetic"]].append(row)
        wrong = {key: of_kernel for key, of_kernel in wrong.items() if any(row["differs"] == "1" for row in of_kernel)}
        self.assertGreater(len(wrong), 400)
        self.assertEqual([key for key, of_kernel in wrong.items() if all(row[BAND] == "1" for row in of_kernel)], [])
        groups = collections.defaultdict(set)
        for row in rows:
            groups[row["group"]].add(row["op"])
        self.assertGreaterEqual(len(groups["rule"]), 16)
        self.assertGreaterEqual(len(groups["held out"]), 8)
        self.assertIn("| all | all | measured band | 0 of ", (self.folder / "table.md").read_text())

    def test_allclose_at_tolerances_in_use_misses_some(self):
        self.run_script("--quick", "--only", "^softmax$", "--csv", "trials.csv")
        short = [row for row in self.rows_of("trials.csv")
                 if (row["kernel"], row["family"]) == ("a tile missing", "user")]
        self.assertEqual([(row[BAND], row["allclose 1e-2"]) for row in short], [("0", "1")])

    def test_references_that_are_not_traced(self):
        """As in C: moved inputs and results tell right from wrong too, but for what errs inside."""
        self.run_script("--quick", "--only", "^(softmax|rmsnorm|gru_cell)$", "--roundings", "1", "--csv", "trials.csv")
        rows = self.rows_of("trials.csv")
        self.assertEqual({"softmax", "rmsnorm", "gru_cell"}, {row["op"] for row in rows})
        self.run_script("--quick", "--only", "^rope$", "--roundings", "1", "--markdown", "table.md", expect=1)
        self.assertIn("rope/f32, plain", (self.folder / "table.md").read_text())
        self.run_script("--roundings", "0", expect=2)

    def test_usage(self):
        self.assertIn("held out", self.run_script("--list").stdout)
        self.assertIn("--list shows them", self.run_script("--only", "no such op", expect=2).stderr)
        self.assertIn("no dtype 'f8'", self.run_script("--dtypes", "f8", expect=2).stderr)
        self.run_script("--seeds", "0", expect=2)
        self.run_script("--only", "(", expect=2)


if __name__ == "__main__":
    unittest.main()
