"""Kernels in Python, by a stand-in for Assay's library: what a function gets, what failures say, what is refused."""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HOST = ROOT / "kernels" / "providers" / "python" / "assay" / "_host.py"
OK, NOT_MINE, OUT_OF_MEMORY, FAILED = range(4)
CODES = {"f64": "d", "f32": "f", "i64": "q", "i32": "i", "u8": "B", "bf16": "H", "f16": "e"}


def python_with(module):
    """A Python that has the module, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return None


def setUpModule():
    global ENGINE
    folder = tempfile.TemporaryDirectory(prefix="assay-engine-")
    unittest.addModuleCleanup(folder.cleanup)
    ENGINE = os.path.join(folder.name, "engine.so")
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-shared", "-fPIC", f"-I{ROOT}",
                    HERE / "python_engine.cpp", "-o", ENGINE], check=True)


def packed(dtype, *values):
    return struct.pack(f"<{len(values)}{CODES[dtype]}", *values)


def tensor(kind, dtype, shape, *sets, strides=None):
    """An order: a tensor with its bytes, for each set of addresses."""
    dense = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        dense[i] = dense[i + 1] * shape[i + 1]
    extents = [",".join(map(str, numbers)) or "-" for numbers in (shape, strides or dense)]
    return " ".join([kind, dtype, *extents, *[data.hex() or "-" for data in sets]])


def inputs(dtype, shape, *sets, **options):
    return tensor("input", dtype, shape, *sets, **options)


def outputs(dtype, shape, *sets, **options):
    return tensor("output", dtype, shape, *sets, **options)


def zeros(dtype, count):
    return packed(dtype, *[0] * count)


class Answers:
    """The engine's lines by their first word."""

    def __init__(self, text):
        self.lines = [(line + " ").split(" ", 1) for line in text.splitlines()]

    def all(self, word):
        return [rest.strip() for first, rest in self.lines if first == word]

    def status(self, call, at=-1):
        status, _, text = self.all(call)[at].partition(" ")
        return int(status), text

    def values(self, dtype, at=-1):
        data = bytes.fromhex(self.all("output")[at])
        return list(struct.unpack(f"<{len(data) // struct.calcsize(CODES[dtype])}{CODES[dtype]}", data))


class HostTest(unittest.TestCase):
    module = "numpy"

    @classmethod
    def setUpClass(cls):
        cls.python = python_with(cls.module)
        if cls.python is None and cls.module == "numpy":
            raise AssertionError("no Python here has NumPy: install Debian's python3-numpy")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="assay-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def run_host(self, source, *orders, expect=0, arguments=(), **environment):
        (self.folder / "orders").write_text("\n".join(orders), encoding="utf-8")
        result = subprocess.run([self.python, HOST, ENGINE, source, "orders", *arguments], cwd=self.folder, text=True,
                                capture_output=True, timeout=120, check=False,
                                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})
        self.assertEqual(result.returncode, expect, f"{result.stdout}\n{result.stderr}")
        self.stderr = result.stderr
        return Answers(result.stdout)

    def serve(self, text, *orders, **options):
        self.write("mine.py", text)
        return self.run_host("mine.py", *orders, **options)

    def refused(self, text, **options):
        return self.serve(text, expect=3, **options).all("refused")[0]


ADD = ("problem add f32 cpu n=3", inputs("f32", [3], packed("f32", 1, 2, 3)), inputs("f32", [3], packed("f32", 10, 20, 30)),
       outputs("f32", [3], zeros("f32", 3)), "create", "launch")
SQUARE = ("problem square f32 cpu n=2", inputs("f32", [2], packed("f32", 3, -4)), outputs("f32", [2], zeros("f32", 2)),
          "create", "launch")


