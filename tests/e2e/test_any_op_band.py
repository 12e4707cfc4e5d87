"""The band of ops that users define by a reference: what it passes and refuses, and the process that measures it."""
import math
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import any_op_python  # noqa: F401  # first: chooses a Python that has NumPy
import numpy as np

from any_op_judge import PACKAGE, Host

sys.path.insert(0, str(PACKAGE))

import any_op_kernels  # noqa: E402
import assay  # noqa: E402
from assay._band import _Spread, measure  # noqa: E402
from assay._noise import Noise  # noqa: E402
from assay._noise_numpy import draw  # noqa: E402

OPS = {definition.name: definition for definition in assay._ops}


def judged(results, outputs):
    """Returns "" for right results in f32, else the rule that they break. The outputs are those of a band."""
    results = results if isinstance(results, tuple) else (results,)
    for result, band in zip(results, outputs):
        known = ~band.open
        if band.value.dtype.kind == "i":
            if (result != band.value)[known].any():
                return "discrete"
            continue
        error = np.abs(result.astype(np.float64) - band.value)
        exact = known & (band.sigma == 0)
        if (result != band.value.astype(np.float32))[exact].any():
            return "exact"
        rest = known & (band.sigma > 0)
        ratio = error[rest] / band.sigma[rest]
        if not (ratio <= 8).all():
            return "worst"
        if ratio.size >= 256 and not np.sqrt(np.mean(ratio ** 2)) <= 1:
            return "bits"
    return ""


def wide(inputs):
    return [one.astype(np.float64) if one.dtype.kind == "f" else one for one in inputs]


