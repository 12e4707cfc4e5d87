"""Ops that users define: @assay.op."""
import inspect
import math
import numbers
import re
from dataclasses import dataclass
from typing import Callable, Dict, Optional, Tuple, Union

from assay import _formats, _shapes

FLOATS = ("f32", "bf16", "f16")
INPUT_FLOATS = (*FLOATS, "e4m3", "e5m2")
INTEGERS = ("i64", "i32", "i8", "u8")
FRAMEWORKS = ("numpy", "torch")
MAX_SIZE = 2 ** 44
ODD_SIZES = (1, 3, 17)  # added to those that the user wants
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Input:
    """Describes one input of an op.

    shape     text, as in @assay.op
    dtype     None: the case's, or "i64" where `integers` are given
    range     (low, high): numbers uniform there; None: standard normal
    integers  (low, high): whole numbers from low to high, both included; each a number or an extent ("classes-1")
    """
    shape: str
    dtype: Optional[str] = None
    range: Optional[Tuple[float, float]] = None
    integers: Optional[Tuple[Union[int, str], Union[int, str]]] = None


@dataclass(frozen=True)
class Tensor:
    """An input, as it was understood. Kinds are normal, uniform and integers."""
    dtype: str  # "": the case's
    extents: Tuple[str, ...]
    kind: str = "normal"
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Definition:
    """One use of the decorator."""
    name: str
    function: Callable
    arguments: Tuple[str, ...]  # names of the function's parameters
    inputs: Tuple[Tensor, ...]
    sizes: Dict[str, Tuple[int, ...]]  # wanted ones, ascending
    dtypes: Tuple[str, ...]
    out: Optional[Tuple[Tuple[str, ...], ...]]
    terms: Optional[str]
    fixed: Tuple[str, ...]
    framework: str
    arithmetic: str = "f32"


def define(function, *, name, inputs, sizes, dtypes, out, terms, fixed, framework, arithmetic, other_names):
    """Returns the Definition. Raises ValueError with the remedy.

    other_names  of dtypes, by the framework's
    """
    name = name or function.__name__
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"op {name!r}: a name has letters, digits and _ alone; give one by name=")
    try:
        if isinstance(inputs, (str, Input)):
            inputs = (inputs,)
        tensors = tuple(_tensor(one, other_names) for one in _listed(inputs, "inputs", "['rows,cols', 'cols']"))
        arguments = _arguments(function, len(tensors))
        sizes = _sizes(sizes or {}, tensors)
        fixed = _names(fixed)
        _check_known(fixed, sizes, "fixed")
        if terms is not None:
            terms = str(terms)
            _check_known(_shapes.names_of(terms), sizes, "terms")
        if framework not in (None, *FRAMEWORKS):
            raise ValueError(f"a reference has no framework {framework!r}; choose among {', '.join(FRAMEWORKS)}")
        if arithmetic not in _formats.ARITHMETICS:
            raise ValueError(f"no arithmetic is called {arithmetic!r}; choose among {', '.join(_formats.ARITHMETICS)}")
        return Definition(name, function, arguments, tensors, sizes, _dtypes(dtypes, other_names), _outputs(out, sizes),
                          terms, fixed, framework or "numpy", arithmetic)
    except ValueError as error:
        raise ValueError(f"op {name!r}: {error}") from None


def _listed(value, place, example):
    """Returns what a list or tuple holds."""
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{place} is {value!r}: give a list such as {example}")
    return tuple(value)


def _pair(value, place, kinds):
    """Returns the two ends of a range."""
    ends = _listed(value, place, "(0, 1)")
    if len(ends) != 2 or any(isinstance(one, bool) or not isinstance(one, kinds) for one in ends):
        raise ValueError(f"{place} is {value!r}: give a pair such as (0, 1)")
    return ends


def _names(value):
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(","))
    return _listed(value, "fixed", "['cols']")


def _check_known(names, sizes, place):
    for name in names:
        if not isinstance(name, str) or name not in sizes:
            raise ValueError(f"{place} has the name {name!r}, which no input's shape has")


def _arguments(function, count):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return tuple(f"x{index}" for index in range(count))
    taken = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    if any(one.kind == one.VAR_POSITIONAL for one in parameters):
        return tuple(f"x{index}" for index in range(count))
    needed = sum(one.default is one.empty for one in taken)
    if not needed <= count <= len(taken):
        raise ValueError(f"the reference has {len(taken)} parameters and `inputs` {count} shapes: give one for each")
    return tuple(one.name for one in taken[:count])


