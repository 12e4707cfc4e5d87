"""`assay history`: run directories as series, their changes, and what has no point."""
import csv
import datetime
import json
import random
import shutil
import unittest
import xml.etree.ElementTree

from support import AssayTest

ADD = "tensor_ops/add/f32/n=1048576"
COPY = "tensor_ops/copy/f32/n=1048576"
BEGIN = datetime.datetime(2026, 1, 1)
SVG = "{http://www.w3.org/2000/svg}"


class HistoryTest(AssayTest):
    """Runs are copies of one real run, with other times."""

    real = None

    def setUp(self):
        super().setUp()
        self.random = random.Random(1)
        if HistoryTest.real is None:
            self.assay("run", "--case", ADD, "--case", COPY, "--device", "cpu", "--no-limits", "--quiet", "--out", "real")
            run = json.loads((self.folder / "real" / "run.json").read_text(encoding="utf-8"))
            # In one order always: a disturbed trial comes last, and each row takes its noise in its turn.
            HistoryTest.real = (run, sorted(self.rows("real"), key=lambda row: row["case_id"]))
            shutil.rmtree(self.folder / "real")

    def make_run(self, name, hours, factor, git="aaaaaaaaaaaa", **rest):
        """A run directory whose times are 1 ms times `factor` and 2% of noise. `rest` may change run.json, and
        `case` the row of ADD."""
        case = rest.pop("case", {})
        run, rows = HistoryTest.real
        started = (BEGIN + datetime.timedelta(hours=hours)).isoformat(timespec="milliseconds") + "Z"
        folder = self.folder / "runs" / name
        folder.mkdir(parents=True)
        run = {**run, "run_id": name, "started_at": started, "git_revision": git, "build_id": f"0.1.0 {git} Release", **rest}
        (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
        with open(folder / "results.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            for row in rows:
                time_s = 1e-3 * factor * (1 + 0.02 * self.random.gauss(0, 1))
                changed = case if row["case_id"] == ADD else {}
                writer.writerow({**row, "run_id": name, "time_median_s": repr(time_s), **changed})
        return folder

    def append(self, path, text):
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)

    def edit_run(self, name, **changes):
        path = self.folder / "runs" / name / "run.json"
        run = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**run, **changes}), encoding="utf-8")

    def edit_rows(self, name, **cells):
        rows = self.rows(f"runs/{name}")
        with open(self.folder / "runs" / name / "results.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows({**row, **cells} for row in rows)

    def make_step(self, n=40, at=20, factor=1.1):
        for i in range(n):
            self.make_run(f"r{i:02}", 24 * i, factor if i >= at else 1, git=f"{i:012x}")

    def history(self, *options, **more):
        return self.assay("history", "runs", "--csv", "points.csv", "--changes", "changes.csv", "--svg", "chart.svg",
                          *options, **more)

    def changes(self, case=ADD):
        return [row for row in self.rows(".", "changes.csv") if row["case_id"] == case]


class Changes(HistoryTest):
    def test_a_step_is_found_between_the_right_runs(self):
        self.make_step()
        result = self.history()
        (change,) = self.changes()
        self.assertAlmostEqual(float(change["ratio"]), 1.1, delta=0.03)
        self.assertEqual(change["estimate_run_id"], "r20")
        self.assertLess(change["last_before_run_id"], "r20")
        self.assertGreaterEqual(change["first_after_run_id"], "r20")
        self.assertLessEqual(int(change["first_after_run_id"][1:]) - int(change["last_before_run_id"][1:]), 5)
        self.assertLessEqual(float(change["p"]), 0.01)
        self.assertEqual(change["estimate_git_revision"], f"{20:012x}")
        line = next(line for line in result.stdout.splitlines() if line.startswith(ADD))
        self.assertIn("% slower", line)
        self.assertIn(f"runs/{change['last_before_run_id']} ({change['last_before_git_revision']}) and ", line)
        self.assertIn("40 runs; 2 series, 80 points, 0 gaps", result.stdout)
        self.assertIn("2 changes in 2 of 2 series", result.stdout)
        before, after = change["last_before_run_id"], change["first_after_run_id"]
        self.assertRegex(result.stdout, rf"[12] changes? between runs/{before} and runs/{after}; what else changed there:\n"
                                        rf"(    .*\n)*    git_revision .*\n(    .*\n)*    assay compare runs/{before} runs/{after}\n")
        self.assertIn("machines drift", result.stderr)
        self.assertIn("--reference", result.stderr)
        segments = [row["segment"] for row in self.rows(".", "points.csv") if row["case_id"] == ADD]
        self.assertEqual(segments, ["1"] * 20 + ["2"] * 20)

    def test_the_same_runs_give_the_same_files(self):
        self.make_step()
        texts = []
        for _ in range(2):
            self.history()
            texts.append([(self.folder / name).read_bytes() for name in ("points.csv", "changes.csv", "chart.svg")])
        self.assertEqual(texts[0], texts[1])

    def test_nothing_is_found_in_noise(self):
        self.make_step(factor=1)
        result = self.history()
        self.assertIn("no change found in 2 series", result.stdout)
        self.assertEqual(self.rows(".", "changes.csv"), [])

    def test_runs_are_in_the_order_of_their_start(self):
        for i in range(20):
            self.make_run(f"z{99 - i}", i, 1.2 if i >= 10 else 1)
        self.history()
        (change,) = self.changes()
        self.assertEqual(change["estimate_run_id"], "z89")

    def test_short_series_are_said_to_be_short(self):
        self.make_step(n=9, at=4, factor=2)
        said = self.history().stdout
        self.assertIn("2 series are too short to tell", said)
        self.assertIn("no change found in 0 series", said)
        self.assertEqual(len(self.rows(".", "points.csv")), 18)
        self.assertIn("2 changes in 2 of 2", self.history("--smallest-segment", 4, "--p", "0.05").stdout)

    def test_machines_do_not_mix(self):
        for i in range(24):
            self.make_run(f"r{i}", i, 1 + i % 2, host=f"node{i % 2}")
        self.assertIn("4 series, 48 points", self.history().stdout)
        self.assertEqual(self.rows(".", "changes.csv"), [])

    def test_runs_with_other_settings_do_not_mix(self):
        for i in range(24):
            self.make_run(f"r{i}", i, 1 + i % 2, environment={"OMP_NUM_THREADS": "1"} if i % 2 else {})
        said = self.history().stdout
        self.assertIn("4 series, 48 points", said)
        self.assertIn("runs with other settings are series of their own: none of them; OMP_NUM_THREADS=1\n", said)
        self.assertEqual(self.rows(".", "changes.csv"), [])
        self.assertEqual({row["settings"] for row in self.rows(".", "points.csv")}, {"", "OMP_NUM_THREADS=1"})

    def test_a_chart_for_each_series(self):
        self.make_step()
        said = self.history("--panels", 1).stderr
        self.assertIn("chart.svg has 1 panels; 1 more series have none", said)
        self.history()
        chart = xml.etree.ElementTree.parse(self.folder / "chart.svg").getroot()
        self.assertEqual(chart.tag, SVG + "svg")
        self.assertEqual(len(list(chart.iter(SVG + "g"))), 2)
        self.assertEqual(sum(c.get("class") == "point" for c in chart.iter(SVG + "circle")), 80)
        self.assertEqual(sum(r.get("class") == "range" for r in chart.iter(SVG + "rect")), 2)
        self.assertEqual(sum(r.get("class") == "level" for r in chart.iter(SVG + "line")), 4)
        texts = [text.text for text in chart.iter(SVG + "text")]
        self.assertIn(ADD, texts)
        self.assertIn("time in ms", texts)
        self.assertIn("2026-01-01", texts)


class Reference(HistoryTest):
    def make_drift(self, n=40):
        """The machine has slow and fast weeks; the program is always the same."""
        for i in range(n):
            machine = 1.3 if i // 10 % 2 else 1
            self.make_run(f"r{i:02}", 24 * i, machine)
            self.make_run(f"p{i:02}", 24 * i - 1, machine, git="bbbbbbbbbbbb")

    def test_drift_is_no_change_beside_a_reference(self):
        self.make_drift()
        self.history("--filter", "add")
        self.assertGreater(len(self.changes()), 2, "the machine's")
        said = self.history("--filter", "add", "--reference", "bbbb")
        self.assertEqual(self.changes(), [])
        self.assertIn("80 runs, 40 of them of the reference build; 1 series, 40 points", said.stdout)
        self.assertNotIn("drift", said.stderr)
        for row in self.rows(".", "points.csv"):
            self.assertEqual(row["reference_run_id"], "p" + row["run_id"][1:])
            self.assertAlmostEqual(float(row["value"]), float(row["median_s"]) / float(row["reference_median_s"]))
        self.assertIn("time / reference", (self.folder / "chart.svg").read_text(encoding="utf-8"))
        self.history("--filter", "add", "--reference", "0.1.0 bbbb")  # by the build id
        self.assertEqual(len(self.rows(".", "points.csv")), 40)

    def test_a_change_of_the_program_shows_beside_a_reference(self):
        for i in range(30):
            machine = 1 + 0.02 * i
            self.make_run(f"r{i:02}", 24 * i, machine * (1.1 if i >= 12 else 1))
            self.make_run(f"p{i:02}", 24 * i + 1, machine, git="bbbbbbbbbbbb")
        self.history("--reference", "bbbb")
        (change,) = self.changes()
        self.assertEqual(change["estimate_run_id"], "r12")

    def test_a_run_without_a_reference_is_left_out_and_listed(self):
        for i in range(12):
            self.make_run(f"r{i:02}", 24 * i, 1)
            if i != 5:
                self.make_run(f"p{i:02}", 24 * i + 5, 1, git="bbbbbbbbbbbb")
        said = self.history("--reference", "bbbb").stdout
        self.assertIn(f"no point: r05: {ADD} on cpu: no reference within 6 h\n", said)
        self.assertIn("22 points, 0 gaps, 2 left out", said)
        (row,) = [row for row in self.rows(".", "points.csv") if row["run_id"] == "r05" and row["case_id"] == ADD]
        self.assertEqual((row["value"], row["segment"], row["missing"]), ("", "", "no reference within 6 h"))
        self.assertIn("24 points, 0 gaps, 0 left out", self.history("--reference", "bbbb", "--within", 20).stdout)
        self.assertIn("no series has a point", self.history("--reference", "bbbb", "--within", 4, expect=3).stderr)

    def test_a_wrong_reference_is_none(self):
        self.make_run("r0", 0, 1)
        self.make_run("p0", 1, 1, git="bbbbbbbbbbbb", case={"status": "fail"})
        said = self.history("--reference", "bbbb").stdout
        self.assertIn(f"no point: r0: {ADD} on cpu: no reference", said)
        self.assertIn("2 series, 1 point, 0 gaps", said)

    def test_several_builds_as_one_reference_are_said(self):
        self.make_run("r0", 0, 1)
        self.make_run("p0", 1, 1, git="bbbb11111111")
        self.make_run("p1", 1, 1, git="bbbb22222222")
        self.assertIn("the reference is 2 builds", self.history("--reference", "bbbb").stderr)

    def test_a_build_that_is_not_there_is_a_mistake(self):
        self.make_run("r0", 0, 1)
        said = self.history("--reference", "aaab", expect=2).stderr
        self.assertIn("unknown build 'aaab'", said)
        self.assertIn("aaaaaaaaaaaa", said)
        self.history("--reference", "", expect=2)
        self.history("--within", 3, expect=2)


class Gaps(HistoryTest):
    def test_a_case_that_was_not_right_is_a_gap(self):
        for i in range(12):
            wrong = {"status": "fail", "reason": "3 mismatches"} if i == 7 else {}
            self.make_run(f"r{i:02}", i, 1, case=wrong)
        said = self.history().stdout
        self.assertIn(f"no point: r07: {ADD} on cpu: fail: 3 mismatches\n", said)
        self.assertIn("23 points, 1 gap", said)
        (row,) = [row for row in self.rows(".", "points.csv") if row["missing"]]
        self.assertEqual((row["run_id"], row["value"], row["median_s"]), ("r07", "", ""))
        chart = xml.etree.ElementTree.parse(self.folder / "chart.svg")
        self.assertEqual([line.find(SVG + "title").text for line in chart.iter(SVG + "line") if line.get("class") == "gap"],
                         ["r07 (aaaaaaaaaaaa): fail: 3 mismatches"])

    def test_a_long_list_is_cut_and_counted(self):
        for i in range(30):
            self.make_run(f"r{i:02}", i, 1, case={"status": "fail"})
        said = self.history().stdout
        self.assertEqual(said.count("no point: "), 21)
        self.assertIn("no point: 10 more; --csv lists them all", said)

    def test_a_run_that_did_not_end_is_used_and_said(self):
        self.make_run("r0", 0, 1)
        folder = self.make_run("r1", 1, 1, ended_at=None)
        self.append(folder / "results.csv", "1,torn")
        said = self.history()
        self.assertIn("note: r1 did not end", said.stderr)
        self.assertIn("2 series, 4 points", said.stdout)

    def test_a_directory_counts_once(self):
        self.make_run("r0", 0, 1)
        shutil.copytree(self.folder / "runs" / "r0", self.folder / "runs" / "copy")
        said = self.history("runs/r0")
        self.assertIn("1 run; 2 series, 2 points", said.stdout)
        self.assertIn("is the run r0", said.stderr)


class Mistakes(HistoryTest):
    def test_what_is_no_run_directory(self):
        self.assertIn("DIR", self.assay("history", expect=2).stderr)
        (self.folder / "empty").mkdir()
        for path in ("empty", "nowhere"):
            self.assertIn(f"'{path}'", self.assay("history", path, expect=2).stderr)
        self.make_run("r0", 0, 1)
        self.assertIn("'.'", self.assay("history", ".", expect=2).stderr)  # not deeper

    def test_a_damaged_run_is_named_or_skipped(self):
        self.make_step(n=12, at=6)
        damages = {
            "run.json:": lambda folder: (folder / "run.json").write_text("{"),
            "run.json: cannot be read": lambda folder: (folder / "run.json").unlink(),
            "results.csv: cannot be read": lambda folder: (folder / "results.csv").unlink(),
            "started_at": lambda folder: self.edit_run("r05", started_at="yesterday"),
            "impossible time": lambda folder: self.edit_run("r05", started_at="2026-02-30T00:00:00Z"),
            "build_id": lambda folder: self.edit_run("r05", build_id=None),
            "time_median_s": lambda folder: self.edit_rows("r05", time_median_s="nan"),
            "no header": lambda folder: (folder / "results.csv").write_text(""),
            "r05/results.csv:4": lambda folder: self.append(folder / "results.csv", "1,torn\n"),
        }
        whole = self.folder / "whole"
        shutil.copytree(self.folder / "runs" / "r05", whole)
        for message, damage in damages.items():
            with self.subTest(message):
                damage(self.folder / "runs" / "r05")
                said = self.history(expect=2).stderr
                self.assertIn("r05", said)
                self.assertIn(message, said)
                self.assertIn("--skip-damaged", said)
                result = self.history("--skip-damaged")
                self.assertIn("skipped: ", result.stderr)
                self.assertIn("11 runs; 2 series, 22 points", result.stdout)
                shutil.rmtree(self.folder / "runs" / "r05")
                shutil.copytree(whole, self.folder / "runs" / "r05")

    def test_only_damaged_runs_are_no_history(self):
        folder = self.make_run("r0", 0, 1)
        (folder / "run.json").write_text("{")
        self.assertIn("no run directory could be read", self.history("--skip-damaged", expect=2).stderr)

    def test_nothing_selected(self):
        self.make_run("r0", 0, 1)
        self.assertIn("--filter 'conv'", self.history("--filter", "conv", expect=2).stderr)
        self.assertIn("unknown device 'cuda'", self.history("--device", "cuda", expect=2).stderr)
        self.history("--filter", "(", expect=2)
        self.history("--device", "cpu", "--filter", "add")
        self.assertEqual({row["case_id"] for row in self.rows(".", "points.csv")}, {ADD})

    def test_a_lane_is_selected_by_its_devices(self):
        self.make_run("r0", 0, 1)
        self.edit_rows("r0", device="sim:0>sim:1")
        for device in ("sim", "sim:1", "sim:0>sim:1", "cpu,sim:0"):
            self.history("--device", device, expect=2 if "cpu" in device else 0)
        self.assertIn("unknown device 'sim:2'", self.history("--device", "sim:2", expect=2).stderr)

    def test_no_point_at_all_is_exit_3(self):
        self.make_run("r0", 0, 1)
        self.edit_rows("r0", timing="", time_median_s="")
        self.assertIn("these runs timed nothing", self.history(expect=3).stderr)
        self.make_run("r1", 0, 1)
        self.edit_rows("r1", status="crash", time_median_s="")
        said = self.history(expect=3)
        self.assertIn("crash", said.stdout)
        self.assertIn("no series has a point", said.stderr)

    def test_options_that_can_find_nothing(self):
        self.make_run("r0", 0, 1)
        self.assertIn("at least 99", self.history("--permutations", 98, expect=2).stderr)
        self.assertIn("given for two files", self.assay("history", "runs", "--csv", "a", "--svg", "a", expect=2).stderr)
        for option in (("--p", 0), ("--p", "nan"), ("--smallest-segment", 1), ("--panels", 0), ("--within", -1),
                       ("--within", "nan", "--reference", "a"),
                       ("--permutation", 99)):
            self.history(*option, expect=2)

    def test_it_says_that_it_is_no_gate(self):
        self.assertIn("not a verdict", self.assay("history", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