class Band(unittest.TestCase):
    def test_right_kernels_are_right_and_wrong_ones_wrong(self):
        for name, make_inputs, right, wrong in any_op_kernels.LIST:
            for seed in (1, 2):
                random = np.random.default_rng(seed)
                inputs = [make(random) for make in make_inputs]
                measured = measure(OPS[name], wide(inputs), seed=seed)
                self.assertEqual(measured.opaque, set())
                for index, kernel in enumerate(right):
                    with self.subTest(op=name, seed=seed, right=index):
                        self.assertEqual(judged(kernel(*inputs), measured.outputs), "")
                for index, kernel in enumerate(wrong):
                    with self.subTest(op=name, seed=seed, wrong=index):
                        self.assertNotEqual(judged(kernel(*inputs), measured.outputs), "")

    def test_other_data_raise_no_false_alarm(self):
        changes = {"large": lambda x: x * np.float32(64), "small": lambda x: x * np.float32(2.0 ** -10),
                   "offset": lambda x: x + np.float32(1024), "whole": lambda x: np.clip(np.rint(2 * x), -4, 4)}
        for name, make_inputs, right, _ in any_op_kernels.LIST:
            for change in changes:
                inputs = [make(np.random.default_rng(3)) for make in make_inputs]
                inputs[0] = changes[change](inputs[0])
                if change == "whole":
                    inputs = [changes[change](one) if one.dtype.kind == "f" else one for one in inputs]
                outputs = measure(OPS[name], wide(inputs)).outputs
                for index, kernel in enumerate(right):
                    with self.subTest(op=name, data=change, right=index):
                        self.assertEqual(judged(kernel(*inputs), outputs), "")

    def test_rows_of_numbers_that_f32_does_not_hold(self):
        """What is 1e-250 in f64, where its square is 0, is 0 in f32 and in all draws."""
        tiny = np.full(300, 1e-250)
        spread = _Spread(tiny)
        for _ in range(8):
            spread.add(np.zeros(300))
        outputs = [spread.band(is_ring=False, exact=False, dtype="f32")]
        self.assertEqual(judged(np.zeros(300, np.float32), outputs), "")
        self.assertEqual(judged(np.full(300, np.float32(1e-43)), outputs), "worst")

    def test_exact_data_have_no_band_where_the_trace_is_a_ring(self):
        random = np.random.default_rng(4)
        x, w, b = (random.integers(-4, 5, shape).astype(np.float64) for shape in ((32, 300), (300, 24), (24,)))
        for name, inputs in {"linear": [x, w, b], "prefix_sum": [x], "topk": [x]}.items():
            with self.subTest(op=name):
                measured = measure(OPS[name], inputs)
                self.assertTrue(measured.is_ring)
                self.assertEqual(measured.outputs[0].sigma.max(), 0)
        self.assertFalse(measure(OPS["softmax"], [x]).is_ring)
        self.assertGreater(measure(OPS["softmax"], [x]).outputs[0].sigma.min(), 0)

    def test_the_order_of_equal_numbers_is_open(self):
        values, order = measure(OPS["topk"], [np.zeros((8, 256))]).outputs
        self.assertTrue(order.open.all())
        self.assertFalse(values.open.any())

    def test_inputs_are_factors_of_their_own_dtype(self):
        """Only what is computed loses bits as a factor: f32 noise on an input leaves it a number of its format."""
        random = np.random.default_rng(1)
        x, w = (np.rint(64 * random.standard_normal(shape)) / 64 for shape in ((12, 64), (64, 24)))

        def widest(function, arithmetic):
            op = types.SimpleNamespace(framework="numpy", function=function)
            band, = measure(op, [x, w], dtype="bf16", arithmetic=arithmetic).outputs
            return np.median(band.sigma)

        as_they_are, computed = lambda x, w: np.exp(x @ w / 64), lambda x, w: np.exp(x) @ w
        self.assertLess(widest(as_they_are, "operands"), 2 * widest(as_they_are, "f32"))
        self.assertGreater(widest(computed, "operands"), 100 * widest(computed, "f32"))
        self.assertGreater(widest(as_they_are, "eager"), 100 * widest(as_they_are, "f32"))

    def test_comparisons_with_zero_have_one_answer(self):
        x = np.random.default_rng(1).integers(-2, 3, (8, 40)).astype(np.float64)
        for function in (lambda x: x > 0, lambda x: (x != 0).sum(-1), lambda x: np.sign(x).astype(np.int8)):
            self.assertFalse(measure(types.SimpleNamespace(framework="numpy", function=function), [x]).outputs[0].open.any())

    def test_infinite_and_missing_numbers(self):
        x = np.ones((4, 320))
        x[0, 0], x[1, 0] = np.nan, np.inf
        band = measure(OPS["rmsnorm"], [x, np.ones(320)]).outputs[0]
        self.assertTrue(np.isnan(band.value[0]).all())
        self.assertFalse(band.open[[0, 2, 3]].any())
        large = measure(OPS["linear"], [np.full((1, 300), 1e38), np.ones((300, 24)), np.zeros(24)]).outputs[0]
        self.assertEqual((large.open.any(), large.sigma.max()), (False, 0))  # infinite in f32, and nothing else
        half = measure(OPS["linear"], [np.full((1, 300), 70000 / 300), np.ones((300, 24)), np.zeros(24)], dtype="f16")
        self.assertEqual((half.outputs[0].open.any(), half.outputs[0].sigma.max()), (False, 0))
        border = measure(OPS["linear"], [np.full((1, 300), 65520 / 300), np.ones((300, 24)), np.zeros(24)], dtype="f16")
        self.assertTrue(border.outputs[0].open.all())

    def test_overflow_beside_a_missing_number_is_infinite(self):
        from assay._noise import Noise
        rounded = Noise(exact=False).rounded(np.array([np.nan, 1e300, -1e300]))
        self.assertEqual(rounded[1:].tolist(), [np.inf, -np.inf])

    def test_inputs_stay_as_they_are_and_so_does_numpy(self):
        x, creators = np.ones((4, 320)), (np.zeros, np.array, np.arange)
        measure(OPS["rmsnorm"], [x, np.ones(320)])
        self.assertTrue((x == 1).all() and x.flags.writeable)
        self.assertEqual((np.zeros, np.array, np.arange), creators)


