"""`assay libraries`: which library is right and how fast, on real short runs, and what cannot stand side by side."""
import csv
import json
import math
import shutil
import unittest

from support import AssayTest

CASES = ("tensor_ops/dot/f32/n=1048573", "tensor_ops/add/f32/n=1048573", "tensor_ops/relu/f32/n=1003")
SELECTION = [word for case in CASES for word in ("--case", case)]
KERNELS = {"own": (), "onednn": ("--kernels", "onednn"), "openblas": ("--kernels", "openblas")}


class Libraries(AssayTest):
    """Copies of three real runs: the first is right everywhere, oneDNN drops NaN in relu, OpenBLAS has a dot alone."""

    real = None

    def setUp(self):
        super().setUp()
        if Libraries.real is None:
            folder = self.folder
            for name, options in KERNELS.items():
                self.assay("run", *SELECTION, "--device", "cpu", "--no-limits", "--quiet", *options, "--out", name,
                           expect=int(name == "onednn"))
            Libraries.real = {(name, path.name): path.read_bytes() for name in KERNELS for path in (folder / name).iterdir()
                              if path.is_file()}
            return
        for (name, file), content in Libraries.real.items():
            (self.folder / name).mkdir(exist_ok=True)
            (self.folder / name / file).write_bytes(content)

    def libraries(self, *arguments, expect=0):
        return self.assay("libraries", *arguments, expect=expect)

    def edit_rows(self, out, edit):
        rows = self.rows(out)
        kept = edit(rows) or rows
        with open(self.folder / out / "results.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept)

    def edit_json(self, out, **values):
        path = self.folder / out / "run.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **values}))

    def edit_device(self, out, **values):
        rows = [{**row, **values} for row in self.rows(out, "devices.csv")]
        with open(self.folder / out / "devices.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def test_which_is_right_comes_first_then_each_op(self):
        text = self.libraries("own", "onednn", "openblas", expect=1).stdout
        self.assertEqual(text.splitlines()[0], "Which library is right")
        for line in (r"built-in \S+ +own +3 +3 +0 +0 +0 +0\n", r"oneDNN \S+ +onednn +3 +1 +1 +0 +0 +1 +\d",
                     r"OpenBLAS \S+ +openblas +3 +1 +0 +0 +0 +2 +\d"):
            self.assertRegex(text, line)
        self.assertRegex(text, r"cpu +tensor_ops/relu +f32 +1 right +1 wrong +not offered\n")
        self.assertRegex(text, r"cpu +tensor_ops/dot +f32 +1 right +not offered +1 right\n")
        self.assertLess(text.index("tensor_ops/relu"), text.index("tensor_ops/add"), "wrong ones first")
        times = text[text.index("Time over that of built-in"):]
        self.assertRegex(times, r"tensor_ops/add +f32 +\d\S+ over 1")
        self.assertRegex(times, r"tensor_ops/dot +f32 +\d\S+ over 1")
        self.assertNotIn("relu", times, "a wrong result has no time")

    def test_times_are_ratios_of_the_rows(self):
        self.libraries("own", "onednn", "openblas", "--csv", "out.csv", "--markdown", "out.md", expect=1)
        rows = self.rows(".", "out.csv")
        self.assertEqual(len(rows), 3 + 3 * 3)
        for name, op in (("onednn", "add"), ("openblas", "dot")):
            times = [next(float(row["time_median_s"]) for row in self.rows(out) if row["op"] == op) for out in (name, "own")]
            row = next(row for row in rows if (row["run"], row["op"]) == (name, op))
            self.assertAlmostEqual(float(row["time_ratio"]), times[0] / times[1], delta=1e-12 * times[0] / times[1])
            self.assertEqual((row["asked"], row["right"], row["timed"]), ("1", "1", "1"))
        self.assertIn("## Which library is right", (self.folder / "out.md").read_text())
        self.libraries("own", "openblas", "--csv", "out.csv")  # its own file is replaced
        self.assertEqual(len(self.rows(".", "out.csv")), 2 + 2 * 3)
        self.assertTrue(self.libraries("own", "openblas", "--csv", "-").stdout.startswith("kernels,run,baseline,"))

    def test_the_first_run_is_the_baseline(self):
        def ratio(*runs):
            self.libraries(*runs, "--csv", "out.csv")
            return next(float(row["time_ratio"]) for row in self.rows(".", "out.csv") if row["time_ratio"])
        there, back = ratio("own", "openblas"), ratio("openblas", "own")
        self.assertAlmostEqual(math.log(there), -math.log(back))

    def test_nobody_is_wrong_where_all_are_right(self):
        self.assertIn(" 0 wrong, 0 failed, ", self.libraries("own", "openblas").stdout.splitlines()[-1])

    def test_a_known_failure_is_wrong_and_not_red(self):
        self.edit_rows("onednn", lambda rows: [row.update(expected_failure="issue 7 (me)") for row in rows
                                               if row["status"] == "fail"] and rows)
        text = self.libraries("own", "onednn").stdout
        self.assertIn("1 wrong, 0 failed, 0 skipped, 1 not offered; 1 of the wrong and failed are known", text)

    def test_a_crash_is_red_by_its_own_code(self):
        self.edit_rows("openblas", lambda rows: [row.update(status="crash", reason="so", time_median_s="") for row in rows]
                       and rows)
        self.assertIn("1 failed", self.libraries("own", "openblas", expect=4).stdout)

    def test_two_versions_of_a_library_are_told_apart(self):
        shutil.copytree(self.folder / "openblas", self.folder / "newer")
        self.edit_json("newer", run_id="newer")
        text = self.libraries("openblas", "newer").stdout
        self.assertRegex(text, r"OpenBLAS \S+ in openblas +openblas .*\n +OpenBLAS \S+ in newer +newer ")
        self.assertRegex(text, r"tensor_ops/dot +f32 +1\.000 over 1\n")

    def test_what_stood_for_a_device_has_no_speed(self):
        for out in ("own", "openblas"):
            self.edit_rows(out, lambda rows: [row.update(stand_in="simulated") for row in rows] and rows)
        self.assertIn("; no times to compare", self.libraries("own", "openblas").stdout)

    def test_a_single_run_and_nothing_in_common_are_never_green(self):
        self.assertIn("nothing to compare with", self.libraries("own", expect=3).stderr)
        self.edit_rows("openblas", lambda rows: [row.update(status="skip", reason="not_here: so") for row in rows] and rows)
        self.assertIn("own and openblas have no judged trial in common",
                      self.libraries("own", "openblas", expect=3).stderr)

    def test_a_copy_of_a_run_counts_once(self):
        shutil.copytree(self.folder / "own", self.folder / "copy")
        self.assertIn("skipped: copy is the run ", self.libraries("own", "copy", "openblas").stderr)

    def refused(self, why, other="openblas"):
        done = self.libraries("own", other, expect=2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(why, done.stderr)

    def test_other_hardware_is_refused(self):
        self.edit_device("openblas", name="Another CPU")
        self.refused("different hardware: cpu name is ")

    def test_other_seeds_selections_and_ways_are_refused(self):
        for option, options in (("--seed is '2' there and '1'", ("--seed", 2)),
                                ("--check-only is 'given' there and ''", ("--check-only",)),
                                ("--timing is 'cold' there and 'batch'", ("--timing", "cold")),
                                ("--case is ", ())):
            selection = SELECTION if options else SELECTION[:2]
            self.assay("run", *selection, "--device", "cpu", "--no-limits", "--quiet", *options, "--out", "other")
            self.refused(f"'other' was asked something else: {option}", "other")
            shutil.rmtree(self.folder / "other")

    def test_a_run_that_was_cut_short_is_refused(self):
        self.edit_json("openblas", planned=7)
        self.refused("'openblas' finished 1 of 7 trials")
        self.edit_json("openblas", ended_at=None, exit_code=None)
        self.refused("has not ended: it goes on, or was killed")

    def test_other_references_are_refused(self):
        for out, crc in (("own", "00000001"), ("openblas", "00000002")):
            self.edit_json(out, own_ops={"path": "ops.py", "crc32": crc})
        self.refused("were judged by other references")

    def test_what_assay_run_did_not_write_is_refused(self):
        self.edit_json("openblas", command_line=["assay", "soak", "--for", "1s"])
        self.refused("the stored command line is not one of 'assay run'; give what 'assay run' wrote")


if __name__ == "__main__":
    unittest.main()
