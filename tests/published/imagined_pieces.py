"""Wrong ops that lay elements out anew, as they might be written."""
import numpy as np

from registry import imagined


def joined(a, b):
    return np.concatenate((a, b), 1)


def padded(x, a, params):
    around = (params["before"], params["after"])
    return np.pad(x, ((0, 0), around, (0, 0)), constant_values=a[0])


def taken(x, params):
    start, step = params["start"], params["step"]
    return x[:, start:start + params["count"] * step:step]


@imagined("concat in vectors", "concat", "f32,u8", "layout",
          "Vectors of four lie in the operand of their first element.")
def joined_in_vectors(a, b, *, out, broken):
    out[...] = joined(a, b)
    lines = out.reshape(len(out), -1)
    border = a[0].size
    if broken and border % 4 != 0 and b.size > 0:
        lines[:, border:(border // 4 + 1) * 4] = 0


@imagined("concat of equal operands", "concat", "f32,u8", "shape",
          "The second operand of as many elements is the first one again.")
def first_operand_again(a, b, *, out, broken):
    out[...] = joined(a, a if broken and a.shape == b.shape else b)


@imagined("concat beside an empty operand", "concat", "f32", "shape",
          "An empty first operand ends the op.")
def beside_an_empty_operand(a, b, *, out, broken):
    if not (broken and a.shape[1] == 0):
        out[...] = joined(a, b)


@imagined("repeat by a reciprocal", "repeat", "f32", "rounding",
          "The time of an element is its index times 1 / length in f32.")
def repeated_by_a_reciprocal(x, *, out, broken, params):
    out[...] = np.tile(x, (1, params["times"], 1))
    length = x[:1].size
    if not broken or out.size == 0:
        return
    index = np.arange(out[0].size)
    time = (index.astype(np.float32) * (np.float32(1) / np.float32(length))).astype(np.int64)
    at = np.clip(index - time * length, 0, length - 1)
    out.reshape(len(out), -1)[...] = x.reshape(len(x), -1)[:, at]


@imagined("repeat of each element", "repeat", "f32,u8", "layout",
          "Where the middle extent is one, elements are repeated alone and not the row.")
def repeated_alone(x, *, out, broken, params):
    y = np.tile(x, (1, params["times"], 1))
    if broken and x.shape[1] == 1:
        y = np.repeat(x, params["times"], 2).reshape(out.shape)
    out[...] = y


@imagined("repeat by doubling", "repeat", "f32", "tail",
          "What has been laid is laid again until it is enough, for at most 32 times.")
def repeated_by_doubling(x, *, out, broken, params):
    times = params["times"]
    out[...] = np.tile(x, (1, times, 1))
    if broken and times > 32:
        out[:, 32 * x.shape[1]:] = 0


@imagined("pad of a number in f64", "pad", "i64", "precision", "The number is handed on as f64.")
def padded_with_f64(x, a, *, out, broken, params):
    with np.errstate(all="ignore"):
        out[...] = padded(x, a.astype(np.float64).astype(np.int64) if broken else a, params)


@imagined("pad of a number in f32", "pad", "f64", "precision", "The number is handed on as f32.")
def padded_with_f32(x, a, *, out, broken, params):
    with np.errstate(all="ignore"):
        out[...] = padded(x, a.astype(np.float32).astype(np.float64) if broken else a, params)


@imagined("pad of zeros", "pad", "f32,f64", "special values",
          "A number that equals zero is laid as bytes of zero, and -0 has another one.")
def padded_with_zeros(x, a, *, out, broken, params):
    out[...] = padded(x, np.zeros_like(a) if broken and a[0] == 0 else a, params)


@imagined("pad with quiet NaN", "pad", "f32,f64", "special values",
          "A NaN to pad with loses its payload.")
def padded_with_quiet_nan(x, a, *, out, broken, params):
    out[...] = padded(x, np.full_like(a, np.nan) if broken and np.isnan(a[0]) else a, params)


@imagined("fill with quiet NaN", "fill", "f32,f64", "special values", "A NaN to fill with loses its payload.")
def filled_with_quiet_nan(a, *, out, broken):
    out[...] = np.nan if broken and np.isnan(a.ravel()[0]) else a


@imagined("pad on one side", "pad", "f32", "shape",
          "Padding behind alone is that before where there is nothing before.")
def padded_on_one_side(x, a, *, out, broken, params):
    y = padded(x, a, params)
    if broken and params["before"] == 0:
        y = np.roll(y, params["after"], 1)
    out[...] = y


@imagined("flip in blocks", "flip", "f32,u8", "tail",
          "Rows are turned in blocks of eight, and a rest stays as it is.")
def flipped_in_blocks(x, *, out, broken):
    out[...] = np.flip(x, 1)
    rest = x.shape[1] % 8
    if broken and x.shape[2] == 1 and rest > 1:
        out[:, -rest:] = out[:, -rest:][:, ::-1]


@imagined("flip of pairs", "flip", "f32", "shape", "Two rows are copied as they are.")
def flipped_pairs(x, *, out, broken):
    out[...] = x if broken and x.shape[1] == 2 else np.flip(x, 1)


@imagined("slice by 16 bits", "slice", "f32", "index overflow",
          "Places along the middle extent have 16 bits.")
def taken_by_16_bits(x, *, out, broken, params):
    place = params["start"] + np.arange(params["count"]) * params["step"]
    out[...] = x[:, place & 0xFFFF if broken else place]


@imagined("slice to the end", "slice", "f32,u8", "layout",
          "A slice of every second element that begins at the first one is taken from the second.")
def taken_from_the_second(x, *, out, broken, params):
    y = taken(x, params)
    if broken and params["start"] == 0 and params["step"] == 2:
        y = taken(x, {**params, "start": 1})
    out[...] = y