COMPUTES = (
    "x + 1", "x * 0.1", "-x / 3", "np.exp(x)", "np.tanh(x)", "abs(x) ** 0.3", "x[0, 0] * x[1, 1]",
    "x @ y", "x.dot(y)", "np.dot(x, y)", "np.inner(x, x)", "np.vdot(x, x)", "np.tensordot(x, y, 1)",
    "np.einsum('ij,jk', x, y)", "np.einsum(x, [0, 1], y, [1, 2], [0, 2])", "np.einsum('...i,ij->...j', x, y)",
    "np.linalg.multi_dot([x, y, y.T])", "np.convolve(x[0], x[1])", "np.cross(x[:, :3], x[:, 3:6])",
    "np.outer(x[0], x[1])", "np.multiply.outer(x[0], x[1])", "np.kron(x[0], x[1])",
    "x.sum()", "x.mean(0)", "np.mean(x)", "x.var(1)", "np.std(x, 0)", "np.average(x)", "np.nanmean(x)", "x.trace()",
    "np.median(x * 3, -1)", "np.linalg.norm(x, axis=-1)", "np.bincount(np.arange(40) % 5, x[0])",
    "x.astype(np.float32).sum(-1, dtype=np.float32)", "np.add.reduceat(x, [0, 3, 20], axis=1)",
    "x.prod(-1)", "np.cumprod(x)", "np.logaddexp.reduce(x, -1)",
    "x.cumsum()", "np.cumsum(x, 1)", "np.add.accumulate(x, 1)", "np.cumsum(np.arange(40), dtype=float) / 3",
    "np.fft.fft(x).real", "np.abs(np.fft.ifft(np.fft.fft(x) * 2))", "np.fft.rfft2(x).imag",
    "np.diff(x)", "np.gradient(x[0])", "np.interp(x, [-1, 1], [0, 3])", "np.where(x > 0, x, 0.1 * x)",
    "np.apply_along_axis(lambda row: row / row.sum(), 1, x)", "np.vectorize(math.erf)(x)",
    "np.zeros(x.shape) + x * 3", "np.array([x[0, 0], x[1, 1]]) * 3", "np.asarray(x, np.float32) * 3",
    "np.arange(12.0) / 7")
MOVES = (
    "x.T", "np.sort(x)", "np.argsort(x)", "np.concatenate([x, x])", "np.stack([x, x])", "np.pad(x, 1)", "abs(x)",
    "np.take_along_axis(x, np.argmax(x, -1)[:, None], -1)", "np.maximum(x, 0)", "np.clip(x, -1, 1)", "x.clip(-1, 1)",
    "x.max(-1)", "np.amin(x)", "np.round(x)", "np.floor(x)", "np.tril(x)", "np.where(x > 0, x, 0)", "np.flip(x)",
    "np.roll(x, 1)", "np.repeat(x, 2, 0)", "np.split(x, 2)[0]", "np.sum(x > 0)", "x.astype(np.float16)",
    "np.zeros_like(x)", "np.moveaxis(x, 0, 1)", "x * 2")


