"""assay run --kernels: the examples of docs/kernels.md word for word, what is refused, and each other command."""
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

from support import ASSAY, AssayTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
GTEST = pathlib.Path(ASSAY).with_name("assay_gtest")
HEADER = f"-I{ROOT}/kernels/providers"
SOFTMAX = "tensor_ops/softmax/f32/rows=16,cols=1003"
APART = "tensor_ops/softmax/f32/rows=5,cols=61,ld=64"
ADD = "tensor_ops/add/f32/n=1003"
CPU = ("--device", "cpu")
SIM = ("--device", "sim", "--sim-devices", "1")


def example(fence, containing=""):
    """The block of that language in the page, as a user copies it."""
    page = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    found, = [block for block in re.findall(rf"^```{fence}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL) if containing in block]
    return found


@functools.cache
def python_with(module):
    """A Python that has the module, or None."""
    for python in (shutil.which("python3"), sys.executable, "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            return python
    return None


class Kernels(AssayTest):
    def setUp(self):
        super().setUp()
        self.runs = 0

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def library(self, name="mine", **replacements):
        """The page's library in C, with other texts in place of some."""
        text = example("c")
        for word, other in replacements.items():
            old = {"op": '"softmax"', "dtypes": '"f32"', "version": "ASSAY_KERNEL_VERSION", "entry": "assay_kernels(void)",
                   "refused": '"cuda") == 0', "said": "only for host memory", "parallel": "#pragma omp parallel for"}[word]
            self.assertIn(old, text)
            text = text.replace(old, other)
        self.write(f"{name}.c", text)
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-shared", "-fPIC",
                        HEADER, f"{name}.c", "-o", f"{name}.so", "-lm"], cwd=self.folder, check=True)
        return f"./{name}.so"

    def python(self, text, module="numpy"):
        """Options of a Python file, for a Python that has the module."""
        python = python_with(module)
        self.assertIsNotNone(python, f"no Python here has {module}: install Debian's python3-{module}")
        return "--kernels", self.write("mine.py", text), "--python", python

    def run_rows(self, *arguments, expect=0):
        """Rows by case id, of a run without limits."""
        self.runs += 1
        self.out = f"out{self.runs}"
        self.result = self.assay("run", "--no-limits", "--out", self.out, *arguments, expect=expect)
        return {row["case_id"]: row for row in self.rows(self.out)}

    def cases(self, *ids):
        return [word for case in ids for word in ("--case", case)]


class Examples(Kernels):
    def passes(self, rows, named):
        self.assertEqual({"pass"}, {row["status"] for row in rows.values()})
        for row in rows.values():
            self.assertTrue(row["implementation"].startswith(named), row["implementation"])
        self.assertGreaterEqual(max(int(row["input_sets"] or 0) for row in rows.values()), 3)

    def test_in_c_on_the_cpu_and_on_a_simulated_device(self):
        library = self.library()
        for device in (CPU, SIM):
            with self.subTest(device):
                self.passes(self.run_rows("--kernels", library, *device, *self.cases(SOFTMAX, APART)), "mine 1.0")

    def test_in_python_with_numpy(self):
        kernels = self.python(example("python", "numpy"))
        self.passes(self.run_rows(*kernels, *CPU, *self.cases(ADD, "tensor_ops/add/f64/n=610,cols=61,ld=64")), "mine.py")

    def test_in_python_with_pytorch(self):
        if python_with("torch") is None:
            self.skipTest("no Python here has PyTorch")
        relu, gelu = [f"linear/f32/batch=16,in=64,out=33,bias={bias},act={act}" for bias, act in ((1, "relu"), (0, "gelu"))]
        plain = relu.replace("bias=1", "bias=0")
        rows = self.run_rows(*self.python(example("python", "torch"), "torch"), *CPU, *self.cases(relu, plain, gelu))
        skip = rows.pop(gelu)
        self.assertEqual(("skip", "not here: mine.py: only act=relu"), (skip["status"], skip["reason"]))
        self.passes(rows, "mine.py")

    def emulated(self, source, *arguments, expect):
        """Builds a kernel as docs/kernels.md says, and runs it on an emulated GPU."""
        if not (BUILD / "lib" / "emulated" / "libcuda.so.1").exists():
            self.skipTest("the build has no emulated GPUs")
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        nvcc = re.search(r"^ASSAY_NVCC:\w+=(.*nvcc)$", cache, re.MULTILINE)[1]
        self.write("add.cu", source)
        subprocess.run([nvcc, "-std=c++17", "-shared", "-Xcompiler", "-fPIC", HEADER, "-cudart", "shared", "--no-compress", "-lineinfo",
                        "-gencode", "arch=compute_80,code=compute_80", "add.cu", "-o", "add.so"], cwd=self.folder, check=True)
        command = [ROOT / "scripts/emulate-gpu", "--build", BUILD, "--drop-in", ASSAY, "run", "--kernels", "./add.so", "--device",
                   "cuda:0", "--no-limits", "--out", "out", *arguments]
        result = subprocess.run(command, cwd=self.folder, timeout=1500, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return self.rows("out")

    def test_in_cuda_on_an_emulated_gpu(self):
        apart = "tensor_ops/add/f32/n=610,cols=61,ld=64"
        rows = {row["case_id"]: row for row in self.emulated(example("cuda"), *self.cases(ADD, apart), expect=0)}
        skip = rows.pop(apart)
        self.assertEqual(("skip", "not here: mine 1.0: only whole arrays on GPUs"), (skip["status"], skip["reason"]))
        self.passes(rows, "mine 1.0")

    def test_a_race_on_an_emulated_gpu_is_told_with_its_line(self):
        right = "if (i < n) y[i] = a[i] + b[i];"
        self.assertIn(right, example("cuda"))
        racy = example("cuda").replace(right, """__shared__ float tile[256];
  tile[threadIdx.x] = 0;
  __syncthreads();
  tile[threadIdx.x] = i < n ? a[i] : 0; if (i < n) y[i] = tile[255 - threadIdx.x] + b[i];  // RACE""")
        line = 1 + racy[:racy.index("// RACE")].count("\n")
        row, = self.emulated(racy, "--check-only", *self.cases(ADD), expect=4)
        self.assertEqual(row["status"], "error")
        self.assertRegex(row["reason"], rf"kernel add\(.*add\.cu:{line}, .*without a barrier between")


class Refusals(Kernels):
    def refused(self, *arguments, because, command="run"):
        for text in (because,) if isinstance(because, str) else because:
            self.assertIn(text, self.assay(command, *arguments, expect=2).stderr)
        self.assertFalse((self.folder / "assay-runs").exists(), "decided before anything runs")

    def test_what_is_no_file(self):
        self.refused("--kernels", "./none.so", because="--kernels: there is no file './none.so'")
        self.refused("--kernels", "torhc", because="--kernels: unknown file or word 'torhc'; did you mean 'torch'?")
        self.refused("--kernels", "", because="--kernels: must not be empty")
        self.refused("--kernels", "./text.so", because="there is no file")
        self.refused("--kernels", self.write("mine.py", ""), "--python", "no-python", because="--python: there is no program 'no-python'")

    def test_libraries(self):
        self.refused("--kernels", "./" + self.write("text.so", "text"), because="--kernels ./text.so: not a shared library that can be loaded")
        for replaced, text in (({"entry": "something_else(void)"}, "it has no function assay_kernels"),
                               ({"version": "7"}, "it is made for version 7 of assay_kernel.h, and this program has version 2"),
                               ({"op": '"sotfmax"'}, "it offers an op that it cannot: unknown op 'sotfmax'; did you mean 'softmax'?"),
                               ({"op": '"allreduce"'}, "unknown op 'allreduce'"),
                               ({"dtypes": '"f23"'}, "its op softmax: unknown dtype 'f23'"),
                               ({"dtypes": '"f32,i32"'}, "its op softmax: unknown dtype 'i32'")):
            with self.subTest(text):
                self.refused("--kernels", self.library(**replaced), because=text)

    def test_python_files(self):
        python = sys.executable
        for text, because in {
            "def f(:\n": "--kernels mine.py: mine.py:1: SyntaxError",
            "import assay\n": "mine.py registers no kernel and defines no op: put @assay.kernel(OP) before a kernel",
            "import nothing_of_this_name\n": "mine.py needs the module 'nothing_of_this_name'",
            "import assay\n@assay.kernel('ad')\ndef f(x): return x\n": "unknown op 'ad'; did you mean 'add'",
            "import assay\n@assay.kernel('add', dtypes='f23')\ndef f(x): return x\n": "its op add: unknown dtype 'f23'",
            "raise SystemExit(3)\n": "mine.py ended with exit code 3 when it was imported",
        }.items():
            with self.subTest(because):
                self.refused("--kernels", self.write("mine.py", text), "--python", python, because=because)

    def test_python_may_name_each_dtype_that_its_op_has(self):
        kernels = self.write("mine.py", "import assay\n@assay.kernel('linear', ['nvfp4'])\ndef f(*x): pass\n")
        listed = self.assay("list", "--kernels", kernels, "--python", sys.executable, "--sim-devices", 1, "--device", "sim",
                            "--suite", "linear", "--axis", "dtype=nvfp4", "--profile", "seeds").stdout
        self.assertIn("linear/nvfp4/", listed)

    def test_a_selection_of_which_they_have_nothing(self):
        library = self.library()
        self.refused("--kernels", library, *CPU, "--filter", "/add/f32/", because="mine 1.0 has none of the selected ops and dtypes; it has softmax")
        for command in ("list", "run"):
            self.refused("--kernels", library, *CPU, "--suite", "transfers", because="mine 1.0 has none of", command=command)

    def test_two_sides_with_the_same_kernels(self):
        library = self.library()
        for sides in (("--base-kernels", library, "--cand-kernels", library), ("--kernels", library)):
            self.refused(*sides, *CPU, because="both sides are the same program", command="ab")
        self.refused("--cand-kernels", "", because="--cand-kernels: must not be empty", command="ab")


class Rows(Kernels):
    def test_an_op_that_they_lack_is_left_out_with_a_note(self):
        rows = self.run_rows("--kernels", self.library(), *CPU, "--check-only", "--filter", "/(softmax|exp)/f(32|64)/.*(n=3|rows=2,cols=3)$")
        self.assertEqual(["tensor_ops/softmax/f32/rows=2,cols=3"], list(rows))
        note, = json.loads((self.folder / self.out / "run.json").read_text(encoding="utf-8"))["notes"]
        self.assertEqual("3 trials of ops and dtypes that mine 1.0 lacks are left out", note)
        self.assertIn(note, self.result.stderr)

    def test_a_problem_that_is_not_theirs_is_a_skip_with_their_text(self):
        library = self.library(refused='"cpu") == 0 && x->shape[0] == 16', said="not 16 rows")
        rows = self.run_rows("--kernels", library, *CPU, "--check-only", *self.cases(SOFTMAX, APART))
        self.assertEqual("pass", rows[APART]["status"])
        self.assertEqual(("skip", "not here: mine 1.0: not 16 rows"), (rows[SOFTMAX]["status"], rows[SOFTMAX]["reason"]))

    def test_each_way_to_fail_is_a_row(self):
        bodies = {"add": "os.kill(os.getpid(), 11)", "sub": "sys.exit(7)", "mul": "time.sleep(1000)", "square": "raise MemoryError('no 8 GiB')",
                  "neg": "raise ValueError('oops')", "abs": "out[...] = x", "relu": "numpy.maximum(x, 0, out=out)"}
        text = "import assay, numpy, os, sys, time\n" + "".join(
            f"@assay.kernel('{op}', 'f32')\ndef {op}(x, y=None, *, out): {body}\n" for op, body in bodies.items())
        rows = self.run_rows(*self.python(text), *CPU, "--check-only", "--timeout", "5", "--filter", "/f32/n=3$", expect=1)
        found = {row["op"]: (row["status"], row["reason"]) for row in rows.values()}
        for op, status, reason in (("add", "crash", "signal 11"), ("sub", "crash", "mine.py: ended its process with exit code 7"),
                                   ("mul", "timeout", "no answer within 5 s"), ("square", "oom", "mine.py: MemoryError: no 8 GiB"),
                                   ("neg", "error", "mine.py: ValueError: oops (mine.py:"), ("abs", "fail", "elements wrong"),
                                   ("relu", "pass", "")):
            with self.subTest(op):
                self.assertEqual(status, found[op][0])
                self.assertIn(reason, found[op][1])

    def test_elements_at_the_ends_and_rows_far_from_zero_count(self):
        """Each is right on all data but those that are drawn for it."""
        bodies = {"reduce_max": "numpy.max(x[:-1] if x.size % 2 and x.size > 1 else x)",
                  "reduce_min": "min(numpy.min(x[:x.size // 8 * 8], initial=numpy.inf), x[-1])",
                  "argmax": "max(1, numpy.argmax(x)) if x.size > 8 else numpy.argmax(x)",
                  "relu": "numpy.concatenate([numpy.maximum(x[:-1], 0), numpy.abs(x[-1:])])",
                  "less": "numpy.concatenate([x[:-1] < y[:-1], [False]])"}
        text = "import assay, numpy\n" + "".join(
            f"@assay.kernel('{op}', 'f32')\ndef {op}(x, y=None, *, out): out[...] = {body}\n" for op, body in bodies.items())
        text += ("@assay.kernel('softmax', 'f32')\ndef softmax(x, *, out):\n"
                 "  y = x.astype(numpy.float64)\n"
                 "  e = numpy.exp(y - numpy.maximum(y.max(axis=1, keepdims=True), -5e4))\n"
                 "  out[...] = e / numpy.maximum(e.sum(axis=1, keepdims=True), 1e-300)\n")
        rows = self.run_rows(*self.python(text), *CPU, "--check-only", "--filter", "/f32/(n=1003|rows=16,cols=1003)$", expect=1)
        self.assertEqual({op: "fail" for op in (*bodies, "softmax")}, {row["op"]: row["status"] for row in rows.values()})

    def test_numbers_of_every_size_and_kind_count(self):
        """Each is right on plain data."""
        short = "((a.view(numpy.uint32) & 0xffffe000).view(numpy.float32) for a in (x, w))"
        bodies = {  # case: body
            "tensor_ops/sort/f32/n=1003": "numpy.sort(numpy.clip(x, -100, 100))",
            "tensor_ops/sort/f16/n=1003": "numpy.concatenate([x[numpy.isnan(x)], numpy.sort(x[~numpy.isnan(x)])])",
            "tensor_ops/pow/f32/n=1003": "numpy.where(x < 0, numpy.nan, numpy.power(x, w))",
            "tensor_ops/log/f64/n=1003": "numpy.log(numpy.where(abs(x - 1) < 1e-8, 1, x))",
            "tensor_ops/sum/f32/n=524288": "numpy.cumsum(x)[-1]",
            "tensor_ops/exp/f32/n=1003": "numpy.exp(numpy.minimum(x, 88, where=x < 89, out=x.copy()))",
            "tensor_ops/norm2/f32/n=1003": "numpy.sqrt(numpy.dot(x, x))",
            "tensor_ops/softmax/f32/rows=16,cols=1003": "rows_with_one_maximum(x)",
            "tensor_ops/layernorm/f16/rows=16,cols=1003": "normalised(x, w, bias, 1e-6)",
            "tensor_ops/gather/f32/rows=33001,cols=3,count=255": "x[w % 32768]",
            "tensor_ops/batched_matmul/f32/batch=1,m=16,n=17,k=2304": "in_parts(x, w)",
            "linear/i8/batch=1,in=4096,out=1000,bias=1,act=none": "through_f32(x, w) + bias",
            "linear/i8/batch=2,in=3,out=3,bias=0,act=none": "saturated(x, w)",
            "linear/f32/batch=64,in=120,out=84,bias=1,act=relu": f"numpy.maximum(numpy.matmul(*[a if i == 0 else a.T for i, a in enumerate({short})]) + bias, 0)",
            "linear/f32/batch=64,in=120,out=84,bias=0,act=gelu": f"gelu(numpy.matmul(*[a if i == 0 else a.T for i, a in enumerate({short})]))",
        }
        helpers = """
import assay, math, numpy
def rows_with_one_maximum(x):
    e = numpy.exp(x.astype(numpy.float64) - x.max())
    return e / e.sum(axis=1, keepdims=True)
def normalised(x, w, bias, epsilon):
    x = x.astype(numpy.float64)
    return (x - x.mean(axis=1, keepdims=True)) / numpy.sqrt(x.var(axis=1, keepdims=True) + epsilon) * w + bias
def in_parts(x, w):
    y = numpy.zeros((x.shape[0], x.shape[1], w.shape[2]), numpy.float16)
    for i in range(0, x.shape[2], 64):
        y += numpy.matmul(x[:, :, i:i + 64], w[:, i:i + 64]).astype(numpy.float16)
    return y
def through_f32(x, w): return numpy.matmul(x.astype(float), w.T.astype(float)).astype(numpy.float32).astype(numpy.int32)
def saturated(x, w):
    y = numpy.zeros((x.shape[0], w.shape[0]), numpy.int32)
    for i in range(0, x.shape[1], 2):
        y += numpy.matmul(x[:, i:i + 2].astype(numpy.int32), w[:, i:i + 2].T.astype(numpy.int32)).clip(-32768, 32767)
    return y
def gelu(x): return x / 2 * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2)))
"""
        text = helpers + "bodies = {}\n" + "".join(
            f"bodies[{tuple(case.replace('tensor_ops/', '').split('/')[:2])!r}, {('act=' in case) and case.split('act=')[1]!r}] = "
            f"lambda x, w, bias: {body}\n" for case, body in bodies.items())
        text += """
def make(op, dtype):
    def kernel(x, w=None, bias=0, *, out, params):
        act = params.get("act", False)
        with numpy.errstate(all="ignore"):
            out[...] = bodies[(op, dtype), act](x, w, bias)
    assay.kernel(op, dtype)(kernel)
for op, dtype in sorted({key[0] for key in bodies}): make(op, dtype)
"""
        options = self.python(text)
        rows = self.run_rows(*options, *CPU, "--check-only", *(word for case in bodies for word in ("--case", case)), expect=1)
        found = {row["case_id"]: (row["status"], row["caught_on"] or row["reason"]) for row in rows.values()}
        self.assertEqual({case: "fail" for case in bodies}, {case: status for case, (status, _) in found.items()}, found)

    def test_a_long_sum_does_not_hide_the_precision_of_its_terms(self):
        """Terms of 16 bits, whose errors vanish in a bound of so many."""
        text = """
import assay, numpy
def cut(x): return (x.astype(numpy.float32).view(numpy.uint32) & 0xffffff00).view(numpy.float32).astype(float)
def softmax(x, *, out):
    e = cut(numpy.exp(x.astype(float) - x.max(axis=1, keepdims=True)))
    out[...] = e / e.sum(axis=1, keepdims=True)
def linear(x, w, bias=0, *, out): out[...] = numpy.matmul(cut(x), cut(w).T) + bias
def one(of):
    def kernel(x, w=0, *, out): out[...] = of(x, w)
    return kernel
bodies = {"sum": one(lambda x, w: numpy.sum(cut(x))), "mean": one(lambda x, w: numpy.mean(cut(x))),
          "dot": one(lambda x, w: numpy.dot(cut(x), cut(w))), "norm2": one(lambda x, w: numpy.linalg.norm(cut(x))),
          "softmax": softmax, "linear": linear}
for op, body in bodies.items(): assay.kernel(op, "f32")(body)
"""
        cases = [*(f"tensor_ops/{op}/f32/n=65537" for op in ("sum", "mean", "dot", "norm2")),
                 "tensor_ops/softmax/f32/rows=16,cols=1003", "linear/f32/batch=3,in=4099,out=17,bias=1,act=none"]
        rows = self.run_rows(*self.python(text), *CPU, "--check-only", *(word for case in cases for word in ("--case", case)), expect=1)
        found = {row["case_id"]: row["status"] for row in rows.values()}
        self.assertEqual(dict.fromkeys(cases, "fail"), found)

    def test_a_weight_that_is_kept_by_its_address_is_wrong(self):
        text = ("import assay, numpy\nkept, launches = {}, 0\n@assay.kernel('linear', 'f32')\ndef linear(x, w, *, out, problem):\n"
                "  global launches\n"
                "  launches += 1\n"
                "  packed = w.T.copy() if launches < 12 else kept.setdefault(w.ctypes.data, w.T.copy())\n"
                "  numpy.matmul(x, packed, out=out)\n")
        slow = text.replace("import", "import time,", 1) + "  time.sleep(0.04)\n"  # few sets of inputs have a second turn
        for kernel in text, slow:
            with self.subTest(kernel=kernel):
                row, = self.run_rows(*self.python(kernel), *CPU, "--case", "linear/f32/batch=64,in=120,out=84,bias=0,act=none",
                                     expect=1).values()
                self.assertEqual(("fail", "timed_launches", ""), (row["status"], row["caught_on"], row["time_median_s"]))

    def test_a_replay_repeats_a_row(self):
        library = self.library()
        row, = self.run_rows("--kernels", library, *SIM, "--check-only", "--case", APART).values()
        words = shlex.split(row["replay"])
        self.assertEqual("assay", words[0])
        self.assertEqual("./mine.so", words[words.index("--kernels") + 1])
        again, = self.run_rows(*words[2:]).values()
        for column in ("case_id", "device", "status", "implementation", "oracle", "replay"):
            self.assertEqual(row[column], again[column])

    def test_a_resumed_run_has_the_same_kernels(self):
        library = self.library()
        rows = self.run_rows("--kernels", library, *CPU, "--profile", "smoke", "--check-only")
        self.assertGreaterEqual(len(rows), 4)
        results = self.folder / self.out / "results.csv"
        lines = results.read_text(encoding="utf-8").splitlines(keepends=True)
        results.write_text("".join(lines[:3]), encoding="utf-8")
        os.rename(self.folder / library, self.folder / "away.so")
        self.assertIn(f"there is no file '{self.folder / 'mine.so'}'", self.assay("run", "--resume", self.out, expect=2).stderr)
        os.rename(self.folder / "away.so", self.folder / library)
        self.assay("run", "--resume", self.out)
        resumed = {row["case_id"]: row for row in self.rows(self.out)}
        self.assertEqual(set(rows), set(resumed))
        self.assertEqual({("pass", "mine 1.0")}, {(row["status"], row["implementation"]) for row in resumed.values()})

    def test_kernels_have_the_cores_and_threads_of_our_own(self):
        options = self.python("import assay, os\n@assay.kernel('neg', describe=lambda problem: "
                              "f\"{len(os.sched_getaffinity(0))} cores, {os.environ['OMP_NUM_THREADS']} threads, \"\n"
                              "f\"{os.environ.get('OMP_WAIT_POLICY')} {os.environ['OMP_PROC_BIND']}\")\n"
                              "def neg(x): return -x\n")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
        cores = len(os.sched_getaffinity(0))
        # Threads that are not timed leave the cores to others.
        for more, expected, waits in (((), cores, "None true"), (("--threads", "1"), 1, "None true"),
                                      (("--check-only",), cores, "passive false")):
            out = "-".join(("with", *more))
            self.assay("run", "--no-limits", "--out", out, *CPU, *options, *more, "--case", "tensor_ops/neg/f32/n=1003",
                       env=environment)
            row, = self.rows(out)
            self.assertEqual(f"mine.py {cores} cores, {expected} threads, {waits}", row["implementation"])

    def test_built_in_kernels_take_turns_too(self):
        row, = self.run_rows(*CPU, "--case", ADD).values()
        self.assertEqual("3", row["input_sets"])
        row, = self.run_rows(*CPU, "--case", ADD, "--fresh-inputs").values()
        self.assertGreater(int(row["input_sets"]), 3)
        self.assertIn("--fresh-inputs", row["replay"])


class Resumed(Kernels):
    def test_a_run_goes_on_with_the_kernels_that_it_began_with(self):
        text = "import assay, numpy\n@assay.kernel('neg')\ndef neg(x, *, out): numpy.negative(x, out=out)\n"
        options = self.python(text)
        self.run_rows(*CPU, *options, "--check-only", "--case", "tensor_ops/neg/f32/n=1003")
        facts = json.loads((self.folder / "out1" / "run.json").read_text(encoding="utf-8"))["kernels"]
        self.assertEqual((str(self.folder / "mine.py"), "mine.py"), (facts["path"], facts["name"]))
        elsewhere = subprocess.run([ASSAY, "run", "--resume", self.folder / "out1"], cwd="/", capture_output=True, text=True)
        self.assertEqual(0, elsewhere.returncode, elsewhere.stderr)
        self.python(text + "# other\n")
        said = self.assay("run", "--resume", "out1", expect=2).stderr
        self.assertRegex(said, r"mine\.py have changed since the run began \(CRC-32 \w{8}, now \w{8}\)")

    def test_kernels_of_another_version(self):
        text = "import assay, numpy, os\nassay.provider(os.environ['V'])\n@assay.kernel('neg')\ndef neg(x): return -x\n"
        options = self.python(text)
        self.assay("run", "--no-limits", "--out", "out", *CPU, *options, "--check-only", "--case",
                   "tensor_ops/neg/f32/n=1003", env=os.environ | {"V": "one"})
        said = self.assay("run", "--resume", "out", env=os.environ | {"V": "two"}, expect=2).stderr
        self.assertIn("(name one, now two)", said)

    def test_ab_of_two_pythons(self):
        options = self.python("import assay, os\nassay.provider(os.environ['V'])\n@assay.kernel('neg')\ndef neg(x): return -x\n")
        for name in ("old", "new"):
            (self.folder / name).write_text(f"#!/bin/sh\nV={name} exec {options[3]} \"$@\"\n")
            (self.folder / name).chmod(0o755)
        self.assay("ab", *options[:2], "--base-python", "./old", "--cand-python", "./new", *CPU, "--case",
                   "tensor_ops/neg/f32/n=1003", "--rounds", "6", "--confirm", "6", "--margin", "1000", "--out", "ab")
        row, = self.rows("ab", "ab.csv")
        self.assertEqual(("old", "new"), (row["base_implementation"], row["cand_implementation"]))
        sides = json.loads((self.folder / "ab" / "ab.json").read_text(encoding="utf-8"))
        self.assertEqual(("old", "new"), tuple(sides[side]["kernels_name"] for side in ("base", "cand")))


class OtherCommands(Kernels):
    def test_ab_finds_the_slower_of_two_libraries(self):
        once = self.library("once", parallel="")
        slow = self.library("slow", parallel="  for (int i = 0; i < 3; ++i)")
        self.assay("ab", "--base-kernels", once, "--cand-kernels", slow, *CPU, "--case", SOFTMAX, "--rounds", "6", "--confirm", "6",
                   "--out", "ab", expect=5)
        row, = self.rows("ab", "ab.csv")
        self.assertEqual("regressed", row["verdict"])
        self.assertGreater(float(row["ratio"]), 1.5)
        self.assertEqual(("mine 1.0", "mine 1.0"), (row["base_implementation"], row["cand_implementation"]))
        sides = json.loads((self.folder / "ab" / "ab.json").read_text(encoding="utf-8"))
        self.assertEqual((once, slow), (sides["base"]["kernels"], sides["cand"]["kernels"]))
        self.assertIn(f"kernels of `{slow}`", (self.folder / "ab" / "ab.md").read_text(encoding="utf-8"))

    def test_compare_and_report_take_runs_with_kernels_and_without(self):
        self.run_rows(*CPU, "--case", SOFTMAX)
        self.run_rows(*CPU, "--case", SOFTMAX, "--kernels", self.library())
        compared = self.assay("compare", "out1", "out2").stdout
        self.assertRegex(compared, r"(?m)^ +options .*--kernels \./mine\.so")
        self.assertIn("1 timed in both", compared)
        self.assertIn(f"assay ab --base BASE_ASSAY --cand CAND_ASSAY --cand-kernels ./mine.so --device cpu --case {SOFTMAX}\n", compared)
        self.assay("report", "out1", "out2", "--out", "page.html")
        self.assertIn("--kernels ./mine.so", (self.folder / "page.html").read_text(encoding="utf-8"))

    def test_googletest(self):
        if not GTEST.exists():
            self.skipTest("the build has no assay_gtest")
        result = subprocess.run([GTEST, "--kernels", self.library(), *CPU, "--case", APART, "--gtest_output=xml:out.xml"], cwd=self.folder,
                                text=True, capture_output=True, timeout=100, check=False)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        self.assertIn("[  PASSED  ] 1 test.", result.stdout)
        self.assertIn('name="implementation" value="mine 1.0"', (self.folder / "out.xml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