def _tensor(given, other_names):
    given = Input(given) if isinstance(given, str) else given
    if not isinstance(given, Input):
        raise ValueError(f"an input is a shape as text or an assay.Input, and {given!r} is neither")
    extents = _shapes.extents_of(given.shape)
    dtype = other_names.get(str(given.dtype), given.dtype) or ("i64" if given.integers is not None else "")
    if dtype not in ("", *INPUT_FLOATS, *INTEGERS):
        raise ValueError(f"no input has the dtype {given.dtype!r}; choose among {', '.join(INPUT_FLOATS + INTEGERS)}")
    if given.range is not None and given.integers is not None:
        raise ValueError(f"the input '{given.shape}' has both range= and integers=: give one")
    if given.integers is not None:
        low, high = (_bound(one, dtype) for one in _pair(given.integers, "integers", (str, numbers.Real)))
        return Tensor(dtype, extents, "integers", low, high)
    if dtype in INTEGERS:
        raise ValueError(f"the input '{given.shape}' has the dtype {dtype}: say which numbers by integers=(low, high)")
    if given.range is None:
        return Tensor(dtype, extents)
    low, high = (float(one) for one in _pair(given.range, "range", numbers.Real))
    if not low < high or math.isinf(high - low):
        raise ValueError(f"the range ({low:g}, {high:g}) is empty: give (low, high)")
    return Tensor(dtype, extents, "uniform", repr(low), repr(high))


def _bound(value, dtype):
    if isinstance(value, str):
        _shapes.names_of(value)
        return value
    if not math.isfinite(value) or int(value) != value:
        raise ValueError(f"{value!r} in integers= is no whole number")
    if dtype in INTEGERS:
        bits = int(dtype[1:])
        least, greatest = (0, 2 ** bits - 1) if dtype[0] == "u" else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
        if not least <= value <= greatest:
            raise ValueError(f"{value!r} in integers= is no {dtype}: that goes from {least} to {greatest}")
    return str(int(value))


def _sizes(given, tensors):
    """Returns the sizes in the order in which the shapes name them."""
    if not isinstance(given, dict):
        raise ValueError(f"sizes is {given!r}: give a dict such as {{'rows': [256, 1024]}}")
    named = list(dict.fromkeys(name for tensor in tensors for extent in tensor.extents
                               for name in _shapes.names_of(extent)))
    bounds = [bound for tensor in tensors if tensor.kind == "integers" for bound in (tensor.low, tensor.high)]
    named += [name for bound in bounds if not is_number(bound) for name in _shapes.names_of(bound) if name not in named]
    missing = [name for name in named if name not in given]
    if missing:
        example = ", ".join(f"{name!r}: [256, 1024]" for name in missing)
        raise ValueError(f"{', '.join(missing)} has no sizes: add sizes={{{example}}}")
    _check_known(given, named, "sizes")
    result = {}
    for name in named:
        values = given[name] if isinstance(given[name], (list, tuple, range)) else [given[name]]
        if not values or any(isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MAX_SIZE
                             for value in values):
            raise ValueError(f"sizes of {name!r} are {given[name]!r}: give a number from 1 to 2^44, or a list of them")
        result[name] = tuple(sorted(set(values)))
    return result


def is_number(text):
    return text.lstrip("-").isdigit()


def _dtypes(given, other_names):
    given = given.split(",") if isinstance(given, str) else _listed(given, "dtypes", "['f32', 'f16']")
    dtypes = tuple(other_names.get(str(one), one) for one in given)
    for one in dtypes:
        if one not in FLOATS:
            raise ValueError(f"no measured op has the dtype {one!r}; choose among {', '.join(FLOATS)}")
    if not dtypes:
        raise ValueError(f"dtypes is empty; choose among {', '.join(FLOATS)}")
    return dtypes


def _outputs(given, sizes):
    if given is None:
        return None
    given = (given,) if isinstance(given, str) else _listed(given, "out", "['rows,cols', 'rows']")
    shapes = tuple(_shapes.extents_of(one) for one in given)
    for extents in shapes:
        for extent in extents:
            _check_known(_shapes.names_of(extent), sizes, "out")
    return shapes


def parameter_sizes(definition):
    """Returns for each name its sizes with their levels: 0 in all profiles, 2 from the default one on."""
    result = {}
    for name, wanted in definition.sizes.items():
        levels = {size: 2 for size in wanted}
        levels[wanted[0]] = 0
        if name not in definition.fixed:
            levels.update({size: 0 for size in (*ODD_SIZES, wanted[-1] + 1)})
        result[name] = sorted(levels.items())
    return result
