"""Runs the kernels of one op on one kind of data, and judges each by each rule."""
from dataclasses import dataclass

import numpy as np

from any_op import data, rules
from any_op.arithmetic import FAULTS, ORDERS, TF32_FAULTS, Arithmetic, allowed_beside_f32
from any_op.damage import ONE_ELEMENT, damaged
from any_op.eager import framework_result
from any_op.formats import OF_DTYPE, nearest
from any_op.right import LOSSY as LOSSY_KERNELS
from any_op.right import RIGHT
from any_op.wrong import LIMITS, WRONG
from assay import _band

# A lossy kernel is right for inputs moved by a roundoff, but loses bits that the reference's own order keeps.
RIGHT_KERNEL, WRONG_KERNEL, LIMIT, LOSSY = "right", "wrong", "limit", "lossy"
OTHER_SEED = 1000  # of the inputs whose results are stale


@dataclass(frozen=True)
class Trial:
    """One kernel on one set of data: a row of the table's CSV."""
    group: str
    op: str
    dtype: str
    seed: int
    family: str
    kind: str
    kernel: str
    arithmetic: str
    differs: int  # in a bit from the plain kernel
    passed: dict  # by rule
    failed: str
    excess: float


@dataclass(frozen=True)
class Kernel:
    """A function of any_op.right or any_op.wrong with its arithmetic."""
    kind: str
    name: str
    order: str
    function: object
    arithmetic: object

    def run(self, inputs, form):
        """Returns the results, floats as numbers of f64 that the format holds."""
        with np.errstate(all="ignore"):
            results = self.function(self.arithmetic(), *inputs)
        return tuple(self._stored(one, form) for one in (results if isinstance(results, tuple) else (results,)))

    def _stored(self, result, form):
        if result.dtype.kind != "f":
            return result
        if result.dtype != np.float32:
            raise TypeError(f"the kernel {self.name!r} computes in {result.dtype}: it is to compute in f32")
        return nearest(result, form)


def kernels_of(name, dtype, uses_sums, quick=False, allowed="f32"):
    """Yields the kernels of an op. The reformulations run in two orders, the plain one in all. `allowed` is the
    arithmetic of the op: see assay._formats."""
    others = allowed_beside_f32(allowed, OF_DTYPE[dtype])
    plain = RIGHT[name]["plain"]
    for variant, function in RIGHT[name].items():
        orders = ["blas"] if not uses_sums else ORDERS if variant == "plain" and not quick else ("blas", "one by one")
        for order in orders:
            kind = LOSSY if (name, variant) in LOSSY_KERNELS else RIGHT_KERNEL
            yield Kernel(kind, variant, order, function, ORDERS[order])
        for order, arithmetic in others.items() if uses_sums else ():
            yield Kernel(kind, variant, order, function, arithmetic)
    for variant, function in WRONG.get(name, {}).items():
        yield Kernel(LIMIT if (name, variant) in LIMITS else WRONG_KERNEL, variant, "blas", function, Arithmetic)
    for fault, arithmetic in FAULTS.items() if uses_sums else ():
        if fault not in others and (dtype == "f32" or fault not in TF32_FAULTS):  # TF32 holds tensors of 16 bits
            yield Kernel(WRONG_KERNEL, "plain", fault, plain, arithmetic)


class Data:
    """One set of inputs of one op, with what the rules compare results with."""

    def __init__(self, definition, dtype, family, seed, allowed="f32"):
        self._definition, self._dtype, self._seed, self._allowed = definition, dtype, seed, allowed
        self._form = OF_DTYPE[dtype]
        self._exact = data.draw(definition, family, seed, dtype)
        self.inputs = self._as_f32(self._exact)
        self.stale_inputs = self._as_f32(data.draw(definition, family, seed + OTHER_SEED, dtype))
        self._measured = self._measure(rules.DRAWS)
        self._more = None
        self.framework = framework_result(definition.function, self._exact, self._form)

    def _measure(self, draws):
        return _band.measure(self._definition, self._exact, draws=draws, seed=self._seed, dtype=self._dtype,
                             arithmetic=self._allowed)

    @staticmethod
    def _as_f32(inputs):
        return [one.astype(np.float32) if one.dtype.kind == "f" else one for one in inputs]

    @property
    def is_ring(self):
        return self._measured.is_ring

    def judge(self, results):
        """Returns ({rule: passed}, the band's verdict)."""
        verdict = rules.judge(results, self._measured.outputs, self._form)
        has_agreed_by_chance = verdict.failed == "exact" and not self.is_ring
        if verdict.failed and (verdict.excess < rules.CONFIRMED_BELOW or has_agreed_by_chance):
            if self._more is None:
                self._more = self._measure(rules.MORE_DRAWS)
            verdict = rules.judge(results, self._more.outputs, self._form)
        passed = {rules.BAND: not verdict.failed}
        tolerances = {**rules.ALLCLOSE, rules.TESTING: rules.TORCH_TESTING[self._dtype]}
        for name, tolerance in tolerances.items():
            passed[name] = rules.allclose(results, self.framework, tolerance)
        return passed, verdict


def uses_sums(definition):
    """Says whether the plain kernel of an op calls for a sum, so that its order matters."""
    seen = Arithmetic()
    inputs = data.draw(definition, "user", 0, "f32")
    RIGHT[definition.name]["plain"](seen, *Data._as_f32(inputs))
    return seen.used


def trials_of(definition, group, dtype, seed, families=data.FAMILIES, quick=False, allowed="f32"):
    """Yields the trials of one op. Integers are for rings: elsewhere they tell nothing that others do not."""
    kernels = list(kernels_of(definition.name, dtype, uses_sums(definition), quick, allowed))
    form, is_ring = OF_DTYPE[dtype], True
    for family in families:
        if family == "integers" and not is_ring:
            continue
        case = Data(definition, dtype, family, seed, allowed)
        is_ring = case.is_ring
        plain = kernels[0].run(case.inputs, form)
        results = [(kernel.kind, kernel.name, kernel.order, kernel.run(case.inputs, form)) for kernel in kernels]
        if allowed == "eager":
            results.append((RIGHT_KERNEL, "reference", "each step stored", case.framework))
        stale = kernels[0].run(case.stale_inputs, form)
        results += [(LIMIT if name == ONE_ELEMENT else WRONG_KERNEL, name, "blas", outputs)
                    for name, outputs in damaged(plain, stale, form)]
        for kind, name, order, outputs in results:
            passed, verdict = case.judge(outputs)
            yield Trial(group, definition.name, dtype, seed, family, kind, name, order, int(not _same(outputs, plain)),
                        passed, verdict.failed, verdict.excess)


def _same(results, others):
    return all(np.array_equal(one, other, equal_nan=one.dtype.kind == "f") for one, other in zip(results, others))