class Steps(unittest.TestCase):
    """Steps of references, each in noisy arithmetic: known, or named."""

    def noisy(self, function, *inputs):
        quiet = Noise(quiet=True)
        values = draw(function, list(inputs), quiet)
        runs = [draw(function, list(inputs), Noise(seed, exact=quiet.is_ring)) for seed in range(3)]
        return quiet, values, runs

    def setUp(self):
        random = np.random.default_rng(5)
        self.x, self.y = random.standard_normal((12, 40)), random.standard_normal((40, 9))

    def test_what_computes_gets_noise(self):
        for text in COMPUTES:
            with self.subTest(text):
                quiet, values, runs = self.noisy(self.reference(text), self.x)
                self.assertEqual(quiet.opaque, set())
                plain = np.asarray(self.reference(text)(self.x), np.float64)
                if "float32" not in text:
                    np.testing.assert_allclose(values[0], plain, rtol=1e-12)
                difference = np.abs(runs[0][0] - runs[1][0])
                self.assertGreater(difference.max(), 0)
                self.assertLess(difference.max(), 1e-4 * max(1.0, np.abs(plain).max()))

    def test_what_moves_gets_none(self):
        x = self.x.astype(np.float32).astype(np.float64)
        for text in MOVES:
            with self.subTest(text):
                quiet, values, runs = self.noisy(self.reference(text), x)
                self.assertEqual((quiet.opaque, quiet.is_ring), (set(), True))
                self.assertTrue(all((run[0] == values[0]).all() for run in runs))

    def reference(self, text):
        return lambda x: eval(text, {"np": np, "math": math, "x": x, "y": self.y})  # pylint: disable=eval-used

    def test_steps_in_place(self):
        def reference(x):
            total = np.zeros((7, 12))
            np.add.at(total, np.arange(40) % 7, x.T)
            total -= total.max()
            np.exp(total, out=total)
            for index in range(len(total)):
                total[index] = total[index] / total[index].sum()
            return total

        quiet, values, runs = self.noisy(reference, self.x)
        self.assertEqual((quiet.opaque, quiet.is_ring), (set(), False))
        np.testing.assert_allclose(values[0].sum(-1), 1)
        self.assertGreater(np.abs(runs[0][0] - values[0]).max(), 0)

    def test_sums_that_are_exact_by_chance_have_a_band(self):
        x = np.random.default_rng(0).standard_normal((3, 2000)).astype(np.float32)
        definition = types.SimpleNamespace(framework="numpy", function=lambda a, b, c: a + b + c)
        band = measure(definition, list(x.astype(np.float64))).outputs[0]
        self.assertTrue((band.sigma > 0).all())
        self.assertEqual(judged(x[0] + (x[1] + x[2]), [band]), "")
        whole = np.rint(8 * x)
        band = measure(definition, list(whole.astype(np.float64))).outputs[0]
        self.assertEqual(band.sigma.max(), 0)

    def test_a_scattered_sum_of_whole_numbers_is_exact(self):
        def reference(x):
            total = np.zeros((7, 12))
            np.add.at(total, np.arange(40) % 7, x.T)
            return total

        quiet, values, runs = self.noisy(reference, np.rint(4 * self.x))
        self.assertTrue(quiet.is_ring)
        self.assertTrue(all((run[0] == values[0]).all() for run in runs))

    def test_unknown_steps_are_named(self):
        for name, text in {"inv": "np.linalg.inv(x[:, :12] + 10 * np.eye(12))", "float()": "float(x[0, 0]) * x",
                           "cov": "np.cov(x)", "svd": "np.linalg.svd(x)[1]"}.items():
            with self.subTest(name):
                quiet, values, runs = self.noisy(self.reference(text), self.x)
                self.assertEqual(quiet.opaque, {name})
                self.assertGreater(np.abs(runs[0][0] - values[0]).max(), 0)

    def test_the_longest_sum(self):
        for text, terms in {"x @ y": 40, "x.mean()": 480, "np.cumsum(x, 0)": 12, "np.einsum('ij,jk->', x, y)": 4320,
                            "np.fft.fft(x).real": 40, "x + 1": 0}.items():
            self.assertEqual(self.noisy(self.reference(text), self.x)[0].terms, terms, text)


HEAD = "import assay\nimport numpy as np\n"
EXAMPLE = HEAD + '''
@assay.op(["rows,cols", "cols"], sizes={"rows": [64], "cols": [100, 400]}, dtypes=("f32", "bfloat16"))
def rmsnorm(x, g):
    """x over its root mean square"""
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g

@assay.op(["rows,cols", assay.Input("rows", integers=(-1, "cols-1"), dtype="i32"), assay.Input("", range=(0.5, 2))],
          sizes={"rows": 8, "cols": 32}, fixed=["cols"])
def picked(x, index, scale):
    return x[np.arange(len(x)), index] * scale, index + 1
'''


