"""Ops that a user defines by a reference: they join lists, axes, runs and comparisons, and wrong kernels of them are red."""
import json
import os
import pathlib
import re
import subprocess
import unittest
import unittest.mock

from provided import PACKAGES, python_with
from support import ASSAY, AssayTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])


def example(fence, containing=""):
    """The first such block of that language in the page, as a user copies it."""
    page = (ROOT / "docs" / "any-op.md").read_text(encoding="utf-8")
    return [block for block in re.findall(rf"^```{fence}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL) if containing in block][0]


RMSNORM = example("python")

# Each replaces the last line of the right kernel.
WRONG = {
    "another eps": 'out[...] = x * (1 / np.sqrt(np.mean(x * x, -1, keepdims=True) + np.float32(1e-5))) * g',
    "squares in half precision": 'h = (x.astype("f2") ** 2).astype("f4"); '
                                 'out[...] = x / np.sqrt(h.mean(-1, keepdims=True) + np.float32(1e-6)) * g',
    "the last row unwritten": 'out[:-1] = (x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6)) * g)[:-1]',
    "zeros": "out[...] = 0",
    "without the weights": 'out[...] = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6))',
    "one column less in the mean": 'out[...] = x / np.sqrt((x * x)[:, 1:].mean(-1, keepdims=True) + np.float32(1e-6)) * g',
    "NaN as a number": 'out[...] = np.nan_to_num(x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6)) * g)',
}


class OwnOps(AssayTest):
    def setUp(self):
        super().setUp()
        self.python = python_with("numpy")
        if self.python is None:
            self.skipTest(f"no Python here has numpy: install Debian's {PACKAGES['numpy']}")
        chosen = unittest.mock.patch.dict(os.environ, ASSAY_PYTHON=self.python)
        chosen.start()
        self.addCleanup(chosen.stop)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def run_file(self, name, *options, expect=0, out="out"):
        self.assay("run", "--kernels", name, "--device", "cpu", "--no-limits", *options, "--out", out, expect=expect)
        return self.rows(out)

    def test_twelve_lines_are_judged_and_timed(self):
        self.assertLessEqual(len(RMSNORM.strip().splitlines()), 12)
        shapes = ("--axis", "rows=17,96", "--axis", "cols=1,1000")
        rows = self.run_file(self.write("mine.py", RMSNORM), "--suite", "own_ops", "--profile", "smoke", *shapes)
        self.assertEqual({"pass"}, {row["status"] for row in rows}, [row["reason"] for row in rows])
        self.assertLessEqual({"f32", "f16"}, {row["dtype"] for row in rows})
        by_id = {row["case_id"]: row for row in rows}
        row = by_id["rms_norm/f32/rows=96,cols=1000"]
        for data in ("large_data", "small_data", "far_mean", "special_values", "real_data"):
            self.assertIn(f"{data}=measured_band(", row["oracle"])
        self.assertGreater(float(row["time_median_s"]), 0)

    def test_wrong_kernels_are_red(self):
        right = RMSNORM.rsplit("    out[...]", 1)[0]
        case = ("--case", "rms_norm/f32/rows=96,cols=1000", "--check-only")
        for what, line in WRONG.items():
            with self.subTest(what):
                self.write("wrong.py", f"{right}    {line}\n")
                row, = self.run_file("wrong.py", *case, expect=1, out=what.replace(" ", "-"))
                self.assertEqual(("fail", "measured_band"), (row["status"], row["caught_by"]), row["reason"])

    def test_selections_know_them(self):
        self.write("mine.py", RMSNORM)
        listed = json.loads(self.assay("list", "--kernels", "mine.py", "--device", "cpu", "--suite", "rms_norm", "--axis",
                                       "rows=5,6", "--axis", "dtype=f32", "--json").stdout)
        ids = [trial["case_id"] for trial in listed["trials"]]
        self.assertIn("rms_norm/f32/rows=5,cols=256", ids)
        self.assertTrue(all(one.startswith(("rms_norm/f32/rows=5,", "rms_norm/f32/rows=6,")) for one in ids))
        for odd in (1, 3, 17, 1001):
            self.assertIn(f"rms_norm/f32/rows=5,cols={odd}", ids)
        self.assertIn("rms_norm(x[rows,cols], g[cols]) -> [rows,cols]", self.assay("list", "--ops", "--own-ops", "mine.py").stdout)

    def test_a_reference_in_a_file_of_its_own(self):
        op, kernel = RMSNORM.split("@assay.kernel")
        self.write("op.py", op)
        self.write("mine.py", "import assay, numpy as np\n@assay.kernel" + kernel)
        rows = self.run_file("mine.py", "--own-ops", "op.py", "--suite", "own_ops", "--profile", "seeds", "--check-only")
        self.assertEqual({"pass"}, {row["status"] for row in rows})
        self.assertIn("40 of them already have rows", self.assay("run", "--resume", "out").stderr)
        (self.folder / "op.py").write_text(op.replace("1e-6", "1e-5"), encoding="utf-8")
        self.assertIn("have changed since the run began", self.assay("run", "--resume", "out", expect=2).stderr)

    def test_the_other_examples_of_the_page(self):
        """Attention, cross-entropy, the largest numbers and a product of int4: right as they stand, and red when broken."""
        self.write("op.py", example("python", "def top_8(x):"))
        kernels = example("python", '@assay.kernel("top_8")')
        cases = ("--own-ops", "op.py", "--suite", "own_ops", "--profile", "smoke", "--check-only", "--axis", "rows=1,16", "--axis",
                 "classes=1,100", "--axis", "cols=200", "--axis", "out=17,24", "--axis", "seq=17,33", "--axis", "heads=2", "--axis",
                 "dim=32")
        rows = self.run_file(self.write("mine.py", kernels), *cases)
        self.assertEqual({"attention", "cross_entropy", "top_8", "int4_linear"}, {row["op"] for row in rows})
        self.assertEqual({"pass"}, {row["status"] for row in rows}, [row["reason"] for row in rows])
        for old, new in (("total * kept + p.sum()", "total + p.sum()"), ("labels]\n\n", "labels] - 1e-4\n\n"),
                         ("-np.take_along_axis(x", "np.take_along_axis(x"), ('.astype("f4") - 8, (packed', '.astype("f4") - 7, (packed')):
            with self.subTest(new):
                self.assertIn(old, kernels)
                wrong = self.run_file(self.write("wrong.py", kernels.replace(old, new, 1)), *cases, expect=1, out=f"wrong-{len(new)}")
                failed = {row["op"] for row in wrong if row["status"] == "fail"}
                self.assertEqual(1, len(failed), failed)

    def test_a_maximum_that_overlooks_a_border(self):
        """The largest number of a line of 1000 is hardly ever its last one, unless somebody puts it there."""
        case = "f/f32/rows=96,cols=1000"
        for result, wrong in (("x.max(-1)", "x[:, :-1].max(-1)"), ("x.min(0)", "x[1:].min(0)"), ("x.argmax(-1)", "x[:, :992].argmax(-1)")):
            op = f'@assay.op("rows,cols", sizes={{"rows": 96, "cols": 1000}})\ndef f(x):\n    return {result}'
            for kernel, expect in ((result, 0), (wrong, 1)):
                with self.subTest(kernel):
                    row = self.verdict_of(op, f'@assay.kernel("f")\ndef kernel(x, *, out):\n    out[...] = {kernel}', case,
                                          "--check-only", expect=expect)
                    self.assertEqual(("pass", "fail")[expect], row["status"], row["reason"])
                    if expect == 0 or result == "x.max(-1)":
                        self.assertIn("needles", row["reason"] if expect else row["oracle"])

    def test_inputs_of_8_bit_floats(self):
        """A product of e4m3 with scales: its exact data are exact, and NaN is no number."""
        self.write("op.py", """import assay, numpy as np
@assay.op([assay.Input("m,k", dtype="e4m3"), assay.Input("n,k", dtype="e4m3"), "m"], sizes={"m": 16, "k": 96, "n": 24},
          dtypes=["f32", "bf16"])
def product(a, b, scales):
    return a @ b.T * scales[:, None]
""")
        kernel = """#include <assay_kernel.h>
#include <math.h>
static float number(uint8_t code) {
  const int exponent = code >> 3 & 15, fraction = code & 7;
  const float x = exponent > 0 ? ldexpf((float)(8 + fraction), exponent - 10) : ldexpf((float)fraction, -9);
  return %s code & 128 ? -x : x;
}
static int64_t m, n, k;
static int32_t create(const assay_problem* p, void** kernel) {
  m = p->inputs[0].shape[0], k = p->inputs[0].shape[1], n = p->inputs[1].shape[0];
  return *kernel = &m, ASSAY_OK;
}
static int32_t launch(void* kernel, const void* const* in, void* const* out, void* stream) {
  (void)kernel, (void)stream;
  const uint8_t *a = in[0], *b = in[1];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k - %d; ++l) sum += number(a[i * k + l]) * number(b[j * k + l]);
      ((float*)out[0])[i * n + j] = sum * ((const float*)in[2])[i];
    }
  return ASSAY_OK;
}
static void destroy(void* kernel) { (void)kernel; }
static const char* last_error(void) { return ""; }
const assay_kernel_table* assay_kernels(void) {
  static const assay_offer offers[] = {{"product", "f32", 0}};
  static const assay_kernel_table table = {ASSAY_KERNEL_VERSION, "mine", offers, 1, create, launch, destroy, last_error, 0, 0};
  return &table;
}
"""
        nan = "(code & 127) == 127 ? NAN :"
        for name, first, less, expect in (("right", nan, 0, 0), ("tail", nan, 1, 1), ("numbers", "", 0, 1)):
            self.write(f"{name}.c", kernel % (first, less))
            subprocess.run([os.environ.get("CC", "cc"), "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT}/kernels/providers",
                            f"{name}.c", "-o", f"{name}.so", "-lm"], cwd=self.folder, check=True)
            rows = self.run_file(f"./{name}.so", "--own-ops", "op.py", "--suite", "own_ops", "--axis", "k=17,96", "--axis", "m=16",
                                 "--check-only", "--profile", "smoke", expect=expect, out=name)
            self.assertEqual({("pass", "fail")[expect]}, {row["status"] for row in rows}, [row["reason"] for row in rows])
        self.assertIn("special_values: ", rows[0]["reason"])
        self.assertIn("exact_data=measured_band", self.rows("right")[0]["oracle"])

    def test_references_are_kernels_too(self):
        """--kernels numpy, torch and compiled take the reference itself; kernels in its file are not asked for."""
        self.write("op.py", RMSNORM.replace("out[...] = ", "out[...] = 0 * "))
        case = ("--own-ops", "op.py", "--case", "rms_norm/f32/rows=17,cols=256", "--check-only")
        row, = self.run_file("numpy", *case)
        self.assertEqual("pass", row["status"], row["reason"])
        self.assertRegex(row["implementation"], r"^NumPy \S+ reference")
        torch = python_with("torch")
        if torch is None:
            self.skipTest(f"no Python here has torch: install Debian's {PACKAGES['torch']}")
        self.write("op.py", """import assay, torch
@assay.op(["rows,cols", "cols"], sizes={"rows": [17, 96], "cols": [256, 1000]}, dtypes=["f32", "bf16"], arithmetic="eager")
def rms_norm(x, g):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * g
""")
        with unittest.mock.patch.dict(os.environ, ASSAY_PYTHON=torch):
            for dtype in ("f32", "bf16"):
                row, = self.run_file("torch", *case[:3], f"rms_norm/{dtype}/rows=17,cols=256", "--check-only", out=dtype)
                self.assertEqual("pass", row["status"], row["reason"])
                self.assertRegex(row["implementation"], r"^PyTorch \S+ reference")
            compiles = subprocess.run([torch, "-c", "import torch; torch.compile"], capture_output=True, check=False).returncode == 0
            said = self.assay("run", *case, "--kernels", "compiled", "--device", "cpu", "--out", "compiled",
                              expect=0 if compiles else 2)
        self.assertIn("PASSED" if compiles else "has no torch.compile", said.stdout + said.stderr)

    def test_rows_of_a_large_op_repeat(self):
        """The reference of some rows judges all, and rows that are moved by a period of one pass are seen in others."""
        op = """@assay.op("rows,cols", sizes={"rows": 2000, "cols": 1000})
def f(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1)"""
        kernel = """@assay.kernel("f")
def kernel(x, *, out):
    out[...] = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1))
    %s"""
        for change, expect in (("", 0), ("out[-1, -1] *= 2", 1), ("out[254:381] = out[127:254]", 1), ("out[262:393] = out[131:262]", 1)):
            with self.subTest(change):
                row = self.verdict_of(op, kernel % change, "f/f32/rows=2000,cols=1000", "--profile", "smoke", expect=expect)
                self.assertEqual(("pass", "fail")[expect], row["status"], row["reason"])

    def test_integers_of_a_ring_are_exact(self):
        """A product of integers has one right answer: a last bit is too much."""
        text = """import assay, numpy as np
@assay.op(["m,k", "k,n"], sizes={"m": 16, "k": 64, "n": 24})
def product(a, b):
    return a @ b
@assay.kernel("product")
def kernel(a, b, *, out):
    np.matmul(a, b, out=out)
"""
        self.write("mine.py", text)
        case = ("--case", "product/f32/m=16,k=64,n=24", "--check-only")
        row, = self.run_file("mine.py", *case)
        self.assertIn("exact_data=", row["oracle"])
        self.write("mine.py", text + "    out[3, 4] = np.nextafter(out[3, 4], np.float32(1e9))\n")
        row, = self.run_file("mine.py", *case, expect=1, out="wrong")
        self.assertIn("exact_data: 1 of 384 elements wrong", row["reason"])

    def verdict_of(self, definition, kernel, case, *options, expect):
        """The row of a file with these lines."""
        self.write("mine.py", f"import assay, numpy as np\n{definition}\n{kernel}\n")
        name = f"out-{len(list(self.folder.glob('out-*')))}"
        row, = self.run_file("mine.py", "--case", case, *options, expect=expect, out=name)
        return row

    def test_the_strictest_arithmetic_that_holds_is_named(self):
        """An attention that keeps its probabilities in f16, as most do, is right where the op says so."""
        op = """@assay.op(["n,d", "n,d", "n,d"], sizes={"n": 96, "d": 32}, dtypes=["f16"]%s)
def attention(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v"""
        kernel = """@assay.kernel("attention")
def kernel(q, k, v, *, out):
    q, k, v = (x.astype("f4") for x in (q, k, v))
    s = q @ k.T / np.sqrt(np.float32(q.shape[-1]))
    p = np.exp(s - s.max(-1, keepdims=True))
    out[...] = %s"""
        plain, halves = "p @ v / p.sum(-1, keepdims=True)", 'p.astype("f2").astype("f4") @ v / p.sum(-1, keepdims=True)'
        wrong = 'p.astype("f2").astype("f4")[:, 1:] @ v[1:] / p.sum(-1, keepdims=True)'

        def verdict(arithmetic, result, expect, *options):
            allowed = f', arithmetic="{arithmetic}"' if arithmetic else ""
            return self.verdict_of(op % allowed, kernel % result, "attention/f16/n=96,d=32",
                                   *(options or ("--check-only",)), expect=expect)

        self.assertRegex(verdict("", plain, 0)["oracle"], r"real_data=measured_band\(A=4,B=4,sigmas=8,f32\)")
        self.assertEqual("measured_band", verdict("", halves, 1)["caught_by"])
        self.assertRegex(verdict("operands", halves, 0)["oracle"], r"real_data=measured_band\(A=4,B=4,sigmas=8,operands\)")
        self.assertRegex(verdict("operands", plain, 0)["oracle"], r"real_data=measured_band\(A=4,B=4,sigmas=8,f32\)")
        self.assertEqual("fail", verdict("operands", wrong, 1)["status"])
        self.assertEqual("fail", verdict("eager", wrong, 1)["status"])
        self.assertEqual("pass", verdict("eager", halves, 0)["status"])
        with unittest.mock.patch.dict(os.environ, OPENBLAS_NUM_THREADS="1"):  # its threads spin where cores are few
            self.assertEqual("pass", verdict("operands", halves, 0, "--profile", "smoke")["status"])

    def test_each_output_is_judged(self):
        op = """@assay.op("rows,cols", sizes={"rows": 40, "cols": 96}, fixed=["cols"])
def largest(x):
    at = np.argsort(-x, axis=-1, kind="stable")[:, :3]
    return np.take_along_axis(x, at, -1), at"""
        right = """@assay.kernel("largest", dtypes=["f32"])
def kernel(x, *, out):
    at = np.argsort(-x, axis=-1, kind="stable")[:, :3]
    out[0][...] = np.take_along_axis(x, at, -1)
    out[1][...] = at"""
        case = "largest/f32/rows=40,cols=96"
        self.assertEqual("pass", self.verdict_of(op, right, case, "--profile", "smoke", expect=0)["status"])
        for wrong in ("    out[1][-1, -1] = 0", "    out[1][...] = out[1][:, ::-1]", "    out[0][3] = 0"):
            row = self.verdict_of(op, f"{right}\n{wrong}", case, "--check-only", expect=1)
            self.assertEqual("fail", row["status"], wrong)
        # Only of the second output, and only once nobody seems to look.
        late = right.replace("    out[1][...] = at", "    global n\n    n = n + 1\n    if n < 30: out[1][...] = at")
        row = self.verdict_of(op, f"n = 0\n{late}", case, "--profile", "smoke", expect=1)
        self.assertEqual(("fail", "timed_launches"), (row["status"], row["caught_on"]), row["reason"])

    def test_what_takes_no_computing_or_cannot_be_told_is_vacuous(self):
        for body, numbers, kernel, decoy in (("x - x", "range=(0, 1)", "out[...] = 0", "zeros"),
                                             ("np.argsort(x, -1)", "integers=(1, 1), dtype='f32'", "out[...] = 7", "anything")):
            row = self.verdict_of(f'@assay.op(assay.Input("rows,cols", {numbers}), sizes={{"rows": 20, "cols": 40}})\ndef f(x):\n'
                                  f'    return {body}',
                                  f'@assay.kernel("f")\ndef kernel(x, *, out):\n    {kernel}', "f/f32/rows=20,cols=40",
                                  "--check-only", expect=1)
            self.assertEqual("vacuous", row["status"], row["reason"])
            self.assertIn(f"{decoy} would have passed too", row["reason"])

    def test_nan_alone_shows_nothing(self):
        """Ordinary data tell nothing of a chaotic map; that NaN stays NaN is not enough."""
        row = self.verdict_of("""@assay.op(assay.Input("rows,cols"), sizes={"rows": 20, "cols": 40})
def f(x):
    for _ in range(200):
        x = 1 - 2 * np.sin(40 * x) ** 2
    return x""", """@assay.kernel("f")
def kernel(x, *, out):
    out[...] = np.where(np.isfinite(x), 0.25, np.nan)""", "f/f32/rows=20,cols=40", "--check-only", expect=1)
        self.assertEqual("vacuous", row["status"], row["reason"])

    def test_labels_stay_labels_in_timed_launches(self):
        """A needle among them would be no class."""
        loss = "np.log(np.exp(z - m).sum(-1)) + m[:, 0] - np.take_along_axis(z, label[:, None], -1)[:, 0]"
        row = self.verdict_of(f"""@assay.op(["rows,classes", assay.Input("rows", integers=(0, "classes-1"))],
           sizes={{"rows": 2, "classes": 100}})
def loss(z, label):
    m = z.max(-1, keepdims=True)
    return {loss}""", f"""@assay.kernel("loss", dtypes=["f32"])
def kernel(z, label, *, out):
    m = z.max(-1, keepdims=True)
    out[...] = {loss}""", "loss/f32/rows=2,classes=100", "--profile", "smoke", expect=0)
        self.assertEqual("pass", row["status"], row["reason"])

    def test_a_reference_that_fails_costs_its_own_rows(self):
        for failure, why in (("raise ValueError('too many')", "too many"), ("import os; os._exit(3)", "ended with exit code 3")):
            self.write("mine.py", f"""import assay, numpy as np
@assay.op("n", sizes={{"n": [64, 100]}}, fixed=["n"])
def f(x):
    if np.asarray(x).size == 100 and np.abs(np.asarray(x)).max() > 30: {failure}
    return x + 1
@assay.kernel("f")
def kernel(x, *, out):
    np.add(x, 1, out=out)
""")
            rows = self.run_file("mine.py", "--suite", "own_ops", "--axis", "dtype=f32", "--check-only", expect=4, out=why.split()[0])
            self.assertEqual({"f/f32/n=64": "pass", "f/f32/n=100": "error"}, {row["case_id"]: row["status"] for row in rows})
            self.assertIn(why, rows[-1]["reason"])

    def test_a_reference_that_hangs_is_no_fault_of_the_kernel(self):
        row = self.verdict_of("""@assay.op("n", sizes={"n": 100}, fixed=["n"])
def f(x):
    while np.abs(x).max() > 40:  # large data alone
        pass
    return x * 2""", """@assay.kernel("f")
def kernel(x, *, out):
    out[...] = x * 2""", "f/f32/n=100", "--check-only", "--timeout", "3", expect=4)
        self.assertEqual("error", row["status"], row["reason"])
        self.assertIn("the reference of the op had not answered when 3 s were over", row["reason"])

    def test_a_reference_that_is_random_at_large_sizes_alone(self):
        """It would widen its own band."""
        row = self.verdict_of("""@assay.op("n", sizes={"n": 1000})
def f(x):
    return x * (1 + 0.01 * np.random.rand()) if x.size > 500 else x * 1.0""",
                              '@assay.kernel("f")\ndef kernel(x, *, out):\n    out[...] = x * np.float16(1.004)',
                              "f/f32/n=1000", "--check-only", expect=4)
        self.assertIn("not deterministic", row["reason"])

    def test_a_kernel_cannot_rewrite_the_reference(self):
        op, _ = RMSNORM.split("@assay.kernel")
        self.write("op.py", op)
        self.write("mine.py", """import assay
text = open("op.py").read()
open("op.py", "w").write(text.replace("return x / ", "return x * 0 + 7 #"))
@assay.kernel("rms_norm")
def kernel(x, g, *, out):
    out[...] = 7
""")
        row, = self.run_file("mine.py", "--own-ops", "op.py", "--case", "rms_norm/f32/rows=17,cols=256", "--check-only", expect=4)
        self.assertNotEqual("pass", row["status"])
        self.assertIn("* 0 + 7", (self.folder / "op.py").read_text(encoding="utf-8"), "it did try")

    def test_rows_repeat_themselves_and_sides_share_their_ops(self):
        op, kernel = RMSNORM.split("@assay.kernel")
        self.write("op.py", op)
        self.write("mine.py", "import assay, numpy as np\n@assay.kernel" + kernel)
        row, = self.run_file("mine.py", "--own-ops", "op.py", "--case", "rms_norm/f32/rows=17,cols=256", "--check-only")
        self.assertIn("--own-ops op.py", row["replay"])
        self.write("a.py", RMSNORM)
        self.write("b.py", RMSNORM)
        for base, why in (("a.py", "the kernels of one side define ops"), ("b.py", "a.py is not the only file that defines ops")):
            sides = ("--base-kernels", base, "--cand-kernels", "mine.py" if base == "a.py" else "a.py")
            case = ("--case", "rms_norm/f32/rows=17,cols=256", "--device", "cpu")
            refused = self.assay("ab", *sides, *case, expect=2)
            self.assertIn(why, refused.stderr)
            self.assertIn("name it by --own-ops", refused.stderr)
            done = subprocess.run([ASSAY, "ab", "--own-ops", "op.py", "--rounds", "6", "--confirm", "6", *sides, *case], cwd=self.folder,
                                  capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
            self.assertIn(done.returncode, (0, 5), done.stderr)  # a busy machine may make one side seem slower
            self.assertIn("rms_norm/f32/rows=17,cols=256", done.stdout)

    def test_bad_definitions_end_before_anything_runs(self):
        head = "import assay, numpy as np\n"
        for text, why in (
            ('@assay.op(["n"])\ndef mine(x): return x\n', "'n'"),
            ('@assay.op(["n"], sizes={"n": 8})\ndef mine(x): return x + np.random.rand()\n', "deterministic"),
            ('@assay.op(["n"], sizes={"n": 8}, out="n,n")\ndef mine(x): return x\n', "shape"),
            ('@assay.op(["n"], sizes={"n": 8})\ndef softmax(x): return x\n', "an op is called 'softmax' already"),
            ('import nowhere\n', "nowhere"),
            ('@assay.op(["n,n"], sizes={"n": 8})\ndef mine(x): return np.linalg.inv(x)\n', "not known: inv"),
            ('@assay.op(["dtype"], sizes={"dtype": 8})\ndef mine(x): return x\n', "no size can be called 'dtype'"),
            ('@assay.op(["n"], sizes={"n": 8})\ndef transfers(x): return x\n', "a suite is called 'transfers'"),
            ('@assay.kernel("softmax")\ndef mine(x): return x\n', "defines no op"),
        ):
            with self.subTest(text):
                self.write("bad.py", head + text)
                refused = self.assay("run", "--own-ops", "bad.py", "--kernels", "numpy", "--device", "cpu", "--out", "out", expect=2)
                self.assertIn(why, refused.stderr)
                self.assertFalse((self.folder / "out").exists())

    def test_comparisons_and_reports_know_them(self):
        self.write("mine.py", RMSNORM)
        for out in ("base", "cand"):
            self.run_file("mine.py", "--case", "rms_norm/f32/rows=96,cols=1000", out=out)
        self.assertIn("1 timed in both", self.assay("compare", "base", "cand").stdout)
        self.assay("report", "base", "-o", "page.html")
        self.assertIn("rms_norm", (self.folder / "page.html").read_text(encoding="utf-8"))

    def test_in_cuda_on_an_emulated_gpu(self):
        if not (BUILD / "lib" / "emulated" / "libcuda.so.1").exists():
            self.skipTest("the build has no emulated GPUs")
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        nvcc = re.search(r"^ASSAY_NVCC:\w+=(.*nvcc)$", cache, re.MULTILINE)[1]
        self.write("op.py", RMSNORM.split("@assay.kernel")[0])
        right = example("cuda")
        for name, text, status in (("right", right, "pass"), ("wrong", right.replace("1e-6f", "2e-6f"), "fail")):
            self.write("rms_norm.cu", text)
            subprocess.run([nvcc, "-std=c++17", "-shared", "-Xcompiler", "-fPIC", "--no-compress", "-gencode",
                            "arch=compute_75,code=compute_75", f"-I{ROOT}/kernels/providers", "rms_norm.cu", "-o", "rms_norm.so",
                            "-cudart", "none", f"-L{BUILD}/lib", "-lassay_emulated_cudart"], cwd=self.folder, check=True)
            subprocess.run([ROOT / "scripts" / "emulate-gpu", "--build", BUILD, ASSAY, "run", "--kernels", "./rms_norm.so",
                            "--own-ops", "op.py", "--device", "cuda:0", "--case", "rms_norm/f32/rows=17,cols=256", "--no-limits",
                            "--out", name], cwd=self.folder, capture_output=True, check=False)
            row, = self.rows(name)
            self.assertEqual((status, "measured_band" if status == "fail" else ""), (row["status"], row["caught_by"]), row["reason"])


if __name__ == "__main__":
    unittest.main()
