"""Transposed, gathered, strided and expanded memory."""
import math

import numpy as np

from functions import logistic
from elementwise import fused
from registry import bug
from tools import as_if_dense, packed, rows_apart, store, wide


@bug("pytorch/pytorch#118115", "fma", "f32", "layout",
     "The result was written as if the output had no gaps between its rows.")
def output_as_packed(a, b, c, *, out, broken):
    y = fused(a, b, c).reshape(out.shape)
    store(packed(out) if broken and rows_apart(out) else out, y)


@bug("pytorch/pytorch#131736", "relu", "f32", "layout",
     "An activation of strided memory came out as zeros.")
def strided_as_zeros(x, *, out, broken):
    out[...] = 0 if broken and rows_apart(x) else np.maximum(x, 0)


@bug("pytorch/pytorch#124834", "sigmoid", "f32", "layout",
     "An activation read strided memory in the order of contiguous one.")
def input_as_packed(x, *, out, broken):
    store(out, logistic(packed(x) if broken and rows_apart(x) else x))


@bug("tinygrad/tinygrad#11760", "gather", "f32", "special values",
     "Rows were picked by a product with 0 and 1: infinity in any row made NaN of its column.")
def gathered_by_product(x, index, *, out, broken):
    out[...] = x[index]
    if broken:
        bad = ~np.isfinite(x)
        count = bad.sum(axis=0)
        own = bad[index]
        out[np.broadcast_to(count, own.shape) - own > 0] = np.nan


@bug("torch-spyre/torch-spyre#3851", "gather", "f16", "tail",
     "Only the first 32 indices were used.")
def first_indices_only(x, index, *, out, broken):
    used = index[np.minimum(np.arange(index.size), 31)] if broken else index
    out[...] = x[used]


@bug("microsoft/onnxruntime#28107", "gather", "f32,bf16", "index overflow",
     "The offset of a row was a 32-bit integer.",
     seen="edges")
def gathered_by_32_bits(x, index, *, out, broken):
    rows = index
    if broken and x.size > 1 << 31:
        rows = np.where((index + 1) * x.shape[1] - 1 > 0x7FFFFFFF, 0, index)
    out[...] = x[rows]


@bug("ml-explore/mlx#1338", "gather", "f32,u8", "index overflow",
     "Outputs of more than 2^32 elements were written in the wrong place.",
     seen="edges")
def gathered_into_too_many(x, index, *, out, broken):
    out[...] = x[index]
    if broken and out.size > 1 << 32:
        out[-1] = out[0]


@bug("tenstorrent/tt-metal#44500", "gather", "bf16", "tail",
     "Rows too long for local memory were copied in chunks, whose last one is short: 8,960 "
     "columns were garbage.",
     seen="default")
def gathered_in_chunks(x, index, *, out, broken):
    y = x[index]
    chunk = 1024
    if broken and x.shape[1] > 8192 and x.shape[1] % chunk:
        y[:, -(x.shape[1] % chunk):] = y[:, :x.shape[1] % chunk]
    out[...] = y


@bug("llnl/RAJA#1917", "transpose", "f32", "race",
     "No barrier between the two halves of a transposition through shared memory: rows of other "
     "threads "
     "were those of the tile before.")
def transposed_without_barrier(x, *, out, broken):
    out[...] = x.T
    tile = 16
    if not broken:
        return
    for column in range(0, x.shape[1], tile):
        before = np.zeros((tile, tile), x.dtype)
        for row in range(0, x.shape[0], tile):
            shared = before.copy()
            block = x[row:row + tile, column:column + tile]
            late = shared[:block.shape[0], :block.shape[1]].copy()
            shared[:block.shape[0], :block.shape[1]] = block
            late[:2] = block[:2]  # of the same warp
            out[column:column + tile, row:row + tile] = late.T
            before = shared


@bug("pytorch/pytorch#85675", "concat", "f32", "layout", "The strides of the operands were ignored.", views=True)
def joined_as_if_dense(a, b, *, out, broken):
    operands = (as_if_dense(a), as_if_dense(b)) if broken else (a, b)
    out[...] = np.concatenate(operands, 1)


@bug("pytorch/pytorch#62645", "sort_axis", "f32", "layout", "Elements of a strided output were swapped.", views=True)
def sorted_into_strided_memory(x, *, out, broken):
    y = np.sort(x, 1, kind="stable")
    if broken and not out.flags.c_contiguous and out.strides[2] > out.strides[1]:
        y = np.swapaxes(y, 1, 2).reshape(y.shape)
    out[...] = y


@bug("pytorch/pytorch#4974", "sum_axis", "f32", "layout",
     "The strides of an output were ignored: the sums went elsewhere.", cases="view=", views=True)
def sums_into_dense_memory(x, *, out, broken):
    y = wide(x).sum(1)
    store(as_if_dense(out) if broken else out, y)


@bug("huggingface/kernels-community#106", "gelu", "f32", "layout",
     "An activation took the half of wider rows, which `chunk` gives, for dense memory.",
     cases="view=padded", views=True)
def gelu_as_if_dense(x, *, out, broken):
    taken = as_if_dense(x) if broken else x
    erfc = np.vectorize(math.erfc, otypes=[np.float64])
    with np.errstate(over="ignore"):
        store(out, wide(taken) / 2 * erfc(-wide(taken) / math.sqrt(2)))


@bug("huggingface/candle#3744", "batched_matmul", "f32", "layout",
     "A matrix that is expanded to the batch, whose stride is 0, was read as if each had its own.",
     cases="view=(last_)?expanded$", views=True)
def matrices_as_if_dense(a, b, *, out, broken):
    if broken and b.strides[0] == 0:
        step = b[0].nbytes
        b = np.lib.stride_tricks.as_strided(b, b.shape, (step, *b.strides[1:]))
    store(out, np.matmul(wide(a), wide(b)))


@bug("NVIDIA/Fuser#806", "abs", "f32", "layout",
     "A number that is expanded to a matrix, whose strides are 0, was taken for contiguous memory.",
     cases="view=expanded", views=True)
def expanded_as_if_dense(x, *, out, broken):
    out[...] = np.abs(as_if_dense(x) if broken and 0 in x.strides else x)


@bug("csarofeen/pytorch#1514", "mul", "f32", "layout",
     "An expanded column was indexed by the column of the element.",
     cases="view=expanded_columns", views=True)
def column_by_column(a, b, *, out, broken):
    if broken and b.strides[-1] == 0:
        b = b[np.arange(b.shape[1]) % b.shape[0], 0]
    out[...] = a * b