class ReferenceHost(unittest.TestCase):
    def test_it_says_what_the_ops_are(self):
        with Host(EXAMPLE) as host:
            rmsnorm, picked = host.hello()
        self.assertEqual(rmsnorm, {
            "name": "rmsnorm", "formula": "rmsnorm(x[rows,cols], g[cols]) -> [rows,cols]: x over its root mean square",
            "dtypes": ["f32", "bf16"], "inputs": [("", ["rows", "cols"], 0, "", ""), ("", ["cols"], 0, "", "")],
            "parameters": {"rows": [(1, 0), (3, 0), (17, 0), (64, 0), (65, 0)],
                           "cols": [(1, 0), (3, 0), (17, 0), (100, 0), (400, 2), (401, 0)]},
            "outputs": [("", ["rows", "cols"])], "terms": "cols", "is_ring": 0, "arithmetic": "f32", "rows": "rows",
            "refusal": "", "roundings": ""})
        self.assertEqual(picked["inputs"], [("", ["rows", "cols"], 0, "", ""), ("i32", ["rows"], 2, "-1", "cols-1"),
                                            ("", [], 1, "0.5", "2.0")])
        self.assertEqual(picked["outputs"], [("", ["rows"]), ("i32", ["rows"])])
        self.assertEqual((picked["parameters"]["cols"], picked["rows"], picked["is_ring"]), ([(32, 0)], "rows", 1))

    def test_it_measures(self):
        random = np.random.default_rng(6)
        x, g = random.standard_normal((3, 100)).astype(np.float32), np.ones(100, np.float32)
        with Host(EXAMPLE) as host:
            host.hello()
            answer = host.measure("rmsnorm", "f32", {"rows": 3, "cols": 100}, [x, g])
            self.assertEqual(answer.u8(), 1)
            value, sigma, is_open = answer.output()
            wanted = x.astype(np.float64)
            wanted = wanted / np.sqrt((wanted * wanted).mean(-1, keepdims=True) + 1e-6)
            np.testing.assert_allclose(value, wanted.ravel(), rtol=1e-14)
            self.assertTrue((sigma > 2.0 ** -25).all() and (sigma < 1e-5).all() and not is_open.any())
            self.assertTrue(answer.is_at_end())
            again = host.measure("rmsnorm", "f32", {"rows": 3, "cols": 100}, [x, g])
            self.assertEqual(again.data, answer.data)
            other = host.measure("rmsnorm", "f32", {"rows": 3, "cols": 100}, [x, g], draws=9, seed=1)
            self.assertNotEqual(other.data, answer.data)

            bits = (x.view(np.uint32) >> 16).astype(np.uint16)
            ones = np.full(100, 0x3F80, np.uint16)
            answer = host.measure("rmsnorm", "bf16", {"rows": 3, "cols": 100}, [bits, ones])
            self.assertEqual(answer.u8(), 1)
            np.testing.assert_allclose(answer.output()[0], wanted.ravel(), rtol=0.01)

            index = np.array([0, 5, 31], np.int32)
            x = np.rint(8 * x[:, :32])
            answer = host.measure("picked", "f32", {"rows": 3, "cols": 32}, [x, index, np.float32([0.5])])
            self.assertEqual(answer.u8(), 1)
            value, sigma, _ = answer.output()
            self.assertEqual(value.tolist(), (0.5 * x[np.arange(3), index].astype(np.float64)).tolist())
            self.assertLess((sigma / np.abs(value)).max(), 1e-6)
            self.assertEqual(answer.output(np.int64)[0].tolist(), [1, 6, 32])
            self.assertEqual(host.end(), 0)

    def test_it_goes_on_after_a_request_that_fails(self):
        inputs = [np.zeros((3, 32), np.float32), np.full(3, 99, np.int32), np.float32([1])]
        with Host(EXAMPLE) as host:
            host.hello()
            for _ in range(2):
                answer = host.measure("picked", "f32", {"rows": 3, "cols": 32}, inputs)
                self.assertEqual(answer.u8(), 0)
                self.assertEqual(answer.text(), "the reference fails: IndexError: index 99 is out of bounds for "
                                                "axis 1 with size 32 (mine.py:12 in picked)")
            self.assertEqual(host.measure("nothing", "f32", {}, []).u8(), 0)

    def test_unknown_steps_are_named(self):
        with Host(HEAD + '@assay.op("n,n", sizes={"n": 8})\ndef inverse(x):\n    return np.linalg.inv(x)\n') as host:
            self.assertIn("takes steps whose errors are not known: inv; write them by others", host.hello())

    def hello_of(self, arguments, body):
        with Host(f"{HEAD}@assay.op({arguments})\ndef f(x):\n    return {body}\n") as host:
            return host.hello()[0]

    def test_rows(self):
        for body, rows in {"x - x.mean(0)": "", "x - x.mean(1, keepdims=True)": "rows", "x[::-1]": "", "x.T": "",
                           "x @ x.T": "", "(x, x.sum(1))": "rows", "(x, x.sum(0))": "", "np.cumsum(x, 0)": "",
                           "x + np.arange(len(x))[:, None]": "",
                           "x / len(x)": ""}.items():
            with self.subTest(body):
                self.assertEqual(self.hello_of('"rows,cols", sizes={"rows": 8, "cols": 8}', body)["rows"], rows)

    def test_shapes_that_are_found(self):
        for body, shape in {"x.T": ["b", "a"], "x.ravel()": ["a*b"], "np.concatenate([x, x])": ["2*a", "b"],
                            "x.mean()": [], "np.pad(x, 1)": ["a+2", "b+2"], "np.concatenate([x[0], x[:, 0]])": ["a+b"],
                            "x[:, 1:]": ["a", "b-1"], "np.ones((4, len(x))) * x[0, 0]": ["4", "a"]}.items():
            with self.subTest(body):
                self.assertEqual(self.hello_of('"a,b", sizes={"a": 8, "b": 9}', body)["outputs"], [("", shape)])


