"""Makes ops of problems: what the judge is told of one, its reference, and its inputs from a seed."""
import glob
import hashlib
import inspect
import os
import re

import numpy
import torch

from assay import _source
from assay._failure import one_line, text_of
from assay._noise import Noise
from assay._noise_torch import draw
from assay._op import Definition, Tensor
from assay._probe import INTEGER_DTYPES, Facts, Output
from assay._problem import flat, load_problem, open_problem
from assay._source import Refusal

_DTYPES = {torch.float32: "", torch.int64: "i64", torch.int32: "i32", torch.int8: "i8", torch.uint8: "u8",
           torch.bool: "u8"}
_SAMPLE = 1 << 16  # elements that tell whether numbers repeat
_MOSTLY = 0.9  # of them differ, where no structure makes them alike
_FEWEST = 8  # fewer numbers show no structure
_SAME_SUM = 1e-4
_OTHER_SEED = 1


def files_of(source):
    """Returns the files of the problems: the file itself, or those of the folder by name."""
    if not os.path.isdir(source):
        return [source]
    files = sorted(glob.glob(os.path.join(glob.escape(source), "*.py")))
    if not files:
        raise Refusal("the folder has no file NAME.py: name one with problems in it")
    return files


def name_of(path):
    """Returns the name of the op: "problem_3_softmax" for 3-softmax.py, which no op of Assay has."""
    return "problem_" + re.sub(r"[^A-Za-z0-9_]", "_", os.path.splitext(os.path.basename(path))[0])


def digest_of(source):
    """Tells files and folders apart, also those that somebody makes alike on purpose."""
    if not os.path.isdir(source):
        return _source.digest_of(source)
    return hashlib.sha256("".join(f"{os.path.basename(path)}\n{_source.digest_of(path)}\n"
                                  for path in files_of(source)).encode()).hexdigest()


def ops_of(source):
    """Returns a Definition and its Facts for each problem. One that is refused is an op of a folder, with the reason."""
    paths = files_of(source)
    ops = {}
    for path in paths:
        name = name_of(path)
        if name in ops:
            raise Refusal(f"{os.path.basename(path)} and another file are both called {name}: rename one")
        try:
            ops[name] = examine(path)
        except Refusal as why:
            if not os.path.isdir(source):
                raise
            ops[name] = _refused(name, str(why))
    if all(facts.refusal for _, facts in ops.values()):
        raise Refusal(f"no problem of the folder can be judged; the first: {next(iter(ops.values()))[1].refusal}")
    return list(ops.values())


def examine(path):
    """Returns the Definition and the Facts of one problem. Raises Refusal."""
    digest = _source.digest_of(path) if os.path.isfile(path) else ""
    problem = load_problem(path)
    shown = os.path.basename(path)
    tensors = list(flat(problem.inputs))
    _check_inputs(problem, tensors, shown)
    if opaque := sorted(problem.noise.opaque):
        raise Refusal(f"{shown} takes steps whose errors are not known: {', '.join(opaque)}; write them by others")
    outputs = tuple(Output(_output_dtype(output, shown), _extents(output)) for output in problem.outputs)
    inputs = tuple(Tensor(_DTYPES[tensor.dtype], _extents(tensor), kind)
                   for tensor, kind in zip(tensors, _kinds(problem, tensors)))
    reference = _Reference(os.path.abspath(path), digest, problem)
    reference.__doc__ = problem.module.Model.__doc__
    definition = Definition(name_of(path), reference, tuple(_argument_names(problem)), inputs, {}, ("f32",), None, None,
                            (), "torch")
    return definition, Facts(outputs, str(max(1, problem.noise.terms)), problem.noise.is_ring, "")


class _Reference:
    """Calls the twin of a problem. The last problem alone is kept: the models of a folder may fill the memory."""

    _kept = None  # the reference whose problem is loaded

    def __init__(self, path, digest, problem):
        self._path, self._digest = path, digest
        self._keep(problem)

    def _keep(self, problem):
        if _Reference._kept is not None:
            _Reference._kept.problem = None
        self.problem, _Reference._kept = problem, self

    def load(self):
        """Loads the problem, if another one was asked for in between. Not in a run of it, whose steps are noisy."""
        if self.problem is not None:
            return
        if _source.digest_of(self._path) != self._digest:
            raise ValueError(f"{os.path.basename(self._path)} has changed since the run began")
        problem = open_problem(self._path)
        problem.make_twin()
        self._keep(problem)

    def __call__(self, *tensors):
        return self.problem.reference(*self.problem.arguments(tensors))

    def draw(self, seed):
        """Returns the file's inputs as arrays, in the dtypes of the op."""
        return [numpy.ascontiguousarray(tensor.detach().numpy()) for tensor in flat(self.problem.drawn(seed))]


def _refused(name, why):
    nothing = Tensor("", (), "given")
    return (Definition(name, _never, ("x",), (nothing,), {}, ("f32",), None, None, (), "torch"),
            Facts((Output("", ()),), "1", False, "", why))


def _never():
    """Stands for the reference of a problem that is refused."""


