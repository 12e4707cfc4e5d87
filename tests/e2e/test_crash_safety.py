"""A run that is killed, or whose disk, output or terminal goes away: what it leaves, and what completes it."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from support import ASSAY, AssayTest, children_of, is_gone

CHECKS = ("run", "--profile", "seeds", "--check-only", "--suite", "tensor_ops,allreduce",
          "--filter", "/(add|exp|sum|softmax)/(f32|i64)/|allreduce/(f32|i64)/reduce=sum",
          "--sim-devices", "2", "--device", "cpu,sim")
TIMED = ("run", "--profile", "seeds", "--suite", "transfers,linear", "--axis", "in=3", "--axis", "dtype=f32,u8",
         "--device", "cpu")
KILLS = 60


def key(row):
    return tuple(row[c] for c in ("case_id", "device", "timing", "attempt", "repeat"))


class Killed(AssayTest):
    def kill_at(self, command, out, moment):
        """Runs and kills the parent: at a time in seconds, or once there are so many rows. Returns the rows then."""
        process = subprocess.Popen([ASSAY, *CHECKS, "--out", "out"], cwd=self.folder, stderr=subprocess.DEVNULL)
        results = self.folder / out / "results.csv"
        deadline = time.monotonic() + (moment if isinstance(moment, float) else 60)
        while process.poll() is None and time.monotonic() < deadline:
            if isinstance(moment, int) and results.exists() and results.read_bytes().count(b"\n") > moment:
                break
        workers = children_of(process.pid) if process.poll() is None else []
        process.kill()
        process.wait()
        deadline = time.monotonic() + 20
        while not all(map(is_gone, workers)):
            self.assertLess(time.monotonic(), deadline, "an orphan")
        return self.rows_of_killed(out) if results.exists() else None

    def check_whole(self, out, rows):
        if rows is None:
            return
        columns = len(rows[0]) if rows else 0
        self.assertTrue(all(len(r) == columns and None not in r.values() and r["replay"] for r in rows))
        self.assertEqual(len({key(r) for r in rows}), len(rows))

    def test_sixty_kills_lose_and_double_nothing(self):
        self.assay(*CHECKS, "--out", "whole")
        wanted = sorted(key(r) for r in self.rows("whole"))
        moments = [0.02 * (i + 1) for i in range(12)] + [1 + i * (len(wanted) - 2) // 47 for i in range(48)]
        self.assertEqual(len(moments), KILLS)
        after_first_row = resumed_twice = lost = doubled = 0
        for number, moment in enumerate(moments):
            out = f"killed{number}"
            with self.subTest(moment=moment):
                rows = self.kill_at((*CHECKS, "--out", out), out, moment)
                self.check_whole(out, rows)
                after_first_row += bool(rows)
                if not (self.folder / out / "run.json").exists():  # before anything was begun
                    self.assertFalse(rows)
                    continue
                junit = (self.folder / out / "junit.xml")
                if junit.exists():
                    self.assertIn("</testsuites>", junit.read_text())
                    self.assertRegex(junit.read_text(), "<(error|failure) ", "a killed run is not green")
                if number % 3 == 0 and rows:  # a resumed run is killed as well
                    more = self.kill_at(("run", "--resume", out), out, min(len(rows) + 3, len(wanted) - 1))
                    self.check_whole(out, more)
                    resumed_twice += 1
                self.assay("run", "--resume", out)
                keys = [key(r) for r in self.rows(out)]
                lost += len(set(wanted) - set(keys))
                doubled += len(keys) - len(set(keys))
                self.assertEqual(sorted(keys), wanted)
        self.assertGreaterEqual(after_first_row, 40)
        self.assertEqual((lost, doubled), (0, 0))
        print(f"    {KILLS} kills survived, {after_first_row} of them after the first row, {resumed_twice} resumed runs "
              f"killed again; {lost} rows lost, {doubled} doubled of {len(wanted)} in each")

    def test_samples_are_neither_lost_nor_doubled(self):
        for moment in (1, 5, 9):
            out = f"killed{moment}"
            self.kill_at((*TIMED, "--out", out), out, moment)
            self.assay("run", "--resume", out)
            samples = {}
            for sample in self.rows(out, "samples.csv"):
                samples.setdefault(key(sample), []).append(int(sample["sample"]))
            for row in self.rows(out):
                self.assertEqual(samples[key(row)], list(range(1, int(row["samples"]) + 1)))

    def test_resuming_takes_only_what_is_missing_and_keeps_the_run(self):
        self.assay(*CHECKS, "--out", "out")
        before = (self.folder / "out" / "results.csv").read_bytes()
        begun = json.loads((self.folder / "out" / "run.json").read_text())
        self.assay("run", "--resume", "out")
        self.assertEqual((self.folder / "out" / "results.csv").read_bytes(), before)
        resumed = json.loads((self.folder / "out" / "run.json").read_text())
        self.assertEqual(resumed["run_id"], begun["run_id"])
        self.assertEqual(resumed["command_line"], begun["command_line"])
        self.assertEqual(len(resumed["resumed_at"]), 1)

    def test_a_torn_row_is_taken_again(self):
        self.assay(*CHECKS, "--out", "out")
        results = self.folder / "out" / "results.csv"
        text = results.read_bytes()
        whole = sorted(key(r) for r in self.rows("out"))
        last_quote = text.rindex(b'"')
        for length in (len(text) - 1, len(text) - 40, last_quote, last_quote + 1, len(text) - 3 * 4096):
            with self.subTest(length=length):
                results.write_bytes(text[:length])
                self.assertLess(len(self.rows_of_killed("out")), len(whole))
                self.assay("run", "--resume", "out")
                self.assertEqual(sorted(key(r) for r in self.rows("out")), whole)

    def test_a_wrong_result_stays_wrong_when_resumed(self):
        faulty = (*CHECKS, "--sim-fault", "out_of_memory,device=1,op=exp")
        self.assay(*faulty, "--out", "out", expect=4)
        self.assay("run", "--resume", "out", expect=4)


class Resume(AssayTest):
    def refused(self, *arguments, code=2):
        return self.assay("run", "--resume", *arguments, expect=code).stderr

    def test_what_cannot_be_resumed_is_said(self):
        self.assertIn("not a run directory", self.refused("nowhere"))
        self.assay(*CHECKS, "--out", "out")
        self.assertIn("--seed does not go with --resume", self.refused("out", "--seed", "2"))
        run = self.folder / "out" / "run.json"
        text = run.read_text()
        run.write_text(text.replace('"build_id": "', '"build_id": "other '))
        self.assertIn("was begun by build 'other", self.refused("out"))
        run.write_text(text)
        devices = self.folder / "out" / "devices.csv"
        devices.write_text(devices.read_text().replace("SIM-1", "SIM-9"))
        self.assertIn("sim:1 is now", self.refused("out"))
        devices.write_text(devices.read_text().replace("sim:1", "sim:7"))
        self.assertIn("not here any more", self.refused("out", code=3))
        devices.write_text(devices.read_text().replace("sim:7", "sim:1").replace("SIM-9", "SIM-1"))
        plan = self.folder / "out" / "plan.csv"
        rows = plan.read_text().splitlines(keepends=True)
        plan.write_text("".join(rows[:-1]))
        self.assertIn("plan.csv has fewer trials", self.refused("out"))
        plan.unlink()
        self.assertIn("plan.csv", self.refused("out"))

    def test_an_empty_name_begins_no_other_run(self):
        self.assertIn("not a run directory", self.refused(""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_directory_that_is_being_written_is_not_resumed(self):
        process = subprocess.Popen([ASSAY, *TIMED, "--out", "out"], cwd=self.folder, stderr=subprocess.DEVNULL)
        while not (self.folder / "out" / "results.csv").exists():
            time.sleep(0.01)
        self.assertIn("being written by another run", self.refused("out"))
        self.assertEqual(process.wait(), 0, "and the run is not disturbed")

    def test_waiting_for_a_device_does_not_resume_what_its_run_has_meanwhile_written(self):
        hang = ("run", "--case", "tensor_ops/add/f32/n=3", "--case", "tensor_ops/exp/f32/n=3", "--sim-devices", "1",
                "--device", "sim", "--check-only", "--sim-fault", "hang,op=add", "--timeout", "2", "--out", "out")
        process = subprocess.Popen([ASSAY, *hang], cwd=self.folder, stderr=subprocess.DEVNULL)
        while not (self.folder / "out" / "results.csv").exists():
            time.sleep(0.01)
        self.assertIn("being written by another run", self.refused("out", "--wait"))
        self.assertEqual(process.wait(), 4)
        self.assertEqual(len(self.rows("out")), 2)

    def test_a_standing_run_says_how_to_complete_it(self):
        self.assay(*CHECKS, "--out", "out")
        self.assertIn("--resume", self.assay(*CHECKS, "--out", "out", expect=2).stderr)


class Surroundings(AssayTest):
    def test_nohup_is_heeded(self):
        process = subprocess.Popen(["nohup", ASSAY, *CHECKS, "--out", "out"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        results = self.folder / "out" / "results.csv"
        while not results.exists() or results.read_bytes().count(b"\n") < 4:
            time.sleep(0.005)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=60), 0)

    def test_a_full_disk(self):
        with tempfile.TemporaryDirectory() as mount:
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", mount],
                              stderr=subprocess.DEVNULL, check=False).returncode != 0:
                self.skipTest("this user may not mount a tmpfs")
            try:
                result = self.assay(*CHECKS, "--out", f"{mount}/out", expect=4)
                self.assertIn("No space left on device", result.stderr)
                self.assertEqual(len([l for l in result.stderr.splitlines() if l.startswith("assay: ")]), 1)
                rows = self.rows(f"{mount}/out")
                self.assertGreater(len(rows), 0)
                self.assertLessEqual({r["status"] for r in rows}, {"pass", "skip"})
                subprocess.run(["mount", "-o", "remount,size=16m", mount], check=True)
                self.assay("run", "--resume", f"{mount}/out")
                self.assertEqual(len(self.rows(f"{mount}/out")), len(self.rows(f"{mount}/out", "plan.csv")))
            finally:
                subprocess.run(["umount", mount], check=True)

    def test_a_file_that_may_not_grow(self):
        # Like a quota: the kernel takes no more than 16 KiB in one file.
        status = subprocess.run(["bash", "-c", f"ulimit -f 16; exec '{ASSAY}' {' '.join(CHECKS[:4])} --suite allreduce --device cpu --out out"],
                                cwd=self.folder, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(status.returncode, 4, status.stderr)
        self.assertIn("File too large", status.stderr)
        self.assertEqual({r["status"] for r in self.rows("out")}, {"pass"})

    def test_a_folder_that_cannot_be_written(self):
        # /proc takes no folders, not even from root.
        self.assertIn("cannot be made", self.assay(*CHECKS, "--out", "/proc/out", expect=2).stderr)

    def test_records_on_a_closed_standard_output(self):
        with subprocess.Popen([ASSAY, *CHECKS, "--jsonl", "--out", "out"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            process.stdout.close()
            error = process.stderr.read()
        self.assertEqual(process.returncode, 4, error)
        self.assertIn("--jsonl: standard output cannot be written", error)
        self.assertEqual({r["status"] for r in self.rows("out")}, {"pass"})
        self.assay("run", "--resume", "out")
        self.assertEqual(len(self.rows("out")), len(self.rows("out", "plan.csv")))

    def test_an_interrupted_run_says_how_to_complete_it_and_is_completed(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            out = f"out{number}"
            process = subprocess.Popen([ASSAY, *CHECKS, "--out", out], cwd=self.folder, stderr=subprocess.PIPE, text=True)
            results = pathlib.Path(self.folder / out / "results.csv")
            while not results.exists() or results.read_bytes().count(b"\n") < 4:
                time.sleep(0.005)
            workers = children_of(process.pid)
            process.send_signal(number)
            error = process.communicate(timeout=30)[1]
            self.assertEqual(process.returncode, 4)
            self.assertIn(f"interrupted by signal {number:d}", error)
            self.assertIn(f"--resume {out}", error)
            self.assertTrue(all(map(is_gone, workers)), "no orphans")
            self.assertIn("INCOMPLETE", (self.folder / out / "summary.md").read_text())
            self.assay("run", "--resume", out)
            self.assertEqual(len(self.rows(out)), len(self.rows(out, "plan.csv")))

    def test_shared_references_are_gone_however_a_run_ends(self):
        references = self.folder / "out" / ".references"
        for number in (signal.SIGQUIT, signal.SIGKILL):
            with self.subTest(number):
                with subprocess.Popen([ASSAY, *CHECKS, "--out", "out"], cwd=self.folder, stderr=subprocess.DEVNULL) as process:
                    while not references.exists() or not any(references.iterdir()):
                        time.sleep(0.005)
                    process.send_signal(number)
                self.assertEqual(references.exists(), number == signal.SIGKILL)
                self.assay("run", "--resume", "out")
                self.assertFalse(references.exists())
                shutil.rmtree(self.folder / "out")
        self.assay("run", "--case", "tensor_ops/add/f32/n=3", "--sim-devices", "1", "--device", "sim", "--retries", "1",
                   "--sim-fault", "segv", "--out", "out", expect=4)
        self.assertFalse(references.exists())

    def test_a_resumed_run_that_shares_nothing_removes_what_a_killed_one_shared(self):
        self.assay(*CHECKS, "--out", "out")
        references = self.folder / "out" / ".references"
        references.mkdir()
        (references / "half").write_text("of a reference", encoding="ascii")
        self.assay("run", "--resume", "out")
        self.assertFalse(references.exists())


if __name__ == "__main__":
    unittest.main()
