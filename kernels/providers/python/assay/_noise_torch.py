"""Runs a reference of PyTorch in f64 with the noise of Monte-Carlo arithmetic on every op that it calls.

A dispatch mode sees each op of aten below autograd and below PyTorch's own composites. It computes the op's functional
form; in-place and out= forms copy the result. _aten.py says how each primitive rounds.
"""
import contextlib
import math

import numpy
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from assay import _aten, _formats
from assay._aten_composites import COMPOSITES
from assay._noise import ROUNDOFF

_MANTISSA = 23
_EXPONENT_BITS = 0x7FF0000000000000
_NARROW = (torch.float16, torch.bfloat16)


def draw(function, inputs, noise):
    """Returns the outputs of one run as a tuple of arrays: of f64, or of integers.

    function  takes tensors and returns one or several
    inputs    arrays of NumPy, or lists of them; others are passed as they are
    noise     an assay._noise.Noise
    """
    mode = NoisyMode(noise)
    tensors = [mode.input(value) for value in inputs]
    with _f64_by_default(), torch.no_grad(), mode:
        outputs = function(*tensors)
    if isinstance(outputs, torch.Tensor):
        outputs = (outputs,)
    if not isinstance(outputs, (tuple, list)) or not all(isinstance(value, torch.Tensor) for value in outputs):
        raise TypeError("the reference returns no tensor and no tuple of tensors")
    return tuple(value.detach().resolve_conj().resolve_neg().cpu().numpy().copy() for value in outputs)


