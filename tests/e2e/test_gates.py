"""What a CI owner gates with: retries, known failures, budgets, locks."""
import datetime
import json
import os
import subprocess
import time
import unittest

from support import ASSAY, AssayTest

ADDS = ("run", "--profile", "seeds", "--check-only", "--suite", "tensor_ops", "--filter", "add/f32", "--sim-devices", "1",
        "--device", "sim")
ONCE = ("--sim-fault", "abort,op=add,marker=struck")
TOMORROW = (datetime.date.today() + datetime.timedelta(days=2)).isoformat()


class Retries(AssayTest):
    def test_every_attempt_is_a_row_and_a_pass_on_retry_is_flaky(self):
        self.assay(*ADDS, *ONCE, "--retries", "2", "--out", "out", expect=1)
        rows = self.rows("out")
        retried = [r for r in rows if r["case_id"] == rows[0]["case_id"]]
        self.assertEqual([(r["attempt"], r["status"]) for r in retried], [("1", "crash"), ("2", "flaky")])
        self.assertEqual({r["status"] for r in rows[2:]}, {"pass"})
        self.assertIn("flaky", (self.folder / "out" / "summary.md").read_text())
        self.assertIn('type="flaky"', (self.folder / "out" / "junit.xml").read_text())

    def test_flaky_is_green_where_allowed(self):
        self.assay(*ADDS, *ONCE, "--retries", "1", "--allow-flaky", "--out", "out")
        self.assertIn("1 flaky and accepted", (self.folder / "out" / "summary.md").read_text())

    def test_what_stays_bad_stays_red(self):
        self.assay(*ADDS, "--sim-fault", "abort,op=add", "--retries", "2", "--allow-flaky", "--out", "out", expect=4)
        rows = self.rows("out")
        self.assertEqual([r["attempt"] for r in rows[:3]], ["1", "2", "3"])
        self.assertEqual({r["status"] for r in rows}, {"crash"})

    def test_without_retries_it_is_no_flake(self):
        self.assay(*ADDS, *ONCE, "--out", "out", expect=4)

    def test_fail_fast(self):
        self.assay(*ADDS, *ONCE, "--fail-fast", "--out", "out", expect=4)
        self.assertEqual([r["status"] for r in self.rows("out")], ["crash"])
        self.assertIn("--fail-fast", (self.folder / "out" / "summary.md").read_text())
        (self.folder / "struck").unlink()
        self.assay(*ADDS, *ONCE, "--fail-fast", "--retries", "1", "--out", "again", expect=1)
        self.assertEqual([r["status"] for r in self.rows("again")], ["crash", "flaky"])


class Expected(AssayTest):
    FAULT = ("--sim-fault", "out_of_memory,op=add")

    def expect(self, *rows):
        (self.folder / "known.csv").write_text("case,reason,owner,expires,status\n" + "".join(f"{r}\n" for r in rows))
        return ("--expected", "known.csv")

    def test_a_known_failure_is_accepted_with_its_owner(self):
        known = self.expect(f"tensor_ops/add/*,too big,ops@example.com,{TOMORROW},oom")
        self.assay(*ADDS, *self.FAULT, *known, "--retries", "3", "--out", "out")
        for row in self.rows("out"):
            self.assertEqual((row["status"], row["attempt"]), ("oom", "1"))
            self.assertEqual(row["expected_failure"], f"too big (ops@example.com, until {TOMORROW})")
        self.assertIn("expected failures", (self.folder / "out" / "summary.md").read_text())

    def test_another_status_or_another_case_is_not(self):
        self.assay(*ADDS, *self.FAULT, *self.expect(f"tensor_ops/add/*,x,y,{TOMORROW},crash"), "--out", "a", expect=4)
        self.assay(*ADDS, *self.FAULT, *self.expect(f"tensor_ops/exp/*,x,y,{TOMORROW},oom"), "--out", "b", expect=4)

    def test_an_expired_entry_fails_and_is_named(self):
        known = self.expect("tensor_ops/add/*,x,y,2020-01-31,oom")
        error = self.assay(*ADDS, *self.FAULT, *known, "--out", "out", expect=4).stderr
        self.assertIn("the entry of y expired on 2020-01-31", error)

    def test_an_unexpected_pass_is_reported(self):
        error = self.assay(*ADDS, *self.expect(f"tensor_ops/add/*,x,y,{TOMORROW},oom"), "--out", "out").stderr
        self.assertIn("known.csv:2: tensor_ops/add/*: unexpected pass", error)

    def test_a_pattern_that_matches_no_case_is_told_at_the_start(self):
        known = self.expect(f"tensor_ops/ad/*,x,y,{TOMORROW},oom", f"linear/*,not in this run,y,{TOMORROW},oom")
        error = self.assay(*ADDS, *known, "--out", "out").stderr
        self.assertEqual(error.count("note: known.csv:2: tensor_ops/ad/*: no case matches"), 1)
        self.assertNotIn("known.csv:3", error)

    def test_malformed_lists(self):
        with_device = "case,reason,owner,expires,device\ntensor_ops/add/*,x,y,2099-12-31,gpu:0\n"
        (self.folder / "devices.csv").write_text(with_device, encoding="utf-8")
        error = self.assay(*ADDS, "--expected", "devices.csv", "--out", "out", expect=2).stderr
        self.assertIn("devices.csv:2:33: device: 'gpu:0' is no device", error)
        for row, why in ((f"tensor_ops/add/*,x,,{TOMORROW},oom", "owner: must not be empty"),
                         ("tensor_ops/add/*,x,y,someday,oom", "expected YYYY-MM-DD"),
                         (f"tensor_ops/add/*, ,y,{TOMORROW},oom", "reason: must not be empty"),
                         ("tensor_ops/add/*,x,y,2099-+1-01,oom", "expected YYYY-MM-DD"),
                         ("tensor_ops/add/*,x,y,2026-02-30,oom", "expected YYYY-MM-DD"),
                         (f"tensor_ops/ad/f32/n=3,x,y,{TOMORROW},oom", "case"),
                         (f"tensor_ops/add/*,x,y,{TOMORROW},pass", "is no failure")):
            error = self.assay(*ADDS, *self.expect(row), "--out", "out", expect=2).stderr
            self.assertIn("known.csv:2:", error)
            self.assertIn(why, error)
            self.assertFalse((self.folder / "out").exists())


