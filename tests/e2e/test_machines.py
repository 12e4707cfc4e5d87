"""`assay machines`: speeds of products, outliers of a fleet, bits that differ, and what cannot be compared."""
import csv
import json
import random
import shutil
import unittest

from support import AssayTest

ADD = "tensor_ops/add/f32/n=1048576"
DTYPES = ("f32", "f16")
CASES = [f"tensor_ops/{op}/{dtype}/n={n}" for dtype in DTYPES for op in ("add", "exp") for n in (1024, 4096, 65536)]


class Machines(AssayTest):
    """Runs are copies of one real run, with other hosts, products, cases and times."""

    real = None

    def setUp(self):
        super().setUp()
        self.random = random.Random(1)
        if Machines.real is None:
            self.assay("run", "--case", ADD, "--device", "cpu", "--no-limits", "--quiet", "--out", "real")
            run = json.loads((self.folder / "real" / "run.json").read_text(encoding="utf-8"))
            devices = (self.folder / "real" / "devices.csv").read_text(encoding="utf-8")
            Machines.real = (run, devices, self.rows("real")[0])
            shutil.rmtree(self.folder / "real")

    def make_run(self, name, product="Example 100", factor=1.0, cases=(), devices=("cuda:0",), **run_json):
        """A run directory on the host of that name. `factor` is a number or a function of case and device. `cases`
        may change rows: a function of a row."""
        run, devices_csv, model = Machines.real
        folder = self.folder / "runs" / name
        folder.mkdir(parents=True)
        run = {**run, "run_id": name, "host": name, **run_json}
        (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
        (folder / "devices.csv").write_text(devices_csv, encoding="utf-8")
        with open(folder / "results.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, model.keys(), lineterminator="\n")
            writer.writeheader()
            for device in devices:
                for at, case in enumerate(CASES):
                    scale = factor(case, device) if callable(factor) else factor
                    time_s = 1e-3 * (1 + at) * scale * (1 + 0.005 * self.random.gauss(0, 1))
                    row = {**model, "run_id": name, "host": name, "case_id": case, "op": case.split("/")[1],
                           "dtype": case.split("/")[2], "device": device, "device_name": product,
                           "time_median_s": repr(time_s), "time_ci_low_s": "", "time_ci_high_s": "",
                           "output_hash": f"{at + 1:016x}"}
                    for change in (cases if isinstance(cases, tuple) else (cases,)):
                        change(row)
                    writer.writerow(row)
        return folder

    def make_products(self):
        """Four products; A100 is the first. T4 is faster in one case."""
        self.make_run("a", "Example A100")
        self.make_run("h", "Example H100", 0.5)
        self.make_run("l", "Example L4", 2)
        self.make_run("t", "Example T4", lambda case, device: 0.5 if case == CASES[3] else 4)

    def make_fleet(self, hosts=12, slow="node05", factor=1.2):
        for i in range(hosts):
            name = f"node{i:02}"
            self.make_run(name, factor=factor if name == slow else 1)

    def machines(self, *options, **more):
        return self.assay("machines", "runs", *options, **more)


class Speeds(Machines):
    def test_products_are_ranked_against_the_first_or_a_named_one(self):
        self.make_products()
        text = self.machines("--csv", "speeds.csv").stdout
        self.assertRegex(text, r"Example H100 is (2\.0|1\.9)\d+× \(.* to .*\) as fast as Example A100 over 12 cases; slower in 0\n")
        self.assertRegex(text, r"Example T4 is 0\.\d+× .* slower in 11\n")
        self.assertRegex(text, r"tensor_ops +f16 +6 +1\. Example H100 .*2\. Example A100 .*3\. Example L4 .*4\. Example T4")
        rows = self.rows(".", "speeds.csv")
        self.assertEqual([row["machine"] for row in rows if not row["suite"]],
                         ["Example H100", "Example A100", "Example L4", "Example T4"])
        self.assertEqual(len(rows), 4 * 3)
        t4 = next(row for row in rows if row["machine"] == "Example T4")
        self.assertEqual((t4["slower"], t4["faster"], t4["most_case_id"]), ("11", "1", CASES[3]))
        for name in ("H100", "example h1", "h", "runs/h", "Example H100"):
            text = self.machines("--baseline", name).stdout
            self.assertRegex(text, r"Example A100 is 0\.(49|50)\d+× .* as fast as Example H100")

    def test_a_product_is_the_median_of_its_machines(self):
        self.make_run("a", "Example A100")
        for i, factor in enumerate((0.1, 0.5, 3)):
            self.make_run(f"h{i}", "Example H100", factor)
        self.assertRegex(self.machines().stdout, r"Example H100 is (2\.0|1\.9)\d+×")

    def test_several_runs_of_a_machine_give_their_median(self):
        self.make_run("a", "Example A100")
        for i, factor in enumerate((0.1, 0.5, 3)):
            self.make_run(f"h{i}", "Example H100", factor, host="h")
        text = self.machines().stdout
        self.assertRegex(text, r"Example H100 +1 +1 +3 +36")
        self.assertRegex(text, r"Example H100 is (2\.0|1\.9)\d+×")

    def test_machines_of_one_product_are_compared_by_their_hosts(self):
        self.make_run("a")
        self.make_run("b", factor=2)
        text = self.machines().stdout
        self.assertRegex(text, r"Example 100 in b is 0\.\d+× .* as fast as Example 100 in a over 12 cases; slower in 12")
        self.assertIn("too few to tell", text)

    def test_selections_and_their_wrong_names(self):
        self.make_products()
        self.assertIn("over 6 cases", self.machines("--filter", "/f16/").stdout)
        self.assertIn("over 12 cases", self.machines("--suite", "tensor_ops", "--device", "cuda").stdout)
        self.assertIn("over 1 case;", self.machines("--case", CASES[0]).stdout)
        for option, value, remedy in (("--suite", "tensorops", "did you mean 'tensor_ops'"),
                                      ("--device", "cuda:1", "did you mean 'cuda:0'"),
                                      ("--case", CASES[0] + "0", f"did you mean '{CASES[0]}'"),
                                      ("--baseline", "B100", "valid: Example A100, Example H100"),
                                      ("--baseline", "Example", "may be any of: Example A100, Example H100"),
                                      ("--filter", "nothing", "selects no case of these 4 runs"),
                                      ("--baselin", "A100", "did you mean '--baseline'"),
                                      ("--baseline", "", "must not be empty")):
            self.assertIn(remedy, self.machines(option, value, expect=2).stderr)

    def test_markdown_and_standard_output(self):
        self.make_products()
        self.machines("--markdown", "report.md")
        text = (self.folder / "report.md").read_text(encoding="utf-8")
        self.assertIn("## Ranking by suite and dtype", text)
        self.assertTrue(self.machines("--csv", "-").stdout.startswith("machine,hosts,baseline,"))
        self.machines("--csv", "one", "--bits", "one", expect=2)

    def test_cases_that_not_all_have_are_counted(self):
        self.make_run("a", "Example A100")
        folder = self.make_run("h", "Example H100", 0.5)
        lines = (folder / "results.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "results.csv").write_text("".join(lines[:5]), encoding="utf-8")
        text = self.machines().stdout
        self.assertIn("over 4 cases", text)
        self.assertIn("4 of 12 timed cases are common to all; fewest has Example H100, with 4", text)

    def test_long_lists_are_cut_unless_all_are_wanted(self):
        self.make_fleet(hosts=24)
        self.assertIn("  and 4 more: --all lists them, --csv FILE has every one", self.machines().stdout)
        self.assertNotIn("more: --all", self.machines("--all").stdout)


class Figures(Machines):
    """Bandwidths, product rates, copies: of real runs here."""

    CASES = {"softmax": "tensor_ops/softmax/f32/rows=4096,cols=1024", "sort": "tensor_ops/sort/f32/n=1048573",
             "f32 products": "linear/f32/batch=64,in=1024,out=1024,bias=1,act=none"}

    def test_figures_of_one_machine_are_traceable(self):
        selection = [word for case in self.CASES.values() for word in ("--case", case)]
        self.assay("run", *selection, "--device", "cpu", "--quiet", "--out", "one")
        text = self.assay("machines", "one", "--figures", "figures.csv").stdout
        self.assertRegex(text, r"\n  softmax +\d\S* [kMGT]?B/s.* +tensor_ops/softmax/f32/")
        self.assertRegex(text, r"\n  layernorm +not run\n")
        figures = {row["figure"]: row for row in self.rows(".", "figures.csv")}
        self.assertEqual(figures["layernorm"]["value"], "")
        rows = {(row["case_id"], row["timing"]): row for row in self.rows("one")}
        for name, case in self.CASES.items():
            figure, row = figures[name], rows[case, "batch"]
            rate = "flops_per_s" if name.endswith("products") else "bandwidth_bytes_per_s"
            self.assertEqual(figure["case_id"], case)
            self.assertEqual((figure["value"], figure["share"], figure["device"], figure["run"]),
                             (row[rate], row["fraction_of_limit"], row["device"], "one"))
        limit = next((row for row in self.rows("one", "limits.csv") if row["limit"] == "memory_copy"), None)
        self.assertEqual(figures["memory copy"]["value"], limit["value"] if limit else "")
        self.assertIn("nothing to compare with", self.assay("machines", "one", expect=3).stderr)

    def test_without_any_figure_a_single_machine_is_exit_3(self):
        self.make_run("a")
        self.machines("--figures", "figures.csv", expect=3)

    def test_machines_stand_side_by_side(self):
        def softmax(row):
            if row["op"] == "exp":
                row.update(op="softmax", bandwidth_bytes_per_s=repr(1e9 / float(row["time_median_s"])), bytes="1e9")
        self.make_run("a", "Example A100", cases=softmax)
        self.make_run("h", "Example H100", 0.5, cases=softmax)
        text = self.machines().stdout
        self.assertRegex(text, r"\n  figure +Example A100 +Example H100 +at the case\n")
        self.assertRegex(text, r"\n  softmax +\d.*B/s +\d.*B/s")
        self.assertRegex(text, r"\n  sort +not run +not run\n")


class Outliers(Machines):
    def test_the_slow_machine_of_a_fleet_is_named_and_can_fail(self):
        self.make_fleet()
        text = self.machines("--outliers", "outliers.csv").stdout
        self.assertIn("Outliers among 12 devices of Example 100: 1\n", text)
        self.assertRegex(text, r"node05 +cuda:0 +\+\d\d\.\d% .*tensor_ops f(16|32), and 1 more +tensor_ops/")
        self.assertIn("1 outlier", text.splitlines()[-1])
        rows = self.rows(".", "outliers.csv")
        self.assertEqual(len(rows), 24)
        self.assertEqual([row["host"] for row in rows if row["outlier"] == "true"], ["node05"] * 2)
        self.assertAlmostEqual(float(rows[0]["time_ratio"]), 1.2, delta=0.02)
        self.machines("--fail-on-outlier", expect=5)
        self.assertIn(": 0\n", self.machines("--margin", 25, "--fail-on-outlier").stdout)

    def test_a_fleet_without_outliers_passes(self):
        self.make_fleet(slow=None)
        self.assertIn("Outliers among 12 devices of Example 100: 0\n", self.machines("--fail-on-outlier").stdout)

    def test_the_slow_device_of_one_machine_is_named(self):
        self.make_run("a", factor=lambda case, device: 1.5 if device == "cuda:3" else 1,
                      devices=[f"cuda:{i}" for i in range(8)])
        self.assertRegex(self.machines("--fail-on-outlier", expect=5).stdout, r"\n +a +cuda:3 +\+")

    def test_too_few_machines_are_no_green_gate(self):
        self.make_fleet(hosts=4)
        self.assertIn("too few devices", self.machines("--fail-on-outlier", expect=3).stderr)

    def test_a_wrong_result_counts_before_an_outlier(self):
        self.make_fleet()
        self.make_run("bad", cases=lambda row: row.update(status="fail", reason="bad") if row["case_id"] == CASES[0] else 0)
        self.machines("--fail-on-outlier", expect=1)


class Bits(Machines):
    def test_bits_that_differ_where_all_pass_have_their_own_table(self):
        def flip(row):
            if row["case_id"] == CASES[0]:
                row["output_hash"] = "00000000000000ff"
        self.make_run("a", "Example A100")
        self.make_run("h1", "Example H100")
        self.make_run("h2", "Example H100", cases=flip)
        text = self.machines("--bits", "bits.csv").stdout
        self.assertIn("Bits that differ where all pass: 1 case\n", text)
        self.assertIn("11 cases left the same bits everywhere", text)
        self.assertIn("1 differ by one implementation on devices of one product", text)
        self.assertRegex(text, r"n=1024 +Example H100 +0{14}ff +1 +h2 cuda:0")
        rows = self.rows(".", "bits.csv")
        self.assertEqual([(row["product"], row["output_hash"][-2:], row["devices"]) for row in rows],
                         [("Example A100", "01", "a cuda:0"), ("Example H100", "01", "h1 cuda:0"),
                          ("Example H100", "ff", "h2 cuda:0")])

    def test_real_runs_have_hashes_that_depend_on_the_seed_alone(self):
        select = ("run", "--case", ADD, "--device", "cpu", "--check-only", "--quiet", "--out")
        self.assay(*select, "one")
        self.assay(*select, "two", "--threads", 1)
        self.assay(*select, "three", "--seed", 2)
        one, two, three = (self.rows(out)[0]["output_hash"] for out in ("one", "two", "three"))
        self.assertRegex(one, "^[0-9a-f]{16}$")
        self.assertEqual(one, two)
        self.assertNotEqual(one, three)

    def test_a_timed_row_has_the_hash_of_a_judged_one(self):
        self.assay("run", "--case", ADD, "--device", "cpu", "--check-only", "--quiet", "--out", "judged")
        self.assertEqual(self.rows("judged")[0]["output_hash"], Machines.real[2]["output_hash"])

    def test_a_wrong_output_has_no_hash(self):
        self.assay("run", "--case", ADD, "--device", "sim", "--sim-devices", 1, "--sim-fault", "low_bit", "--check-only",
                   "--quiet", "--out", "wrong", expect=1)
        self.assertEqual(self.rows("wrong")[0]["output_hash"], "")


class NotComparable(Machines):
    def test_a_single_machine_is_exit_3(self):
        self.make_run("a")
        self.assertIn("nothing to compare with", self.machines(expect=3).stderr)

    def test_the_cpu_and_the_gpu_of_one_run_are_two_machines(self):
        self.make_run("a", devices=("cpu", "cuda:0"),
                      cases=lambda row: row.update(device_name="CPU") if row["device"] == "cpu" else None)
        self.assertIn("Example 100 is ", self.machines().stdout)

    def test_nothing_in_common_is_exit_3(self):
        self.make_run("a", "Example A100")
        self.make_run("h", "Example H100", cases=lambda row: row.update(case_id=row["case_id"] + "0"))
        self.assertIn("no timed case in common", self.machines(expect=3).stderr)

    def test_runs_that_timed_nothing_are_exit_3(self):
        for name in ("a", "b"):
            self.make_run(name, cases=lambda row: row.update(time_median_s="", timing=""))
        self.assertIn("0 of 2 machines have times", self.machines(expect=3).stderr)

    def test_failures_are_listed_and_red(self):
        self.make_run("a", "Example A100")
        for name, status, code in (("wrong", "fail", 1), ("broken", "crash", 4)):
            folder = self.make_run(name, "Example H100",
                                   cases=lambda row, s=status: row.update(status=s, reason="so it goes", time_median_s="")
                                   if row["case_id"] == CASES[2] else None)
            text = self.machines(expect=code).stdout
            self.assertRegex(text, rf"{CASES[2]} +Example H100 in {name} +cuda:0 +{status} +so it goes")
            self.assertIn("over 11 cases", text)
            shutil.rmtree(folder)

    def test_damaged_and_unfinished_runs_are_refused_or_listed(self):
        self.make_run("a", "Example A100")
        self.make_run("h", "Example H100")
        for damage, why in ((self.tear, "results.csv:"), (self.unfinish, "has not ended"), (self.interrupt, "interrupted"),
                            (lambda folder: (folder / "run.json").write_text("{"), "run.json")):
            folder = self.make_run("bad", "Example L4")
            damage(folder)
            said = self.machines(expect=2).stderr
            self.assertIn(why, said)
            self.assertIn("--skip-damaged leaves it out", said)
            text = self.machines("--skip-damaged").stdout
            self.assertIn("Runs left out: 1\n", text)
            self.assertIn(why, text)
            self.assertNotIn("L4", text.split("Speed of")[1])
            shutil.rmtree(folder)

    def tear(self, folder):
        text = (folder / "results.csv").read_text(encoding="utf-8")
        (folder / "results.csv").write_text(text[:-40], encoding="utf-8")

    def edit(self, folder, **changes):
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        (folder / "run.json").write_text(json.dumps({**run, **changes}), encoding="utf-8")

    def unfinish(self, folder):
        self.edit(folder, ended_at=None, interrupted=None, exit_code=None)

    def interrupt(self, folder):
        self.edit(folder, interrupted=True)

    def test_a_run_that_is_there_twice_counts_once(self):
        self.make_run("a", "Example A100")
        self.make_run("h", "Example H100")
        shutil.copytree(self.folder / "runs" / "h", self.folder / "runs" / "again")
        result = self.machines()
        self.assertIn("skipped: runs/h is the run h, as runs/again is", result.stderr)
        self.assertRegex(result.stdout, r"Example H100 +1 +1 +1 +12")

    def test_stand_ins_have_no_speed_unless_asked(self):
        for name in ("a", "b"):
            self.make_run(name, cases=lambda row: row.update(stand_in="simulated"))
        self.assertIn("--stand-ins", self.machines(expect=2).stderr)
        self.assertIn("(stand-in)", self.machines("--stand-ins").stdout)
        self.make_run("c")
        self.make_run("d")
        self.assertIn("24 trials on stand-ins are left out", self.machines().stdout)

    def test_no_run_directory(self):
        (self.folder / "runs").mkdir()
        self.assertIn("holds none", self.machines(expect=2).stderr)
        self.assay("machines", expect=2)


if __name__ == "__main__":
    unittest.main()