class Functions(HostTest):
    def of_square(self, body, *orders, head="import assay\n"):
        return self.serve(f"{head}@assay.kernel('square')\n{body}\n", *(orders or SQUARE))

    def test_writes_into_out(self):
        answers = self.serve("import assay, numpy\n@assay.kernel('add')\n"
                             "def add(a, b, *, out): numpy.add(a, b, out=out)\n", *ADD)
        self.assertEqual(answers.all("table"), ["2 mine.py"])
        self.assertEqual(answers.all("offer"), ["add all"])
        self.assertEqual(answers.status("launch"), (OK, ""))
        self.assertEqual(answers.values("f32"), [11, 22, 33])

    def test_returns_the_result_or_out(self):
        for body in ("def f(x): return x * x", "def f(x, *, out):\n  out[...] = x * x\n  return out",
                     "def f(x, out): out[...] = x * x", "def f(x): return [x * x]"):
            with self.subTest(body):
                self.assertEqual(self.of_square(body).values("f32"), [9, 16])

    def test_a_built_in_function_is_a_kernel(self):
        answers = self.serve("import assay, numpy\nassay.kernel('add')(numpy.add)\n", *ADD)
        self.assertEqual(answers.values("f32"), [11, 22, 33])

    def test_says_what_is_wrong_with_a_returned_value(self):
        for body, said in {
            "def f(x): return x[:1]": "ValueError: f returned the shape (1,), the output has (2,)",
            "def f(x): return x.astype('f8')": "TypeError: f returned float64, the output has float32",
            "def f(x): return 1.5": "TypeError: f returned a float, the output is a numpy.ndarray of shape (2,)",
            "def f(x): return x, x": "TypeError: f returned 2 tensors, the op has 1",
            "def f(x): pass": "TypeError: f neither takes the parameter `out` nor returns a tensor",
        }.items():
            with self.subTest(body):
                self.assertEqual(self.of_square(body).status("launch"), (FAILED, said))

    def test_parameters_that_do_not_fit_are_found_before_a_launch(self):
        status, text = self.of_square("def f(a, b, *, out): pass", *SQUARE[:4]).status("create")
        self.assertEqual(status, FAILED)
        self.assertEqual(text, "TypeError: f(a, b, *, out) cannot be called with the 1 input(s) of square: "
                               "missing a required argument: 'b'")

    def test_gets_parameters_problem_and_stream(self):
        answers = self.serve(
            "import assay, sys\n@assay.kernel('linear', framework='numpy')\n"
            "def f(x, *, out, params, problem, stream):\n"
            "  print(params, problem.op, problem.dtype, problem.device, problem.shapes, problem.outputs[0], stream,\n"
            "        file=sys.stderr)\n",
            "problem linear tf32 sim in=3 act=relu to=0x", inputs("f32", [1, 2], zeros("f32", 2)),
            outputs("f32", [2], zeros("f32", 2)), "create", "launch")
        self.assertEqual(answers.status("launch"), (OK, ""))
        self.assertEqual(self.stderr.strip(), "{'in': 3, 'act': 'relu', 'to': '0x'} linear tf32 cpu ((1, 2),) "
                                              "Tensor(dtype='f32', shape=(2,), strides=(1,)) 0")

    def test_several_outputs_come_as_a_tuple(self):
        problem = ("problem split f32 cpu", inputs("f32", [2], packed("f32", 3, 4)), outputs("f32", [1], zeros("f32", 1)),
                   outputs("f32", [1], zeros("f32", 1)), "create", "launch")
        for body in ("def f(x, *, out): out[0][0], out[1][0] = x", "def f(x): return x[:1], x[1:]"):
            with self.subTest(body):
                answers = self.serve(f"import assay\n@assay.kernel('split')\n{body}\n", *problem)
                self.assertEqual([answers.values("f32", at) for at in (-2, -1)], [[3], [4]])

    def test_prepare_is_called_once_and_may_replace_the_function(self):
        answers = self.serve(
            "import assay, sys\n"
            "def prepare(problem):\n"
            "  print('prepared', problem.params['n'], file=sys.stderr)\n"
            "  if problem.params['n'] == 3: raise assay.NotMine('odd sizes\\nare not mine')\n"
            "  return lambda x: x + problem.params['n']\n"
            "@assay.kernel('square', prepare=prepare, describe=lambda problem: f'adds {problem.params[\"n\"]}')\n"
            "def f(x): return x * x\n", *SQUARE, "launch", "problem square f32 cpu n=3", *SQUARE[1:4])
        self.assertEqual(answers.values("f32"), [5, -2])
        self.assertEqual(answers.all("describe"), ["adds 2"])
        self.assertEqual(self.stderr.split(), ["prepared", "2", "prepared", "3"])
        self.assertEqual(answers.status("create"), (NOT_MINE, "odd sizes are not mine"))

    def test_other_dtypes_and_ops_are_not_mine(self):
        text = ("import assay\nassay.provider('mine 2')\n"
                "@assay.kernel('square', 'f32,f64', describe='plain')\n@assay.kernel('abs')\ndef f(x): return x\n")
        answers = self.serve(text, "problem square i32 cpu", "create", "problem neg f32 cpu", "create", *SQUARE[:4])
        self.assertEqual(answers.all("offer"), ["abs all", "square f32,f64"])
        self.assertEqual(answers.status("create", 0), (NOT_MINE, "mine 2 has no kernel for square/i32"))
        self.assertEqual(answers.status("create", 1), (NOT_MINE, "mine 2 has no kernel for neg/f32"))
        self.assertEqual(answers.all("describe"), ["plain"])