def _extents(tensor):
    return tuple(map(str, tensor.shape))


def _check_inputs(problem, tensors, shown):
    if not tensors:
        raise Refusal(f"{shown}: get_inputs gives no tensor: a kernel needs one")
    for at, tensor in enumerate(tensors):
        if tensor.dtype not in _DTYPES:
            raise Refusal(f"{shown}: input {at} is {tensor.dtype}: give torch.float32, integers or bool")
    again, others = (_drawn(problem, seed, shown) for seed in (problem.seed, _OTHER_SEED))
    if not _all_equal(again, tensors):
        raise Refusal(f"{shown}: get_inputs gives other numbers for the same seed: draw them by torch, numpy or random")
    if [(one.shape, one.dtype) for one in others] != [(one.shape, one.dtype) for one in tensors]:
        raise Refusal(f"{shown}: get_inputs gives other shapes for another seed: give one file for each")
    if _all_equal(others, tensors):
        raise Refusal(f"{shown}: get_inputs gives the same numbers for each seed, so a remembered result would be right: "
                      "draw them by torch")


def _drawn(problem, seed, shown):
    try:
        return list(flat(problem.drawn(seed)))
    except Exception as error:  # pylint: disable=broad-except
        raise Refusal(one_line(f"{shown}: get_inputs fails: {text_of(error, problem.path)}")) from None


def _all_equal(some, others):
    return len(some) == len(others) and all(
        one.shape == other.shape and numpy.array_equal(one.detach().numpy(), other.detach().numpy(),
                                                       equal_nan=one.is_floating_point())
        for one, other in zip(some, others))


def _output_dtype(output, shown):
    if output.dtype == numpy.float64:
        return ""
    if output.dtype.name not in INTEGER_DTYPES:
        raise Refusal(f"{shown}: forward returns {output.dtype.name}: return floating-point numbers or integers, of "
                      "complex numbers the real and the imaginary part")
    return INTEGER_DTYPES[output.dtype.name]


def _argument_names(problem):
    try:
        names = list(inspect.signature(problem.model.forward).parameters)
    except (TypeError, ValueError):
        names = []
    for at, value in enumerate(problem.inputs):
        name = names[at] if at < len(names) else f"x{at}"
        count = sum(1 for _ in flat([value]))
        yield from [name] if isinstance(value, torch.Tensor) else (f"{name}_{index}" for index in range(count))


def _kinds(problem, tensors):
    """Returns the kind of each input: any number may be in those whose numbers show no structure, and with which
    forward runs on the numbers of other data."""
    free = [has_no_structure(tensor) for tensor in tensors]
    for at in [index for index, is_free in enumerate(free) if is_free]:
        if not _runs_with_any(problem, tensors, at):
            free[at] = False
    return ["given_or_any" if is_free else "given" for is_free in free]


def has_no_structure(tensor):
    """Says whether nothing seems to hold of the numbers together, on which a right kernel may rely: they repeat as in
    labels, masks and triangles, mirror themselves, have the same sums or are sorted."""
    if not tensor.is_floating_point() or tensor.numel() < _FEWEST or not bool(torch.isfinite(tensor).all()):
        return False
    few = tensor.detach().flatten()[::max(1, tensor.numel() // _SAMPLE)]
    if len(torch.unique(few)) < _MOSTLY * len(few):
        return False
    if tensor.dim() > 1 and tensor.shape[-1] == tensor.shape[-2] and torch.equal(tensor, tensor.transpose(-1, -2)):
        return False
    return not any(_is_alike_along(tensor.detach(), dim) for dim in range(tensor.dim()) if tensor.shape[dim] > 1)


def _is_alike_along(tensor, dim):
    for sums in (tensor.double().sum(dim), tensor.double().square().sum(dim)):
        spread = float(sums.max() - sums.min())
        if sums.numel() > 1 and spread <= _SAME_SUM * float(sums.abs().max()):
            return True
    steps = tensor.diff(dim=dim)
    return tensor.shape[dim] >= _FEWEST and bool((steps >= 0).all() | (steps <= 0).all())


def _runs_with_any(problem, tensors, at):
    """Tries numbers of all kinds of data at once: some functions refuse numbers outside of their domain."""
    generator = torch.Generator().manual_seed(_OTHER_SEED)
    normal = torch.randn(tensors[at].shape, generator=generator, dtype=torch.float64)
    scales = torch.tensor([64.0, 2.0 ** -10, 1.0, 0.0, 1.0, 1.0], dtype=torch.float64)
    shifts = torch.tensor([0.0, 0.0, 1024.0, 0.0, numpy.nan, numpy.inf], dtype=torch.float64)
    turns = torch.arange(normal.numel()).reshape(normal.shape) % len(scales)
    inputs = [tensor.detach().double().numpy() if tensor.is_floating_point() else tensor.numpy() for tensor in tensors]
    inputs[at] = (normal * scales[turns] + shifts[turns]).numpy()
    try:
        draw(lambda *values: problem.reference(*problem.arguments(values)), inputs, Noise(quiet=True))
        return True
    except Exception:  # pylint: disable=broad-except
        return False