REFERENCES = [  # arguments of @assay.op, the reference's result, and why it is refused
    ('"n", sizes={"n": 8}', "x + np.random.rand()",
     "is not deterministic: two runs on the same inputs at n=11 differ; let it take random numbers as an input"),
    ('"n", sizes={"n": 8}, out="n,n"', "x",
     "returns the shape [11] as output 0 at n=11, where [n,n] is [11,11]: correct out="),
    ('"n", sizes={"n": 8}, out=("n", "n")', "x",
     "returns 1 tensors where out= has 2 shapes: give one for each"),
    ('"n", sizes={"n": 8}', "(x,) * (1 + (len(x) > 11))",
     "returns 1 tensors at n=11 and 2 at n=13: return as many always"),
    ('"n", sizes={"n": 8}', "()", "returns nothing: return one tensor, or a tuple of them"),
    ('"n", sizes={"n": 8}', "x[len(x) + 7]",
     "fails at n=11: IndexError: index 18 is out of bounds for axis 0 with size 11 (mine.py:5 in f); list names in "
     "fixed= that take the wanted sizes alone, or give inputs a range by assay.Input"),
    ('"n", sizes={"n": 8}', "x[:2]",
     "returns the shape [1] as output 0 at n=1, where [2] is [2]: list n in fixed= if it takes the wanted sizes alone"),
    ('"n", sizes={"n": 8}', "np.exp(1000 + x)",
     "gives no finite number at n=11: it overflows in f64 or divides by 0; give its inputs a range by "
     "assay.Input(SHAPE, range=(LOW, HIGH))"),
    ('"n", sizes={"n": 8}', "x.__isub__(1)",
     "changes an input, ValueError: assignment destination is read-only (mine.py:5 in f): let it begin with a copy"),
    ('"n", sizes={"n": 8}', "np.fft.fft(x)",
     "returns complex128: return floating-point numbers or integers, of complex numbers the real and the imaginary "
     "part"),
    ('"n", sizes={"n": 8}', "x[:len(x) ** 2 % 7 + 1]",
     "returns the shape [3] as output 0 at n=11, and no expression of the names explains it: give its shape by out="),
    ('"a,b", sizes={"a": [4, 6], "b": [4, 6]}, fixed=["a", "b"]', "x[0]",
     "returns the shape [4] as output 0 at a=4,b=4, where an extent may be a or b: give its shape by out="),
    ('"n", sizes={"n": 8}', "__import__('not_here')",
     "needs the module 'not_here': install it for this Python, or choose another by --python")]