class Failures(HostTest):
    def failure(self, *body, head=""):
        text = f"import assay{head}\n@assay.kernel('square')\ndef f(x):\n" + "".join(f"  {line}\n" for line in body)
        return self.serve(text, *SQUARE).status("launch")

    def test_names_the_place_in_the_users_file(self):
        self.assertEqual(self.failure("raise ValueError('shapes\\n differ')"),
                         (FAILED, "ValueError: shapes differ (mine.py:4 in f)"))
        self.assertEqual(self.failure("import numpy", "return numpy.linalg.cholesky(x)")[1].rpartition("(")[2],
                         "mine.py:5 in f)")
        self.assertEqual(self.failure("return 1 / 0"), (FAILED, "ZeroDivisionError: division by zero (mine.py:4 in f)"))
        self.assertLess(len(self.failure("raise ValueError('x' * 5000)")[1]), 600)

    def test_a_later_launch_works(self):
        answers = self.serve("import assay\ncalls = []\n@assay.kernel('square')\ndef f(x):\n  calls.append(1)\n"
                             "  if len(calls) == 1: raise KeyError('first')\n  return x\n", *SQUARE, "launch")
        self.assertEqual([answers.status("launch", at)[0] for at in (0, 1)], [FAILED, OK])

    def test_memory_that_is_not_there_is_told_apart(self):
        self.assertEqual(self.failure("raise MemoryError('no 8 GiB')"),
                         (OUT_OF_MEMORY, "MemoryError: no 8 GiB (mine.py:4 in f)"))
        status, _ = self.failure("class OutOfMemoryError(RuntimeError): pass", "raise OutOfMemoryError('CUDA')")
        self.assertEqual(status, OUT_OF_MEMORY)

    def test_exit_ends_the_process(self):
        for statement, code in {"sys.exit(7)": 7, "sys.exit()": 0, "sys.exit('bye')": 1, "raise KeyboardInterrupt": 130}.items():
            with self.subTest(statement):
                answers = self.serve(f"import assay, sys\n@assay.kernel('square')\ndef f(x): {statement}\n", *SQUARE,
                                     expect=code, arguments=["5"])
                self.assertEqual(answers.all("launch"), [])

    def test_the_engines_exit_code_is_the_process_s(self):
        self.serve("import assay\n@assay.kernel('square')\ndef f(x): return x\n", *SQUARE, expect=5, arguments=["5"])


