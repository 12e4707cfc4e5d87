"""What bounds the figures: `assay limits`, and the share of its limit in each row of a run."""
import csv
import io
import json
import unittest

from provided import python_with
from support import AssayTest

SIM = ("--device", "sim", "--sim-devices", "1")
MEASURED = (*SIM, "--stand-ins")
PRODUCT = "linear/f32/batch=512,in=512,out=512,bias=1,act=none"


class Command(AssayTest):
    def test_measures_what_a_device_has(self):
        text = self.assay("limits", *MEASURED, "--csv", "limits.csv").stdout
        self.assertEqual(text.splitlines()[0].split()[:3], ["device", "limit", "measured"])
        limits = json.loads(self.assay("limits", *MEASURED, "--json", "--quiet").stdout)["limits"]
        figures = {limit["limit"]: limit for limit in limits if "value" in limit}
        for name in ("memory_read", "memory_write", "memory_copy", "memory_triad", "matrix_f32", "matrix_tf32",
                     "link_to_device", "link_from_device", "launch"):
            limit = figures[name]
            self.assertEqual(limit["status"], "pass")
            self.assertEqual("ci_low" in limit, limit["samples"] >= 6)  # a busy machine may get no more into the cap
            if "ci_low" in limit:
                self.assertLessEqual(0, limit["ci_low"])
                self.assertLessEqual(limit["ci_low"], limit["value"])
                self.assertLessEqual(limit["value"], limit["ci_high"])
            self.assertIn(name, text)
        with open(self.folder / "limits.csv", newline="", encoding="utf-8") as file:
            self.assertEqual({row["limit"] for row in csv.DictReader(file, strict=True) if row["status"] == "pass"}, set(figures))

    def test_a_wrong_result_is_no_limit(self):
        result = self.assay("limits", *MEASURED, "--sim-fault", "low_bit,op=stream_copy", "--json", "--quiet", expect=1)
        by_name = {limit["limit"]: limit for limit in json.loads(result.stdout)["limits"]}
        self.assertEqual(by_name["memory_copy"]["status"], "fail")
        self.assertNotIn("value", by_name["memory_copy"])
        self.assertEqual(by_name["memory_triad"]["status"], "pass")

    def test_a_crash_costs_one_limit(self):
        result = self.assay("limits", *MEASURED, "--sim-fault", "segv,op=stream_read", "--json", "--quiet", expect=4)
        statuses = {limit["limit"]: limit["status"] for limit in json.loads(result.stdout)["limits"]}
        self.assertEqual((statuses["memory_read"], statuses["memory_write"]), ("crash", "pass"))

    def test_an_absent_device_is_exit_3(self):
        self.assay("limits", "--device", "sim:7", "--sim-devices", "1", expect=3)


