"""scripts/problems-table: the small problems here are judged, and wrong variants of them are red."""
import csv
import pathlib
import subprocess
import unittest

from provided import python_with
from support import ASSAY, AssayTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBLEMS = ROOT / "tests" / "e2e" / "problems"

SIZES = '''import torch
N, SHAPE = 4096, (2, 3 * 5000)  # columns and rows
EPS = 1e-6
class Model(torch.nn.Module):
    def forward(self, x):
        return {body}
def get_inputs():
    return [torch.rand(N, 8)]
def get_init_inputs():
    return []
'''


class ProblemsTable(AssayTest):
    def run_script(self, *options, expect=0):
        python = python_with("torch")
        if python is None:
            self.skipTest("no Python here has torch: install Debian's python3-torch")
        done = subprocess.run([python, ROOT / "scripts" / "problems-table", *options, "--assay", ASSAY], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout[-2000:] + done.stderr[-2000:])
        return done

    def rows_of(self, name):
        with open(self.folder / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def write(self, name, body, text=SIZES):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text.format(body=body), encoding="utf-8")

    def test_wrong_variants_are_red(self):
        self.run_script(PROBLEMS, "--only", "attention|rmsnorm", "--variants", "2", "--csv", "problems.csv", "--variants-csv",
                        "variants.csv", "--markdown", "table.md")
        self.assertEqual([("attention", "judged"), ("rmsnorm_swiglu", "judged")],
                         [(row["problem"], row["outcome"]) for row in self.rows_of("problems.csv")])
        variants = self.rows_of("variants.csv")
        self.assertGreaterEqual(len([row for row in variants if row["problem"] == "attention"]), 7)
        self.assertEqual({"1"}, {row["red"] for row in variants if row["changes"] == "1"})
        tf32 = next(row for row in variants if row["variant"] == "TF32 products")
        self.assertEqual(("1", "measured_band", "1"), (tf32["red"], tf32["caught_by"], tf32["allclose_0.01"]))
        self.assertIn("| all | 2 | 2 | 0 | 0 | 0 | 0 | 0 |", (self.folder / "table.md").read_text(encoding="utf-8"))

    def test_what_is_not_judged_is_told_by_level(self):
        self.write("set/level1/1_relu.py", "torch.relu(x - 0.5)")
        self.write("set/level1/2_half.py", "x.half()")
        self.write("set/level2/1_nothing.py", "torch.zeros_like(x)")
        done = self.run_script("set", "--largest", "16", "--limit", "60", "--csv", "problems.csv")
        rows = {row["problem"]: row for row in self.rows_of("problems.csv")}
        self.assertEqual(("judged", "refused", "vacuous"), tuple(rows[name]["outcome"] for name in ("1_relu", "2_half", "1_nothing")))
        self.assertEqual("16", rows["1_relu"]["largest"])
        self.assertIn("- level1/2_half: refused: 2_half.py:6: x.half() fixes a dtype", done.stdout)
        self.assertIn("at most 16 here", done.stdout)
        self.assertIn("| level1 | 2 | 1 |", done.stdout)

    def test_usage(self):
        self.assertIn("no file NAME.py", self.run_script(self.folder, expect=2).stderr)
        self.run_script(PROBLEMS, "--only", "(", expect=2)
        self.run_script(PROBLEMS, "--limit", "0", expect=2)


if __name__ == "__main__":
    unittest.main()
