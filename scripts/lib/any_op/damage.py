"""Damage to the outputs of a right kernel: what goes wrong with any op."""
import numpy as np

from any_op.formats import ulp

ONE_ELEMENT = "one element off by 3 ulp"  # beyond the rule for an op that is no ring, and counted apart


def _last_tile(results, values):
    flat = results.reshape(-1)
    tile = max(1, flat.size // 16)
    flat[-tile:] = np.reshape(values, -1)[-tile:]
    return results


def _zeros(results, stale, form):
    del stale, form
    return np.zeros_like(results)


def _row_mean(results, stale, form):
    del stale, form
    mean = results.mean(-1, keepdims=True).astype(results.dtype)
    return np.broadcast_to(mean, results.shape).copy()


def _stale(results, stale, form):
    del results, form
    return stale


def _tile_unwritten(results, stale, form):
    del stale, form
    return _last_tile(results, np.zeros_like(results))


def _tile_stale(results, stale, form):
    del form
    return _last_tile(results, stale)


def _row_unwritten(results, stale, form):
    del stale, form
    results[-1] = 0
    return results


def _shifted(results, stale, form):
    del stale, form
    return np.roll(results, 1, -1)


def _clipped(results, stale, form):
    del stale, form
    limit = 2 * np.sqrt(np.mean(np.where(np.isfinite(results), results, 0).astype(np.float64) ** 2))
    return np.clip(results, -limit, limit).astype(results.dtype)


def _one_element(results, stale, form):
    del stale
    flat = results.reshape(-1)
    place = flat.size // 3
    flat[place] += 3 * ulp(flat[place], form) if np.isfinite(flat[place]) else 0
    return results


DAMAGES = {"zeros": _zeros, "mean of the row": _row_mean, "result of other inputs": _stale,
           "last tile unwritten": _tile_unwritten, "last tile stale": _tile_stale, "last row unwritten": _row_unwritten,
           "shifted by one": _shifted, "clipped at twice the rms": _clipped, ONE_ELEMENT: _one_element}


def damaged(results, stale, form):
    """Yields a name and outputs, the first of which is damaged. `stale` are right results of other inputs."""
    with np.errstate(all="ignore"):
        for name, damage in DAMAGES.items():
            yield name, (damage(np.array(results[0], order="C"), np.array(stale[0], order="C"), form), *results[1:])
