"""The CUDA backend on emulated GPUs: right ones pass, and what libraries may do wrong becomes the row that is promised."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest
import unittest.mock

from support import ASSAY, AssayTest

EMULATE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "emulate-gpu"
LAYER = "linear/f32/batch=16,in=64,out=33,bias=1,act=none"
SUM = "allreduce/f32/reduce=sum,ranks=2,count=1003,place=out"


class Emulator(AssayTest):
    def emulate(self, options, *arguments, expect=0):
        """Runs the program with emulated GPUs and demands its exit code."""
        command = [EMULATE, "--build", os.environ["ASSAY_BUILD"], *options.split(), ASSAY, *map(str, arguments)]
        result = subprocess.run(command, cwd=self.folder, text=True, timeout=500, stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(result.returncode, expect, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def statuses(self, options, *arguments, expect):
        self.emulate(options, "run", "--check-only", "--out", "out", *arguments, expect=expect)
        return collections.Counter(row["status"] for row in self.rows("out"))

    def test_every_suite_is_right_on_two_gpus(self):
        self.emulate("--gpus 2", "run", "--profile", "seeds", "--check-only", "--device", "cuda", "--out", "out")
        rows = self.rows("out")
        self.assertEqual({"pass", "skip"}, {row["status"] for row in rows})
        self.assertEqual({"emulated"}, {row["stand_in"] for row in rows if row["status"] == "pass"})
        passed = {row["suite"] for row in rows if row["status"] == "pass"}
        self.assertEqual({"tensor_ops", "linear", "views", "transfers", "collectives", "placement", "limits"}, passed)
        dtypes = {row["dtype"] for row in rows if row["status"] == "pass"}
        self.assertLessEqual({"f64", "f32", "tf32", "bf16", "f16", "e4m3", "i64", "i32", "i8", "u8"}, dtypes)

    def test_timing_takes_events_graphs_and_cold_caches(self):
        for timing in ("batch", "cold"):
            self.emulate("", "run", "--case", "tensor_ops/add/f32/n=1003", "--device", "cuda:0", "--timing", timing,
                         "--no-limits", "--out", timing)
            row, = self.rows(timing)
            self.assertGreater(float(row["time_median_s"]), 0)

    def test_what_a_small_gpu_cannot_take_is_a_skip_with_figures(self):
        """Else the watchdog of its display would end the product, and the sum's tensors would not fit."""
        large = ("linear/f64/batch=8192,in=8192,out=8192,bias=0,act=none", "tensor_ops/add/f64/n=268435456")
        cases = sum((("--case", case) for case in (*large, LAYER)), ())
        self.emulate("--like rtx3050", "run", "--check-only", "--no-limits", "--device", "cuda", *cases, "--out", "out")
        drivers = {row["device"]: row["driver"] for row in self.rows("out", "devices.csv")}
        self.assertTrue(drivers["cuda:0"].endswith(", WATCHDOG"), drivers)
        product, add, layer = (next(row for row in self.rows("out") if row["case_id"] == case) for case in (*large, LAYER))
        self.assertEqual(("skip", "not_here"), (product["status"], product["skip_category"]))
        self.assertRegex(product["reason"], "a launch takes at least 9.9 s by the device's theoretical rate, at most 0.5 s")
        self.assertEqual(("skip", "too_little_memory"), (add["status"], add["skip_category"]))
        self.assertIn("the tensors take 6.4 GB, the device has 4.3 GB", add["reason"])
        self.assertEqual("pass", layer["status"])

    def test_copies_between_eight_gpus_are_thinned(self):
        plans = {}
        for profile in ("default", "full"):
            listed = self.emulate("--gpus 8", "list", "--suite", "transfers", "--filter", "peer_memcpy.*=(direct|staged)$", "--profile",
                                  profile, "--device", "cuda", "--json").stdout
            plans[profile] = collections.Counter(trial["device"] for trial in json.loads(listed)["trials"])
        self.assertEqual([56, 56], [len(plan) for plan in plans.values()], "no pair is left out")
        self.assertEqual({plans["full"]["cuda:0>cuda:1"]}, set(plans["full"].values()))
        self.assertGreater(plans["default"].pop("cuda:0>cuda:1"), 20, "all sizes")
        self.assertEqual({1}, set(plans["default"].values()))

    def count(self, *arguments, expect):
        command = [EMULATE, "--build", os.environ["ASSAY_BUILD"], "--count", *arguments]
        result = subprocess.run(command, cwd=self.folder, text=True, timeout=500, stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(result.returncode, expect, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def test_counts_say_which_kernels_can_be_fast(self):
        counted = self.count("--filter", "^limits/stream_copy/", "--csv", "counts.csv", expect=0)
        self.assertRegex(counted.stdout, r"\| limits/stream_copy/f64/\S+ \| map_vectors \| 1.00 \|.*\| met \|")
        self.assertRegex(counted.stdout, r"\A# Cases, counted with PTX for compute capability [0-9.]+\n\nBounds on paper, ")
        row, = self.rows(".", "counts.csv")
        self.assertEqual((512, 512, 1), (float(row["bytes_per_load_request"]), float(row["bytes_per_store_request"]),
                                         float(row["active_lane_share"])))
        # A radix sort reads and writes its keys in each of its passes.
        self.assertRegex(self.count("--filter", "/sort/u8/", expect=0).stdout,
                         "moves [0-9.]+ of the compulsory bytes .*radix sort")

    def test_counts_repeat(self):
        # Blocks of a scan wait for others: what they do meanwhile must not depend on this host.
        self.assertEqual(*(self.count("--filter", "/scan/i64/", "--gpus", "a100", expect=expect).stdout for expect in (0, 0)))

    def test_counts_of_nothing_are_an_error(self):
        self.assertIn("no case matches", self.count("--filter", "^nothing$", expect=2).stderr)
        self.assertIn("no GPU is called 'h900'", self.count("--gpus", "h900", expect=2).stderr)

    def test_counts_for_a_gpu_that_cannot_run_the_kernels_are_an_error(self):
        self.assertIn("v100 does not run PTX", self.count("--gpus", "v100", "--filter", "^limits/stream_copy/", expect=2).stderr)

    def test_its_faults_are_caught(self):
        self.assertIn("5 of 5 faults caught, 2 of 2 right devices not flagged",
                      self.emulate("", "selftest", "--device", "cuda:0").stderr)

    def test_a_plan_that_a_library_calls_invalid_is_an_error_and_no_skip(self):
        self.assertEqual({"error": 1}, self.statuses("--fault invalid_plans", "--case", LAYER, "--device", "cuda:0", expect=4))

    def test_tf32_in_place_of_f32_fails(self):
        self.assertEqual({"fail": 1}, self.statuses("--fault tf32_for_f32", "--case", LAYER, "--device", "cuda:0", expect=1))

    def test_sums_in_another_order_at_each_launch_fail(self):
        self.assertEqual({"fail": 1}, self.statuses("--fault reordered_sums", "--case", LAYER, "--device", "cuda:0", expect=1))

    def test_a_relu_that_drops_nan_is_left_out(self):
        case = "linear/f32/batch=16,in=64,out=64,bias=1,act=relu"
        for fault, chosen, left_out in (("relu_drops_nan", "; own bias and relu", "the library's bias and relu .*drops NaN"),
                                        ("some_drop_nan", "algorithm (?!66)", "algorithm 66, .*drops NaN")):
            self.assertEqual({"pass": 1}, self.statuses(f"--fault {fault}", "--case", case, "--device", "cuda:0", expect=0))
            row, = self.rows("out")
            by, without = row["implementation"].split("; left out: ")
            self.assertRegex(by, chosen)
            self.assertRegex(without, left_out)
            self.assertEqual(row["wrong_algorithms"], "")  # NVIDIA documents max(x, 0)
            shutil.rmtree(self.folder / "out")

    def test_a_bias_after_rounding_is_left_out(self):
        case = "linear/bf16/batch=16,in=64,out=33,bias=1,act=none"
        self.assertEqual({"pass": 1}, self.statuses("--fault late_bias", "--case", case, "--device", "cuda:0", expect=0))
        self.assertIn("left out: the library's bias", self.rows("out")[0]["implementation"] + self.rows("out")[0]["reason"])

    def test_a_wrong_algorithm_is_not_chosen_and_named_beside_the_results(self):
        case = "linear/f32/batch=16,in=64,out=64,bias=1,act=none"
        self.assertEqual({"pass": 1}, self.statuses("--fault wrong_algorithm", "--case", case, "--device", "cuda:0", expect=0))
        row, = self.rows("out")
        chosen, left_out = row["implementation"].split("; left out: ")
        self.assertRegex(chosen, "algorithm (?!66)")
        self.assertRegex(left_out, "algorithm 66, .*wrong on exact data")
        self.assertRegex(row["wrong_algorithms"], "^cuBLASLt [0-9.]+: algorithm 66, ")
        for file in ("summary.md", "run.json"):
            self.assertIn("a library's algorithms were wrong on exact data, in 1 of 1 rows",
                          (self.folder / "out" / file).read_text(encoding="utf-8"))

    def test_an_algorithm_that_misses_an_element_is_not_chosen(self):
        # Those before it have left the right result in the same memory.
        case = "linear/f32/batch=16,in=64,out=64,bias=1,act=none"
        self.assertEqual({"pass": 1}, self.statuses("--fault missing_element", "--case", case, "--device", "cuda:0", expect=0))
        row, = self.rows("out")
        self.assertRegex(row["implementation"].split("; left out: ")[1], "algorithm 66, .*wrong on exact data")
        self.assertRegex(row["wrong_algorithms"], ": algorithm 66, ")

    def test_sums_of_8_bit_floats_are_not_accumulated_fast(self):
        lines = self.log_of("", {"CUBLASLT_LOG_LEVEL": "5"}, "--case", "linear/e4m3/batch=16,in=64,out=64,bias=0,act=none")
        products = [line for line in lines if "cublasLtMatmul" in line]
        self.assertTrue(products)
        self.assertEqual([], [line for line in products if "fast accumulation" in line])

    def log_of(self, options, variables, *arguments):
        """What the stand-ins of libraries say of their calls in a run that passes."""
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        with unittest.mock.patch.dict(os.environ, ASSAY_EMULATOR_LOG=str(log), **variables):
            self.assertEqual({"pass"}, set(self.statuses(options, *arguments, "--device", "cuda", expect=0)))
        shutil.rmtree(self.folder / "out")
        return log.read_text(encoding="utf-8").splitlines()

    def test_algorithms_are_timed_on_real_data(self):
        least = 2 * 15  # of two right algorithms, each with 5 times 3 launches
        for case in ("linear/f32/batch=16,in=64,out=64,bias=1,act=relu", "tensor_ops/batched_matmul/f32/batch=3,m=16,n=16,k=16",
                     "linear/linear_stack/f32/batch=16,in=64,width=128,layers=3,bias=1,act=relu"):
            lines = self.log_of("", {"CUBLASLT_LOG_LEVEL": "5"}, "--case", case)
            real = [line for line in lines if line.endswith("A fractions, B fractions")]
            whole = [line for line in lines if line.endswith("A integers, B integers")]
            products = 2 if "stack" in case else 1  # with their own algorithms
            self.assertGreaterEqual(len(real), least * products, case)
            self.assertLess(len(whole), least, case)

    def test_a_budget_tries_another_case_of_what_it_could_not_touch(self):
        layers = ("i8/batch=4,in=129,out=127", "i8/batch=1,in=3,out=1", "i8/batch=4,in=64,out=64",  # two are no multiples of 4
                  "f32/batch=4,in=129,out=127", "f32/batch=1,in=3,out=1", "f32/batch=4,in=64,out=64")
        cases = [word for layer in layers for word in ("--case", f"linear/{layer},bias=0,act=none")]
        self.emulate("", "run", "--check-only", "--device", "cuda", "--budget", "300", "--out", "out", *cases)
        rows = [(row["dtype"], row["status"]) for row in self.rows("out")]
        self.assertEqual([("i8", "skip"), ("f32", "pass"), ("i8", "skip"), ("i8", "pass"), ("f32", "pass"), ("f32", "pass")], rows)

    def test_communicators_are_made_once_for_a_worker_and_its_gpus(self):
        lines = self.log_of("--gpus 2", {"NCCL_DEBUG": "INFO"}, "--profile", "smoke", "--filter", "^allreduce/f32/.*ranks=2,count=1003")
        for done in ("ncclCommInitAll rank 0 nranks 2 - Init COMPLETE", "ncclCommAbort rank 0 nranks 2 - Abort COMPLETE"):
            self.assertEqual(1, sum(line.endswith(done) for line in lines), lines)

    def test_an_undeclared_minimum_of_nan_fails(self):
        case = "allreduce/f32/reduce=min,ranks=2,count=1003,place=out"
        self.assertEqual({"fail": 1}, self.statuses("--gpus 2 --fault minmax_keeps_nan", "--case", case, "--device", "cuda", expect=1))

    def test_a_rank_that_hangs_is_a_time_out(self):
        self.assertEqual({"timeout": 1}, self.statuses("--gpus 2 --fault hanging_rank", "--case", SUM, "--device", "cuda",
                                                       "--timeout", 5, "--retries", 0, expect=4))

    def test_an_error_that_only_the_communicator_tells_is_an_error(self):
        self.assertEqual({"error": 1}, self.statuses("--gpus 2 --fault async_error", "--case", SUM, "--device", "cuda", expect=4))
        self.assertIn("an earlier collective: remote process exited", self.rows("out")[0]["reason"])

    def test_a_mask_hides_gpus_and_no_gpu_is_no_pass(self):
        visible = self.emulate("--gpus 2", "devices").stdout
        self.assertIn("cuda:1", visible)
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        self.addCleanup(os.environ.pop, "CUDA_VISIBLE_DEVICES")
        self.assertNotIn("cuda:1", self.emulate("--gpus 2", "devices").stdout)
        self.emulate("--gpus 2", "run", "--case", LAYER, "--device", "cuda:1", "--out", "out", expect=3)


class WholeProgram(AssayTest):
    """What differs between hosts with GPUs, and what a stand-in must not be taken for."""

    emulate = Emulator.emulate
    statuses = Emulator.statuses

    def set(self, **variables):
        environment = unittest.mock.patch.dict(os.environ, variables)
        environment.start()
        self.addCleanup(environment.stop)

    def gpus(self, options):
        found = json.loads(self.emulate(options, "devices", "--json").stdout)["devices"]
        return {device["device"]: device for device in found if device["backend"] == "cuda"}

    def test_a_slice_of_a_gpu_is_named_and_runs(self):
        self.set(ASSAY_EMULATOR_MIG="1")
        slices = self.gpus("--gpus 2 --like a100")
        self.assertEqual(["cuda:0"], list(slices), "a process sees one slice")
        self.assertIn("MIG 1g.10gb", slices["cuda:0"]["name"])
        uuid = slices["cuda:0"]["uuid"]
        self.assertTrue(uuid.startswith("MIG-"), uuid)
        self.assertEqual({"pass": 1}, self.statuses("--gpus 2 --like a100", "--case", LAYER, "--device", uuid, expect=0))
        self.assertEqual(uuid, self.rows("out")[0]["device_uuid"])

    def test_a_slice_has_its_own_memory_and_its_gpus_energy(self):
        self.set(ASSAY_EMULATOR_MIG="1")
        slice_ = self.gpus("--like a100")["cuda:0"]
        self.assertTrue(slice_["driver"].endswith(", MIG"), slice_["driver"])
        self.assertEqual(10 << 30, slice_["memory_total_bytes"])
        self.assertEqual(slice_["memory_total_bytes"], slice_["memory_free_bytes"], "not that of the GPU")
        self.emulate("--like a100", "run", "--case", "tensor_ops/add/f32/n=1003", "--device", "cuda:0", "--energy", "--no-limits",
                     "--out", "out")
        row, = self.rows("out")
        self.assertGreater(float(row["energy_per_launch_j"]), 0)
        self.assertIn("energy: of the whole GPU", row["reason"])

    def test_an_older_driver_does_not_tell_of_streams(self):
        self.set(ASSAY_EMULATOR_DRIVER="12020")
        self.assertEqual({"pass": 2}, self.statuses("--gpus 2", "--filter", "^tensor_ops/add/f32/n=1003$", "--device", "cuda", expect=0))
        self.assertIn("535.", self.gpus("")["cuda:0"]["driver"])

    def test_memory_that_others_hold_is_a_skip(self):
        t4_bytes = 16 << 30
        for others, expected in ((0, {"pass": 1}), (t4_bytes - (2 << 20), {"skip": 1})):
            self.set(ASSAY_EMULATOR_OTHERS_BYTES=str(others))
            self.assertEqual(expected, self.statuses("--like t4", "--case", "tensor_ops/add/f32/n=1000003", "--device", "cuda:0",
                                                     expect=0 if others == 0 else 3))
            row, = self.rows("out")
            shutil.rmtree(self.folder / "out")
        self.assertEqual("too_little_memory", row["skip_category"])
        self.assertRegex(row["reason"], r"take 0\.0 GB, and of the 17\.2 GB of cuda:0 others had left 0\.0 GB: cudaMalloc")

    def test_mps_is_told_and_gets_no_faults(self):
        self.set(ASSAY_EMULATOR_MPS="1")
        self.assertTrue(self.gpus("")["cuda:0"]["driver"].endswith(", MPS"))
        refused = self.emulate("", "selftest", "--device", "cuda:0", expect=2)
        self.assertIn("shared by MPS", refused.stderr)

    def test_one_process_at_a_time_is_enough_but_for_two_sides(self):
        self.set(ASSAY_EMULATOR_EXCLUSIVE=str(self.folder))
        self.assertEqual({"pass": 1}, self.statuses("", "--case", LAYER, "--device", "cuda:0", expect=0))
        refused = self.emulate("", "ab", "--aa", "--stand-ins", "--profile", "smoke", "--filter", "add/f32", "--device", "cuda:0",
                               expect=3)
        self.assertIn("cuda:0 admits one process at a time (compute mode EXCLUSIVE_PROCESS)", refused.stderr)
        self.set(ASSAY_EMULATOR_MPS="1")
        self.assertTrue(self.gpus("")["cuda:0"]["driver"].endswith(", MPS"), "its server is the one process")

    def test_a_gpu_that_is_lost_costs_its_own_rows(self):
        for calls, status in ((60, "error"), (0, "device_lost")):  # in the middle of a trial, and before the first
            self.set(ASSAY_EMULATOR_LOST=f"1@{calls}")
            counts = self.statuses("--gpus 2", "--filter", "/(add|mul|exp)/f32/n=1003$", "--device", "cuda", expect=4)
            self.assertEqual({"pass": 3, status: 3}, counts)
            self.assertEqual({("cuda:0", "pass"), ("cuda:1", status)}, {(row["device"], row["status"]) for row in self.rows("out")})
            shutil.rmtree(self.folder / "out")

    def test_a_sample_in_which_the_host_stood_still_is_taken_again(self):
        delay_s = 1
        # On a busy host the calls before the first sample are more or fewer.
        for call in (100, 101, 150, 151, 200, 201):
            self.set(ASSAY_EMULATOR_HOST_DELAY=f"{delay_s}@{call}")
            out = f"delayed{call}"
            self.emulate("", "run", "--profile", "smoke", "--case", "tensor_ops/add/f32/n=1003", "--device", "cuda:0",
                         "--no-limits", "--out", out)
            row, = self.rows(out)
            if int(row["void_samples"]) > 0:
                break
        self.assertGreater(int(row["void_samples"]), 0)
        # What the blocking kernel lets through at 0.2 s has the rest of the delay in its time.
        longest_s = max(float(sample["seconds"]) for sample in self.rows(out, "samples.csv"))
        self.assertLess(longest_s, delay_s / 2)

    def test_a_gpu_at_its_power_limit_is_not_throttled(self):
        for reasons, throttled, power_capped in (("0x4", "false", "true"), ("0x40", "true", "false"), ("0x1", "false", "false")):
            self.set(ASSAY_EMULATOR_CLOCK_REASONS=reasons)
            self.emulate("", "run", "--profile", "seeds", "--case", "tensor_ops/add/f32/n=1003", "--device", "cuda:0",
                         "--no-limits", "--out", reasons)
            row, = self.rows(reasons)
            self.assertEqual((throttled, power_capped), (row["throttled"], row["power_capped"]))

    def test_without_peer_access_copies_are_staged(self):
        self.set(ASSAY_EMULATOR_PEERS="0")
        self.statuses("--gpus 2", "--profile", "smoke", "--filter", "peer_memcpy.*bytes=4096,", "--device", "cuda", expect=0)
        self.assertEqual({("staged", "pass"), ("direct", "skip")},
                         {(re.search("access=(\\w+)", row["params"])[1], row["status"]) for row in self.rows("out")})

    def test_all_reduce_over_one_to_eight_gpus(self):
        cases = [("--case", f"allreduce/f32/reduce=sum,ranks={ranks},count=1003,place=out") for ranks in (1, 2, 4, 8)]
        self.assertEqual({"pass": 4}, self.statuses("--gpus 8", *sum(cases, ()), "--device", "cuda", expect=0))
        self.assertEqual({1, 2, 4, 8}, {len(row["device"].split("+")) for row in self.rows("out")})

    def test_sums_in_switches_need_not_repeat_before_cuda_12_8(self):
        declared = "deviation:nccl-nvls-not-repeatable"
        ids = [f"collectives/{op}/f32/reduce=sum,ranks=4,count=1003" for op in ("allreduce", "reduce_scatter")]
        cases = sum((("--case", case_id) for case_id in ids), ())

        def rows(like="h100sxm", options=("--check-only",), expect=0, **variables):
            with unittest.mock.patch.dict(os.environ, {"ASSAY_EMULATOR_DRIVER": "12040", **variables}):
                self.emulate(f"--gpus 4 --like {like}", "run", *cases, *options, "--device", "cuda", "--out", "out", expect=expect)
            found = self.rows("out")
            shutil.rmtree(self.folder / "out")
            self.assertEqual(2, len(found))
            return found

        for options in (("--check-only",), ("--no-limits",)):
            for row in rows(options=options):
                self.assertEqual(("pass", "false", declared), (row["status"], row["repeatable"], row["reason"]))
                self.assertIn(", NVLS by a driver before CUDA 12.8", row["implementation"])
        for row in rows(options=("--check-only", "--strict"), expect=1):
            self.assertIn("not repeatable", row["reason"])
        for row in rows(ASSAY_EMULATOR_FAULT="reordered_sums", NCCL_ALGO="Ring", NCCL_NVLS_ENABLE="0", expect=1):
            self.assertIn("not repeatable", row["reason"])
        for row in (*rows(NCCL_NVLS_ENABLE="0"), *rows(ASSAY_EMULATOR_DRIVER="12080"), *rows(like="h100")):
            self.assertEqual(("pass", "true", ""), (row["status"], row["repeatable"], row["reason"]))
            self.assertNotIn("NVLS by", row["implementation"])
        self.assertTrue(all(", NCCL_NVLS_ENABLE=0" in row["implementation"] for row in rows(NCCL_NVLS_ENABLE="0")))

    def test_a_mask_of_uuids_chooses_and_orders(self):
        before = self.gpus("--gpus 3")
        self.set(CUDA_VISIBLE_DEVICES=f"{before['cuda:2']['uuid']},{before['cuda:0']['uuid']}")
        after = self.gpus("--gpus 3")
        self.assertEqual([before["cuda:2"]["uuid"], before["cuda:0"]["uuid"]], [gpu["uuid"] for gpu in after.values()])
        self.assertEqual({"pass": 2}, self.statuses("--gpus 3", "--case", LAYER, "--device", "cuda", expect=0))
        self.emulate("--gpus 3", "run", "--case", LAYER, "--device", before["cuda:1"]["uuid"], "--out", "hidden", expect=3)

    def test_commands_that_only_measure_refuse_them(self):
        case = ("--case", "tensor_ops/add/f32/n=1003", "--device", "cuda")
        for command in (("ab", *case, "--cand-env", "NAME=VALUE"), ("limits", "--device", "cuda")):
            error = self.emulate("", *command, expect=2).stderr
            self.assertIn("cuda:0 is emulated", error)
            self.assertIn("--stand-ins", error)

    def test_no_report_shows_their_times(self):
        said = self.emulate("", "run", "--case", "tensor_ops/add/f32/n=1003", "--device", "cuda", "--out", "runs/a").stdout
        self.assertGreater(float(self.rows("runs/a")[0]["time_median_s"]), 0)
        shutil.copytree(self.folder / "runs" / "a", self.folder / "runs" / "b")
        (self.folder / "runs" / "b" / "run.json").write_text(
            (self.folder / "runs" / "b" / "run.json").read_text(encoding="utf-8").replace('"run_id": "', '"run_id": "b'))
        self.assay("report", "runs/a", "-o", "page.html")
        # Without the rows themselves, which it embeds.
        page = re.sub("<script.*?</script>", "", (self.folder / "page.html").read_text(encoding="utf-8"), flags=re.DOTALL)
        for part in ("speed", "against", "charts", "limits"):
            self.assertNotIn(f'id="{part}"', page)
        texts = {"run": said, "history": self.assay("history", "runs", expect=3).stdout}
        texts.update((name, (self.folder / "runs" / "a" / name).read_text(encoding="utf-8")) for name in ("summary.md", "junit.xml"))
        for name, text in texts.items():
            self.assertNotRegex(text, r"time_median_s|[kMGT]?B/s\b", name)
        self.assertIn("0 points", texts["history"])
        self.assertIn("no times to compare", self.assay("compare", "runs/a", "runs/b").stdout)

    def test_work_of_several_gpus_is_timed(self):
        copies = ("device_memcpy/u8/from=pinned,to=device,bytes=4096,by=engine,ways=both",
                  "peer_memcpy/u8/bytes=4096,by=engine,access=direct,ways=both", "peer_memcpy/u8/bytes=4096,by=kernel,access=direct")
        cases = [("--case", case) for case in (*(f"transfers/{copy}" for copy in copies), SUM)]
        for timing, seed in (("batch", 1), ("cold", 2)):
            self.emulate(f"--gpus 2 --seed {seed}", "run", *sum(cases, ()), "--device", "cuda", "--timing", timing, "--no-limits",
                         "--out", timing)
            rows = self.rows(timing)
            self.assertEqual({("pass", timing)}, {(row["status"], row["timing"]) for row in rows})
            for row in rows:
                way_figures = [row[f"bandwidth_{way}_bytes_per_s"] != "" for way in ("forth", "back")]
                self.assertEqual(["ways=both" in row["params"]] * 2, way_figures, row["case_id"])
            for sample in self.rows(timing, "samples.csv"):
                longer = max(sample["seconds_forth"], sample["seconds_back"], key=lambda text: float(text or 0))
                self.assertIn(longer, ("", sample["seconds"]))

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_ranks_of_a_job_contribute_their_gpus(self):
        for seed in ("1", "2", "3"):
            command = [EMULATE, "--build", os.environ["ASSAY_BUILD"], "--gpus", "2", "--seed", seed, "mpirun", "--oversubscribe",
                       "--allow-run-as-root", "-np", "2", ASSAY, "run", "--case", SUM, "--device", "mpi", "--out", seed]
            result = subprocess.run(command, cwd=self.folder, text=True, timeout=1500, stdin=subprocess.DEVNULL, capture_output=True,
                                    check=False)
            self.assertEqual(0, result.returncode, result.stdout + result.stderr)
            row, = self.rows(seed)
            self.assertEqual(("pass", "nccl between processes", "emulated"), (row["status"], row["transport"], row["stand_in"]))
            self.assertGreater(int(row["samples"]), 0)


class EmulatedParts(AssayTest):
    """What a machine lacks, and shapes that the profile of the suites has not."""
    emulate, statuses = Emulator.emulate, Emulator.statuses

    def lack(self, *libraries):
        """Puts libraries without any of their functions before the emulated ones."""
        emulated = pathlib.Path(os.environ["ASSAY_BUILD"], "lib", "emulated")
        for library in libraries:
            (self.folder / library).symlink_to(emulated / "libcuda.so.1")
        folders = f"{self.folder}:{emulated}:{emulated.parent}"
        environment = unittest.mock.patch.dict(os.environ, ASSAY_EMULATED_GPUS="1", LD_LIBRARY_PATH=folders)
        environment.start()
        self.addCleanup(environment.stop)

    def cublas_lt(self):
        library, = pathlib.Path(os.environ["ASSAY_BUILD"], "lib", "emulated").glob("libcublasLt.so.*")
        return library.name

    def test_libraries_without_their_functions_are_named_with_what_they_cost(self):
        self.lack(self.cublas_lt(), "libnccl.so.2", "libnvidia-ml.so.1")
        devices = self.assay("devices").stdout
        self.assertIn("no function cublasLtGetVersion: no linear, linear_stack or batched_matmul on GPUs", devices)
        self.assertIn("no function ncclGetVersion: no collectives of GPUs", devices)
        self.assertIn("NVML does not start: no clocks, temperatures, power or processes of GPUs", devices)

    def test_a_gpu_is_described_without_nvml(self):
        self.lack("libnvidia-ml.so.1")
        gpu, = [device for device in json.loads(self.assay("devices", "--json").stdout)["devices"] if device["backend"] == "cuda"]
        self.assertGreater(gpu["clock_max_hz"], 1e9)
        self.assertIsNone(gpu.get("temperature_c"))

    def test_a_mask_is_not_judged_without_a_list_of_the_machines_gpus(self):
        self.lack("libnvidia-ml.so.1")
        self.assay("run", "--check-only", "--case", "placement/visible_mask/f32/n=1003", "--device", "cuda:0", "--out", "out", expect=3)
        row, = self.rows("out")
        self.assertEqual("skip", row["status"])
        self.assertIn("NVML lists no GPUs", row["reason"])

    def test_an_op_whose_library_lacks_functions_is_no_green_skip(self):
        self.lack(self.cublas_lt(), "libnccl.so.2")
        alone = "allreduce/f32/reduce=sum,ranks=1,count=1003"
        self.assay("run", "--check-only", "--case", LAYER, "--case", alone, "--case", "tensor_ops/add/f32/n=1003",
                   "--device", "cuda:0", "--out", "out", expect=3)
        rows = {row["op"]: row for row in self.rows("out")}
        self.assertEqual({"linear": "skip", "allreduce": "skip", "add": "pass"}, {op: row["status"] for op, row in rows.items()})
        self.assertIn("cublasLtGetVersion", rows["linear"]["reason"])
        self.assertIn("ncclGetVersion", rows["allreduce"]["reason"])

    def all_pass(self, *cases):
        selected = [word for case in cases for word in ("--case", case)]
        self.assertEqual({"pass": len(cases)}, self.statuses("", *selected, "--device", "cuda:0", expect=0))

    def test_rows_too_long_for_a_warp_are_right(self):
        self.all_pass(*(f"tensor_ops/{op}/{dtype}/rows=3,cols=1025"
                        for op in ("softmax", "layernorm") for dtype in ("f64", "f32", "bf16", "f16")))

    def test_casts_of_rows_with_gaps_are_right(self):
        formats = ("f64", "f32", "bf16", "f16", "e4m3", "e5m2", "i64", "i32", "i8", "u8")
        self.all_pass(*(f"tensor_ops/cast/{x}/to={y},n=1003,cols=17,ld=20" for x in formats for y in formats))

    def test_scaled_blocks_are_right_where_a_gpu_has_them(self):
        cases = [f"linear/{dtype}/batch={batch},in=160,out=144,bias={bias},act={act}" for dtype in ("mxfp8", "nvfp4")
                 for batch in (1, 130) for bias, act in ((0, "none"), (1, "relu"), (1, "gelu"))]
        selected = [word for case in [*cases, "linear/mxfp4/batch=1,in=160,out=144,bias=0,act=none"]
                    for word in ("--case", case)]
        self.assertEqual({"pass": len(cases), "skip": 1},
                         self.statuses("--like b200", *selected, "--device", "cuda:0", expect=0))
        self.assertIn("no scale mode for products of mxfp4", [row["reason"] for row in self.rows("out")
                                                              if row["status"] == "skip"][0])
        self.emulate("", "run", "--check-only", *selected, "--device", "cuda:0", "--out", "hopper", expect=3)
        self.assertEqual({"skip"}, {row["status"] for row in self.rows("hopper")})
        self.assertIn("compute capability 10.0", self.rows("hopper")[0]["reason"])

    def test_scales_that_a_library_reads_row_by_row_fail(self):
        self.assertEqual({"fail": 1}, self.statuses("--like b200 --fault row_major_scales", "--case",
                                                    "linear/mxfp8/batch=16,in=160,out=144,bias=0,act=none",
                                                    "--device", "cuda:0", expect=1))

    def test_what_takes_several_blocks_is_right(self):
        ops = "sum|prod|mean|dot|norm2|reduce_min|reduce_max|argmax|scan|sort"
        found = self.statuses("", "--profile", "smoke", "--suite", "tensor_ops", "--filter", f"/({ops})/.*/n=65537$",
                              "--device", "cuda:0", expect=0)
        self.assertEqual({"pass"}, set(found))
        self.assertEqual(set(ops.split("|")), {row["op"] for row in self.rows("out")})

    def test_a_gpu_without_code_is_an_error_that_names_the_way_out(self):
        self.assertEqual({"error": 1}, self.statuses("--like v100", "--case", "tensor_ops/add/f32/n=1003", "--device", "cuda:0",
                                                     expect=4))
        self.assertIn("ASSAY_CUDA_ARCHITECTURES", self.rows("out")[0]["reason"])


if __name__ == "__main__":
    unittest.main()
