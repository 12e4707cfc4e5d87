"""Puts kernels written in Python before Assay's oracles and clocks: `assay run --kernels mine.py`.

    import assay, torch

    @assay.kernel("softmax", dtypes=["f32", "bf16"])
    def softmax(x, *, out):
        torch.softmax(x, 1, out=out)

A function gets the input tensors in order. It writes its result into `out`, or returns it, and it may also declare
the keyword-only parameters `params`, `problem` and `stream`. docs/kernels.md says where the ops and formulas are.

An op that Assay does not know is defined by a reference, a plain function in NumPy or PyTorch:

    import assay, numpy as np

    @assay.op(["rows,cols", "cols"], sizes={"rows": [256], "cols": [1024, 4096]})
    def rms_norm(x, g):
        mean_square = (x * x).mean(-1, keepdims=True)
        return x / np.sqrt(mean_square + 1e-6) * g
"""
import sys
from dataclasses import dataclass
from typing import Callable, Dict, NamedTuple, Optional, Tuple, Union

from assay import _op
from assay._op import Input

__all__ = ["Input", "NotMine", "Problem", "Tensor", "kernel", "op", "provider"]

# Dtypes by their names in NumPy and PyTorch, as far as these mean the same in both.
_FRAMEWORKS_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64",
                     "i32": "int32", "i16": "int16", "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16",
                     "u8": "uint8", "bool": "bool", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
_OTHER_NAMES = {"double": "f64", "half": "f16", **{theirs: ours for ours, theirs in _FRAMEWORKS_NAMES.items()}}
FRAMEWORKS = ("numpy", "torch", "cupy", "numba")


class NotMine(Exception):
    """The kernel does not take this problem. Its row becomes a skip with this text. Raise it in `prepare`."""


class Tensor(NamedTuple):
    """Describes one tensor. Strides are in elements; rows may lie apart, and with `views` all elements, or share memory: 0."""
    dtype: str
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """What a kernel is to compute."""
    op: str
    dtype: str  # of the op: "tf32" and "bf16x9" have tensors of f32
    params: Dict[str, Union[int, str]]
    device: str  # "cpu", "cuda:0"
    inputs: Tuple[Tensor, ...]
    outputs: Tuple[Tensor, ...]

    @property
    def shapes(self):
        """The shapes of the inputs."""
        return tuple(tensor.shape for tensor in self.inputs)


@dataclass(frozen=True)
class Registration:
    """One use of the decorator."""
    op: str
    dtypes: Optional[Tuple[str, ...]]  # None: all that the op has
    framework: Optional[str]
    function: Callable
    prepare: Optional[Callable]
    describe: Union[None, str, Callable]
    views: bool

    def takes(self, op, dtype):
        return op == self.op and (self.dtypes is None or dtype in self.dtypes)


_registered = []
_ops = []
_provider = None


def kernel(op, dtypes=None, framework=None, *, prepare=None, describe=None, views=False):
    """Registers the decorated function as the kernel of an op.

    dtypes     names of dtypes, Assay's or the framework's ("f32", "float32"); None: all that the op has
    framework  of the tensors: "numpy", "torch", "cupy" or "numba"; None: "torch" if it is imported, else "cupy" if it
               is, else "numpy"
    prepare    called once for each Problem, before its launches. Returns the function to launch, or None for the
               decorated one, or raises NotMine
    describe   the algorithm, for the column `implementation`: text, or a function of the Problem that returns text
    views      True: it takes tensors of any strides, as transposed ones, and gets the cases with a parameter `view` too
    """
    if isinstance(dtypes, str):
        dtypes = dtypes.split(",")
    if dtypes is not None:
        dtypes = tuple(_OTHER_NAMES.get(name, name) for name in dtypes)  # Assay refuses those that its op lacks
    if framework not in (None, *FRAMEWORKS):
        raise ValueError(f"kernel {op!r}: no framework is called {framework!r}; choose among {', '.join(FRAMEWORKS)}")

    def register(function):
        for name in dtypes or (None,):
            if any(other.op == op and (name is None or other.takes(op, name)) for other in _registered):
                of_dtype = "" if dtypes is None else f" for {name}"
                raise ValueError(f"kernel {op!r} is registered twice{of_dtype}: give each function its own dtypes")
        _registered.append(Registration(op, dtypes, framework, function, prepare, describe, views))
        return function

    return register


def op(inputs, sizes=None, dtypes=("f32",), out=None, terms=None, fixed=(), name=None, framework=None,
       arithmetic="f32"):
    """Defines an op by the decorated reference, which computes in f64 on arrays or tensors of its framework.

    inputs     the shape of each input: "rows,cols"; "" for a scalar. An extent is a number, a name, or + - * // and
               parentheses over them. Or an assay.Input, which also has the dtype and the numbers in it
    sizes      {"rows": 256, "cols": [1024, 4096]}: a number or a list of them for each name in shapes
    dtypes     of the cases: "f32", "bf16", "f16"
    out        shapes of the outputs, one text or a tuple of them; None: found by runs of the reference
    terms      the longest sum behind one output, as an extent ("cols"); None: found by runs of the reference
    fixed      names that get no odd sizes: 1, 3, 17 and one more than the largest wanted
    name       of the op; None: the function's
    framework  of the reference, "numpy" or "torch"; None: "torch" if it is imported, else "numpy"
    arithmetic that kernels may use: "f32", or better, in each step; "tf32" or "operands": the factors of products in
               tf32 or in the case's dtype; "eager": the result of each step in the case's dtype
    """
    def register(function):
        chosen = framework or ("torch" if "torch" in sys.modules else "numpy")
        definition = _op.define(function, name=name, inputs=inputs, sizes=sizes, dtypes=dtypes, out=out, terms=terms,
                                fixed=fixed, framework=chosen, arithmetic=arithmetic, other_names=_OTHER_NAMES)
        if any(other.name == definition.name for other in _ops):
            raise ValueError(f"op {definition.name!r} is defined twice: give one of them another name=")
        _ops.append(definition)
        return function

    return register


def provider(name):
    """Sets the name that begins the column `implementation`. Without it that is the name of the file."""
    global _provider
    _provider = name