class Untested(AssayTest):
    """The test module `refusing` refuses everything: as a library does that cannot be loaded."""

    def test_what_a_device_refused_altogether_is_red_and_named(self):
        self.use_module("good")
        env = dict(os.environ)
        adds = ("run", "--check-only", "--filter", "^tensor_ops/add/f32/n=3$")
        said = self.assay(*adds, "--out", "out", expect=3, env=env).stderr
        for text in (said, (self.folder / "out" / "summary.md").read_text(), (self.folder / "out" / "junit.xml").read_text()):
            self.assertRegex(text, "nothing ran of tensor.?_ops/add/f32 on refusing:0: unsupported: this device cannot be opened")
        self.assertIn("nothing ran of ", (self.folder / "out" / "summary.md").read_text())
        page = self.folder / "page.html"
        self.assay("report", "out", "-o", page)
        self.assertIn("nothing ran of ", page.read_text())
        self.assay(*adds, "--shard", "1/1", "--out", "whole", expect=3, env=env)
        codes = [subprocess.run([ASSAY, *adds, "--shard", f"{i}/2", "--out", f"shard{i}"], cwd=self.folder, env=env,
                                capture_output=True, check=False).returncode for i in (1, 2)]
        self.assertEqual(sorted(codes), [0, 2], "another shard may have run it; one of them has no case")
        self.assay(*adds, "--device", "cpu", "--out", "right", env=env)


class Budget(AssayTest):
    def test_everything_is_touched_first_and_what_is_left_out_is_said(self):
        sizes = ",".join(str(n) for n in range(1, 61))  # what is asked for is timed, which takes its time
        timed = ("--filter", "/(add|exp|sum)/f(32|64)/n=[0-9]*$", "--axis", f"n={sizes}")
        self.assay("run", "--profile", "smoke", "--device", "cpu", *timed, "--budget", "3", "--out", "out")
        rows, plan = self.rows("out"), self.rows("out", "plan.csv")
        self.assertLess(len(rows), len(plan))
        cells = {tuple(p["case_id"].split("/")[:-1]) for p in plan}
        first = [tuple(r["case_id"].split("/")[:-1]) for r in rows[:len(cells)]]
        self.assertEqual(set(first), cells)
        summary = (self.folder / "out" / "summary.md").read_text()
        self.assertIn(f"left out {len(plan) - len(rows)} of {len(plan)} trials; every suite, op and dtype was touched",
                      summary.replace("\\", ""))

    def test_a_budget_too_short_to_touch_everything_is_not_green(self):
        slow, quick = "tensor_ops/sort/f32/n=16777216", "tensor_ops/add/f32/n=3"
        error = self.assay("run", "--device", "cpu", "--check-only", "--case", slow, "--case", quick, "--budget", "1",
                           "--timeout", "600", "--out", "out", expect=4).stderr
        self.assertIn("never touched: tensor_ops/add/f32 on cpu", error)
        self.assertIn("INCOMPLETE", (self.folder / "out" / "summary.md").read_text())
        self.assay("run", "--resume", "out")
        self.assertEqual(len(self.rows("out")), len(self.rows("out", "plan.csv")))

    def test_shards_are_disjoint_and_complete(self):
        selection = ("--profile", "seeds", "--device", "cpu")
        whole = [t["case_id"] for t in self.trials(*selection)]
        parts = [t["case_id"] for i in (1, 2, 3) for t in self.trials(*selection, "--shard", f"{i}/3")]
        self.assertEqual(sorted(parts), sorted(whole))

    def test_repeats_are_rows_of_their_own(self):
        self.assay(*ADDS, "--repeat", "3", "--out", "out")
        rows = self.rows("out")
        self.assertEqual(sorted({r["repeat"] for r in rows}), ["1", "2", "3"])
        self.assertEqual(len(rows), 3 * len({r["case_id"] for r in rows}))

    def test_options_that_exclude_each_other(self):
        self.assertIn("--budget", self.assay(*ADDS, "--budget", "5", "--repeat", "2", expect=2).stderr)