class OfARun(AssayTest):
    def test_rows_tell_the_share_of_their_limit(self):
        self.assay("run", "--case", PRODUCT, "--profile", "full", "--device", "cpu", "--out", "out")
        (row,) = self.rows("out")
        limits = self.rows("out", "limits.csv")
        listed = self.assay("list", "--case", PRODUCT, "--profile", "full", "--device", "cpu").stderr
        self.assertIn(f"; {len(limits)} limits before them, about ", listed)
        self.assertEqual({limit["limit"] for limit in limits}, {"matrix_f32"})
        self.assertTrue(row["limit"].startswith("matrix_f32 "), row["limit"])
        turns = int(row["turns_with_limit"])
        self.assertGreaterEqual(turns, 1)
        self.assertEqual(row["fraction_ci_low"] != "", turns >= 6)
        if turns >= 6:
            low, share, high = (float(row[name]) for name in ("fraction_ci_low", "fraction_of_limit", "fraction_ci_high"))
            self.assertTrue(0 < low <= share <= high < 2, (low, share, high))
        phases = json.loads((self.folder / "out" / "run.json").read_text())["phases_s"]
        self.assertGreater(phases["limits"], 0)

    def test_a_row_far_beyond_its_limit_is_wrong(self):
        """A limit of a billionth stands for times of a billionth."""
        python = python_with("numpy") or self.skipTest("no Python here has numpy: install Debian's python3-numpy")
        numpy = ("--kernels", "numpy", "--python", python)  # others' kernels have no turns with the limit
        self.assay("run", "--case", PRODUCT, "--device", "cpu", *numpy, "--out", "out")
        (before,) = self.rows("out")
        self.assertEqual((before["status"], before["beyond_limit"]), ("pass", "false"))
        limits = self.rows("out", "limits.csv")
        with open(self.folder / "out" / "limits.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(limits[0]), lineterminator="\n")
            writer.writeheader()
            for limit in limits:
                scaled = {name: f"{float(limit[name]) / 1e9:.6g}" for name in ("value", "ci_low", "ci_high") if limit[name]}
                writer.writerow(limit | scaled)
        results = self.folder / "out" / "results.csv"
        results.write_text(io.StringIO(results.read_text()).readline())
        said = self.assay("run", "--resume", "out", expect=1).stderr
        self.assertIn("FAILED: 1 wrong", said)
        (row,) = self.rows("out")
        self.assertEqual((row["status"], row["caught_by"], row["caught_on"]), ("fail", "limit", "timed_launches"))
        self.assertRegex(row["reason"], r"times matrix_f32 \S+ FLOP/s, its limit: .* timed launches do not do the work")
        for column in ("time_median_s", "samples", "flops_per_s", "fraction_of_limit", "limit", "beyond_limit"):
            self.assertEqual(row[column], "", column)
        self.assertEqual(self.rows("out", "samples.csv"), [])
        junit = (self.folder / "out" / "junit.xml").read_text(encoding="utf-8")
        self.assertIn('failures="1"', junit)
        self.assertNotIn("time_median_s", junit)
        self.assertRegex((self.folder / "out" / "metrics.prom").read_text(encoding="utf-8"), r'outcome="fail"[^\n]*} 1')

    def test_a_resumed_run_measures_none_twice(self):
        self.assay("run", "--case", PRODUCT, "--device", "cpu", "--out", "out")
        before = self.rows("out", "limits.csv")
        results = self.folder / "out" / "results.csv"
        header = io.StringIO(results.read_text()).readline()
        results.write_text(header)
        self.assay("run", "--resume", "out")
        self.assertEqual(self.rows("out", "limits.csv"), before)
        self.assertNotEqual(self.rows("out")[0]["fraction_of_limit"], "")

    def test_a_resumed_run_does_not_forget_a_wrong_limit(self):
        self.assay("run", "--case", PRODUCT, "--device", "cpu", "--out", "out")
        limits = self.folder / "out" / "limits.csv"
        limits.write_text(limits.read_text().replace(",pass,", ",fail,"))
        said = self.assay("run", "--resume", "out", expect=1).stderr  # although no trial is left to take
        self.assertIn("limit matrix_f32 of cpu could not be measured: fail", said)

    def test_none_is_measured_where_none_is_wanted_or_applies(self):
        quick = ("--filter", "^linear/f32/batch=64,in=120,out=84,", "--device", "cpu")
        self.assay("run", "--case", PRODUCT, "--device", "cpu", "--no-limits", "--out", "a")
        self.assay("run", "--profile", "smoke", *quick, "--out", "b")
        self.assay("run", "--case", "tensor_ops/add/f32/n=1003", "--device", "cpu", "--out", "c")
        self.assay("run", "--case", PRODUCT, "--device", "cpu", "--check-only", "--out", "d")
        for out in "abcd":
            self.assertFalse((self.folder / out / "limits.csv").exists(), out)
            self.assertEqual({row["fraction_of_limit"] for row in self.rows(out)}, {""})


if __name__ == "__main__":
    unittest.main()