@contextlib.contextmanager
def _f64_by_default():
    """Lets torch.ones(n) in a reference be of f64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class NoisyMode(TorchDispatchMode):
    """Disturbs the results of ops, and records what they were in `noise`."""

    def __init__(self, noise):
        super().__init__()
        self._noise = noise
        self._random = torch.Generator().manual_seed(noise.seed)

    def input(self, value):
        """Returns an input as a tensor. It moves by some roundoffs where the trace is not one of + - * alone."""
        if isinstance(value, (list, tuple)):
            return type(value)(self.input(item) for item in value)
        if not isinstance(value, (numpy.ndarray, torch.Tensor)):
            return value
        tensor = torch.as_tensor(value).clone()
        return tensor if self._noise.exact else self._relative(tensor, 1.0)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name, written = _name_of(func), _written(func)
        values = _bound(func, args, kwargs or {})
        if name in _aten.MOVES and not _adds(name, values):
            return _call(func, self._with_constants(func, _widened(values)))
        if not written or not _has_functional_form(name):
            return self._functional(name, func, _widened(values))
        targets = [values.pop(argument) for argument in written]
        with self:
            if not func._schema.arguments[0].kwarg_only and written == [func._schema.arguments[0].name]:
                result = _packet(name)(*args, **(kwargs or {}))  # in place
            else:
                kept = {key: value for key, value in (kwargs or {}).items() if key not in written}
                result = _packet(name)(*args, **kept)
        results = result if isinstance(result, (tuple, list)) else (result,)
        for target, value in zip(targets, results):
            if target.shape != value.shape:
                target.resize_(value.shape)
            target.copy_(value)
        return targets[0] if len(targets) == 1 else tuple(targets)

    def _functional(self, name, func, values):
        if name in COMPOSITES:
            with self:
                result = COMPOSITES[name](**values)
            if result is not NotImplemented:
                return result
        values = self._with_constants(func, values)
        if name in _aten.CONTRACTIONS:
            factors, terms = _aten.CONTRACTIONS[name]
            return self._contraction(func, values, factors, terms)
        if name in _aten.AVERAGES:
            return self._contraction(func, values, ("self",), _aten.AVERAGES[name], is_ring=False)
        if name in _aten.ROUNDED:
            self._noise.is_ring &= _aten.ROUNDED[name]
            return self._rounded(_call(func, values))
        if name in _aten.FUNCTIONS:
            return self._function(func, values)
        if name in _aten.PRODUCTS:
            return self._rounded(_call(func, self._disturbed(values, ("self",), 1.0)))
        if name in _aten.SCATTERED:
            return self._scattered(func, values, _aten.SCATTERED[name])
        if name in _aten.FOURIER:
            self._noise.is_ring = False
            size = math.sqrt(math.prod(values["self"].shape[dim] for dim in values["dim"]) / 2)
            return self._rounded(_call(func, self._disturbed(values, ("self",), size)))
        with self:
            result = func.decompose(*_positional(func, values), **_keywords(func, values))
        return self._opaque(name, func, values) if result is NotImplemented else result

    def _with_constants(self, func, values):
        """Rounds the numbers of a call as f32 does: 0.3 is none of its numbers, though a product with it may be."""
        if self._noise.quiet or not any(True for _ in _tensors(values.values())):
            return values
        numbers = {argument.name for argument in func._schema.arguments if "float" not in str(argument.type)}
        return {key: self._rounded(torch.tensor(value, dtype=torch.float64)).item()
                if key in numbers and isinstance(value, float) else value for key, value in values.items()}

    def _function(self, func, values):
        self._noise.is_ring = False
        result = _call(func, self._disturbed(values, values, 1.0))
        return self._rounded(self._relative(result, self._noise.B))

    def _contraction(self, func, values, factors, terms, is_ring=True):
        result = _call(func, values)
        count = terms(values, result)
        self._noise.sums(count)
        self._noise.is_ring &= is_ring
        if self._noise.quiet or not _is_noisy(result):
            return self._rounded(result)
        if len(factors) > 1:
            values = {key: self._as_factor(value) if key in factors else value for key, value in values.items()}
        if is_ring and self._noise.exact and _is_exact(func, values, factors):
            return self._rounded(result)
        result = _call(func, self._disturbed(values, factors, math.sqrt(count / 6 / len(factors))))
        return self._rounded(self._relative(result, self._chain(func, values, count)))

    @staticmethod
    def _chain(func, values, count):
        """Returns the relative error of a running sum; a prefix has as many terms as lie before it."""
        if _name_of(func) != "cumsum" or not values["self"].dim():
            return math.sqrt(count / 3)
        along = [1] * values["self"].dim()
        along[values["dim"]] = -1
        return (torch.arange(1, count + 1, dtype=torch.float64) / 3).sqrt().reshape(along)

    def _scattered(self, func, values, summed):
        """Counts how often the index names a place: so many terms are summed there."""
        ones = {**values, "self": torch.zeros_like(values["self"]), summed: torch.ones_like(values[summed])}
        count = max(1, int(_call(func, ones).max())) if values["self"].numel() else 1
        return self._contraction(func, values, ("self", summed), lambda *_: count)

    def _opaque(self, name, func, values):
        """Disturbs what goes into an op that no table has, and what comes out."""
        if not any(_is_noisy(tensor) for tensor in _tensors(values.values())):
            return _call(func, values)  # makes a tensor, or computes with integers
        written = _written(func)
        self._noise.does_not_know(name)
        readable = [key for key in values if key not in written]
        sizes = [tensor.numel() for tensor in _tensors(values.values())]
        result = _call(func, self._disturbed(values, readable, math.sqrt(max(sizes))))
        for target in _tensors(values[argument] for argument in written):
            target.copy_(self._rounded(target))
        return self._rounded(result)

    def _xi(self, shape):
        return torch.rand(shape, generator=self._random, dtype=torch.float32) * 2 - 1

    def _relative(self, value, size):
        """Multiplies by 1 + A u size xi. Takes a tensor, or several in a list."""
        if isinstance(value, (list, tuple)):
            return type(value)(self._relative(item, size) for item in value)
        if self._noise.quiet or not _is_noisy(value):
            return value
        return value * (1 + self._noise.A * ROUNDOFF * size * self._xi(value.shape).double())

    def _disturbed(self, values, names, size):
        return {key: self._relative(value, size) if key in names else value for key, value in values.items()}

    def _rounded(self, value):
        """Rounds to f32 at random, A/2 ulp to either side. What f32 holds stays as it is."""
        if isinstance(value, (list, tuple)):
            return type(value)(self._rounded(item) for item in value)
        if not isinstance(value, torch.Tensor) or not (value.is_floating_point() or value.is_complex()):
            return value
        self._noise.primitives += 1
        if self._noise.quiet or not _is_noisy(value):
            return value
        if value.is_complex():
            return torch.view_as_complex(self._rounded(torch.view_as_real(value).contiguous()))
        return self._held_in(self._noise.stored, value, 0.0)

    def _as_factor(self, value):
        """Returns factors of products as the format of factors may hold them."""
        form = self._noise.factor
        if form == _formats.F32 or not _is_noisy(value) or value.is_complex():
            return value
        return self._held_in(form, value, self._noise.A / 2 * float(self._xi((1,))) if form.may_truncate else 0.0)

    def _held_in(self, form, value, shift):
        """Rounds to the format as _noise.py does."""
        quantum = _quantum(value, form)
        places = value / quantum
        noise = self._noise.A / 2 * self._xi(value.shape).double() + shift * torch.sign(places)
        result = torch.round(places + noise) * quantum
        is_held = ~((torch.round(places) - places).abs() > form.near(self._noise.A))  # or no finite number
        result = torch.where(is_held, value, result)
        return torch.where(result.abs() > form.largest, torch.copysign(torch.full_like(result, math.inf), result), result)


def _quantum(value, form):
    """Returns the distance of the format's neighbours at each value."""
    power = (value.contiguous().view(torch.int64) & _EXPONENT_BITS).view(torch.float64)
    return power.clamp(min=form.smallest) * 2.0 ** (1 - form.digits)


