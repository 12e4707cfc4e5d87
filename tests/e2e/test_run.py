"""`assay run` from the selection to the files it leaves."""
import json
import re
import shlex
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from support import ASSAY, AssayTest

SEEDS = ("--profile", "seeds", "--device", "cpu")
FILES = {"plan.csv", "results.csv", "samples.csv", "devices.csv", "run.json", "junit.xml", "metrics.prom", "summary.md"}


class Run(AssayTest):
    def test_one_row_per_listed_trial_each_with_its_figures(self):
        self.assay("run", *SEEDS, "--out", "out")
        self.assertEqual({f.name for f in (self.folder / "out").iterdir()}, FILES)
        rows = self.rows("out")
        key = lambda row: (row["case_id"], row["device"], row["timing"])
        # Trials whose times were disturbed come last.
        self.assertEqual(sorted(map(key, rows)), sorted(map(key, self.trials(*SEEDS))))
        samples = {}
        for sample in self.rows("out", "samples.csv"):
            samples.setdefault(key(sample), []).append(float(sample["seconds"]) / int(sample["launches"]))
        for row in rows:
            with self.subTest(row["case_id"]):
                self.assertEqual(row["status"], "pass")
                self.assertEqual(row["mismatches"], "0")
                empty = {"n=0", "count=0"} & set(row["params"].split(";"))
                of_nothing = row["op"].removesuffix("_axis") in ("sum", "prod", "dot", "norm2", "stream_read", "concat", "pad")
                self.assertEqual(int(row["elements"]) > 0, not empty or of_nothing)
                self.assertEqual(row["repeatable"], "true")
                for column in ("oracle", "implementation", "max_abs_error", "max_ulp"):
                    self.assertNotEqual(row[column], "", column)
                if row["timing"] == "":  # only checked
                    self.assertEqual((row["stop_reason"], row["samples"], row["time_median_s"]), ("", "", ""))
                    self.assertNotIn(key(row), samples)
                    continue
                self.assertNotEqual(row["stop_reason"], "")
                has_interval = int(row["samples"]) >= 6  # a busy machine may get no more into the cap
                for end in ("time_ci_low_s", "time_ci_high_s"):
                    self.assertEqual(row[end] != "", has_interval, end)
                shown = ("min", "ci_low", "median", "ci_high") if has_interval else ("min", "median")
                times = [float(row[f"time_{t}_s"]) for t in shown]
                self.assertEqual(times, sorted(times))
                self.assertEqual(len(samples[key(row)]), int(row["samples"]))
                self.assertEqual(min(samples[key(row)]), float(row["time_min_s"]))
                rate = "algbw_bytes_per_s" if row["suite"] == "collectives" else "bandwidth_bytes_per_s"
                self.assertAlmostEqual(float(row[rate]) * float(row["time_median_s"]), float(row["bytes"]),
                                       delta=1e-6 * float(row["bytes"]))
                if row["suite"] == "collectives":
                    self.assertEqual(row["busbw_bytes_per_s"] == "", row["ranks"] == "1")
        timed = {r["suite"] for r in rows if r["timing"]}
        self.assertEqual(timed | {"limits", "placement", "views"}, {r["suite"] for r in rows})  # these are checks, or `assay limits` times them

    def test_the_other_files_agree(self):
        self.assay("run", *SEEDS, "--suite", "linear", "--out", "out")
        run = json.loads((self.folder / "out" / "run.json").read_text())
        self.assertEqual(run["exit_code"], 0)
        self.assertEqual(run["seed"], 1)
        junit = ElementTree.parse(self.folder / "out" / "junit.xml").getroot()
        self.assertEqual(len(list(junit.iter("testcase"))), len(self.rows("out")))
        self.assertIn("PASSED", (self.folder / "out" / "summary.md").read_text())
        self.assertEqual([d["device"] for d in self.rows("out", "devices.csv")], ["cpu"])

    def test_its_metrics_are_open_metrics(self):
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("no prometheus_client for this Python")
        self.assay("run", *SEEDS, "--suite", "linear", "--out", "out")
        text = (self.folder / "out" / "metrics.prom").read_text()
        families = {family.name: family.samples for family in text_string_to_metric_families(text)}
        self.assertEqual([sample.value for sample in families["assay_run_passed"]], [1])
        self.assertEqual(sum(sample.value for sample in families["assay_trials"]), len(self.rows("out")))
        self.assertIn("assay_flops_per_second", families)

    def test_a_run_says_where_its_time_went(self):
        selection = ("--case", "tensor_ops/sum/f32/n=1000", "--case", "linear/f32/batch=2,in=3,out=1,bias=1,act=none",
                     "--device", "cpu", "--lanes", "1")
        for out, options in (("timed", ()), ("checked", ("--check-only",))):
            said = self.assay("run", *selection, *options, "--out", out).stderr
            run = json.loads((self.folder / out / "run.json").read_text())
            phases = run["phases_s"]
            self.assertEqual(list(phases), ["setup", "input", "execution", "reference", "comparison", "sampling",
                                            "limits", "output", "other"])
            unused = {"limits", "sampling"} if out == "checked" else {"limits"}  # too small to have any
            self.assertEqual({phase for phase, seconds in phases.items() if seconds == 0}, unused, out)
            self.assertAlmostEqual(sum(phases.values()), run["wall_s"], msg="one lane: nothing is counted twice")
            line = re.search("^time: .* for 2 trials, .* each = .*%$", said, re.MULTILINE)
            self.assertIsNotNone(line, said)
            self.assertIn(line[0], (self.folder / out / "summary.md").read_text())
            self.assertEqual(run["trials_taken"], 2)
            cost = re.search("^harness: reading the clock takes .* of a sample, .*; .* pass between two$", said, re.MULTILINE)
            self.assertEqual(cost is not None, out == "timed", said)
        quiet = self.assay("run", *selection, "--check-only", "--quiet", "--out", "quiet").stderr
        self.assertNotIn("time:", quiet)

    def test_a_replay_reproduces_its_rows_verdict(self):
        self.assay("run", *SEEDS, "--seed", "7", "--out", "out")
        verdict = ("case_id", "status", "oracle", "elements", "mismatches", "max_ulp", "max_abs_error",
                   "max_bound_ratio", "worst_index", "worst_expected", "worst_actual", "seed")
        for number, row in enumerate(self.rows("out")[::20]):
            command = shlex.split(row["replay"])
            self.assertEqual(command[0], "assay")
            self.assay(*command[1:], "--out", f"replay{number}")
            again = self.rows(f"replay{number}")
            self.assertEqual(len(again), 1)
            self.assertEqual({c: again[0][c] for c in verdict}, {c: row[c] for c in verdict})

    def test_what_must_be_exact_has_no_ratio_to_a_bound(self):
        cases = ("--case", "tensor_ops/add/f32/n=1000", "--case", "tensor_ops/sum/f32/n=1000")
        self.assay("run", *cases, "--check-only", "--sim-devices", 2, "--device", "sim", "--sim-fault",
                   "low_bit,op=add,device=1", "--out", "out", expect=1)
        rows = {(row["op"], row["device"]): row for row in self.rows("out")}
        self.assertEqual((rows["add", "sim:0"]["status"], rows["add", "sim:0"]["max_bound_ratio"]), ("pass", ""))
        wrong = rows["add", "sim:1"]
        self.assertEqual((wrong["status"], wrong["max_bound_ratio"], wrong["worst_allowed"]), ("fail", "", "0"))
        self.assertTrue(0 <= float(rows["sum", "sim:0"]["max_bound_ratio"]) <= 1)
        for file in ("summary.md", "junit.xml"):
            self.assertIn("allowed: none (exact)", (self.folder / "out" / file).read_text(encoding="utf-8"))

    def test_check_only_has_verdicts_and_no_times(self):
        self.assay("run", *SEEDS, "--suite", "tensor_ops", "--check-only", "--out", "out")
        for row in self.rows("out"):
            self.assertEqual((row["status"], row["timing"], row["time_median_s"]), ("pass", "", ""))
        self.assertEqual(self.rows("out", "samples.csv"), [])

    def test_several_devices_in_one_run(self):
        self.assay("run", "--profile", "seeds", "--check-only", "--sim-devices", "2", "--device", "cpu,sim",
                   "--suite", "tensor_ops,allreduce", "--filter", "/f32/", "--axis", "ranks=2,4", "--out", "out")
        rows = self.rows("out")
        self.assertEqual({r["device"] for r in rows}, {"cpu", "sim:0", "sim:1", "sim:0+sim:1"})
        skipped = [r for r in rows if r["status"] == "skip"]
        self.assertEqual({r["reason"] for r in skipped}, {"too few devices: 4 ranks on 2 sim device(s)"})
        self.assertEqual({r["status"] for r in rows if r not in skipped}, {"pass"})

    def test_a_replay_names_simulated_devices_only_where_it_needs_them(self):
        self.assay("run", "--case", "tensor_ops/add/f32/n=3", "--check-only", "--sim-devices", "1", "--device", "cpu,sim",
                   "--sim-fault", "low_bit,op=exp", "--out", "out")
        replays = {row["device"]: row["replay"] for row in self.rows("out")}
        self.assertNotIn("--sim", replays["cpu"])
        self.assertIn("--sim-devices 1 --sim-fault low_bit,op=exp", replays["sim:0"])

    def test_only_skips_are_not_green(self):
        self.assay("run", "--case", "allreduce/f32/reduce=sum,ranks=4,count=1", "--sim-devices", "1",
                   "--device", "sim", "--out", "out", expect=3)
        self.assertEqual([r["status"] for r in self.rows("out")], ["skip"])

    def test_a_case_file(self):
        (self.folder / "cases.csv").write_text("suite,op,dtype,n\ntensor_ops,add,f32,12\ntensor_ops,sum,i64,5\n")
        self.assay("run", "--cases", "cases.csv", "--device", "cpu", "--check-only", "--out", "out")
        self.assertEqual([r["case_id"] for r in self.rows("out")],
                         ["tensor_ops/add/f32/n=12", "tensor_ops/sum/i64/n=5"])

    def test_threads_do_not_change_the_verdict(self):
        self.assay("run", "--case", "tensor_ops/sum/f32/n=1000003", "--threads", "1", "--check-only",
                   "--out", "one")
        self.assertIn("--threads 1", self.rows("one")[0]["replay"])


