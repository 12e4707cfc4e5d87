"""assay_gtest and assay_gbench: their XML and JSON as other tools read them, and exit codes that are Assay's."""
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree

from support import ASSAY, AssayTest, children_of, is_gone

GTEST = str(pathlib.Path(ASSAY).with_name("assay_gtest"))
GBENCH = str(pathlib.Path(ASSAY).with_name("assay_gbench"))
SIM = ("--profile", "seeds", "--sim-devices", "2", "--device", "sim")
TIMED_SIM = (*SIM, "--stand-ins")
ADDS = (*SIM, "--suite", "tensor_ops", "--filter", "add/f32")
LINEAR = "linear/f32/batch=16,in=64,out=33,bias=1,act=relu"
ONE_ADD = ("--profile", "seeds", "--sim-devices", "1", "--device", "sim", "--case", "tensor_ops/add/f32/n=4096")
TIMED_ADD = (*ONE_ADD, "--stand-ins")
SKIPPED = ("--case", "allreduce/f32/reduce=sum,ranks=4,count=1", "--sim-devices", "1", "--device", "sim")


class Adapter(AssayTest):
    def call(self, program, *arguments, expect=0, **environment):
        result = subprocess.run([program, *map(str, arguments)], cwd=self.folder, text=True, timeout=1500,
                                stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, **environment})
        self.assertEqual(result.returncode, expect, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def on_a_full_disk(self, program, *arguments, expect):
        """No file may grow beyond a KiB, and a write that fails is an error, no signal."""
        return self.call("bash", "-c", 'trap "" XFSZ; ulimit -f 1; exec "$0" "$@"', program, *arguments, expect=expect)

    def usage_errors(self, program, prefix, flags):
        """Each of these is exit code 2, decided before anything runs. The library may warn before the line that says why."""
        for flag, said in flags.items():
            with self.subTest(flag):
                result = self.call(program, *flag.split(), expect=2)
                self.assertIn(said, result.stderr.splitlines()[-1])
        self.assertIn(f"{prefix}filter", self.call(program, "--help").stdout)
        self.assertIn("Examples:", self.call(program, "--help").stdout)
        self.assertRegex(self.call(program, "--version").stdout, r"^assay_g\w+ \d")

    def interrupt(self, program, *arguments):
        """Ctrl-C while the first trial hangs."""
        struck = self.folder / "struck"
        process = subprocess.Popen([program, *map(str, arguments), "--sim-fault", "hang,op=add,marker=struck"], text=True,
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 30
        while not struck.exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        workers = children_of(process.pid)
        self.assertEqual(len(workers), 1)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 4, error)
        self.assertIn("interrupted by signal 2", error)
        while not all(map(is_gone, workers)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        struck.unlink()


class Gtest(Adapter):
    def gtest(self, *arguments, **options):
        return self.call(GTEST, *arguments, **options)

    def names(self, *arguments, **options):
        """LANE.CASE of each test, as ctest and Bazel read the list."""
        names, lane = [], None
        for line in self.gtest(*arguments, "--gtest_list_tests", **options).stdout.splitlines():
            if line.startswith("  "):
                names.append(lane + line.strip())
            else:
                lane = line
        return names

    def cases(self, file="out.xml"):
        root = ElementTree.parse(self.folder / file).getroot()
        return {f"{case.get('classname')}.{case.get('name')}": case for case in root.iter("testcase")}

    @staticmethod
    def properties(case):
        return {p.get("name"): p.get("value") for p in case.iter("property")}

    def test_every_trial_is_a_test(self):
        trials = self.trials("--profile", "smoke", "--sim-devices", "2", "--device", "cpu,sim")
        names = self.names("--sim-devices", "2", "--device", "cpu,sim")
        self.assertEqual(sorted(names), sorted(f"{self.lane(t['device'])}.{t['case_id']}" for t in trials))
        self.assertEqual(len(set(names)), len(names))
        self.assertIn("sim0_to_sim1", {name.split(".")[0] for name in names})

    @staticmethod
    def lane(text):
        return text.replace(":", "").replace("<>", "_swap_").replace(">", "_to_").replace("+", "_with_")

    def test_xml_of_what_passes(self):
        self.gtest("--device", "cpu", "--gtest_filter=cpu.linear/bf16/batch=16*", "--gtest_output=xml:out.xml", "--seed", "7")
        cases = self.cases()
        self.assertEqual(set(cases), set(n for n in self.names("--device", "cpu") if n.startswith("cpu.linear/bf16/batch=16")))
        for name, case in cases.items():
            self.assertEqual((case.get("status"), case.get("result")), ("run", "completed"))
            properties = self.properties(case)
            self.assertEqual(properties["verdict"], "pass")
            self.assertEqual(f"cpu.{properties['case_id']}", name)
            self.assertEqual(properties["seed"], "7")
            self.assertRegex(properties["implementation"], "oneDNN|VDPBF16PS")
            self.assertLessEqual(float(properties["max_bound_ratio"]), 1)
            self.assertIn("oracle", properties)
            replayed = self.assay(*properties["replay"].split()[1:])
            self.assertIn("PASSED: ", replayed.stderr)

    def test_json_too(self):
        self.gtest(*ADDS, "--gtest_filter=sim1.*", "--gtest_output=json:out.json")
        report = json.loads((self.folder / "out.json").read_text())
        self.assertGreater(report["tests"], 0)
        for test in report["testsuites"][0]["testsuite"]:
            self.assertEqual((test["verdict"], test["device_uuid"]), ("pass", "SIM-1"))

    def test_a_wrong_result_fails_its_test_with_where_and_how_to_see_it_again(self):
        self.gtest(*ADDS, "--sim-fault", "low_bit,op=add,device=1", "--gtest_output=xml:out.xml", expect=1)
        cases = self.cases()
        failed = {name for name, case in cases.items() if case.find("failure") is not None}
        self.assertTrue(failed)
        self.assertEqual({name.split(".")[0] for name in failed}, {"sim1"})
        case = cases["sim1.tensor_ops/add/f32/n=1003"]
        text = case.find("failure").text
        for part in ("1 of 1003 elements wrong", "worst index: 501", "expected: ", "actual: ",
                     "replay: assay run --case tensor_ops/add/f32/n=1003 --device sim:1"):
            self.assertIn(part, text)
        self.assertEqual(self.properties(case)["verdict"], "fail")
        replay = text.split("replay: ")[1].splitlines()[0]
        subprocess.run([ASSAY, *replay.split()[1:]], cwd=self.folder, capture_output=True, check=False)
        self.assertNotIn(str(pathlib.Path(__file__).parents[2]), (self.folder / "out.xml").read_text())

    def test_a_crash_fails_one_test_and_the_report_is_whole(self):
        self.gtest(*ADDS, "--sim-fault", "abort,op=add,marker=struck", "--gtest_output=xml:out.xml", expect=4)
        cases = self.cases()
        failures = [case.find("failure").text for case in cases.values() if case.find("failure") is not None]
        self.assertEqual(len(failures), 1)
        self.assertIn("crash: the worker ended: signal 6", failures[0])
        self.assertEqual(set(cases), set(self.names(*ADDS)))

    def test_a_hang_is_a_timeout(self):
        self.gtest(*ADDS, "--sim-fault", "hang,op=add,marker=struck", "--timeout", "2", "--gtest_output=xml:out.xml", expect=4)
        verdicts = [self.properties(case)["verdict"] for case in self.cases().values()]
        self.assertEqual((verdicts.count("timeout"), verdicts.count("pass")), (1, len(verdicts) - 1))

    def test_a_report_that_a_full_disk_cuts_off_is_not_green(self):
        for form in ("xml", "json"):
            result = self.on_a_full_disk(GTEST, *ADDS, f"--gtest_output={form}:out.{form}", expect=4)
            self.assertIn(f"out.{form} is incomplete", result.stderr)
        fault = ("--sim-fault", "low_bit,op=add")
        self.on_a_full_disk(GTEST, *ADDS, *fault, "--gtest_output=xml:wrong.xml", expect=1)
        self.gtest(*ONE_ADD, "--gtest_output=xml:/dev/stdout")

    def test_wrong_goes_before_broken(self):
        faults = ("--sim-fault", "low_bit,op=add,device=0", "--sim-fault", "abort,op=add,device=1")
        self.gtest(*ADDS, *faults, expect=1)

    def test_skips_are_skips_and_alone_are_exit_3(self):
        result = self.gtest(*SKIPPED, "--gtest_output=xml:out.xml", expect=3)
        self.assertIn("nothing ran", result.stderr)
        skip = next(iter(self.cases().values())).find("skipped")
        self.assertIn("too few devices: 4 ranks on 1 sim", skip.text)
        self.gtest(*SKIPPED, "--case", "tensor_ops/add/f32/n=3", "--gtest_output=xml:out.xml")
        self.assertEqual(sum(case.find("skipped") is not None for case in self.cases().values()), 1)

    def test_a_filter_that_matches_nothing_is_exit_3(self):
        self.gtest(*ADDS, "--gtest_filter=linear*", expect=3)
        self.gtest(*ADDS, GTEST_FILTER="linear*", expect=3)
        self.gtest(*ADDS, "--gtest_repeat=0", expect=3)
        self.assertEqual(self.names(*ADDS, "--gtest_filter=linear*"), [])  # a list of nothing is a list

    def test_an_absent_device_is_exit_3_and_an_empty_selection_is_exit_2(self):
        self.gtest("--device", "sim:3", expect=3)
        self.gtest("--require", "cuda:1000", expect=3)
        self.gtest("--filter", "nothing_is_called_so", expect=2)

    def test_usage_errors(self):
        self.usage_errors(GTEST, "--gtest_", {
            "--gtest_fliter=x": "GoogleTest does not understand '--gtest_fliter=x'",
            "--gtest_flagfile=x": "not supported",
            "--gtest_output=yaml": "must be xml[:PATH] or json[:PATH], not 'yaml'",
            "--gtest_repeat=often": "does not understand '--gtest_repeat=often'",
            "--gtest_filter": "does not understand '--gtest_filter'",
            "--fliter x": "did you mean '--filter'",
            "--benchmark_filter=x": "unknown option '--benchmark_filter'",
            "--suite lineer": "did you mean 'linear'",
            "word": "see 'assay_gtest --help'"})
        self.gtest("--device", "cpu", expect=2, GTEST_OUTPUT="yaml")

    def test_a_report_that_cannot_be_written_is_said_before_anything_runs(self):
        error = self.gtest(*ADDS, "--gtest_output=xml:/proc/out.xml", expect=4).stderr
        self.assertIn("cannot write /proc/out.xml", error)

    def test_repeats_are_trials_of_their_own(self):
        printed = self.gtest(*ADDS, "--gtest_repeat=2", "--gtest_shuffle", "--gtest_output=xml:out.xml").stdout
        self.assertEqual(printed.count("[  PASSED  ]"), 2)
        self.assertEqual({self.properties(case)["repeat"] for case in self.cases().values()}, {"2"})

    def test_shards_are_disjoint_and_complete(self):
        ran = []
        for i in range(3):
            self.gtest(*ADDS, "--gtest_output=xml:out.xml", GTEST_TOTAL_SHARDS="3", GTEST_SHARD_INDEX=str(i))
            ran += [name for name, case in self.cases().items() if case.get("status") == "run"]
        self.assertEqual(sorted(ran), sorted(self.names(*ADDS)))

    def test_one_run_at_a_time_on_a_device(self):
        holder = subprocess.Popen([GTEST, "--case", "tensor_ops/add/f32/n=3", "--sim-devices", "1", "--device", "sim",
                                   "--sim-fault", "hang", "--timeout", "4"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.kill)
        for line in holder.stdout:
            if "RUN" in line:
                break
        else:
            self.fail("it ended early")
        self.assertIn("SIM-0 is held by another run", self.gtest(*ADDS, expect=4).stderr)
        self.gtest(*ADDS, "--gtest_list_tests")  # runs nothing, so needs no device for itself
        self.gtest(*ADDS, "--wait")
        self.assertEqual(holder.wait(timeout=30), 4)
        holder.stdout.close()

    def test_ctrl_c_leaves_a_whole_report(self):
        for repeat in ("1", "-1"):
            with self.subTest(repeat=repeat):
                self.interrupt(GTEST, *ADDS, f"--gtest_repeat={repeat}", "--gtest_output=xml:out.xml")
                cases = self.cases()
                failures = [case.find("failure").text for case in cases.values() if case.find("failure") is not None]
                self.assertIn("interrupted by signal 2", "".join(failures))
                self.assertEqual(sum(case.find("skipped") is not None for case in cases.values()), len(cases) - 1)


class Gbench(Adapter):
    def gbench(self, *arguments, **options):
        return self.call(GBENCH, *arguments, **options)

    def benchmarks(self, *arguments, **options):
        report = json.loads(self.gbench(*arguments, "--benchmark_format=json", **options).stdout)
        return report["benchmarks"], report["context"]

    def test_fields_that_trackers_read(self):
        found, context = self.benchmarks("--profile", "smoke", "--device", "cpu", "--case", LINEAR, "--seed", "5")
        self.assertEqual(len(found), 1)
        b = found[0]
        # The name and run_name, run_type, time_unit, real_time and cpu_time of github-action-benchmark, Bencher and
        # the library's own compare.py.
        self.assertEqual(b["name"], f"cpu/{LINEAR}/iterations:1/manual_time")
        self.assertEqual(b["run_name"], b["name"])
        self.assertEqual((b["run_type"], b["repetitions"], b["repetition_index"], b["iterations"], b["threads"]),
                         ("iteration", 1, 0, 1, 1))
        self.assertEqual(b["time_unit"], "ns")
        self.assertIsInstance(b["cpu_time"], float)
        self.assertNotIn("error_occurred", b)
        self.assertIn("oneDNN", b["label"])
        # Ours, in its units.
        seconds = b["real_time"] * 1e-9
        self.assertLessEqual(b["time_min_s"], seconds * (1 + 1e-9))
        self.assertLessEqual(b["time_ci_low_s"], seconds * (1 + 1e-9))
        self.assertGreaterEqual(b["time_ci_high_s"], seconds * (1 - 1e-9))
        self.assertGreaterEqual(b["samples"], 1)
        self.assertAlmostEqual(b["flops_per_second"] * seconds, 16 * 33 * (2 * 64 + 1), delta=16 * 33 * 64)
        rate = b["bytes_per_second"] * seconds
        self.assertTrue(4 * (16 * 64 + 64 * 33 + 16 * 33) <= rate + 1e-3 and rate < 1e5, rate)
        self.assertEqual((context["assay_seed"], context["assay_profile"]), ("5", "smoke"))
        self.assertEqual(context["executable"], GBENCH)
        for key in ("assay_version", "assay_git_revision", "assay_cpu", "date", "host_name", "num_cpus"):
            self.assertIn(key, context)

    def spied(self, *arguments, **environment):
        """The benchmarks, and the records that the worker gave: a copy of the program stands beside an `assay` that
        notes what its worker says."""
        spy = self.folder / "bin" / "assay"
        spy.parent.mkdir()
        shutil.copy(GBENCH, spy.parent)
        spy.write_text('#!/bin/bash\nwords=("$@")\n'
                       'for i in "${!words[@]}"; do [[ ${words[i]} != --parent ]] || words[i + 1]=$$; done\n'
                       f'"{ASSAY}" "${{words[@]}}" | tee -a said\n')
        spy.chmod(0o755)
        result = self.call(str(spy.with_name("assay_gbench")), *arguments, "--benchmark_format=json", **environment)
        said = [json.loads(line) for line in (self.folder / "said").read_text().splitlines()]
        return json.loads(result.stdout)["benchmarks"], [m["record"] for m in said if "record" in m], result.stderr

    def test_the_time_is_the_median_that_the_worker_measured(self):
        found, records, _ = self.spied(*TIMED_ADD, "--benchmark_repetitions=2")
        single = [b for b in found if b["run_type"] == "iteration"]
        self.assertEqual((len(single), len(records)), (2, 2))
        for record, b in zip(records, single):
            self.assertAlmostEqual(b["real_time"], record["time_median_s"] * 1e9, delta=1e-9 * b["real_time"])
            for counter in ("samples", "time_min_s", "time_ci_low_s", "time_ci_high_s"):
                self.assertEqual(b[counter], record[counter])
            self.assertEqual(b["label"], record["implementation"])

    def test_how_long_is_measured_is_the_samplers_business(self):
        flags = ("--benchmark_min_time=60", "--benchmark_min_warmup_time=60")
        found, records, error = self.spied(*TIMED_ADD, *flags, BENCHMARK_MIN_WARMUP_TIME="60")
        self.assertEqual((len(found), len(records)), (1, 1), "no trial but the one that is reported")
        self.assertEqual(error.count("has no effect"), 2)

    def test_repetitions_are_trials_and_aggregates_are_over_them(self):
        found, _ = self.benchmarks(*TIMED_ADD, "--benchmark_repetitions=3")
        single = [b for b in found if b["run_type"] == "iteration"]
        self.assertEqual([b["repetition_index"] for b in single], [0, 1, 2])
        times = [b["real_time"] for b in single]
        aggregates = {b["aggregate_name"]: b for b in found if b["run_type"] == "aggregate"}
        self.assertEqual(set(aggregates), {"mean", "median", "stddev", "cv"})
        for name, value in (("mean", statistics.mean(times)), ("median", statistics.median(times)),
                            ("stddev", statistics.stdev(times)),
                            ("cv", statistics.stdev(times) / statistics.mean(times))):
            a = aggregates[name]
            self.assertEqual((a["name"], a["run_name"]), (f"{single[0]['name']}_{name}", single[0]["run_name"]))
            self.assertEqual((a["repetitions"], a["iterations"]), (3, 3))
            self.assertAlmostEqual(a["real_time"], value, delta=1e-6 * max(times))

    def test_the_file_and_its_formats(self):
        self.gbench(*TIMED_SIM, "--case", "tensor_ops/add/f32/n=4096", "--benchmark_out=out.json", "--benchmark_counters_tabular")
        report = json.loads((self.folder / "out.json").read_text())
        self.assertEqual([b["name"].split("/")[0] for b in report["benchmarks"]], ["sim0", "sim1"])
        self.assertEqual((report["context"]["assay_sim1_uuid"], report["context"]["assay_sim1"]),
                         ("SIM-1", "simulated device 1 (no hardware)"))
        error = self.gbench(*TIMED_SIM, "--benchmark_out=nowhere/out.json", expect=4).stderr
        self.assertIn("cannot write nowhere/out.json", error)

    def test_filters_and_lists(self):
        timed = [t for t in self.trials("--profile", "smoke", "--device", "cpu") if t["timing"]]
        listed = self.gbench("--profile", "smoke", "--device", "cpu", "--benchmark_list_tests").stdout.splitlines()
        self.assertEqual(listed, [f"cpu/{t['case_id']}/iterations:1/manual_time" for t in timed])
        some = self.gbench("--profile", "smoke", "--device", "cpu", "--benchmark_list_tests=true",
                           "--benchmark_filter=^cpu/(linear|tensor_ops/add)/f32").stdout.splitlines()
        self.assertEqual(some, [n for n in listed if n.startswith(("cpu/linear/f32", "cpu/tensor_ops/add/f32"))])
        self.assertTrue(some)

    def test_cold_and_batch_are_two(self):
        found, _ = self.benchmarks(*TIMED_ADD, "--timing", "cold,batch")
        self.assertEqual(sorted(b["name"] for b in found),
                         [f"sim0/{w}tensor_ops/add/f32/n=4096/iterations:1/manual_time" for w in ("cold/", "")])

    def test_a_wrong_result_is_an_error_and_never_a_time(self):
        found, _ = self.benchmarks(*TIMED_SIM, "--case", "tensor_ops/add/f32/n=4096", "--sim-fault", "low_bit,op=add,device=0", expect=1)
        wrong, right = found
        self.assertTrue(wrong["error_occurred"])
        self.assertIn("fail: ", wrong["error_message"])
        self.assertIn("replay: assay run --case tensor_ops/add/f32/n=4096 --device sim:0", wrong["error_message"])
        self.assertEqual((wrong["real_time"], wrong["iterations"]), (0, 0))
        self.assertNotIn("bytes_per_second", wrong)
        self.assertNotIn("error_occurred", right)
        self.assertGreater(right["real_time"], 0)

    def test_wrong_only_while_timed_is_wrong(self):
        found, _ = self.benchmarks(*TIMED_ADD, "--sim-fault", "wrong_while_timed,op=add", expect=1)
        self.assertTrue(found[0]["error_occurred"])

    def test_a_crash_is_one_error_in_a_whole_file(self):
        found, _ = self.benchmarks(*TIMED_SIM, "--case", "tensor_ops/add/f32/n=4096", "--case", "tensor_ops/sub/f32/n=4096",
                                   "--sim-fault", "abort,op=add,device=0", expect=4)
        self.assertEqual([b.get("error_occurred", False) for b in found], [True, False, False, False])
        self.assertIn("crash: the worker ended: signal 6", found[0]["error_message"])

    def test_nothing_ran_is_exit_3(self):
        self.assertIn("nothing ran", self.gbench(*TIMED_ADD, "--benchmark_filter=linear", expect=3).stderr)
        self.gbench("--device", "sim:3", expect=3)
        self.assertIn("too few devices", self.gbench(*SKIPPED, "--stand-ins", expect=3).stderr)

    def test_a_report_that_a_full_disk_cuts_off_is_not_green(self):
        result = self.on_a_full_disk(GBENCH, *TIMED_ADD, "--benchmark_out=out.json", expect=4)
        self.assertIn("out.json is incomplete", result.stderr)
        self.gbench(*TIMED_ADD, "--benchmark_out=out.json")
        self.gbench(*TIMED_ADD, "--benchmark_out=/dev/null")

    def test_what_cannot_run_or_is_too_small_is_left_out_and_said(self):
        result = self.gbench(*SKIPPED, "--stand-ins", "--case", "tensor_ops/add/f32/n=4096", "--benchmark_format=json")
        self.assertEqual(len(json.loads(result.stdout)["benchmarks"]), 1)
        self.assertIn("1 trials cannot run here", result.stderr)
        self.assertIn("too small to be timed", self.gbench(*ADDS[:-1], "add/f32/n=1$", expect=2).stderr)

    def test_usage_errors(self):
        self.usage_errors(GBENCH, "--benchmark_", {
            "--benchmark_fitler=x": "Google Benchmark does not understand '--benchmark_fitler=x'",
            "--benchmark_format=xml": "Google Benchmark refuses a value",
            "--check-only": "unknown option",
            "--gtest_filter=x": "unknown option '--gtest_filter'",
            "--suite lineer": "did you mean 'linear'"})
        self.gbench("--device", "cpu", expect=2, BENCHMARK_FORMAT="xml")

    def test_ctrl_c_leaves_a_whole_report(self):
        cases = [f"tensor_ops/add/f32/n={n}" for n in (4096, 4097, 4098)]
        selection = [word for case in cases for word in ("--case", case)]
        self.interrupt(GBENCH, "--profile", "seeds", "--sim-devices", "1", "--device", "sim", "--stand-ins", *selection, "--benchmark_out=out.json")
        found = json.loads((self.folder / "out.json").read_text())["benchmarks"]
        self.assertEqual(len(found), len(cases))
        self.assertTrue(all(b["error_occurred"] for b in found))
        self.assertIn("interrupted by signal 2", found[0]["error_message"])


if __name__ == "__main__":
    unittest.main()
