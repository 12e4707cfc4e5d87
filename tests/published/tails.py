"""Products of matrices of floats: sizes at their edges."""
import numpy as np

from products import finished, layer, product
from registry import bug
from tools import past, store, wide


@bug("NVIDIA/cuda-samples#411", "batched_matmul", "f32", "tail",
     "The grid was the size over 32, rounded down: the last rows and columns were not written.")
def grid_rounded_down(a, b, *, out, broken):
    y = product(a, b)
    if broken:
        rows, columns = y.shape[1] // 32 * 32, y.shape[2] // 32 * 32
        out[:, :rows, :columns] = y[:, :rows, :columns]
    else:
        store(out, y)


def with_unmasked_tail(a, b, block):
    """The last block reads what follows each row, and of b the rows that it held before."""
    batch, m, k = a.shape
    whole = -(-k // block) * block
    last = whole - block
    follows = past(a.reshape(-1), a.size + whole - k)
    starts = (np.arange(batch * m) * k)[:, None] + np.arange(k, whole)
    beyond = wide(follows[starts]).reshape(batch, m, whole - k)
    rows = np.arange(k, whole) - block
    before = wide(b)[:, rows] if last else np.zeros((batch, whole - k, b.shape[2]))
    return product(a, b) + np.matmul(beyond, before)


@bug("triton-lang/triton#630", "batched_matmul", "f16", "tail",
     "With rows that are not aligned, masked elements of the last block took part in the product.")
def masked_elements_used(a, b, *, out, broken):
    store(out, with_unmasked_tail(a, b, 8) if broken and a.shape[2] % 8 else product(a, b))


@bug("Cjkkkk/CUDA_gemm#6", "batched_matmul", "f32", "tail",
     "An inner dimension that is no multiple of 8 made the last block read beyond each row.")
def last_block_beyond_rows(a, b, *, out, broken):
    store(out, with_unmasked_tail(a, b, 8) if broken and a.shape[2] % 8 else product(a, b))


@bug("triton-lang/triton#934", "batched_matmul", "f16", "tail",
     "An inner dimension of 1 was wrong: the block has at least 16 elements.")
def inner_dimension_of_one(a, b, *, out, broken):
    y = product(a, b)
    store(out, 16 * y if broken and a.shape[2] == 1 else y)


@bug("pytorch/pytorch#25241", "batched_matmul", "f16", "index overflow",
     "Of a batch of more than 65,535 only the first 65,535 were computed.",
     seen="default")
def large_batch_of_f16(a, b, *, out, broken):
    store(out, product(a, b))
    if broken:
        out[65_535:] = 0


@bug("tensorflow/tensorflow#26969", "batched_matmul", "f32", "index overflow",
     "From a batch of 65,536 on, all results after the first 65,535 were those of other memory.",
     seen="default")
def large_batch_of_f32(a, b, *, out, broken):
    y = product(a, b)
    y[65_535:] = np.where(broken, 0, y[65_535:])
    store(out, y)


@bug("pytorch/pytorch#196431", "batched_matmul", "f32", "index overflow",
     "Outer products had offsets of 32 bits.",
     missed="no profile has so many outputs: it shows at batch = 8209, m = n = 512, k = 1, 8 GiB "
            "of f32")
def offsets_of_32_bits(a, b, *, out, broken):
    store(out, product(a, b))
    if broken and a.shape[2] == 1 and (out.shape[0] - 1) * out.shape[1] * out.shape[2] > 0x7FFFFFFF:
        out[-1] = out[0]


@bug("ggml-org/llama.cpp#2480", "linear", "f16", "tail",
     "The number of outputs was rounded down to a multiple of 64; the rest was not written.",
     cases="batch=[1-9]?[0-9],.*act=(none|relu)")
def outputs_rounded_down(x, w, *bias, out, params, broken):
    y = layer(x, w, bias, params["act"])
    whole = w.shape[0] // 64 * 64 if broken else w.shape[0]
    store(out[:, :whole], y[:, :whole])


@bug("OpenMathLib/OpenBLAS#171", "linear", "f32", "tail",
     "Vectors were loaded whole: what follows the last element was multiplied by 0, and NaN there"
     " made all NaN.",
     cases="(batch=1|out=1),.*act=(none|relu)")
def loaded_behind_the_end(x, w, *bias, out, params, broken):
    y = product(x, w.T)
    vector = x if x.shape[0] == 1 else w
    if broken and vector.shape[0] == 1:
        whole = -(-vector.size // 4) * 4
        y = y + np.sum(0 * wide(past(vector.reshape(-1), whole))[vector.size:])
    store(out, finished(y, bias, params["act"]))
