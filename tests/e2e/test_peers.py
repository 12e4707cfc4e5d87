"""scripts/peers/compare and null, with a stand-in for `assay ab` that leaves the given files: what they ask of it, the means,
and that nothing but a complete comparison is green."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import unittest

from support import AssayTest

PEERS = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "peers"
ADD, MUL, SORT = "tensor_ops/add/f32/n=16777216", "tensor_ops/mul/f32/n=16777216", "tensor_ops/sort/f32/n=1048576"
PROGRAM = f"""#!{sys.executable}
import os, pathlib, shutil, signal, sys
if sys.argv[1] == "--version":
    print("assay 1.0")
    sys.exit()
here = pathlib.Path(__file__).parent
with open(here / "commands", "a") as commands:
    print(*sys.argv[1:], "OMP_NUM_THREADS=" + os.environ["OMP_NUM_THREADS"], file=commands)
if "--out" in sys.argv:
    shutil.copytree(here / "files", sys.argv[sys.argv.index("--out") + 1])
code = int((here / "code").read_text())
if code < 0:
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(code)
"""
TORCH = "#!/bin/sh\necho AVX512\n"


class Peers(AssayTest):
    def setUp(self):
        super().setUp()
        (self.folder / "files").mkdir()
        for name, text in (("assay", PROGRAM), ("python", TORCH)):
            (self.folder / name).write_text(text, encoding="utf-8")
            (self.folder / name).chmod(0o755)

    def table(self, name, columns, rows):
        with open(self.folder / "files" / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([columns, *rows])

    def leave(self, *cases, wrong=(), interrupted=False):
        """The files of a comparison with these cases: id, verdict, ratio of each of six rounds, or statuses of a single one."""
        found, rounds = [], []
        for case, verdict, ratios in cases:
            ratio = sorted(ratios)[len(ratios) // 2] if ratios else ""
            found.append((case, verdict, ratio))
            rounds += [(case, "screen", n, "pass", "pass", 1, each) for n, each in enumerate(ratios, 1)]
            rounds += [(case, "confirm", 1, "pass", "pass", 1, 1000)] * (verdict == "regressed")
        for case, base, cand in wrong:
            found.append((case, "wrong", ""))
            rounds.append((case, "screen", 1, base, cand, "", ""))
        self.table("ab.csv", ("case_id", "verdict", "ratio"), found)
        self.table("rounds.csv", ("case_id", "stage", "round", "base_status", "cand_status", "base_median_s", "cand_median_s"), rounds)
        (self.folder / "files" / "ab.json").write_text(json.dumps({"interrupted": interrupted}), encoding="utf-8")

    def script(self, name, *arguments, of_ab=0, expect=0):
        (self.folder / "code").write_text(str(of_ab), encoding="utf-8")
        environment = {**os.environ, "ASSAY": str(self.folder / "assay"), "ASSAY_PEERS_PYTHON": str(self.folder / "python")}
        done = subprocess.run([PEERS / name, *arguments], cwd=self.folder, text=True, capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL, env=environment, check=False)
        self.assertEqual(expect, done.returncode, f"{done.stdout}\n{done.stderr}")
        return done

    def compare(self, filter_, **options):
        out = self.folder / f"out{len(list(self.folder.glob('out*')))}"
        return self.script("compare", "--filter", filter_, "--threads", "1", "--out", str(out), **options), out

    def test_it_asks_ab_for_its_cases_and_prints_means_without_unlike_work(self):
        self.leave((ADD, "equivalent", [0.5] * 6), (MUL, "equivalent", [2.0] * 6), (SORT, "regressed", [9.0] * 6))
        done, out = self.compare("^tensor_ops/(add|mul|sort)/f32", of_ab=5)
        command = (self.folder / "commands").read_text(encoding="utf-8")
        for text in ("ab --base-kernels torch --base-python", "--margin 25 --rounds 6", f"--case {ADD} --case {MUL} --case {SORT}",
                     "OMP_NUM_THREADS=1"):
            self.assertIn(text, command)
        self.assertIn(f"| overall | 2 | 1.000 | 1.00 to 1.00 | {MUL} 2.00 |", done.stdout)
        self.assertIn("sort: torch returns the permutation as well; in no mean", (out / "means.md").read_text(encoding="utf-8"))

    def test_an_interval_of_the_mean_is_that_of_its_rounds(self):
        self.leave((ADD, "inconclusive", [0.5, 0.9, 0.9, 0.9, 0.9, 1.1]))
        self.assertIn("| elementwise f32 | 1 | 0.900 | 0.50 to 1.10 |", self.compare("^tensor_ops/add/f32")[0].stdout)

    def test_slower_ops_and_a_slower_mean_are_red(self):
        self.leave((ADD, "regressed", [1.5] * 6), (MUL, "improved", [0.1] * 6))
        self.compare("^tensor_ops/(add|mul)/f32", of_ab=5, expect=5)
        self.leave((ADD, "equivalent", [1.1] * 6))
        self.compare("^tensor_ops/add/f32", expect=5)

    def test_only_what_is_wrong_in_torch_alone_does_not_count(self):
        ratios = (ADD, "equivalent", [0.5] * 6)
        for base, cand, expect in (("fail", "pass", 0), ("pass", "fail", 1), ("fail", "fail", 1), ("vacuous", "vacuous", 1)):
            self.leave(ratios, wrong=[(MUL, base, cand)])
            self.compare("^tensor_ops/(add|mul)/f32", of_ab=1, expect=expect)

    def test_nothing_but_a_complete_comparison_is_green(self):
        self.leave((ADD, "equivalent", [0.5] * 6), (MUL, "broken", []))
        self.assertIn(f"{MUL}: broken", self.compare("^tensor_ops/(add|mul)/f32", expect=4)[0].stderr)
        self.leave((ADD, "equivalent", [0.5] * 6))
        self.assertIn(f"{MUL}: left out", self.compare("^tensor_ops/(add|mul)/f32", expect=4)[0].stderr)
        for of_ab, expect in ((2, 2), (3, 3), (4, 4), (6, 6), (-9, 4)):
            self.compare("^tensor_ops/add/f32", of_ab=of_ab, expect=expect)
        for interrupted in (True, None):
            self.leave((ADD, "equivalent", [0.5] * 6), interrupted=interrupted)
            self.compare("^tensor_ops/add/f32", of_ab=1, expect=4)
        self.leave(wrong=[(ADD, "fail", "pass")])
        self.compare("^tensor_ops/add/f32", of_ab=1, expect=4)
        self.assertIn("no case is selected", self.compare("no such op", expect=2)[0].stderr)
        self.assertIn("AVX-512", self.script("compare", "--isa", "avx2", expect=2).stderr)
        (self.folder / "python").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        self.compare("^tensor_ops/add/f32", expect=4)

    def test_null_compares_each_side_with_itself(self):
        self.script("null")
        own, torch = (self.folder / "commands").read_text(encoding="utf-8").splitlines()
        self.assertIn("ab --aa", own)
        self.assertNotIn("--kernels", own)
        self.assertIn("--kernels torch", torch)
        self.script("null", of_ab=5, expect=5)
        self.script("null", of_ab=-9, expect=4)


if __name__ == "__main__":
    unittest.main()
