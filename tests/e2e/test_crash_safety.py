"""A run that is killed, or whose disk, output or terminal goes away: what it leaves, and what completes it."""
import json
import os
import pathlib
import re
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
        process = subprocess.Popen([ASSAY, *command], cwd=self.folder, stderr=subprocess.DEVNULL)
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
        return self.rows_so_far(out) if results.exists() else None

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
        self.assertEqual(len(resumed["sessions"]), 2)

    def test_a_torn_row_is_taken_again(self):
        self.assay(*CHECKS, "--out", "out")
        results = self.folder / "out" / "results.csv"
        text = results.read_bytes()
        whole = sorted(key(r) for r in self.rows("out"))
        last_quote = text.rindex(b'"')
        for length in (len(text) - 1, len(text) - 40, last_quote, last_quote + 1, len(text) - 3 * 4096):
            with self.subTest(length=length):
                results.write_bytes(text[:length])
                self.assertLess(len(self.rows_so_far("out")), len(whole))
                self.assay("run", "--resume", "out")
                self.assertEqual(sorted(key(r) for r in self.rows("out")), whole)

    def test_a_wrong_result_stays_wrong_when_resumed(self):
        faulty = (*CHECKS, "--sim-fault", "out_of_memory,device=1,op=exp")
        self.assay(*faulty, "--out", "out", expect=4)
        self.assay("run", "--resume", "out", expect=4)


SMALL = ("run", "--case", "tensor_ops/add/f32/n=3", "--case", "tensor_ops/exp/f32/n=3", "--device", "cpu",
         "--check-only")