DEFINITIONS = [
    ('"rows,cols", sizes={"rows": 8}', "cols has no sizes: add sizes={'cols': [256, 1024]}"),
    ('"n"', "n has no sizes: add sizes={'n': [256, 1024]}"),
    ('"n", sizes={"n": 8, "m": 8}', "sizes has the name 'm', which no input's shape has"),
    ('"n", sizes={"n": 0}', "sizes of 'n' are 0: give a number from 1 to 2^44, or a list of them"),
    ('"n**2", sizes={"n": 8}', "'n**2' is no extent: write a number, a name, or + - * // and parentheses over them"),
    ('"n", sizes={"n": 8}, dtypes=["f64"]', "no measured op has the dtype 'f64'; choose among f32, bf16, f16"),
    ('["n", "n"], sizes={"n": 8}', "the reference has 1 parameters and `inputs` 2 shapes: give one for each"),
    ('"n", sizes={"n": 8}, fixed="m"', "fixed has the name 'm', which no input's shape has"),
    ('"n", sizes={"n": 8}, out="m"', "out has the name 'm', which no input's shape has"),
    ('"n", sizes={"n": 8}, framework="jax"', "a reference has no framework 'jax'; choose among numpy, torch"),
    ('"n", sizes={"n": 8}, name="my op"', "a name has letters, digits and _ alone; give one by name="),
    ('assay.Input("n", dtype="i64"), sizes={"n": 8}',
     "the input 'n' has the dtype i64: say which numbers by integers=(low, high)"),
    ('assay.Input("n", range=(2, 1)), sizes={"n": 8}', "the range (2, 1) is empty: give (low, high)"),
    # Of the wrong type.
    ('"n", sizes=[8]', "sizes is [8]: give a dict such as {'rows': [256, 1024]}"),
    ('"n", sizes={"n": "8"}', "sizes of 'n' are '8': give a number from 1 to 2^44, or a list of them"),
    ('7, sizes={"n": 8}', "inputs is 7: give a list such as ['rows,cols', 'cols']"),
    ('[7], sizes={"n": 8}', "an input is a shape as text or an assay.Input, and 7 is neither"),
    ('assay.Input(7), sizes={"n": 8}', "a shape is text such as 'rows,cols', and 7 is none"),
    ('"n", sizes={"n": 8}, dtypes=32', "dtypes is 32: give a list such as ['f32', 'f16']"),
    ('"n", sizes={"n": 8}, dtypes=[["f32"]]', "no measured op has the dtype ['f32']; choose among f32, bf16, f16"),
    ('"n", sizes={"n": 8}, fixed=3', "fixed is 3: give a list such as ['cols']"),
    ('"n", sizes={"n": 8}, fixed=[["n"]]', "fixed has the name ['n'], which no input's shape has"),
    ('"n", sizes={"n": 8}, out=3', "out is 3: give a list such as ['rows,cols', 'rows']"),
    ('"n", sizes={"n": 8}, terms=1.5', "'1.5' is no extent: write a number, a name, or + - * // and parentheses over "
                                       "them"),
    ('"n", sizes={"n": 8}, arithmetic="f64"', "no arithmetic is called 'f64'; choose among f32, tf32, operands, eager"),
    ('"n", sizes={"n": 8}, framework=3', "a reference has no framework 3; choose among numpy, torch"),
    ('assay.Input("n", dtype=[3]), sizes={"n": 8}', "no input has the dtype [3]; choose among f32, bf16, f16, e4m3, e5m2, "
                                                    "i64, i32, i8, u8"),
    ('assay.Input("n", range=1), sizes={"n": 8}', "range is 1: give a list such as (0, 1)"),
    ('assay.Input("n", range=(0, "n")), sizes={"n": 8}', "range is (0, 'n'): give a pair such as (0, 1)"),
    ('assay.Input("n", range=(0, float("nan"))), sizes={"n": 8}', "the range (0, nan) is empty: give (low, high)"),
    ('assay.Input("n", integers=(1, 2, 3)), sizes={"n": 8}', "integers is (1, 2, 3): give a pair such as (0, 1)"),
    ('assay.Input("n", integers=(0, float("inf"))), sizes={"n": 8}', "inf in integers= is no whole number")]