class Directories(AssayTest):
    CASE = ("run", "--case", "tensor_ops/add/f32/n=3", "--check-only")

    def test_nothing_is_overwritten(self):
        self.assay(*self.CASE, "--out", "out")
        before = (self.folder / "out" / "results.csv").read_bytes()
        self.assertIn("not empty", self.assay(*self.CASE, "--out", "out", expect=2).stderr)
        self.assertEqual((self.folder / "out" / "results.csv").read_bytes(), before)

    def test_the_default_directory_is_new_each_time(self):
        self.assay(*self.CASE)
        self.assay(*self.CASE)
        self.assertEqual(len(list((self.folder / "assay-runs").iterdir())), 2)

    def test_an_unwritable_folder(self):
        (self.folder / "file").write_text("")
        self.assertIn("file/out", self.assay(*self.CASE, "--out", "file/out", expect=2).stderr)

    def test_closed_or_full_standard_streams_cost_nothing(self):
        for number, streams in enumerate(("2>&-", "2>/dev/full", "<&- >&- 2>&-")):
            out = f"out{number}"
            status = subprocess.run(f"'{ASSAY}' run --profile seeds --check-only --suite linear --device cpu --out {out} {streams}",
                                    shell=True, cwd=self.folder, check=False).returncode
            self.assertEqual(status, 0, streams)
            self.assertEqual({r["status"] for r in self.rows(out)}, {"pass"})

    def test_asked_for_output_that_cannot_be_written_is_an_error(self):
        for streams in (">/dev/full", ">&-"):
            status = subprocess.run(f"'{ASSAY}' list --case tensor_ops/add/f32/n=3 --json {streams}", shell=True,
                                    cwd=self.folder, stderr=subprocess.DEVNULL, check=False).returncode
            self.assertEqual(status, 4 if "full" in streams else 0, streams)

    def test_standard_output_stays_clean(self):
        result = self.assay(*self.CASE)
        self.assertEqual(result.stdout, "")
        self.assertIn("PASSED: ", result.stderr)
        self.assertNotIn("\033", result.stderr, "no terminal, no control characters")


if __name__ == "__main__":
    unittest.main()