def _is_noisy(value):
    return isinstance(value, torch.Tensor) and value.dtype in (torch.float64, torch.complex128)


def _is_exact(func, values, factors):
    """True if the factors are multiples of powers of two so large that f32 holds every sum of their products."""
    unit = 1.0
    for name in factors:
        step = _step(values[name])
        if step is None:
            return False
        unit *= step
    magnitudes = {key: value.abs() if key in factors else value for key, value in values.items()}
    total = _call(func, magnitudes)
    return not total.numel() or bool(total.max() <= unit * 2.0 ** (_MANTISSA + 1))


def _step(tensor):
    """Returns a power of two of which all elements are multiples, or None."""
    if not tensor.numel() or tensor.is_complex():
        return None
    few = tensor.flatten()[:64]
    for step in (1.0, 2.0 ** -4, 2.0 ** -8):
        if all(torch.equal(torch.round(part / step) * step, part) for part in (few, tensor)):
            return step
    return None


def _adds(name, values):
    """True for the forms of moves that sum what meets in one place."""
    return name == "index_put" and values["accumulate"] or name == "scatter" and values.get("reduce") is not None


def _tensors(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _name_of(func):
    """Returns the name of the functional form: "add" for aten::add_."""
    space, _, name = func._schema.name.partition("::")
    if name.endswith("_") and not name.endswith("__"):
        name = name[:-1]
    return name if space == "aten" else f"{space}::{name}"


def _written(func):
    """Returns the names of the arguments that an in-place or out= form writes."""
    return [argument.name for argument in func._schema.arguments
            if argument.alias_info is not None and argument.alias_info.is_write]


def _packet(name):
    return getattr(torch.ops.aten, name)


def _has_functional_form(name):
    known = (_aten.CONTRACTIONS, _aten.AVERAGES, _aten.ROUNDED, _aten.FUNCTIONS, _aten.PRODUCTS, _aten.SCATTERED,
             COMPOSITES, _aten.FOURIER)
    return any(name in table for table in known) and not name.startswith(("_native_batch_norm", "_batch_norm_with"))


def _bound(func, args, kwargs):
    """Returns the arguments by name, defaults among them."""
    values = {}
    for at, argument in enumerate(func._schema.arguments):
        if at < len(args) and not argument.kwarg_only:
            values[argument.name] = args[at]
        elif argument.name in kwargs:
            values[argument.name] = kwargs[argument.name]
        else:
            values[argument.name] = argument.default_value if argument.has_default_value() else None
    return values


def _widened(values):
    """Computes in f64 what the reference wants in f32: that is the format whose noise is simulated."""
    for value in values.values():
        if isinstance(value, torch.dtype) and value in _NARROW:
            raise TypeError(f"the reference computes in {value}, so no other precision can judge it: leave the dtype "
                            "to the inputs")
    return {key: torch.float64 if value is torch.float32 else torch.complex128 if value is torch.complex64 else value
            for key, value in values.items()}


def _positional(func, values):
    return [values[argument.name] for argument in func._schema.arguments if not argument.kwarg_only]


def _keywords(func, values):
    return {argument.name: values[argument.name] for argument in func._schema.arguments
            if argument.kwarg_only and values.get(argument.name) is not None}


def _call(func, values):
    return func(*_positional(func, values), **_keywords(func, values))
