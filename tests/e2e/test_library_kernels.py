"""Libraries before Assay's oracles: oneDNN, OpenBLAS, MKL, cuBLAS and Thrust as kernels of others."""
import collections
import os
import pathlib
import subprocess
import unittest

from support import ASSAY, AssayTest

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parents[2]

# What docs/deviations.md says of their f32.
WRONG_OF_ONEDNN = {"exp", "log", "sigmoid", "relu", "min", "max", "cast", "min_broadcast", "max_broadcast", "norm2",
                   "norm2_axis", "reduce_min", "reduce_max", "reduce_min_axis", "reduce_max_axis", "softmax",
                   "softmax_axis"}


class Libraries(AssayTest):
    def statuses(self, word, *options, expect):
        self.assay("run", "--kernels", word, "--device", "cpu", "--profile", "smoke", "--check-only", *options,
                   expect=expect)
        rows = self.rows("out")
        found = collections.defaultdict(collections.Counter)
        for row in rows:
            found[row["op"]][row["status"]] += 1
        return rows, found

    def test_onednn_is_wrong_where_it_is_known_to_be(self):
        rows, found = self.statuses("onednn", "--axis", "dtype=f32", "--out", "out", expect=1)
        self.assertRegex(rows[0]["implementation"], r"^oneDNN \d+\.\d+\.\d+ ")
        wrong = {op for op, counts in found.items() if counts["fail"]}
        self.assertEqual(wrong - {"linear"}, WRONG_OF_ONEDNN)
        self.assertTrue(all(not counts["error"] and not counts["crash"] for counts in found.values()), found)
        for op in ("add", "tanh", "gelu", "sqrt", "sum", "mean_axis", "layernorm", "transpose", "batched_matmul",
                   "add_broadcast"):
            self.assertTrue(found[op]["pass"], op)
        for row in rows:  # a relu drops NaN in a layer too
            if row["op"] == "linear" and row["status"] == "fail":
                self.assertIn("act=relu", row["params"])

    def test_openblas_is_right_but_for_a_factor_of_zero(self):
        rows, found = self.statuses("openblas", "--out", "out", expect=1)
        self.assertRegex(rows[0]["implementation"], r"^OpenBLAS \d+\.\d+")
        self.assertEqual({op for op, counts in found.items() if counts["fail"]}, {"scale"})
        self.assertEqual({op for op, counts in found.items() if counts["pass"]},
                         {"scale", "dot", "norm2", "linear", "linear_dx", "linear_dw", "batched_matmul"})

    def test_thrust_is_wrong_where_it_is_known_to_be(self):
        folder = pathlib.Path(ASSAY).parent.parent / "lib" / "assay"
        if not (folder / "kernels_thrust.so").exists():
            self.skipTest("Thrust's headers were not there: install the CUDA toolkit, or Debian's libthrust-dev")
        rows, found = self.statuses("thrust", "--out", "out", expect=1)
        self.assertRegex(rows[0]["implementation"], r"^Thrust \d+\.\d+\.\d+ ")
        wrong = {op for op, counts in found.items() if counts["fail"]}
        self.assertEqual(wrong, {"min", "max", "reduce_min", "reduce_max", "reduce_max_axis", "argmin", "argmax", "norm2",
                                 "sort", "sum"})
        self.assertTrue(all(not counts["error"] and not counts["crash"] for counts in found.values()), found)
        for row in rows:  # what is left out or lost is NaN, and digits
            if row["status"] == "fail" and row["dtype"].startswith("i"):
                self.assertEqual(row["op"], "sort")
            if row["status"] == "fail" and row["op"] == "sum":
                self.assertEqual((row["dtype"], row["caught_on"]), ("f32", "equal_terms"))

    def emulated(self, word, *options, expect):
        """Rows of a library on an emulated GPU."""
        if not (BUILD / "lib" / "emulated" / "libcuda.so.1").exists():
            self.skipTest("the build has no emulated GPUs")
        command = [ROOT / "scripts/emulate-gpu", "--build", BUILD, "--drop-in", ASSAY, "run", "--kernels", word,
                   "--device", "cuda", "--check-only", "--out", word, *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stderr)
        return self.rows(word)

    def test_memory_of_a_gpu_is_not_theirs(self):
        for word in ("openblas", "onednn"):
            row, = self.emulated(word, "--case", "linear/f32/batch=3,in=4,out=4,bias=0,act=none", expect=3)
            self.assertEqual(row["status"], "skip", row["reason"])
            self.assertIn("in the host's memory", row["reason"])

    def test_cublas_multiplies_on_a_gpu(self):
        rows = self.emulated("cublas", "--profile", "seeds", "--axis", "dtype=f32,f64,tf32", "--filter",
                             "(^|/)(linear|linear_d.|batched_matmul|dot|scale)/", expect=0)
        self.assertRegex(rows[0]["implementation"], r"^cuBLAS \d+\.\d+\.\d+ ")
        right = {(row["op"], row["dtype"]) for row in rows if row["status"] == "pass"}
        self.assertLessEqual({(op, dtype) for op in ("linear", "linear_dx", "linear_dw", "batched_matmul")
                              for dtype in ("f32", "f64", "tf32")}, right)
        self.assertLessEqual({(op, dtype) for op in ("dot", "scale") for dtype in ("f32", "f64")}, right)
        self.assertTrue(any("cublasGemmStridedBatchedEx" in row["implementation"] for row in rows))

    def test_cublas_is_for_gpus(self):
        if not (BUILD / "lib" / "dropin" / "libcublas.so.13").exists():
            self.skipTest("the build has no emulated cuBLAS")
        self.assay("run", "--kernels", "cublas", "--library", BUILD / "lib" / "dropin" / "libcublas.so.13", "--device",
                   "cpu", "--case", "tensor_ops/dot/f32/n=3", "--check-only", "--out", "out", expect=3)
        self.assertIn("it computes on GPUs alone", self.rows("out")[0]["reason"])

    def test_thrust_on_a_gpu_is_right_about_integers(self):
        rows = self.emulated("thrust", "--profile", "seeds", "--axis", "dtype=i32,i64", "--filter",
                             "/(add|sum|prod|scan|sort|argmax|reduce_max_axis|scan_axis|transpose|gather)/", expect=0)
        self.assertRegex(rows[0]["implementation"], r"^Thrust \d+\.\d+\.\d+ ")
        right = {row["op"] for row in rows if row["status"] == "pass"}
        self.assertEqual(right, {"add", "sum", "prod", "scan", "sort", "argmax", "reduce_max_axis", "scan_axis", "transpose",
                                 "gather"})

    def test_the_library_that_is_named_is_opened(self):
        self.assay("run", "--kernels", "openblas", "--library", "libopenblas.so.0", "--case", "tensor_ops/dot/f32/n=1003",
                   "--device", "cpu", "--check-only", "--out", "out")
        self.assertIn("--library libopenblas.so.0", self.rows("out")[0]["replay"])

    def test_one_that_is_not_there_says_what_to_do(self):
        said = self.assay("run", "--kernels", "mkl", "--library", "/nowhere/libmkl_rt.so.3", "--device", "cpu", "--case",
                          "tensor_ops/dot/f32/n=3", expect=2).stderr
        self.assertIn("/nowhere/libmkl_rt.so.3: cannot open", said)
        self.assertIn("name its file by --library", said)

    def test_a_library_is_for_those_that_open_one(self):
        for word in ("torch", "onednn"):
            said = self.assay("run", "--kernels", word, "--library", "x.so", "--device", "cpu", "--case",
                              "tensor_ops/add/f32/n=3", expect=2).stderr
            self.assertIn("--library", said)
        said = self.assay("run", "--library", "x.so", "--device", "cpu", "--case", "tensor_ops/add/f32/n=3",
                          expect=2).stderr
        self.assertIn("choose openblas, mkl or cublas by --kernels", said)


if __name__ == "__main__":
    unittest.main()
