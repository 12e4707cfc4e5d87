"""References in C (assay_op.h): the page's example judges right and wrong kernels; what a library may not do or say."""
import pathlib
import re
import subprocess
import unittest
import unittest.mock
import os

from provided import PACKAGES, python_with
from support import AssayTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "any-op.md").read_text(encoding="utf-8")
RMSNORM, = re.findall(r"^```c\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
KERNEL = """import assay, numpy as np
@assay.kernel("rms_norm")
def kernel(x, g, *, out):
    x, g = x.astype("f4"), g.astype("f4")
    out[...] = {}
"""
RIGHT = "x * (1 / np.sqrt(np.mean(x * x, -1, keepdims=True) + np.float32(1e-6))) * g"
WRONG = {
    "another eps": RIGHT.replace("1e-6", "1e-5"),
    "squares in half precision": RIGHT.replace("x * x", '(x.astype("f2") ** 2).astype("f4")'),
    "one column less in the mean": RIGHT.replace("x * x", "(x * x)[:, 1:]"),
    "zeros": "0",
    "without the weights": RIGHT.replace(" * g", ""),
    "NaN as a number": f"np.nan_to_num({RIGHT})",
}
# What replaces a text of the example, and what is said of it before anything runs.
REFUSED = {
    "an element that is not written": ("for (int64_t c = 0; c < cols; ++c) y[c]", "for (int64_t c = 1; c < cols; ++c) y[c]",
                                       "it leaves 11 of 209 elements of output 0 unwritten"),
    "an element too many": ("return 0;", "y[0] = 1; return 0;", "it writes past the end of output 0"),
    "its own words": ("return 0;", 'return "no\\nluck";', "no luck"),
    "numbers that differ from run to run": ("return 0;", "static double more; y[-1] += more++; return 0;", "not deterministic"),
    "another version": ("ASSAY_OP_VERSION", "7", "it is made for version 7 of assay_op.h, and this program has version 1"),
    "no table": ("return &table;", "(void)table; return 0;", "its assay_ops() returns NULL"),
    "no op": (".op_count = 1", ".op_count = 0", "its table has no op"),
    "another entry": ("assay_ops(void)", "assay_opps(void)", "it does not export assay_ops()"),
    "a dtype that is none": ('"f32,f16"', '"f32,f8"', "no measured op has the dtype 'f8'"),
    "a size that nothing tells": ('{.shape = "rows,cols"}, {', '{.shape = "2*rows,cols"}, {', "no input has the extent 'rows' alone"),
    "sums of nothing known": ('.terms = "cols"', '.terms = "columns"', "terms has the name 'columns'"),
    "roundings below none": (".roundings = 1", ".roundings = -1", "roundings is -1.0: give a number of at least 0"),
    "no function": (".reference = rms_norm", ".reference = 0", "reference is NULL"),
    "half a range": ('{.shape = "cols"}', '{.shape = "cols", .low = "0"}', "a low or a high end alone"),
    "its end": ("return 0;", "__builtin_trap();", "signal"),
}


class References(AssayTest):
    def setUp(self):
        super().setUp()
        python = python_with("numpy")
        if python is None:
            self.skipTest(f"no Python here has numpy: install Debian's {PACKAGES['numpy']}")
        chosen = unittest.mock.patch.dict(os.environ, ASSAY_PYTHON=python)
        chosen.start()
        self.addCleanup(chosen.stop)

    def library(self, text=RMSNORM, name="ops"):
        (self.folder / f"{name}.c").write_text(text, encoding="utf-8")
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O2", "-Wall", "-Wextra", "-Wno-missing-field-initializers",
                        "-Wno-unused-function", "-Wno-unused-variable", "-Werror", "-shared", "-fPIC",
                        f"-I{ROOT}/kernels/providers", f"{name}.c", "-o", f"{name}.so", "-lm"], cwd=self.folder, check=True)
        return f"./{name}.so"

    def judge(self, result, *options, expect=0, out="out"):
        (self.folder / "kernel.py").write_text(KERNEL.format(result), encoding="utf-8")
        self.assay("run", "--own-ops", "./ops.so", "--kernels", "kernel.py", "--device", "cpu", "--no-limits", *options,
                   "--out", out, expect=expect)
        return self.rows(out)

    def test_a_right_kernel_is_judged_and_timed(self):
        self.library()
        self.assertIn("rms_norm(x0[rows,cols], x1[cols]) -> [rows,cols]", self.assay("list", "--ops", "--own-ops", "ops.so").stdout)
        rows = self.judge(RIGHT, "--suite", "own_ops", "--axis", "rows=17,96", "--axis", "cols=1,1000")
        self.assertEqual({"pass"}, {row["status"] for row in rows}, [row["reason"] for row in rows])
        self.assertEqual({"f32", "f16"}, {row["dtype"] for row in rows})
        for data in ("large_data", "small_data", "far_mean", "special_values", "real_data"):
            self.assertIn(f"{data}=perturbed_band(A=4,roundings=1,sigmas=8)", rows[0]["oracle"])
        self.assertTrue(all(float(row["time_median_s"]) > 0 for row in rows))

    def test_wrong_kernels_are_red(self):
        self.library()
        for what, result in WRONG.items():
            with self.subTest(what):
                row, = self.judge(result, "--case", "rms_norm/f32/rows=96,cols=1000", "--check-only", expect=1,
                                  out=what.replace(" ", "-"))
                self.assertEqual(("fail", "measured_band"), (row["status"], row["caught_by"]), row["reason"])

    def test_one_library_has_both(self):
        """A library that is only named by --kernels may define ops, as Python may."""
        kernel = """
#include <assay_kernel.h>
static int64_t of[2];
static int32_t create(const assay_problem* problem, void** kernel) {
  of[0] = problem->inputs[0].shape[0], of[1] = problem->inputs[0].shape[1];
  return *kernel = of, ASSAY_OK;
}
static int32_t launch(void* kernel, const void* const* in, void* const* out, void* stream) {
  (void)kernel, (void)stream;
  const float *x = in[0], *g = in[1];
  for (int64_t r = 0; r < of[0]; ++r, x += of[1]) {
    double squares = 0;
    for (int64_t c = 0; c < of[1]; ++c) squares += (double)x[c] * x[c];
    for (int64_t c = 0; c < of[1]; ++c) ((float*)out[0])[r * of[1] + c] = (float)(x[c] / sqrt(squares / of[1] + 1e-6) * g[c]);
  }
  return ASSAY_OK;
}
static void destroy(void* kernel) { (void)kernel; }
static const char* last_error(void) { return ""; }
const assay_kernel_table* assay_kernels(void) {
  static const assay_offer offers[] = {{"rms_norm", "f32", 0}};
  static const assay_kernel_table table = {ASSAY_KERNEL_VERSION, "both", offers, 1, create, launch, destroy, last_error, 0, 0};
  return &table;
}
"""
        both = self.library(RMSNORM + kernel, "both")
        self.assay("run", "--kernels", both, "--suite", "own_ops", "--device", "cpu", "--check-only", "--profile", "smoke",
                   "--axis", "dtype=f32", "--out", "out")
        rows = self.rows("out")
        self.assertGreater(len(rows), 10)
        self.assertEqual({"pass"}, {row["status"] for row in rows}, [row["reason"] for row in rows])

    def test_without_roundings_nothing_is_green(self):
        self.library(RMSNORM.replace(".roundings = 1, ", ""))
        row, = self.judge(RIGHT, "--case", "rms_norm/f32/rows=17,cols=256", "--check-only", expect=1)
        self.assertEqual("vacuous", row["status"], row["reason"])

    def test_integers_and_their_bounds(self):
        """A take_rows: an index to each row, and the index again."""
        text = RMSNORM.split("const assay_op_table*", maxsplit=1)[0] + """
static const char* take_rows(const assay_op_array* in, const assay_op_array* out) {
  const int64_t n = in[1].shape[0], *at = in[1].data;
  for (int64_t i = 0; i < n; ++i) ((double*)out[0].data)[i] = ((double*)in[0].data)[at[i]], ((int64_t*)out[1].data)[i] = 2 * at[i];
  return 0;
}
const assay_op_table* assay_ops(void) {
  static const int64_t sizes[] = {100};
  static const assay_op_parameter p[] = {{"m", sizes, 1, 0}, {"n", sizes, 1, 0}};
  static const assay_op_input i[] = {{.shape = "m"}, {"n", "i64", "0", "m-1"}};
  static const assay_op_output o[] = {{.shape = "n"}, {"n", "i64"}};
  static const assay_op_definition ops[] = {{.name = "take_rows", .parameters = p, .parameter_count = 2, .inputs = i,
    .input_count = 2, .outputs = o, .output_count = 2, .roundings = 1, .reference = take_rows}};
  static const assay_op_table table = {ASSAY_OP_VERSION, ops, 1};
  return &table;
}
"""
        self.library(text)
        kernel = KERNEL.replace("rms_norm", "take_rows").split("    x, g")[0] + "    out[0][...] = x[g]\n    out[1][...] = {}\n"
        for factor, expect in (("2 * g", 0), ("2 * g + (g == 7)", 1)):
            with unittest.mock.patch(f"{__name__}.KERNEL", kernel):
                rows = self.judge(factor, "--suite", "take_rows", "--check-only", "--axis", "n=100", "--axis", "m=100", expect=expect, out=f"out{expect}")
            self.assertEqual({"pass"} if expect == 0 else {"pass", "fail"}, {row["status"] for row in rows} | {"pass"})

    def test_what_it_may_not_do_is_said_before_anything_runs(self):
        for what, (old, new, said) in REFUSED.items():
            with self.subTest(what):
                self.assertIn(old, RMSNORM)
                self.library(RMSNORM.replace(old, new))
                self.assertIn(said, self.assay("list", "--own-ops", "ops.so", expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
