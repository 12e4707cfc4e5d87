"""References of PyTorch in noisy arithmetic: PyTorch's own f32 is within the band, wrong results are not."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
PYTHON = "/usr/bin/python3"  # the distribution's, which may have a PyTorch that this one lacks
sys.path.insert(0, str(HERE.parents[1] / "kernels" / "providers" / "python"))
torch = None
if importlib.util.find_spec("torch") and importlib.util.find_spec("numpy"):
    import numpy
    import torch
    from torch.nn import functional
    from torch.utils._python_dispatch import TorchDispatchMode

    from assay._noise import Noise
    from assay._noise_torch import draw
    from assay._problem import load_problem, load_solution
    from assay._source import Refusal

ROUNDOFF = 2.0 ** -24


def load_tests(loader, tests, _):
    """Leaves the tests to a Python that has PyTorch."""
    return tests if torch is not None else loader.loadTestsFromTestCase(Elsewhere)


class Elsewhere(unittest.TestCase):
    def test_in_a_python_that_has_torch(self):
        has_torch = [PYTHON, "-c", "import torch, numpy"]
        if torch is not None or not shutil.which(PYTHON) or subprocess.run(has_torch, capture_output=True).returncode:
            self.skipTest("another Python is not needed" if torch is not None else
                          "no Python here has torch: install Debian's python3-torch")
        result = subprocess.run([PYTHON, "-m", "unittest", pathlib.Path(__file__).stem], cwd=HERE, text=True,
                                capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.assertEqual(result.returncode, 0, result.stderr)


class Measured:
    """The outputs of a reference in f64, their bands, and what the trace recorded."""

    def __init__(self, function, inputs, draws=8):
        self.noise = Noise(quiet=True)
        self.values = draw(function, inputs, self.noise)
        runs = [draw(function, inputs, Noise(seed, exact=self.noise.is_ring)) for seed in range(draws)]
        self.sigmas = [self._sigma(value, [run[at] for run in runs]) for at, value in enumerate(self.values)]

    def _sigma(self, value, draws):
        if value.dtype.kind not in "fc":
            return None
        value = numpy.atleast_1d(value)
        sigma = numpy.sqrt(numpy.mean([abs(numpy.atleast_1d(one) - value) ** 2 for one in draws], 0))
        floors = [sigma, numpy.where(sigma > 0, ROUNDOFF * abs(value), 0)]
        if not self.noise.is_ring:
            floors += [ROUNDOFF * abs(value), numpy.broadcast_to(
                ROUNDOFF * numpy.sqrt(numpy.mean(abs(value) ** 2, -1, keepdims=True)), value.shape)]
        return numpy.max(floors, 0)

    def distances(self, outputs):
        """Returns the largest e / 8 sigma, and rms(e / sigma), over all outputs."""
        ratios = []
        for value, sigma, output in zip(self.values, self.sigmas, outputs):
            got = numpy.atleast_1d(output.detach().numpy())
            value = numpy.atleast_1d(value)
            if sigma is None:
                ratios.append(numpy.where(got == value, 0, numpy.inf).ravel())
                continue
            error = abs(got.astype(value.dtype) - value)
            with numpy.errstate(divide="ignore", invalid="ignore"):
                ratios.append(numpy.where(error == 0, 0, error / sigma).ravel())
        ratios = numpy.concatenate(ratios)
        return ratios.max() / 8, numpy.sqrt(numpy.mean(ratios ** 2))


def outputs_of(function, inputs):
    with torch.no_grad():
        outputs = function(*inputs)
    return [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)


class Fault(TorchDispatchMode if torch else object):
    """Changes what an op of aten gets. `seen` tells whether there was one."""

    def __init__(self, change):
        super().__init__()
        self.change, self.seen = change, False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        changed = self.change(func.__name__.split(".")[0], list(args), dict(kwargs or {}))
        self.seen |= changed is not None
        args, kwargs = changed or (args, kwargs or {})
        return func(*args, **kwargs)


def tf32_products(name, args, kwargs):
    def cut(tensor):
        if not isinstance(tensor, torch.Tensor) or tensor.dtype != torch.float32:
            return tensor
        return (tensor.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32)

    if name not in ("mm", "addmm", "bmm", "convolution"):
        return None
    return [arg if name == "addmm" and at == 0 else cut(arg) for at, arg in enumerate(args)], kwargs


def tenfold_eps(name, args, kwargs):
    place = {"native_layer_norm": 4, "native_group_norm": 7, "native_batch_norm": 7}.get(name)
    if name == "add" and isinstance(args[1], float):
        place = 1
    if place is None:
        return None
    args[place] *= 10
    return args, kwargs


def gelu_by_tanh(name, args, kwargs):
    return (args, {"approximate": "tanh"}) if name == "gelu" else None


FAULTS = {"TF32 products": tf32_products, "ten times eps": tenfold_eps, "gelu by tanh": gelu_by_tanh}


def rounded_weights(problem):
    twin = load_problem(problem.path).model
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.copy_(parameter.half().float())
    return outputs_of(twin, problem.inputs)


def last_tile_unwritten(outputs):
    outputs = [output.clone() for output in outputs]
    for output in outputs:
        output.view(-1)[-max(1, output.numel() // 16):] = 0
    return outputs


class Problems(unittest.TestCase):
    EXPECTED = {"attention": {"TF32 products", "ten times eps"}, "classifier": {"TF32 products", "ten times eps"},
                "conv_norm_gelu_pool": {"TF32 products", "ten times eps", "gelu by tanh"}, "hinge": set(),
                "recurrent": {"TF32 products"}, "rmsnorm_swiglu": {"TF32 products", "ten times eps"}}

    def test_right_is_inside_and_wrong_outside(self):
        self.assertEqual({path.stem for path in (HERE / "problems").glob("*.py")}, set(self.EXPECTED))
        for name, faults in self.EXPECTED.items():
            with self.subTest(name):
                problem = load_problem(HERE / "problems" / f"{name}.py")
                measured = Measured(problem.reference, problem.arrays())
                self.assertEqual(measured.noise.opaque, set())
                right = outputs_of(problem.model, problem.inputs)
                self.inside(measured, right)
                self.outside(measured, [0 * output for output in right], "zeros")
                if right[0].dim():
                    self.outside(measured, last_tile_unwritten(right), "last tile unwritten")
                if list(problem.model.parameters()):
                    self.outside(measured, rounded_weights(problem), "weights in f16")
                self.assertEqual(faults, self.faults_outside(problem, measured))

    def faults_outside(self, problem, measured):
        found = set()
        for fault, change in FAULTS.items():
            model = load_problem(problem.path).model
            with Fault(change) as mode:
                outputs = outputs_of(model, problem.inputs)
            if mode.seen:
                self.outside(measured, outputs, fault)
                found.add(fault)
        return found

    def inside(self, measured, outputs):
        worst, bits = measured.distances(outputs)
        self.assertLessEqual(worst, 1)
        self.assertLessEqual(bits, 1)

    def outside(self, measured, outputs, what):
        worst, bits = measured.distances(outputs)
        self.assertTrue(worst > 1 or bits > 1, f"{what}: worst {worst}, bits {bits}")


MODULE = """
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self, *arguments):
        super().__init__()
        self.layer = nn.Linear(4, 4)
    def forward(self, x):
        {forward}
