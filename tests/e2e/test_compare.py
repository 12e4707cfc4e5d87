"""`assay compare`: two stored runs, what changed, and what is refused."""
import csv
import json
import shutil
import unittest

from support import AssayTest

SELECTION = ("--profile", "seeds", "--suite", "tensor_ops", "--filter", "/(add|exp)/f32/")
CHECK = ("run", *SELECTION, "--device", "cpu", "--check-only", "--quiet")


class Compare(AssayTest):
    def setUp(self):
        super().setUp()
        self.assay(*CHECK, "--out", "base")

    def copy(self, name="cand", of="base"):
        """A run directory to edit."""
        shutil.copytree(self.folder / of, self.folder / name)
        return self.folder / name

    def edit_rows(self, out, edit):
        """Writes results.csv again with `edit(rows)`, a list of dictionaries."""
        rows = self.rows(out)
        names = list(rows[0])
        kept = edit(rows) or rows
        with open(self.folder / out / "results.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept)

    def edit_json(self, out, **values):
        path = self.folder / out / "run.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **values}))

    def edit_device(self, out, **values):
        path = self.folder / out / "devices.csv"
        rows = [{**row, **values} for row in self.rows(out, "devices.csv")]
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def make_timed(self, out, factor=1.0, spread=0.001):
        """Every row gets times, the first ones `factor` longer."""
        def edit(rows):
            for i, row in enumerate(rows):
                median = 1e-6 * (factor if i == 0 else 1)
                row.update(timing="batch", time_median_s=median, time_ci_low_s=median * (1 - spread),
                           time_ci_high_s=median * (1 + spread), contended="false")
        self.edit_rows(out, edit)

    def refused(self, *arguments, base="base", cand="cand"):
        result = self.assay("compare", base, cand, *arguments, expect=2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        return result.stderr


class Correctness(Compare):
    def test_a_run_taken_twice_is_unchanged(self):
        self.assay(*CHECK, "--out", "cand")
        lines = self.assay("compare", "base", "cand").stdout.splitlines()
        count = len(self.rows("base"))
        self.assertEqual(lines[0], "Compared")
        self.assertIn("Environment: no differences", lines)
        self.assertEqual(lines[-1], f"compare: 0 no longer pass, 0 missing, 0 new, 0 mended, 0 pass in neither, "
                                    f"{count} unchanged; 0 of {count} left other bits; no times to compare")

    def test_a_real_fault_is_a_case_that_no_longer_passes(self):
        sim = ("run", *SELECTION, "--device", "sim", "--sim-devices", "1", "--check-only", "--quiet")
        self.assay(*sim, "--out", "right")
        self.assay(*sim, "--sim-fault", "low_bit,op=add", "--out", "wrong", expect=1)
        text = self.assay("compare", "right", "wrong", expect=1).stdout
        self.assertIn("No longer passing:", text)
        self.assertIn("elements wrong", text)
        self.assertIn("Mended:", self.assay("compare", "wrong", "right").stdout)
        self.copy("again", of="wrong")
        self.assertIn("Passing in neither:", self.assay("compare", "wrong", "again").stdout)

    def test_missing_and_new_cases(self):
        self.copy()
        self.edit_rows("cand", lambda rows: rows[1:])
        gone = self.rows("base")[0]["case_id"]
        text = self.assay("compare", "base", "cand", expect=1).stdout
        self.assertIn("Missing in cand: 1\n", text)
        self.assertIn(gone, text)
        self.assertIn("New in cand: 1\n", self.assay("compare", "cand", "base").stdout)

        def break_first(rows):
            rows[0].update(status="fail", reason="seventeen mismatches")
        self.copy("broken")
        self.edit_rows("broken", break_first)
        text = self.assay("compare", "cand", "broken", expect=1).stdout
        self.assertIn("1 new (1 of them bad)", text)
        self.assertIn("seventeen mismatches", text)

    def test_a_known_failure_that_is_still_known_is_no_change(self):
        def accept(rows):
            rows[0].update(status="fail", reason="bad", expected_failure="issue 7 (me, until 2999-01-01)")
        self.copy()
        for out in ("base", "cand"):
            self.edit_rows(out, accept)
        self.assertIn(f"{len(self.rows('base'))} unchanged", self.assay("compare", "base", "cand").stdout)

    def test_long_lists_are_cut_unless_all_are_wanted(self):
        self.copy()

        def multiply(rows):
            return [{**rows[0], "case_id": f"{rows[0]['case_id']},copy={i}"} for i in range(30)]
        self.edit_rows("cand", lambda rows: rows + multiply(rows))
        self.assertIn("  and 10 more: --all", self.assay("compare", "base", "cand").stdout)
        text = self.assay("compare", "base", "cand", "--all").stdout
        self.assertNotIn("more: --all", text)
        self.assertIn(",copy=29", text)

    def test_differences_of_the_environment_come_first(self):
        self.copy()
        self.edit_json("cand", git_revision="elsewhere", environment={"OMP_NUM_THREADS": "1"})
        self.edit_device("cand", runtime="glibc 9", power_limit_w="250", temperature_c="80")
        self.edit_rows("cand", lambda rows: rows[1:])
        text = self.assay("compare", "base", "cand", expect=1).stdout
        for line in (r"git_revision +\S+ +elsewhere", "OMP_NUM_THREADS +1", "cpu runtime +.*glibc 9",
                     "cpu power_limit_w +250"):
            self.assertRegex(text, line)
        self.assertNotIn("temperature", text)
        self.assertLess(text.index("Environment differences"), text.index("Missing in cand"))

    def test_nothing_in_common_is_exit_3(self):
        self.assay("run", *SELECTION, "--device", "sim", "--sim-devices", "1", "--check-only", "--quiet", "--out", "cand")
        result = self.assay("compare", "base", "cand", expect=3)
        self.assertIn("no judged trial in common", result.stderr)

    def test_a_missing_pass_counts_before_common_skips(self):
        self.copy()
        self.edit_rows("cand", lambda rows: [{**rows[0], "status": "skip"}])
        self.edit_rows("base", lambda rows: [{**rows[0], "status": "skip"}, rows[1]])
        self.assay("compare", "base", "cand", expect=1)

    def test_times_are_those_of_the_rows(self):
        one = ("run", "--case", "tensor_ops/add/f32/n=1003", "--device", "cpu", "--no-limits", "--quiet")
        self.assay(*one, "--out", "a")
        self.assay(*one, "--repeat", "2", "--out", "b")
        self.assay("compare", "a", "b", "--csv", "out.csv")
        (row,) = self.rows(".", "out.csv")
        (a,), b = self.rows("a"), self.rows("b")
        self.assertEqual((row["base_time_median_s"], row["base_repeats"], row["cand_repeats"]),
                         (a["time_median_s"], "1", "2"))
        medians = [float(r["time_median_s"]) for r in b]
        self.assertAlmostEqual(float(row["cand_time_median_s"]), sum(medians) / 2, delta=1e-15)
        self.assertAlmostEqual(float(row["ratio"]), float(row["cand_time_median_s"]) / float(a["time_median_s"]))
        self.assertEqual(float(row["cand_time_ci_high_s"]),
                         max(float(r[c]) for r in b for c in ("time_ci_high_s", "time_median_s")))


class Suspects(Compare):
    def setUp(self):
        super().setUp()
        self.copy()
        self.make_timed("base")
        self.make_timed("cand", factor=1.2)

    def test_are_no_verdict_unless_they_shall_fail(self):
        text = self.assay("compare", "base", "cand").stdout
        slow = self.rows("base")[0]["case_id"]
        self.assertIn("Suspects, slower: 1\n", text)
        self.assertIn("no verdicts", text)
        self.assertIn(f"assay ab --base BASE_ASSAY --cand CAND_ASSAY --device cpu --case {slow}\n", text)
        self.assertEqual(self.assay("compare", "base", "cand", "--fail-on-suspect", expect=5).stdout, text)
        self.assertIn("Faster: 1\n", self.assay("compare", "cand", "base", "--fail-on-suspect").stdout)

    def test_the_margin_decides(self):
        self.assay("compare", "base", "cand", "--fail-on-suspect", "--margin", "19", expect=5)
        self.assay("compare", "base", "cand", "--fail-on-suspect", "--margin", "25")

    def test_wrong_comes_before_slow(self):
        self.edit_rows("cand", lambda rows: rows[:-1])
        self.assay("compare", "base", "cand", "--fail-on-suspect", expect=1)

    def test_what_stood_for_a_device_has_no_speed(self):
        for out in ("base", "cand"):
            self.edit_rows(out, lambda rows: [row.update(stand_in="simulated") for row in rows] and rows)
        text = self.assay("compare", "base", "cand", "--fail-on-suspect").stdout
        self.assertIn("no times to compare", text)

    def test_csv_and_markdown(self):
        self.assay("compare", "base", "cand", "--csv", "out.csv", "--markdown", "out.md")
        rows = self.rows(".", "out.csv")
        self.assertEqual([row["case_id"] for row in rows], [row["case_id"] for row in self.rows("base")])
        first = rows[0]
        self.assertEqual((first["change"], first["speed"], first["base_status"]), ("unchanged", "slower", "pass"))
        self.assertAlmostEqual(float(first["ratio"]), 1.2)
        self.assertAlmostEqual(float(first["ratio_low"]), 1.2 * 0.999 / 1.001)
        self.assertAlmostEqual(float(first["ratio_high"]), 1.2 * 1.001 / 0.999)
        self.assertEqual({row["speed"] for row in rows[1:]}, {"within"})
        markdown = (self.folder / "out.md").read_text()
        self.assertIn("## Suspects, slower: 1", markdown)
        self.assertIn("| 1.200 |", markdown)
        for option in ("--csv", "--markdown"):
            file = {"--csv": "out.csv", "--markdown": "out.md"}[option]
            self.assertIn("exists already", self.refused(option, file))
        self.assertEqual((self.folder / "out.md").read_text(), markdown)


class Hardware(Compare):
    def setUp(self):
        super().setUp()
        self.copy()
        self.make_timed("base")
        self.make_timed("cand", factor=3)
        self.edit_device("cand", name="Another CPU")

    def test_is_refused_unless_machines_are_compared(self):
        why = self.refused()
        self.assertIn("different hardware: cpu name is ", why)
        self.assertIn("--hardware", why)

    def test_machines_get_ratios_and_no_verdict(self):
        text = self.assay("compare", "base", "cand", "--hardware", "--csv", "out.csv").stdout
        self.assertIn("Time of cand / base, by op", text)
        self.assertIn("3.000", text)
        self.assertNotIn("uspect", text)
        self.assertEqual({row["speed"] for row in self.rows(".", "out.csv")}, {""})

    def test_right_and_wrong_still_decide(self):
        self.edit_rows("cand", lambda rows: rows[1:])
        self.assay("compare", "base", "cand", "--hardware", expect=1)

    def test_nothing_can_be_suspected(self):
        self.assertIn("--fail-on-suspect", self.refused("--hardware", "--fail-on-suspect"))

    def test_the_only_device_of_a_backend_has_its_counterpart(self):
        self.edit_device("cand", device="cpu:other")
        self.edit_rows("cand", lambda rows: [row.update(device="cpu:other") for row in rows] and rows)
        self.assay("compare", "base", "cand", expect=3)
        text = self.assay("compare", "base", "cand", "--hardware").stdout
        self.assertIn("cpu / cpu:other batch", text)


class Refusals(Compare):
    def setUp(self):
        super().setUp()
        self.copy()

    def test_what_is_no_run_directory(self):
        self.assertIn("'nowhere' is not a directory", self.refused(cand="nowhere"))
        (self.folder / "empty").mkdir()
        self.assertIn("has no run.json; give what 'assay run' wrote", self.refused(base="empty"))
        for file in ("devices.csv", "results.csv"):
            self.copy("part")
            (self.folder / "part" / file).unlink()
            self.assertIn(f"it has no {file}", self.refused(cand="part"))
            shutil.rmtree(self.folder / "part")

    def test_one_directory_twice(self):
        (self.folder / "link").symlink_to("base")
        for cand in ("base", "./base", "link"):
            self.assertIn("are the same directory", self.refused(cand=cand))

    def test_a_run_that_did_not_end(self):
        self.edit_json("cand", ended_at=None, interrupted=None, exit_code=None)
        for sides in ({}, {"base": "cand", "cand": "base"}):
            self.assertIn("has not ended: it goes on, or was killed; complete it: assay run --resume cand",
                          self.refused(**sides))

    def test_an_interrupted_run(self):
        self.edit_json("cand", interrupted=True)
        for sides in ({}, {"base": "cand", "cand": "base"}):
            self.assertIn("was interrupted; complete it: assay run --resume cand", self.refused(**sides))

    def test_malformed_rows(self):
        path = self.folder / "cand" / "results.csv"
        text = path.read_text()
        lines = len(text.splitlines())
        path.write_text(text + "1,torn")
        self.assertIn(f"cand/results.csv:{lines + 1}:3: 2 fields where the header has", self.refused())
        path.write_text(text + '1,"torn')
        self.assertIn("never closed", self.refused())
        path.write_text(text.replace(",pass,", ",passed,", 1))
        self.assertIn("unknown status 'passed'", self.refused())
        path.write_text("")
        self.assertIn("cand/results.csv:1:1: no header", self.refused())

    def test_a_key_that_is_there_twice(self):
        self.edit_rows("cand", lambda rows: rows + rows[:1])
        self.assertIn("a second row of ", self.refused())

    def test_a_newer_schema(self):
        self.edit_rows("cand", lambda rows: [{**row, "schema_version": 2} for row in rows])
        self.assertIn("schema version 2, and this build of assay reads up to 1; read it with a newer one",
                      self.refused())

    def test_a_newer_schema_of_the_run(self):
        self.edit_json("cand", schema=2)
        self.assertIn("read it with a newer one", self.refused())

    def test_a_base_without_a_pass(self):
        self.edit_rows("base", lambda rows: [{**row, "status": "fail"} for row in rows])
        self.assertIn("BASE 'base' has no trial that passed", self.refused())
        self.assay("compare", "cand", "base", expect=1)

    def test_a_header_without_rows(self):
        path = self.folder / "base" / "results.csv"
        path.write_text(path.read_text().splitlines()[0] + "\n")
        self.assertIn("has no trial that passed", self.refused())
        self.assay("compare", "cand", "base", expect=3)

    def test_mistakes_of_the_call(self):
        self.assertIn("CAND", self.assay("compare", "base", expect=2).stderr)
        for margin in ("-1", "nan", "inf", "2000", "x"):
            self.refused(f"--margin={margin}")
        self.assertIn("--hardware", self.refused("--hardwar"))


if __name__ == "__main__":
    unittest.main()
