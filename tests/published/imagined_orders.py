"""Wrong orders, as they might be written."""
import numpy as np

from registry import imagined


def order(x, axis):
    return np.argsort(x, axis, kind="stable")


@imagined("argsort_axis by a bitonic network", "argsort_axis", "f32,i32", "ties",
          "Lines of a power of two are sorted by a network, which is not stable.")
def sorted_by_a_network(x, *, out, broken):
    out[...] = order(x, 1)
    n = x.shape[1]
    if broken and n >= 32 and n & (n - 1) == 0:
        largest_first = n - 1 - order(np.flip(x, 1), 1)
        same = np.take_along_axis(x, largest_first, 1) == np.take_along_axis(x, out, 1)
        out[...] = np.where(same, largest_first, out)


def greatest(x):
    """Places in descending order, equal ones as they come, NaN first."""
    return x.shape[1] - 1 - np.argsort(x[:, ::-1], 1, kind="stable")[:, ::-1]


def leave(out, x, places):
    places = places[:, :out[0].shape[1]]
    out[0][...] = np.take_along_axis(x, places, 1)
    out[1][...] = places


@imagined("topk of a queue of 8", "topk", "f32,u8", "shape",
          "Of 9 to 16 greatest those behind the first 8 are in the order of their places.")
def of_a_queue_of_8(x, *, out, broken):
    places = greatest(x)
    k = out[0].shape[1]
    if broken and 8 < k <= 16:
        places[:, 8:k].sort(1)
    leave(out, x, places)


@imagined("topk of 200", "topk", "f32,u8", "shape",
          "Greatest ones behind the first 128 are in the order of their places.")
def of_200(x, *, out, broken):
    places = greatest(x)
    k = out[0].shape[1]
    if broken and k > 128:
        places[:, 128:k].sort(1)
    leave(out, x, places)


@imagined("topk of rows in several blocks", "topk", "f32,u8", "stale memory",
          "Rows of 8192 elements and more take the candidates of the first row.")
def of_several_blocks(x, *, out, broken):
    places = greatest(x)
    if broken and x.shape[1] >= 8192:
        places[:] = places[0]
    leave(out, x, places)