NEITHER = ("mine.py registers no kernel and defines no op: put @assay.kernel(OP) before a kernel, or @assay.op(INPUTS) "
           "before a reference")


class Refused(unittest.TestCase):
    """Functions that are no reference, each with the line that says what to do."""

    def refused(self, text):
        with Host(text) as host:
            why = host.hello()
            self.assertEqual(host.end(), 0)
        return why

    def test_references(self):
        for arguments, body, why in REFERENCES:
            with self.subTest(arguments=arguments, body=body):
                refused = self.refused(f"{HEAD}\n@assay.op({arguments})\ndef f(x): return {body}\n")
                self.assertEqual(refused, f"op 'f': the reference {why}")

    def test_definitions(self):
        for arguments, why in DEFINITIONS:
            with self.subTest(arguments):
                refused = self.refused(f"{HEAD}\n@assay.op({arguments})\ndef f(x):\n    return x\n")
                name = "my op" if "my op" in arguments else "f"
                self.assertEqual(refused, f"mine.py cannot be imported: ValueError: op '{name}': {why} (mine.py:4)")

    def test_an_op_that_is_defined_twice(self):
        op = '@assay.op("n", sizes={"n": 8})\ndef f(x):\n    return x\n'
        self.assertEqual(self.refused(HEAD + op + op),
                         "mine.py cannot be imported: ValueError: op 'f' is defined twice: give one of them another "
                         "name= (mine.py:6)")

    def test_files(self):
        self.assertEqual(self.refused("x = 1\n"), NEITHER)
        self.assertRegex(self.refused("import not_here\n"),
                         "^mine.py needs the module 'not_here', which .* does not have: install")


class OtherFiles(unittest.TestCase):
    def test_a_file_of_ops_alone_registers_no_kernels(self):
        with tempfile.TemporaryDirectory(prefix="assay-any-op-") as folder:
            source = pathlib.Path(folder, "mine.py")
            source.write_text(EXAMPLE, encoding="utf-8")
            script = ("import sys; sys.path.insert(0, sys.argv[1])\n"
                      "from assay import _source, _table\n"
                      "name, path, registered = _source.load(sys.argv[2])\n"
                      "print(name, _table.Table(name, registered, path).c_table.offer_count)")
            done = subprocess.run([sys.executable, "-c", script, PACKAGE, source], capture_output=True, text=True,
                                  check=True)
        self.assertEqual(done.stdout, "mine.py 0\n")

    def test_a_file_of_kernels_alone_has_no_ops(self):
        with Host('import assay\n@assay.kernel("square")\ndef square(x):\n    return x * x\n') as host:
            self.assertEqual(host.hello(), [])


if __name__ == "__main__":
    unittest.main()