class Output(AssayTest):
    def test_jsonl_has_the_rows(self):
        lines = self.assay(*ADDS, "--jsonl", "--out", "out").stdout.splitlines()
        rows = self.rows("out")
        self.assertEqual([json.loads(line)["case_id"] for line in lines], [r["case_id"] for r in rows])
        for line, row in zip(map(json.loads, lines), rows):
            self.assertEqual({k: str(v).lower() for k, v in line.items() if isinstance(v, (int, bool))},
                             {k: row[k] for k, v in line.items() if isinstance(v, (int, bool))})


    def test_github_is_told_where_it_runs(self):
        summary = self.folder / "step_summary"
        summary.touch()
        env = {**os.environ, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
        result = self.assay(*ADDS, *ONCE, "--out", "out", expect=4, env=env)
        errors = [line for line in result.stderr.splitlines() if line.startswith("::error ")]
        self.assertEqual(len(errors), 1)
        self.assertIn("crash%3A tensor_ops/add/f32", errors[0])
        self.assertEqual(summary.read_text(), (self.folder / "out" / "summary.md").read_text())
        self.assertNotIn("::error", self.assay(*ADDS, *ONCE, "--out", "green", env=env).stderr)


class Threads(AssayTest):
    def test_more_threads_than_cores_are_told_at_the_start(self):
        cores = len(os.sched_getaffinity(0))
        for asked, is_noted in ((cores, False), (cores + 1, True), (f"{cores + 1},1", True)):
            with self.subTest(asked=asked):
                environment = {**os.environ, "OMP_NUM_THREADS": str(asked)}
                error = self.assay(*ADDS, "--out", f"out{asked}", env=environment).stderr
                note = f"note: OMP_NUM_THREADS asks for {cores + 1} threads where {cores} can run"
                self.assertEqual(error.count(note), 1 if is_noted else 0, error)


class Locks(AssayTest):
    LONG = ("run", "--case", "tensor_ops/add/f32/n=3", "--sim-devices", "1", "--device", "sim", "--check-only",
            "--sim-fault", "hang", "--timeout", "4", "--out", "long")

    def hold(self):
        process = subprocess.Popen([ASSAY, *self.LONG], cwd=self.folder, stderr=subprocess.DEVNULL)
        while not (self.folder / "long" / "results.csv").exists():
            time.sleep(0.01)
        return process

    def test_one_run_at_a_time_on_a_device(self):
        process = self.hold()
        error = self.assay(*ADDS, "--out", "out", expect=4).stderr
        self.assertIn(f"SIM-0 is held by another run (process {process.pid}); --wait", error)
        self.assertFalse((self.folder / "out").exists())
        self.assay("run", "--case", "tensor_ops/add/f32/n=3", "--check-only", "--device", "cpu")
        process.kill()
        process.wait()
        self.assay(*ADDS, "--out", "out")  # released, however its holder ended

    def test_wait_waits(self):
        process = self.hold()
        result = self.assay(*ADDS, "--wait", "--out", "out")
        self.assertIn("waiting: SIM-0 is held", result.stderr)
        self.assertIsNotNone(process.poll())

    def test_waiting_can_be_interrupted(self):
        holder = self.hold()
        waiter = subprocess.Popen([ASSAY, *ADDS, "--wait", "--out", "out"], cwd=self.folder, stderr=subprocess.PIPE,
                                  text=True)
        self.assertIn("waiting", waiter.stderr.readline())
        waiter.terminate()
        self.assertIn("interrupted while waiting", waiter.communicate(timeout=20)[1])
        self.assertEqual(waiter.returncode, 4)
        holder.kill()
        holder.wait()


if __name__ == "__main__":
    unittest.main()