def helper(x):
    {helper}
def get_inputs(): return [{inputs}]
def get_init_inputs(): return []
"""


class Loading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="assay-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def problem(self, forward="return self.layer(x)", helper="return x", inputs="torch.randn(2, 4)", text=MODULE):
        path = self.folder / "mine.py"
        path.write_text(text.format(forward=forward, helper=helper, inputs=inputs), encoding="utf-8")
        return path

    def refused(self, pattern, **parts):
        with self.assertRaisesRegex(Refusal, pattern):
            load_problem(self.problem(**parts))

    def test_fixed_dtypes_are_refused_with_their_line(self):
        self.refused(r"^mine.py:9: x\.float\(\) fixes a dtype", forward="return self.layer(x.float()).to(x.dtype)")
        self.refused(r"^mine.py:9: torch\.float16 fixes", forward="return x.to(torch.float16)")
        self.refused(r"^mine.py:9: torch\.autocast\('cpu'\) fixes",
                     forward="\n        with torch.autocast('cpu'): return x".strip())
        self.refused(r"^mine.py:11: x\.half\(\) fixes", forward="return helper(x)", helper="return x.half()")
        self.refused("bfloat16", forward="return x.to(getattr(torch, 'bfloat16'))")

    def test_dtypes_elsewhere_are_not(self):
        problem = load_problem(self.problem(helper="return x.float()", inputs="torch.randint(9, (2, 4)).float()"))
        self.assertEqual(problem.inputs[0].dtype, torch.float32)

    def test_what_is_missing(self):
        for name in ("Model", "get_inputs", "get_init_inputs"):
            self.refused(f"mine.py has no (class|function) {name}", text=MODULE.replace(name, "Other"))
        self.refused("needs the module 'absent_module'", text="import absent_module\n" + MODULE)
        self.refused("mine.py:1: SyntaxError", text="class\n")
        with self.assertRaisesRegex(Refusal, "cannot read .*absent.py: No such file"):
            load_problem(self.folder / "absent.py")

    def test_forwards_that_cannot_be_judged(self):
        self.refused("not deterministic", forward="return x + torch.rand(4)")
        self.refused("not deterministic", forward="return nn.functional.dropout(x, 0.5, self.training)")
        self.refused(r"ValueError: no \(mine.py:9 in forward\)", forward="raise ValueError('no')")
        self.refused("no tensor", forward="return 3")
        self.refused("no tensor", forward="return {'y': x}")
        self.refused("no tensor", forward="return []")
        self.refused("no finite number", forward="return x / 0")
        if not torch.cuda.is_available():
            self.refused(r"needs a GPU.*\(mine.py:9 in forward\)", forward="return x.cuda()")
            self.refused("needs a GPU", inputs="torch.randn(2, 4, device='cuda')")

    def test_dropout_in_eval(self):
        path = self.problem(forward="return nn.functional.dropout(x, 0.5, self.training)")
        self.assertFalse(load_problem(path, training=False).model.training)

    def test_tensors_that_are_no_parameters(self):
        path = self.problem(forward="return x @ self.extra[0] + torch.ones(4)",
                            text=MODULE.replace("nn.Linear(4, 4)", "nn.Linear(4, 4); self.extra = [torch.eye(4) / 3]"))
        problem = load_problem(path)
        self.assertEqual(problem.reference(problem.inputs[0].double())[0].dtype, torch.float64)

    def test_averages_of_a_batch_norm_do_not_move(self):
        problem = load_problem(HERE / "problems" / "classifier.py")
        before, = problem.reference(*problem.inputs)
        self.assertTrue(torch.equal(problem.reference(*problem.inputs)[0], before))

    def test_solutions_have_the_seed_and_the_state(self):
        problem = load_problem(self.problem())
        path = self.folder / "new.py"
        renamed = path.write_text(pathlib.Path(problem.path).read_text(encoding="utf-8").replace("Model", "ModelNew"),
                                  encoding="utf-8")
        self.assertTrue(renamed)
        solution = load_solution(path, problem)
        self.assertTrue(torch.equal(solution.layer.weight, problem.model.layer.weight))
        path.write_text("from torch import nn\nclass ModelNew(nn.Module):\n  def __init__(self):\n"
                        "    super().__init__()\n    self.other = nn.Linear(4, 4)\n", encoding="utf-8")
        self.assertTrue(torch.equal(load_solution(path, problem).other.weight, problem.model.layer.weight))
        with self.assertRaisesRegex(Refusal, "mine.py has no class ModelNew"):
            load_solution(problem.path, problem)


def primitives():
    """Functions of PyTorch by name, each with its inputs."""
    random = numpy.random.default_rng(0)

    def normal(*shape):
        return random.standard_normal(shape).astype(numpy.float32).astype(float)

    rows, other, image, volume = normal(8, 64), normal(8, 64), normal(2, 4, 9, 9), normal(2, 3, 6, 5, 4)
    labels, weights = random.integers(0, 64, 8), normal(4)
    of_rows = {name: getattr(functional, name) for name in (
        "gelu", "silu", "mish", "softplus", "elu", "selu", "celu", "hardswish", "hardsigmoid", "leaky_relu",
        "logsigmoid", "softsign", "tanhshrink", "softshrink", "glu", "relu6", "pdist", "normalize")}
    of_rows.update({name: getattr(torch, name) for name in (
        "exp", "tanh", "sigmoid", "erf", "sin", "reciprocal", "std", "var", "norm", "mean", "sum", "logit")})
    of_rows.update({
        "gelu by tanh": lambda x: functional.gelu(x, approximate="tanh"), "softmax": lambda x: torch.softmax(x, 1),
        "log_softmax": lambda x: torch.log_softmax(x, -1), "logsumexp": lambda x: torch.logsumexp(x, 1),
        "var_mean": lambda x: torch.var_mean(x, 1, unbiased=False), "norm 1": lambda x: torch.norm(x, p=1, dim=1),
        "norm 3": lambda x: torch.linalg.vector_norm(x, 3, dim=1), "cumsum": lambda x: torch.cumsum(x, 1),
        "cumprod": lambda x: torch.cumprod(x[:, :9], 1), "logcumsumexp": lambda x: torch.logcumsumexp(x, 1),
        "cube": lambda x: x ** 3, "power": lambda x: x.abs() ** 1.7, "topk": lambda x: torch.topk(x, 3),
        "rsqrt": lambda x: torch.rsqrt(x.abs()), "quantile": lambda x: torch.quantile(x, 0.3, dim=1),
        "rfft": lambda x: torch.fft.rfft(x).abs(), "xlogy": lambda x: torch.xlogy(x, x.abs()),
        "in place": lambda x: x.clone().mul_(0.3).add_(1, alpha=2).sigmoid_(), "argmax": lambda x: torch.argmax(x, 1),
        "out=": lambda x: torch.exp(x, out=torch.empty(0, dtype=x.dtype)),
        "casts to f32": lambda x: (x.float() * torch.rsqrt(x.to(torch.float32).pow(2).mean(-1, keepdim=True))).to(x),
        "rotary": lambda x: torch.view_as_real(torch.view_as_complex(x.reshape(8, 32, 2)) * torch.polar(
            torch.ones(32, dtype=x.dtype), torch.arange(32).to(x) / 3)).flatten(1)})
    table = {name: (function, [rows]) for name, function in of_rows.items()}
    of_pairs = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cosine_similarity", "pairwise_distance",
                "binary_cross_entropy_with_logits")
    table.update({name: (getattr(functional, name), [rows, other]) for name in of_pairs})
    table.update({
        "logit": (torch.logit, [abs(rows) % 0.9 + 0.05]),
        "cross_entropy": (functional.cross_entropy, [rows, labels]),
        "smoothed": (lambda x, t: functional.cross_entropy(x, t, label_smoothing=0.1, reduction="none"),
                     [rows, labels]),
        "cross_entropy 2d": (functional.cross_entropy, [image, random.integers(0, 4, (2, 9, 9))]),
        "multi_margin": (functional.multi_margin_loss, [rows, labels]),
        "bce": (lambda x, t: functional.binary_cross_entropy(torch.sigmoid(x), t), [rows, abs(other) % 1]),
        "kl_div": (lambda x, t: functional.kl_div(torch.log_softmax(x, 1), torch.softmax(t, 1), reduction="sum"),
                   [rows, other]),
        "triplet": (functional.triplet_margin_loss, [rows, other, rows + other]),
        "matmul": (torch.matmul, [rows, other.T]), "matmul 4d": (torch.matmul, [image, image.transpose(0, 1, 3, 2)]),
        "mv": (torch.mv, [rows, normal(64)]), "dot": (torch.dot, [normal(64), normal(64)]),
        "linear": (functional.linear, [rows, normal(5, 64), normal(5)]),
        "bilinear": (functional.bilinear, [normal(4, 3), normal(4, 5), normal(2, 3, 5), normal(2)]),
        "baddbmm": (lambda a, b, c: torch.baddbmm(a, b, c, beta=0.5, alpha=2.0),
                    [normal(2, 8, 5), normal(2, 8, 16), normal(2, 16, 5)]),
        "einsum": (lambda a, b: torch.einsum("bhij,bhkj->bhik", a, b), [image, image]),
        "outer": (torch.outer, [normal(5), normal(6)]), "cross": (lambda a, b: torch.cross(a, b, dim=1),
                                                                 [normal(5, 3), normal(5, 3)]),
        "conv1d": (functional.conv1d, [normal(2, 3, 20), normal(4, 3, 3), weights]),
        "conv2d": (lambda x, w, b: functional.conv2d(x, w, b, padding=1, groups=2),
                   [image, normal(6, 2, 3, 3), normal(6)]),
        "conv2d of one": (functional.conv2d, [image[0], normal(6, 4, 3, 3), normal(6)]),
        "conv3d": (functional.conv3d, [volume, normal(4, 3, 3, 3, 3), weights]),
        "conv_transpose1d": (functional.conv_transpose1d, [normal(2, 3, 20), normal(3, 4, 3), weights]),
        "conv_transpose2d": (lambda x, w: functional.conv_transpose2d(x, w, stride=2, groups=2),
                             [image, normal(4, 3, 3, 3)]),
        "conv_transpose3d": (functional.conv_transpose3d, [volume, normal(3, 4, 3, 3, 3), weights]),
        "layer_norm": (lambda x, w, b: functional.layer_norm(x, [64], w, b), [rows, normal(64), normal(64)]),
        "group_norm": (lambda x, w, b: functional.group_norm(x, 2, w, b), [image, weights, weights]),
        "batch_norm": (functional.batch_norm, [image, weights, abs(weights), weights, weights]),
        "batch_norm in training": (lambda x, w: functional.batch_norm(x, None, None, w, training=True),
                                   [image, weights]),
        "instance_norm": (functional.instance_norm, [image]),
        "local_response_norm": (lambda x: functional.local_response_norm(x, 3), [image]),
        "prelu": (functional.prelu, [image, weights]), "embedding": (functional.embedding, [labels % 8, rows]),
        "lerp": (lambda a, b: torch.lerp(a, b, 0.3), [rows, other]),
        "addcmul": (lambda a, b: torch.addcmul(a, a, b, value=0.3), [rows, other]),
        "addcdiv": (lambda a, b: torch.addcdiv(a, a, b, value=0.3), [rows, other]),
        "cdist": (torch.cdist, [rows, other]), "avg_pool1d": (lambda x: functional.avg_pool1d(x, 3), [rows[None]]),
        "avg_pool2d": (lambda x: functional.avg_pool2d(x, 3), [image]),
        "avg_pool3d": (lambda x: functional.avg_pool3d(x, 2), [volume]),
        "adaptive_avg_pool1d": (lambda x: functional.adaptive_avg_pool1d(x, 5), [rows[None]]),
        "adaptive_avg_pool2d": (lambda x: functional.adaptive_avg_pool2d(x, 4), [image]),
        "adaptive_avg_pool3d": (lambda x: functional.adaptive_avg_pool3d(x, 2), [volume]),
        "max_pool1d": (lambda x: functional.max_pool1d(x, 3), [rows[None]]),
        "max_pool2d": (lambda x: functional.max_pool2d(x, 3), [image]),
        "max_pool3d": (lambda x: functional.max_pool3d(x, 2), [volume]),
        "lp_pool2d": (lambda x: functional.lp_pool2d(x, 2, 3), [image]),
        "fold": (lambda x: functional.fold(functional.unfold(x, 3), (9, 9), 3), [image]),
        "index_add": (lambda x, i, s: x.index_add(0, i, s), [normal(5, 4), labels % 5, normal(8, 4)]),
        "index_put": (lambda x, i, s: x.index_put((i,), s, accumulate=True), [normal(5, 4), labels % 5, normal(8, 4)]),
        "scatter_add": (lambda x, i, s: x.scatter_add(0, i, s),
                        [normal(5, 4), random.integers(0, 5, (20, 4)), normal(20, 4)]),
        "nearest": (lambda x: functional.interpolate(x, scale_factor=2), [image])})
    for mode, tensor, sizes in (("linear", rows[None], (99,)), ("bilinear", image, (7, 20)),
                                ("bicubic", image, (7, 20)), ("trilinear", volume, (9, 5, 3))):
        for corners in (False, True):
            table[f"{mode} {corners}"] = (lambda x, s=sizes, m=mode, c=corners: functional.interpolate(
                x, size=s, mode=m, align_corners=c), [tensor])
    attention = getattr(functional, "scaled_dot_product_attention", None)
    if attention is not None:
        table["attention"] = (lambda q, k, v: attention(q, k, v, is_causal=True), [image, image + 1, image - 1])
    return table


class Primitives(unittest.TestCase):
    def test_each(self):
        for name, (function, inputs) in primitives().items():
            with self.subTest(name):
                measured = Measured(function, inputs)
                self.assertEqual(measured.noise.opaque, set())
                tensors = [torch.as_tensor(value) for value in inputs]
                for value, exact in zip(measured.values, outputs_of(function, tensors)):
                    numpy.testing.assert_allclose(value, exact, 1e-6 if name == "casts to f32" else 1e-9, 1e-9)
                narrow = [tensor.float() if tensor.is_floating_point() else tensor for tensor in tensors]
                worst, bits = measured.distances(outputs_of(function, narrow))
                self.assertLessEqual(worst, 1)
                self.assertLessEqual(bits, 1)

    def test_modules(self):
        sequence = torch.randn(2, 5, 16)
        modules = {"lstm": torch.nn.LSTM(16, 8, 2, batch_first=True, bidirectional=True), "gru": torch.nn.GRU(16, 8),
                   "rnn": torch.nn.RNN(16, 8), "lstm cell": torch.nn.LSTMCell(16, 8),
                   "gru cell": torch.nn.GRUCell(16, 8),
                   "encoder": torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval(),
                   "encoder, norm first": torch.nn.TransformerEncoderLayer(16, 4, 32, 0, norm_first=True,
                                                                           activation="gelu"),
                   "decoder": torch.nn.TransformerDecoderLayer(16, 4, 32, 0),
                   "attention": torch.nn.MultiheadAttention(16, 4).eval()}
        for name, module in modules.items():
            with self.subTest(name):
                inputs = {"attention": [sequence] * 3, "decoder": [sequence] * 2}.get(
                    name, [sequence[0] if "cell" in name else sequence])

                def run(*tensors, module=module):
                    outputs = module(*tensors)
                    return outputs if isinstance(outputs, torch.Tensor) else outputs[0]

                right = outputs_of(run, inputs)
                module.double()
                measured = Measured(run, [tensor.double().numpy() for tensor in inputs])
                self.assertEqual(measured.noise.opaque, set())
                worst, bits = measured.distances(right)
                self.assertLessEqual(worst, 1)
                self.assertLessEqual(bits, 1)

    def test_records(self):
        x = numpy.random.default_rng(0).standard_normal((3, 50))

        def records(function, inputs=(x,)):
            noise = Noise(quiet=True)
            draw(function, inputs, noise)
            return noise.is_ring, noise.terms, noise.opaque

        self.assertEqual(records(lambda x: x @ x.T + x[:, :3] * 2), (True, 50, set()))
        self.assertEqual(records(lambda x: x.sum(1)), (True, 50, set()))
        self.assertEqual(records(lambda x: x.mean(1)), (False, 50, set()))
        self.assertEqual(records(lambda x: x.exp())[0], False)
        self.assertEqual(records(lambda x: functional.conv1d(x[None], x[:, :9].reshape(1, 3, 9))), (True, 27, set()))
        self.assertEqual(records(lambda x: torch.linalg.qr(x)[1]), (False, 0, {"linalg_qr"}))

    def test_exact_data_have_no_band(self):
        whole = numpy.random.default_rng(0).integers(-4, 5, (16, 16)).astype(float)
        measured = Measured(lambda x: x @ x + x.cumsum(0) * 3 - x.sum(), [whole])
        self.assertTrue(measured.noise.is_ring)
        self.assertEqual(measured.sigmas[0].max(), 0)

    def test_constants_that_f32_does_not_hold(self):
        """0.3 times ten is three in f64, but not in f32: no exact result may be demanded."""
        for function in (lambda x: x * 0.3, lambda x: x.mul_(0.3), lambda x: x + 0.1, lambda x: x.clamp(min=10.1),
                         lambda x: x * torch.tensor(0.3), lambda x: x * torch.full((3,), 0.3)):
            self.assertGreater(Measured(function, [numpy.full((2, 3), 10.0)]).sigmas[0].min(), 0)
        self.assertEqual(Measured(lambda x: x * 0.25, [numpy.full((2, 3), 10.0)]).sigmas[0].max(), 0)

    def test_single_numbers_are_written_in_place(self):
        def total(x):
            largest = torch.zeros(())
            for row in x:
                largest.copy_(torch.maximum(largest, row.sum())).clamp_(max=100.0)
            return largest

        x = numpy.random.default_rng(0).random((3, 50))
        for noise in (Noise(quiet=True), Noise(3)):
            self.assertAlmostEqual(float(draw(total, [x], noise)[0]), x.sum(1).max(), 3)

    def test_draws_repeat_and_touch_nothing(self):
        x = numpy.random.default_rng(0).standard_normal((3, 50))
        torch.manual_seed(1)
        expected = torch.rand(3)
        torch.manual_seed(1)
        first, second, other = (draw(torch.exp, [x], Noise(seed))[0] for seed in (7, 7, 8))
        self.assertTrue(torch.equal(torch.rand(3), expected))
        self.assertTrue((first == second).all())
        self.assertFalse((first == other).all())
        self.assertIs(torch.get_default_dtype(), torch.float32)
        self.assertEqual(draw(lambda x: x.mul_(2), [x], Noise(quiet=True))[0].tolist(), (2 * x).tolist())
        self.assertEqual(draw(lambda n: torch.ones(n), [3], Noise(quiet=True))[0].dtype, float)

    def test_narrow_dtypes_are_refused(self):
        for function in (lambda x: x.half(), lambda x: x.to(torch.bfloat16).to(x.dtype)):
            with self.assertRaisesRegex(TypeError, "leave the dtype to the inputs"):
                draw(function, [numpy.ones(3)], Noise(quiet=True))
        with self.assertRaisesRegex(TypeError, "no tensor"):
            draw(lambda x: "text", [numpy.ones(3)], Noise(quiet=True))


if __name__ == "__main__":
    unittest.main()
