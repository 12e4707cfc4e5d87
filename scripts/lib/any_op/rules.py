"""Rules that say whether an output is right: the measured band, and allclose at tolerances in use."""
import math
from dataclasses import dataclass

import numpy as np

from any_op.formats import F32, nearest, ulp

WORST_SIGMAS = 8.0  # the largest error of one output
LARGEST_RMS = 1.0  # of error over sigma, over all outputs of an f32 tensor
FEWEST_FOR_RMS = 256
POISSON_TAIL = 1e-6  # chance of more distinct misrounded values than allowed
TIE_SIGMAS = 0.5  # so near a border of rounding, either neighbour is right: 16-bit inputs put results on such borders
CONFIRMED_BELOW = 8.0  # a failure by less than this factor gets more draws
DRAWS, MORE_DRAWS = 8, 64

# Absolute and relative tolerance. The defaults of torch.testing.assert_close depend on the dtype.
ALLCLOSE = {"allclose 1e-2": (1e-2, 1e-2), "allclose 1e-4": (1e-4, 1e-4)}
TORCH_TESTING = {"f32": (1e-5, 1.3e-6), "bf16": (1e-5, 1.6e-2), "f16": (1e-5, 1e-3)}
BAND, TESTING = "measured band", "torch.testing"
RULES = (BAND, *ALLCLOSE, TESTING)


@dataclass(frozen=True)
class Verdict:
    """`failed` names the check, "" if right. `excess` is what was seen over what is allowed, infinite if not a size."""
    failed: str = ""
    excess: float = 0.0


def allclose(results, wanted, tolerance):
    absolute, relative = tolerance
    with np.errstate(invalid="ignore"):
        return all(np.allclose(one, other, atol=absolute, rtol=relative, equal_nan=True)
                   for one, other in zip(results, wanted))


def judge(results, bands, form):
    """Returns the worst verdict over the outputs."""
    verdicts = [_judge(np.asarray(one), band, form) for one, band in zip(results, bands)]
    return max(verdicts, key=lambda one: (one.failed != "", one.excess))


def _judge(result, band, form):
    value, sigma, is_open = (np.asarray(one) for one in (band.value, band.sigma, band.open))
    if result.shape != value.shape:
        return Verdict("shape", math.inf)
    told = ~is_open.astype(bool)
    result, value, sigma = result[told], value[told], sigma[told]
    if value.dtype.kind != "f":
        return Verdict() if np.array_equal(result, value) else Verdict("integers", math.inf)
    rounded = nearest(value, form)
    finite = np.isfinite(rounded)
    same = (result == rounded) | (np.isnan(result) & np.isnan(rounded))
    if not np.all(same[~finite]):
        return Verdict("special values", math.inf)
    result, value, sigma, rounded = result[finite].astype(np.float64), value[finite], sigma[finite], rounded[finite]
    if not np.all(np.isfinite(result)):
        return Verdict("not finite", math.inf)
    if np.any(result[sigma == 0] != rounded[sigma == 0]):
        return Verdict("exact", math.inf)
    noisy = sigma > 0
    if not noisy.any():
        return Verdict()
    return _judge_noisy(result[noisy], value[noisy], sigma[noisy], rounded[noisy], form)


def _judge_noisy(result, value, sigma, rounded, form):
    error = np.abs(result - value)
    half_ulp = 0 if form is F32 else np.where(rounded == value, 0, ulp(value, form) / 2)
    checks = [("worst", float(np.max(error / (WORST_SIGMAS * sigma + half_ulp))))]
    if form is not F32:
        checks.append(("misrounded", _misrounded(result, value, sigma, rounded, form)))
    elif error.size >= FEWEST_FOR_RMS:
        checks.append(("bits", float(np.sqrt(np.mean((error / sigma) ** 2))) / LARGEST_RMS))
    failed, excess = max(checks, key=lambda check: check[1])
    return Verdict("" if excess <= 1 else failed, excess)


def _misrounded(result, value, sigma, rounded, form):
    """Distinct values that were rounded to another neighbour, over the number allowed. Equal values count once."""
    _, first, group = np.unique(value.astype(np.float32), return_index=True, return_inverse=True)
    wrong = np.zeros(first.size, bool)
    np.logical_or.at(wrong, group.ravel(), result != rounded)
    step = ulp(value, form)
    to_border = np.abs(np.abs(value - rounded) - step / 2)
    at_border = np.count_nonzero((to_border <= TIE_SIGMAS * sigma)[first])
    expected = max(float(np.sum(np.minimum(1, sigma / step)[first])), at_border)
    allowed = poisson_quantile(expected, POISSON_TAIL)
    count = int(np.count_nonzero(wrong))
    return count / max(allowed, 1) if allowed or not count else math.inf


def poisson_quantile(mean, tail):
    """Returns the smallest count that a Poisson variable of this mean exceeds with a chance of at most `tail`."""
    count, term = 0, math.exp(-min(mean, 700))
    if mean > 700:  # the normal approximation, with its first correction
        deviate = 4.753424308822899  # of 1e-6
        return math.ceil(mean + deviate * math.sqrt(mean) + (deviate ** 2 - 1) / 6)
    below = term
    while 1 - below > tail:
        count += 1
        term *= mean / count
        below += term
    return count
