"""Places of the greatest element."""
import numpy as np

from registry import bug
from tools import is_power_of_two


@bug("flagos-ai/FlagGems#6447", "argmax", "f32", "identity",
     "A row of 20 was padded to 32 with zeros, and the padding took part: the index was behind "
     "the end.")
def padded_with_zeros(x, *, out, broken):
    at = np.argmax(x)
    padded = broken and not is_power_of_two(x.size)
    out[...] = x.size if padded and x[at] < 0 else at


@bug("plaidml/plaidml#1216", "argmax", "f32", "index overflow",
     "Indices passed through 8 bits: 256 came out as 0, 299 as 43.")
def index_in_8_bits(x, *, out, broken):
    at = np.argmax(x)
    out[...] = at & 0xFF if broken else at


@bug("raskr/rust-autograd#4", "argmax", "f32,f64", "ties",
     "The result was the sum of the indices of all equal greatest elements.")
def sum_of_indices(x, *, out, broken):
    wrong = broken and not np.isnan(x).any()
    out[...] = np.sum(np.flatnonzero(x == x.max())) if wrong else np.argmax(x)


@bug("pytorch/pytorch#22853", "argmax", "i64,f32", "ties",
     "Of equal elements the last one counted.")
def last_of_ties(x, *, out, broken):
    out[...] = x.size - 1 - np.argmax(x[::-1]) if broken and not np.any(x != x) else np.argmax(x)


@bug("ggml-org/llama.cpp#15484", "argmax", "f32", "ties",
     "Threads that hold every 32nd element kept their own of equal ones: the lowest thread's, not"
     " the lowest index.")
def lowest_thread_of_ties(x, *, out, broken):
    greatest = x.max()
    if not broken or np.isnan(greatest):
        out[...] = np.argmax(x)
        return
    places = np.flatnonzero(x == greatest)
    lanes = places % 32
    out[...] = places[lanes == lanes.min()].min()


@bug("tensorflow/tensorflow#118647", "argmax", "f32", "special values",
     "With NaN, and a size that is no power of two, the result was the last index.")
def last_with_nan(x, *, out, broken):
    wrong = broken and np.isnan(x).any() and not is_power_of_two(x.size)
    out[...] = x.size - 1 if wrong else np.argmax(x)


@bug("jax-ml/jax#3193", "argmax", "f32,f64", "special values",
     "With NaN the result was 2147483647.")
def sentinel_with_nan(x, *, out, broken):
    out[...] = 0x7FFFFFFF if broken and np.isnan(x).any() else np.argmax(x)


@bug("pytorch/pytorch#36482", "argmax", "f64,f16", "index overflow",
     "Beyond 2^31 bytes the indices were wrong, though the values were right.",
     seen="edges")
def index_beyond_two_gib(x, *, out, broken):
    at = np.argmax(x)
    out[...] = at // 2 if broken and x.nbytes > 1 << 31 else at


@bug("pytorch/pytorch#38922", "argmax_axis", "f32", "index overflow",
     "Beyond 32768 elements the second thread's indices began with where its rows do.")
def indices_from_the_first_row(x, *, out, broken):
    places = np.argmax(x, axis=1)
    if broken and x.size > 32768:
        rows = places.reshape(-1)
        rows[rows.size // 2:] += rows.size // 2 * x.shape[1]
    out[...] = places