class Tensors(HostTest):
    def test_rows_apart_keep_their_gaps(self):
        gap = 7
        rows = packed("f32", 1, 2, 3, gap, 4, 5, 6)
        answers = self.serve(
            "import assay\n@assay.kernel('square')\ndef f(x, *, out):\n"
            "  assert x.shape == out.shape == (2, 3) and x.strides == out.strides == (16, 4)\n  return x * x\n",
            "problem square f32 cpu", inputs("f32", [2, 3], rows, strides=[4, 1]),
            outputs("f32", [2, 3], packed("f32", *[gap] * 7), strides=[4, 1]), "create", "launch")
        self.assertEqual(answers.values("f32"), [1, 4, 9, gap, 16, 25, 36])

    def test_nothing_and_one_number(self):
        text = "import assay\n@assay.kernel('square')\ndef f(x, *, out):\n  assert x.shape == out.shape\n  out[...] = x * x\n"
        for shape, data in (([0], []), ([3, 0], []), ([], [5]), ([1], [5]), ([1, 1, 1], [5])):
            with self.subTest(shape):
                bytes_ = packed("f64", *data)
                answers = self.serve(text, "problem square f64 cpu", inputs("f64", shape, bytes_),
                                     outputs("f64", shape, packed("f64", *[0] * len(data))), "create", "launch")
                self.assertEqual(answers.status("launch"), (OK, ""))
                self.assertEqual(answers.values("f64"), [value * value for value in data])

    def test_a_dtype_that_numpy_lacks_is_not_mine(self):
        answers = self.serve("import assay, sys\nsys.modules['ml_dtypes'] = None\n@assay.kernel('square')\ndef f(x): return x\n",
                             "problem square bf16 cpu", inputs("bf16", [1], b"\0\0"), outputs("bf16", [1], b"\0\0"), "create")
        status, text = answers.status("create")
        self.assertEqual(status, NOT_MINE)
        self.assertIn("NumPy has no bf16 without the module 'ml_dtypes'", text)

    def test_a_gpu_is_not_for_arrays_of_numpy(self):
        status, text = self.serve("import assay\n@assay.kernel('square')\ndef f(x): return x\n",
                                  *[order.replace("cpu", "cuda") for order in SQUARE[:4]]).status("create")
        self.assertEqual((status, text.split(":")[0]), (NOT_MINE, "NumPy has no arrays on a GPU"))

    def test_views_are_kept_by_their_addresses(self):
        sets = [packed("f32", 1, 1)] * 3
        text = ("import assay, weakref\nseen = []\n@assay.kernel('square')\ndef f(x, *, out):\n"
                "  if not any(ref() is out for ref in seen): seen.append(weakref.ref(out))\n"
                "  out[:] = len(seen), sum(ref() is not None for ref in seen)\n")
        orders = ["problem square f32 cpu", inputs("f32", [2], *sets), outputs("f32", [2], *sets), "create",
                  "launch 0 3", "launch 1 2", "launch 0", "launch 2"]
        answers = self.serve(text, *orders)
        self.assertEqual([answers.values("f32", at) for at in range(4)], [[1, 1], [2, 2], [2, 2], [3, 3]])
        answers = self.serve("import assay._kernel\nassay._kernel.MAX_VIEWS = 2\n" + text, *orders)
        self.assertEqual([answers.values("f32", at) for at in range(4)], [[1, 1], [2, 2], [2, 2], [3, 2]])


# Numba's module of GPUs as far as a kernel meets it, over host memory.
NUMBA = """
import ctypes, numpy, sys, types
class Stream:
  def __init__(self, address): self.address = address
def array_of(exported):
  face = exported.__cuda_array_interface__
  return numpy.ctypeslib.as_array(ctypes.cast(face["data"][0], ctypes.POINTER(ctypes.c_float)), face["shape"])
sys.modules["numba"] = types.SimpleNamespace(cuda=types.SimpleNamespace(
  select_device=lambda index: None, external_stream=Stream, as_cuda_array=array_of))
"""


