"""Wrong variants of any model: one fault of arithmetic, of its author or of its outputs, made below PyTorch's own calls.

A file with this text is the solution of the problem in `path` (assay run --problem PATH --kernels FILE):

    import sys; sys.path.insert(0, ".../scripts/lib")
    from problems.variants import new_model
    ModelNew = new_model("TF32 products", "path")
"""
import types

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_CHUNKS = 8  # of a sum whose running total is kept in half precision
_TILE = 16  # one in so many outputs is in the last tile
_ELEMENTWISE = {"relu", "gelu", "sigmoid", "tanh", "silu", "hardtanh", "hardswish", "hardsigmoid", "leaky_relu", "elu",
                "softplus", "mish", "clamp", "clamp_min", "clamp_max", "add", "sub", "mul", "div", "exp", "log", "sqrt",
                "rsqrt", "abs", "pow", "neg", "_softmax", "_log_softmax", "native_layer_norm", "native_group_norm",
                "native_batch_norm", "cumsum", "cumprod", "log_sigmoid_forward", "masked_fill", "square", "flip"}


class _Fault(TorchDispatchMode):
    """Changes what the ops of aten that a model calls return. `seen` counts those that it changed."""

    seen = 0

    def __torch_dispatch__(self, func, types_, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func.__name__.split(".")[0].rstrip("_")
        result = self.result(name, func, args, kwargs)
        if result is NotImplemented:
            return func(*args, **kwargs)
        self.seen += 1
        if func.__name__.split(".")[0].endswith("_") and isinstance(args[0], torch.Tensor):
            return args[0].copy_(result)  # in place
        return result

    def result(self, name, func, args, kwargs):
        """Returns the changed result, or NotImplemented."""
        raise NotImplementedError


def _factors(name, args):
    """Returns the places of the two factors of a product, and the dimensions that it sums over, or None."""
    places = {"mm": (0, 1), "bmm": (0, 1), "mv": (0, 1), "dot": (0, 1), "addmm": (1, 2), "baddbmm": (1, 2), "addmv": (1, 2),
              "convolution": (0, 1)}.get(name)
    return places if places and args[places[0]].dtype == torch.float32 else None


class Tf32Products(_Fault):
    """Factors of products lose their last 13 bits."""

    def result(self, name, func, args, kwargs):
        places = _factors(name, args)
        if places is None:
            return NotImplemented
        short = [(one.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) if at in places else one
                 for at, one in enumerate(args)]
        return func(*short, **kwargs)


def _terms(name, args):
    """Returns (place, dimension, places and dimensions of the other factor) of what a sum runs over, or None."""
    if name == "convolution":
        groups, is_transposed = args[8], args[6]
        if args[0].dtype != torch.float32 or groups != 1 or args[1].shape[0 if is_transposed else 1] < 2:
            return None
        return ((0, 1), (1, 0 if is_transposed else 1))
    places = _factors(name, args)
    if places is not None:
        left, right = places
        sums_along = {"dot": (0, 0), "mv": (1, 0), "addmv": (1, 0)}.get(name, (-1, -2))
        return ((left, sums_along[0]), (right, sums_along[1]))
    if name in ("sum", "mean") and args[0].dtype == torch.float32 and args[0].dim():
        dims = args[1] if len(args) > 1 and args[1] else range(args[0].dim())
        longest = max(dims, key=lambda dim: args[0].shape[dim])
        return ((0, longest),)
    return None


def _part(args, terms, begin, end):
    """Returns the arguments with only those terms of the sum."""
    args = list(args)
    for place, dim in terms:
        args[place] = args[place].narrow(dim, begin, end - begin)
    return args


def _summed(name, args):
    """Returns what a sum runs over as _terms does, and how many terms it has: below 2 there is nothing to damage."""
    terms = _terms(name, args)
    return terms, args[terms[0][0]].shape[terms[0][1]] if terms else 0


class LastTermMissing(_Fault):
    """Sums leave out their last term; of a mean the count stays."""

    def result(self, name, func, args, kwargs):
        terms, count = _summed(name, args)
        if count < 2:
            return NotImplemented
        shorter = func(*_part(args, terms, 0, count - 1), **kwargs)
        return shorter * ((count - 1) / count) if name == "mean" else shorter


class HalfAccumulator(_Fault):
    """The running total of a sum is kept in half precision, from part to part."""

    def result(self, name, func, args, kwargs):
        terms, count = _summed(name, args)
        if count < 2:
            return NotImplemented
        total, rest = self._begun(name, args)
        step = -(-count // _CHUNKS)
        for begin in range(0, count, step):
            end = min(count, begin + step)
            part = func(*_part(rest, terms, begin, end), **kwargs)
            if name == "mean":
                part = part * ((end - begin) / count)
            total = (total + part).half().float()
        return total

    @staticmethod
    def _begun(name, args):
        """Returns what the total begins with, and the arguments without it."""
        rest = list(args)
        if name == "convolution" and rest[2] is not None:
            start, rest[2] = rest[2].reshape(-1, *[1] * (rest[1].dim() - 2)), None
            return start, rest
        if name in ("addmm", "baddbmm", "addmv"):
            start, rest[0] = rest[0], torch.zeros_like(rest[0])
            return start, rest
        return 0.0, rest


class StepLeftOut(_Fault):
    """The last elementwise step gives what it gets."""

    def __init__(self, last=None):
        super().__init__()
        self._last, self._count = last, 0

    def result(self, name, func, args, kwargs):
        if name not in _ELEMENTWISE or not isinstance(args[0], torch.Tensor) or not args[0].is_floating_point():
            return NotImplemented
        self._count += 1
        if self._last is None:
            self.seen += 1
            return NotImplemented
        if self._count != self._last:
            return NotImplemented
        right = func(*args, **kwargs)
        first = right[0] if isinstance(right, tuple) else right
        if first.shape != args[0].shape:
            return right
        kept = args[0].clone()
        return (kept, *right[1:]) if isinstance(right, tuple) else kept


def _with_mode(make):
    def forward(model, call, arguments):
        with make() as mode:
            result = call(model, *arguments)
        return result if mode.seen else None
    return forward


def _step_left_out(model, call, arguments):
    with StepLeftOut() as counting:
        call(model, *arguments)
    if not counting.seen:
        return None
    with StepLeftOut(counting.seen):
        return call(model, *arguments)


def _changed_outputs(change):
    def forward(model, call, arguments):
        return _mapped(call(model, *arguments), change)
    return forward


def _mapped(value, change):
    if isinstance(value, torch.Tensor):
        return change(value) if value.is_floating_point() else value
    return type(value)(_mapped(item, change) for item in value) if type(value) in (list, tuple) else value


def _without_last_tile(output):
    left = output.clone(memory_format=torch.contiguous_format)
    left.view(-1)[left.numel() - max(1, left.numel() // _TILE):] = 0
    return left


def _short_inputs(model, call, arguments):
    return call(model, *_mapped(list(arguments), lambda tensor: tensor.half().float()))


def _remembered(model, call, arguments):
    if "remembered" not in vars(model):
        vars(model)["remembered"] = call(model, *arguments)
    return _mapped(vars(model)["remembered"], torch.clone)


VARIANTS = {
    "TF32 products": _with_mode(Tf32Products),
    "half accumulator": _with_mode(HalfAccumulator),
    "last term missing": _with_mode(LastTermMissing),
    "a step left out": _step_left_out,
    "last tile unwritten": _changed_outputs(_without_last_tile),
    "zeros": _changed_outputs(torch.zeros_like),
    "inputs in half": _short_inputs,
    "remembered": _remembered,
}


def module_of(path):
    """Returns the module of a problem's file."""
    module = types.ModuleType("problem_of_variant")
    module.__file__ = str(path)
    with open(path, "rb") as file:
        exec(compile(file.read(), str(path), "exec", dont_inherit=True), module.__dict__)  # pylint: disable=exec-used
    return module


def new_model(variant, path):
    """Returns the class of the variant. Its forward raises NotImplementedError where the model has no such step."""
    base = module_of(path).Model
    forward = VARIANTS[variant]

    class ModelNew(base):
        def forward(self, *arguments):
            result = forward(self, base.forward, arguments)
            if result is None:
                raise NotImplementedError(f"the model has no step for: {variant}")
            return result
    return ModelNew