def content_of(folder):
    """Every file by its name; a link is not followed."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and not p.is_symlink()}


class Beginning(AssayTest):
    """A run that is killed before its first result has lost nothing, and its directory is not lost either."""
    ORDER = ("plan.csv", "samples.csv", "results.csv", "devices.csv", "run.json", "junit.xml", "metrics.prom", "summary.md")

    def stages(self):
        """What a kill leaves at each moment before the first row: all files before one, and a part of that one."""
        self.assay(*SMALL, "--out", "whole")
        texts = {name: (self.folder / "whole" / name).read_bytes() for name in self.ORDER}
        texts["results.csv"] = texts["results.csv"].split(b"\n")[0] + b"\n"
        for count, name in enumerate(self.ORDER):
            written = {earlier: texts[earlier] for earlier in self.ORDER[:count]}
            part = name if name in ("samples.csv", "results.csv") else name + ".part"
            for length in (0, 1, len(texts[name]) // 2):
                yield {**written, part: texts[name][:length]}
            yield {**written, name: texts[name]}

    def test_each_beginning_is_taken_over_or_completed(self):
        for number, files in enumerate(list(self.stages())):
            for command in ("--out", "--resume"):
                out = f"{command[2:]}{number}"
                with self.subTest(files=list(files), command=command):
                    (self.folder / out / ".references").mkdir(parents=True)
                    for name, text in files.items():
                        (self.folder / out / name).write_bytes(text)
                    if command == "--out":
                        self.assertIn("begun anew", self.assay(*SMALL, "--out", out).stderr)
                    elif "run.json" in files:
                        self.assay("run", "--resume", out)
                    else:
                        before = content_of(self.folder / out)
                        said = self.assay("run", "--resume", out, expect=2).stderr
                        self.assertIn(f"with --out {out}", said)
                        self.assertEqual(content_of(self.folder / out), before)
                        continue
                    self.assertEqual(len(self.rows(out)), 2)

    def test_twenty_early_kills_leave_what_can_be_begun_anew(self):
        for number in range(20):
            out = f"killed{number}"
            process = subprocess.Popen([ASSAY, *SMALL, "--out", out], cwd=self.folder, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 20
            # As early as it can be seen, and then a little later each time.
            while not (self.folder / out).exists() and process.poll() is None and time.monotonic() < deadline:
                pass
            time.sleep(number * 0.001)
            process.kill()
            process.wait()
            results = self.folder / out / "results.csv"
            if results.exists() and results.read_bytes().count(b"\n") > 1:
                self.assay("run", "--resume", out)
            else:
                self.assay(*SMALL, "--out", out)
            self.assertEqual(len(self.rows(out)), 2)

    def test_what_has_results_or_is_somebody_elses_is_never_taken_over(self):
        self.assay(*SMALL, "--out", "out")
        (self.folder / "reports").mkdir()
        for name in ("junit.xml", "summary.md"):
            (self.folder / "reports" / name).write_bytes((self.folder / "out" / name).read_bytes())
        (self.folder / "notes").mkdir()
        (self.folder / "notes" / "plan.csv").write_text("my plan\n")
        for folder in ("out", "reports", "notes"):
            before = content_of(self.folder / folder)
            self.assertIn("is not empty", self.assay(*SMALL, "--out", folder, expect=2).stderr)
            self.assertEqual(content_of(self.folder / folder), before)


class Damage(AssayTest):
    """--resume reads all, and only then writes: what it refuses stays as it is, byte by byte."""

    def setUp(self):
        super().setUp()
        self.assay(*SMALL, "--repeat", "2", "--out", "out")
        self.out = self.folder / "out"

    def check_refused(self, said, file="results.csv"):
        before = content_of(self.out)
        error = self.assay("run", "--resume", "out", expect=2).stderr
        self.assertIn(said, error)
        self.assertIn(file, error)
        self.assertNotIn("json.exception", error)
        self.assertEqual(len(error.splitlines()), 1)
        self.assertEqual(content_of(self.out), before)

    def check_each(self, file, damaged, said):
        path = self.out / file
        whole = path.read_bytes()
        self.assertNotEqual(damaged(whole), whole)
        path.write_bytes(damaged(whole))
        self.check_refused(said, file)
        path.write_bytes(whole)

    def test_a_stray_quote_cuts_nothing(self):
        def quote_at(place):
            return lambda text: text[:place(text)] + b'"' + text[place(text) + 1:]

        def field(row, number):
            def place(text):
                lines = text.split(b"\n")
                return sum(len(l) + 1 for l in lines[:row]) + len(b",".join(lines[row].split(b",")[:number])) + 1
            return place

        self.check_each("results.csv", quote_at(lambda text: 10), "other columns")
        self.check_each("results.csv", quote_at(lambda text: text.index(b"\n") + 4), "a quote")
        self.check_each("results.csv", quote_at(field(1, 9)), "")   # a field of all that follows
        self.check_each("results.csv", quote_at(field(2, 6)), "")
        self.check_each("samples.csv", lambda text: text + b'x,cpu,"\n' + 2 * b"x,cpu,,1,1,1,1,1,,,,\n", "a quote")

    def test_report_reads_and_refuses_what_resume_does(self):
        run = self.out / "run.json"
        run.write_text(re.sub(r'"ended_at": "[^"]*"', '"ended_at": null', run.read_text()))
        results = self.out / "results.csv"
        whole = results.read_bytes()
        self.assay("report", "out", "-o", "page.html", expect=0)
        row = whole.splitlines(keepends=True)[1]
        for text in (whole[:10] + b'"' + whole[11:], whole.replace(row, b'"' + row), whole + row, whole + b"1,2\n"):
            results.write_bytes(text)
            error = self.assay("report", "out", "-o", "other.html", expect=2).stderr
            self.assertIn("results.csv", error)
            self.check_refused("")
        results.write_bytes(whole[:-9])
        self.assay("report", "out", "-o", "torn.html")
        self.assay("run", "--resume", "out")
        self.assertEqual(len(self.rows("out")), 4)

    def test_rows_that_are_there_twice_or_not_planned_or_ragged(self):
        def row(text):
            return text.splitlines(keepends=True)[1]
        self.check_each("results.csv", lambda text: text + row(text), "a second row of tensor_ops/add/f32/n=3")
        self.check_each("results.csv", lambda text: text + row(text).replace(b"/n=3", b"/n=4"), "not in plan.csv")
        self.check_each("results.csv", lambda text: text + b"1,2,3\n", "3 fields where the header has")
        self.check_each("results.csv", lambda text: text.replace(b",pass,", b",paas,", 1), "unknown status 'paas'")
        self.check_each("results.csv", lambda text: text.replace(b"run_id", b"run_ix", 1), "other columns")
        self.check_each("samples.csv", lambda text: text + b"x\nx,cpu,,1,1,1,1,1,,,,\n", "fields where the header has")

    def test_plans_with_what_no_run_has(self):
        def with_row(row):
            return lambda text: text + row + b"\n"
        self.check_each("plan.csv", with_row(b"tensor_ops/add/f32/n=3,cpu,,3,"), "repeat 3 of 2")
        self.check_each("plan.csv", with_row(b"tensor_ops/add/f32/n=3,cpu,,2,"), "a second row")
        self.check_each("plan.csv", with_row(b"tensor_ops/add/f32/n=3,cpu,hot,1,"), "unknown timing 'hot'")
        self.check_each("plan.csv", with_row(b"tensor_ops/adds/f32/n=3,cpu,,1,"), "adds")
        self.check_each("plan.csv", with_row(b"tensor_ops/add/f32/n=3,sim:7,,1,"), "no device of this run")
        self.check_each("plan.csv", with_row(b"tensor_ops/add/f32/n=3,cpu,,2x,"), "whole number")

    def test_links_are_not_written_through(self):
        for name in ("results.csv", "samples.csv", "run.json", "plan.csv"):
            file, elsewhere = self.out / name, self.folder / "elsewhere"
            file.rename(elsewhere)
            for link in (os.symlink, os.link):
                link(elsewhere, file)
                text = elsewhere.read_bytes()
                self.check_refused("its own files", name)
                self.assertEqual(elsewhere.read_bytes(), text)
                file.unlink()
            elsewhere.rename(file)
        (self.folder / "alias").symlink_to("out")
        self.assay("run", "--resume", "alias")  # of the user's own choice

    def test_a_run_json_that_is_none_is_an_error_in_plain_words_for_every_reader(self):
        path = self.out / "run.json"
        whole = path.read_text()
        self.assay(*SMALL, "--out", "other")
        for text, said in ((60000 * "[" + 60000 * "]", "nested more than"),
                           (whole.replace("{", '{"more": ' + 60000 * "[" + 60000 * "]" + ",", 1), "nested more than"),
                           (whole[:100], "cut off"), (whole.replace('"seed": 1', '"seed": x'), "not JSON"),
                           (whole.replace('"seed": 1', '"seed": []'), "'seed'")):
            path.write_text(text)
            self.check_refused(said, "run.json")
            for command in (("report", "out", "-o", "page.html"), ("compare", "other", "out"), ("history", "out")):
                error = self.assay(*command, expect=2).stderr
                self.assertIn("run.json", error)
                self.assertIn(said, error)
                self.assertNotIn("json.exception", error)


class Resume(AssayTest):
    def refused(self, *arguments, code=2):
        return self.assay("run", "--resume", *arguments, expect=code).stderr

    def test_what_a_run_took_is_the_sum_over_its_sessions(self):
        self.assay(*SMALL, "--out", "out")
        first = json.loads((self.folder / "out" / "run.json").read_text())
        self.assay("run", "--resume", "out", "--quiet")
        results = self.folder / "out" / "results.csv"
        results.write_bytes(results.read_bytes()[:-9])
        self.assertIn(" in 3 sessions for 3 trials", self.assay("run", "--resume", "out").stderr)
        run = json.loads((self.folder / "out" / "run.json").read_text())
        sessions = run["sessions"]
        self.assertEqual([s["trials_taken"] for s in sessions], [2, 0, 1])
        self.assertEqual([s["exit_code"] for s in sessions], [0, 0, 0])
        self.assertIn("--quiet", sessions[1]["command_line"])
        self.assertEqual(sessions[0]["wall_s"], first["wall_s"])
        self.assertAlmostEqual(run["wall_s"], sum(s["wall_s"] for s in sessions))
        self.assertAlmostEqual(sum(run["phases_s"].values()), run["wall_s"])
        self.assertEqual(run["trials_taken"], 3)
        self.assertIn(" in 3 sessions", (self.folder / "out" / "summary.md").read_text())
        self.assay("report", "out", "-o", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertIn(" in 3 sessions", page)
        self.assertIn(sessions[1]["started_at"], page)

    def test_a_session_that_was_killed_is_named_and_hides_no_other(self):
        self.assay(*SMALL, "--out", "out")
        results = self.folder / "out" / "results.csv"
        results.write_bytes(results.read_bytes()[:-9])
        hang = subprocess.Popen([ASSAY, "run", "--resume", "out"], cwd=self.folder, stderr=subprocess.DEVNULL)
        run = self.folder / "out" / "run.json"
        while len(json.loads(run.read_text())["sessions"]) < 2:
            time.sleep(0.002)
        hang.kill()
        hang.wait()
        if json.loads(run.read_text())["ended_at"] is not None:
            self.skipTest("it ended before it could be killed")
        self.assertIn(" in 2 of 3 sessions", self.assay("run", "--resume", "out").stderr)
        self.assertEqual([s["wall_s"] is None for s in json.loads(run.read_text())["sessions"]], [False, True, False])

    def test_the_list_of_known_failures_is_the_one_that_the_run_began_with(self):
        def list_of(folder, reason):
            folder.mkdir(exist_ok=True)
            (folder / "known.csv").write_text(
                f"case,reason,owner,expires,device,status\ntensor_ops/exp/f32/n=3,{reason},ann,2999-01-01,,oom\n")
        list_of(self.folder / "here", "rounding")
        list_of(self.folder / "there", "another list")
        faulty = (*SMALL[:-3], "--sim-devices", "1", "--device", "sim", "--check-only",
                  "--sim-fault", "out_of_memory,op=exp", "--expected", "known.csv", "--out", "out")
        subprocess.run([ASSAY, *faulty], cwd=self.folder / "here", check=True, stderr=subprocess.DEVNULL)
        out = self.folder / "here" / "out"
        run = json.loads((out / "run.json").read_text())
        self.assertEqual(run["expected"]["path"], str(self.folder / "here" / "known.csv"))
        self.assertRegex(run["expected"]["crc32"], "^[0-9a-f]{8}$")
        (out / "results.csv").write_bytes((out / "results.csv").read_bytes().split(b"\n")[0] + b"\n")
        resume = [ASSAY, "run", "--resume", str(out)]
        subprocess.run(resume, cwd=self.folder / "there", check=True, stderr=subprocess.DEVNULL)
        self.assertIn("rounding", (out / "results.csv").read_text())
        for change in (lambda known: known.write_text(known.read_text() + "\n"), pathlib.Path.unlink):
            change(self.folder / "here" / "known.csv")
            before = content_of(out)
            refused = subprocess.run(resume, cwd=self.folder / "there", stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("known.csv", refused.stderr)
            self.assertIn("put it back", refused.stderr)
            self.assertEqual(content_of(out), before)

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
        self.assertIn("is gone", self.refused("out", code=3))
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

    def test_run_json_says_what_the_program_ends_with(self):
        """A report that cannot be written at the end: exit 4, and run.json does not say 0."""
        for report in ("summary.md", "junit.xml"):
            with self.subTest(report=report):
                out = self.folder / f"out-{report}"
                process = subprocess.Popen([ASSAY, *SMALL[:-1], "--out", str(out)], cwd=self.folder,
                                           stderr=subprocess.PIPE, text=True)
                while not (out / "summary.md").exists():
                    time.sleep(0.002)
                (out / report).unlink()
                (out / report).mkdir()
                error = process.communicate(timeout=60)[1]
                self.assertEqual(process.returncode, 4, error)
                self.assertIn(report, error)
                # None: it was due to be written in mid-run, which ended there.
                self.assertIn(json.loads((out / "run.json").read_text())["exit_code"], (4, None))

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