class Streams(HostTest):
    def test_numba_gets_its_own_and_others_an_address(self):
        on_gpu = [order.replace(" cpu ", " cuda ") for order in SQUARE]
        for framework, orders, expected in (("numba", on_gpu, "Stream"), ("numpy", SQUARE, "int")):
            with self.subTest(framework):
                answers = self.serve(f"{NUMBA}import assay\n@assay.kernel('square', framework='{framework}')\n"
                                     "def f(x, *, out, stream):\n"
                                     f"  assert type(stream) is {expected}, stream\n  out[...] = x * x\n", *orders)
                self.assertEqual(answers.status("launch"), (OK, ""))
                self.assertEqual(answers.values("f32"), [9, 16])


class Refusals(HostTest):
    def test_files_that_cannot_be_read(self):
        for name, why in {"absent.py": "No such file or directory", ".": "Is a directory"}.items():
            with self.subTest(name):
                self.assertEqual(self.run_host(name, expect=3).all("refused"), [
                    f"cannot read {name}: {why}; --kernels takes a file, or one of the words torch, numpy, compiled"])

    def test_python_that_is_none(self):
        self.assertRegex(self.refused("import assay\ndef f(:\n"), r"^mine\.py:2: SyntaxError: \w")
        self.assertRegex(self.refused("def f():\nreturn 1\n"), r"^mine\.py:2: IndentationError: \w")
        self.write("helper.py", "x = = 1\n")
        self.assertRegex(self.refused("import helper\n"), r"^helper\.py:1: SyntaxError: \w")

    def test_modules_that_are_not_there(self):
        self.assertEqual(self.refused("import assay\nimport no_such_module_here\n"),
                         f"mine.py needs the module 'no_such_module_here', which {self.python} does not have: install it "
                         "there, or choose another by --python (mine.py:2)")
        self.write("hidden/torch.py", "raise ModuleNotFoundError('not here', name='torch')\n")
        said = self.run_host("torch", expect=3, PYTHONPATH=str(self.folder / "hidden")).all("refused")[0]
        self.assertRegex(said, "^kernels_torch.py needs the module 'torch', which .* does not have: install it there, or")

    def test_imports_that_fail(self):
        self.assertEqual(self.refused("import assay\ndef g(): return {}['x']\ng()\n"),
                         "mine.py cannot be imported: KeyError: 'x' (mine.py:2 in g)")
        self.assertEqual(self.refused("import sys\nsys.exit(4)\n"),
                         "mine.py ended with exit code 4 when it was imported (mine.py:2)")

    def test_a_file_without_kernels(self):
        self.assertEqual(self.refused("x = 1\n"),
                         "mine.py registers no kernel and defines no op: put @assay.kernel(OP) before a kernel, or "
                         "@assay.op(INPUTS) before a reference")

    def test_registrations_that_clash(self):
        for second, said in {
            "'square'": "kernel 'square' is registered twice",
            "'square', ['f64', 'f32']": "kernel 'square' is registered twice for f32",
        }.items():
            text = f"import assay\n@assay.kernel('square', ['f32'])\ndef f(x): pass\n@assay.kernel({second})\ndef g(x): pass\n"
            self.assertIn(f"ValueError: {said}: give each function its own dtypes (mine.py:4)", self.refused(text))
        self.assertIn("kernel 'square' is registered twice for f32",
                      self.refused("import assay\nassay.kernel('square', ['f32'])(abs)\nassay.kernel('square', ['float32'])(abs)\n"))
        self.assertIn("no framework is called 'jax'; choose among numpy,",
                      self.refused("import assay\nassay.kernel('square', framework='jax')\n"))

    def test_an_op_may_have_a_function_for_each_dtype(self):
        answers = self.serve("import assay\n@assay.kernel('square', ['f64'])\ndef f(x): return x\n"
                             "@assay.kernel('square', ['f32'])\ndef g(x): return x * x\n", *SQUARE)
        self.assertEqual(answers.values("f32"), [9, 16])


