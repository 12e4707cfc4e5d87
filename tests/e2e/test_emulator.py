"""The CUDA backend on emulated GPUs: right ones pass, and what libraries may do wrong becomes the row that is promised."""
import collections
import os
import pathlib
import subprocess
import unittest

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
        self.assertEqual({"tensor_ops", "linear", "transfers", "allreduce", "placement", "limits"}, passed)
        dtypes = {row["dtype"] for row in rows if row["status"] == "pass"}
        self.assertLessEqual({"f64", "f32", "tf32", "bf16", "f16", "e4m3", "i64", "i32", "i8", "u8"}, dtypes)

    def test_timing_takes_events_graphs_and_cold_caches(self):
        for timing in ("batch", "cold"):
            self.emulate("", "run", "--case", "tensor_ops/add/f32/n=1003", "--device", "cuda:0", "--timing", timing,
                         "--no-limits", "--out", timing)
            row, = self.rows(timing)
            self.assertGreater(float(row["time_median_s"]), 0)

    def test_its_faults_are_caught(self):
        self.assertIn("5 of 5 faults caught, 2 of 2 right devices not flagged",
                      self.emulate("", "selftest", "--device", "cuda:0").stderr)

    def test_a_plan_that_a_library_calls_invalid_is_an_error_and_no_skip(self):
        self.assertEqual({"error": 1}, self.statuses("--fault invalid_plans", "--case", LAYER, "--device", "cuda:0", expect=4))

    def test_tf32_in_place_of_f32_fails(self):
        self.assertEqual({"fail": 1}, self.statuses("--fault tf32_for_f32", "--case", LAYER, "--device", "cuda:0", expect=1))

    def test_sums_in_another_order_at_each_launch_fail(self):
        self.assertEqual({"fail": 1}, self.statuses("--fault reordered_sums", "--case", LAYER, "--device", "cuda:0", expect=1))

    def test_a_relu_that_drops_nan_fails(self):
        case = "linear/f32/batch=16,in=64,out=33,bias=1,act=relu"
        self.assertEqual({"fail": 1}, self.statuses("--fault relu_drops_nan", "--case", case, "--device", "cuda:0", expect=1))

    def test_a_bias_after_rounding_is_left_out(self):
        case = "linear/bf16/batch=16,in=64,out=33,bias=1,act=none"
        self.assertEqual({"pass": 1}, self.statuses("--fault late_bias", "--case", case, "--device", "cuda:0", expect=0))
        self.assertIn("left out: the library's bias", self.rows("out")[0]["implementation"] + self.rows("out")[0]["reason"])

    def test_an_undeclared_minimum_of_nan_fails(self):
        case = "allreduce/f32/reduce=min,ranks=2,count=1003,place=out"
        self.assertEqual({"fail": 1}, self.statuses("--gpus 2 --fault minmax_keeps_nan", "--case", case, "--device", "cuda", expect=1))

    def test_a_rank_that_hangs_is_a_time_out(self):
        self.assertEqual({"timeout": 1}, self.statuses("--gpus 2 --fault hanging_rank", "--case", SUM, "--device", "cuda",
                                                       "--timeout", 5, "--retries", 0, expect=4))

    def test_a_mask_hides_gpus_and_no_gpu_is_no_pass(self):
        visible = self.emulate("--gpus 2", "devices").stdout
        self.assertIn("cuda:1", visible)
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        self.addCleanup(os.environ.pop, "CUDA_VISIBLE_DEVICES")
        self.assertNotIn("cuda:1", self.emulate("--gpus 2", "devices").stdout)
        self.emulate("--gpus 2", "run", "--case", LAYER, "--device", "cuda:1", "--out", "out", expect=3)


if __name__ == "__main__":
    unittest.main()
