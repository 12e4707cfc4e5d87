"""Known bugs as data: the report, what was wrong, and a kernel that is wrong in the same way."""
from dataclasses import dataclass
from typing import Callable, Tuple

KINDS = {
    "tail": "sizes that are no multiple of a block, vector or tile",
    "identity": "a wrong first value of a reduction, or wrong padding",
    "index overflow": "sizes, offsets or grids beyond an integer type",
    "narrow accumulator": "partial results in a type that is too narrow",
    "intermediate overflow": "a finite result by way of an infinite one",
    "cancellation": "a difference of nearly equal numbers",
    "special values": "NaN, infinity, zeros or subnormal numbers",
    "layout": "strides, rows apart, transposed or packed memory",
    "stale memory": "registers, buffers or outputs with what was there before",
    "race": "a missing barrier or an order that is not defined",
    "rounding": "another rounding than to nearest even, or one too many",
    "ties": "equal elements",
    "constants": "a wrong or misplaced constant, such as epsilon",
    "activation": "a fused activation that is missing or misplaced",
    "scale": "a wrong scale of a block of elements",
    "saturation": "clamped where it should wrap, or the reverse",
    "precision": "a downgraded or approximate computation",
    "shape": "wrong at some whole sizes that nothing sets apart",
}


@dataclass(frozen=True)
class Bug:
    report: str  # "owner/name#number"; of an imagined one what it is
    op: str
    dtypes: Tuple[str, ...]
    kind: str
    what: str  # one sentence
    kernel: Callable  # takes the inputs, out and broken; if it likes, params and problem
    cases: str  # regular expression for the parameters in case ids
    seen: str  # the smallest profile that catches it; "" if none does
    missed: str  # then why
    views: bool  # it heeds strides

    @property
    def name(self):
        """The report without its owner, as in ASSAY_BUG."""
        return self.report.split("/", 1)[-1]

    @property
    def is_published(self):
        return "#" in self.report


bugs = {}


def bug(report, op, dtypes, kind, what, *, cases="", seen="smoke", missed="", views=False):
    """Registers the decorated kernel. `missed` is why no profile catches it; `views`: it heeds strides."""
    def register(kernel):
        if kind not in KINDS:
            raise ValueError(f"{report}: no kind is called {kind!r}; choose among "
                             f"{', '.join(KINDS)}")
        added = Bug(report, op, tuple(dtypes.split(",")), kind, what, kernel, cases,
                    "" if missed else seen, missed, views)
        if added.name in bugs:
            raise ValueError(f"{added.name} is registered twice")
        bugs[added.name] = added
        return kernel

    return register


def imagined(what_it_is, op, dtypes, kind, what, cases="", views=False):
    """Registers a kernel that no report tells of. The profile smoke must catch it."""
    return bug(what_it_is, op, dtypes, kind, what, cases=cases, views=views)