class Files(HostTest):
    def test_an_edit_within_a_second_counts(self):
        for factor in (2, 3, 4):
            answers = self.serve(f"import assay\n@assay.kernel('square')\ndef f(x): return x * {factor}\n", *SQUARE,
                                 PYTHONDONTWRITEBYTECODE="")
            self.assertEqual(answers.values("f32"), [3 * factor, -4 * factor])

    def test_finds_modules_beside_the_file_and_nothing_else_in_the_working_directory(self):
        self.write("assay/__init__.py", "raise SystemExit('the wrong one')\n")
        self.write("kernels/helper.py", "def square(x): return x * x\n")
        self.write("kernels/mine.py", "import assay, helper\nassay.kernel('square')(helper.square)\n")
        self.assertEqual(self.run_host("kernels/mine.py", *SQUARE).values("f32"), [9, 16])


class ShippedNumpy(HostTest):
    def test_ops(self):
        answers = self.run_host("numpy", *ADD)
        self.assertRegex(answers.all("table")[0], r"^2 NumPy \d")
        self.assertEqual(answers.values("f32"), [11, 22, 33])
        for op, dtype, data, out, expected in (
                ("sum", "i32", [2**31 - 1, 2], "i32", [-2**31 + 1]), ("argmax", "f32", [1, 5, 5], "i64", [1]),
                ("sort", "f64", [3, 1, 2], "f64", [1, 2, 3]), ("scan", "i64", [1, 2, 3], "i64", [1, 3, 6])):
            with self.subTest(op):
                answers = self.run_host("numpy", f"problem {op} {dtype} cpu n={len(data)}",
                                        inputs(dtype, [len(data)], packed(dtype, *data)),
                                        outputs(out, [len(expected)], zeros(out, len(expected))), "create", "launch")
                self.assertEqual(answers.values(out), expected)

    def test_an_activation_that_numpy_lacks(self):
        layer = [inputs("f32", [1, 2], packed("f32", 1, 2)), inputs("f32", [1, 2], packed("f32", 3, -4)),
                 inputs("f32", [1], packed("f32", 1)), outputs("f32", [1, 1], zeros("f32", 1)), "create"]
        answers = self.run_host("numpy", "problem linear f32 cpu act=gelu bias=1", *layer,
                                "problem linear f32 cpu act=none bias=1", *layer, "launch")
        self.assertEqual(answers.status("create", 0), (NOT_MINE, "NumPy has no gelu"))
        self.assertEqual(answers.values("f32"), [-4])


class Torch(HostTest):
    module = "torch"

    def setUp(self):
        if self.python is None:
            self.skipTest("no Python here has PyTorch")
        super().setUp()

    def test_bytes_of_fp8(self):
        """One and a half in e4m3, and in e5m2, where this PyTorch has them."""
        answers = self.run_host("torch", "problem cast e4m3 cpu to=e5m2 n=1", inputs("e4m3", [1], b"\x3c"),
                                outputs("e5m2", [1], b"\0"), "create", "launch")
        status, text = answers.status("create")
        if status == OK:
            self.assertEqual(answers.all("output"), ["3e"])
        else:
            self.assertRegex(text, r"^PyTorch \d\S* has no e4m3$")

    def test_is_the_framework_of_a_file_that_imports_it(self):
        answers = self.serve("import assay, torch\nkept = []\n@assay.kernel('add')\ndef add(a, b, *, out):\n"
                             "  assert isinstance(a, torch.Tensor)\n  kept.append(a)\n  torch.add(a, b, out=out)\n", *ADD)
        self.assertEqual(answers.status("launch"), (OK, ""))
        self.assertEqual(answers.values("f32"), [11, 22, 33])

    def test_says_what_is_wrong_with_a_returned_value(self):
        text = "import assay, torch\n@assay.kernel('square')\ndef f(x): return {}\n"
        for value, said in {"x.sum()": "ValueError: f returned the shape (), the output has (2,)",
                            "x.double()": "TypeError: f returned torch.float64, the output has torch.float32",
                            "x.numpy()": "TypeError: f returned a numpy.ndarray, the output is a torch.Tensor of shape (2,)"
                            }.items():
            with self.subTest(value):
                self.assertEqual(self.serve(text.format(value), *SQUARE).status("launch"), (FAILED, said))

    def test_rows_apart_nothing_and_one_number(self):
        gap = 7
        text = "import assay, torch\n@assay.kernel('square')\ndef f(x, *, out):\n  torch.square(x, out=out)\n"
        orders, expected = [], []
        for shape, strides, data, squares in (
                ([2, 3], [4, 1], [1, 2, 3, gap, 4, 5, 6], [1, 4, 9, gap, 16, 25, 36]), ([0], None, [], []),
                ([3, 0], None, [], []), ([], None, [5], [25])):
            orders += ["problem square f32 cpu", inputs("f32", shape, packed("f32", *data), strides=strides),
                       outputs("f32", shape, packed("f32", *[gap] * len(data)), strides=strides), "create", "launch"]
            expected.append(squares)
        answers = self.serve(text, *orders)
        self.assertEqual([answers.values("f32", at) for at in range(4)], expected)

    def test_memory_that_is_not_there_is_told_apart(self):
        status, text = self.serve("import assay, torch\n@assay.kernel('square')\ndef f(x): return torch.empty(2**60)\n",
                                  *SQUARE).status("launch")
        self.assertEqual(status, OUT_OF_MEMORY, text)

    def test_shipped_ops(self):
        one, three = 0x3F80, 0x4040  # bf16
        answers = self.run_host(
            "torch", "problem relu bf16 cpu n=2", inputs("bf16", [2], packed("bf16", one | 0x8000, three)),
            outputs("bf16", [2], zeros("bf16", 2)), "create", "launch",
            "problem sum i32 cpu n=2", inputs("i32", [2], packed("i32", 2**31 - 1, 2)),
            outputs("i32", [1], zeros("i32", 1)), "create", "launch",
            "problem sort f32 cpu n=3", inputs("f32", [3], packed("f32", 3, 1, 2)),
            outputs("f32", [3], zeros("f32", 3)), "create", "launch",
            "problem where u8 cpu n=2", inputs("u8", [2], b"\1\0"), inputs("u8", [2], b"\3\4"), inputs("u8", [2], b"\5\6"),
            outputs("u8", [2], b"\0\0"), "create", "launch",
            "problem linear f32 cpu bias=1 act=relu", inputs("f32", [1, 2], packed("f32", 1, 2)),
            inputs("f32", [2, 2], packed("f32", 3, 4, -5, -6)), inputs("f32", [2], packed("f32", 1, 1)),
            outputs("f32", [1, 2], zeros("f32", 2)), "create", "launch")
        self.assertRegex(answers.all("table")[0], r"^2 PyTorch \d")
        self.assertRegex(answers.all("describe")[0], r"^\d+ threads?$")
        self.assertEqual([answers.status("launch", at) for at in range(5)], [(OK, "")] * 5)
        self.assertEqual([answers.values(dtype, at) for at, dtype in enumerate(["bf16", "i32", "f32", "u8", "f32"])],
                         [[0, three], [-2**31 + 1], [1, 2, 3], [3, 6], [12, 0]])

    def test_a_cpu_has_no_tf32(self):
        answers = self.run_host("torch", "problem linear tf32 cpu bias=0 act=none", inputs("f32", [1, 1], zeros("f32", 1)),
                                inputs("f32", [1, 1], zeros("f32", 1)), outputs("f32", [1, 1], zeros("f32", 1)), "create")
        self.assertEqual(answers.status("create"), (NOT_MINE, "PyTorch has no tf32 on a CPU"))


if __name__ == "__main__":
    unittest.main()
