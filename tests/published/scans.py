"""Running sums."""
import numpy as np

from registry import bug
from tools import store, wide


def running_sum(x):
    return np.cumsum(x) if x.dtype.kind == "i" else np.cumsum(wide(x))


@bug("pytorch/pytorch#180150", "scan", "f16", "narrow accumulator",
     "The running sum of f16 was kept in f16 on GPUs, unlike on CPUs.")
def scan_in_f16(x, *, out, broken):
    store(out, np.cumsum(x, dtype=np.float16) if broken else running_sum(x))


@bug("tenstorrent/tt-metal#55542", "scan", "f32", "narrow accumulator",
     "One f32 accumulator ran over the whole length; its error grows with it.",
     missed="an f32 running sum from left to right is within the rule's bound, as it is in most "
            "libraries")
def scan_one_by_one(x, *, out, broken):
    if broken:
        np.cumsum(x, dtype=np.float32, out=out)
    else:
        store(out, running_sum(x))


@bug("intel/torch-xpu-ops#4820", "scan", "i32", "tail",
     "The last pass assumed blocks of another size than the first: all blocks but the first got "
     "the wrong carry.")
def scan_with_wrong_carries(x, *, out, broken):
    if not broken or x.size == 0:
        out[...] = np.cumsum(x, dtype=x.dtype)
        return
    scanned, added = 256, 512
    blocks = -(-x.size // scanned)
    padded = np.zeros(blocks * scanned, x.dtype)
    padded[:x.size] = x
    inside = np.cumsum(padded.reshape(blocks, scanned), axis=1, dtype=x.dtype)
    carries = np.concatenate([[0], np.cumsum(inside[:, -1], dtype=x.dtype)[:-1]]).astype(x.dtype)
    place = np.arange(x.size)
    out[...] = inside.reshape(-1)[:x.size] + carries[place // added]


@bug("JuliaGPU/AcceleratedKernels.jl#41", "scan", "i64", "race",
     "Blocks read the carry of others before it was written: sums of half a million ones were "
     "short by some, "
     "differently in each launch, and sometimes right.",
     seen="default")
def scan_with_a_race(x, *, out, broken):
    out[...] = np.cumsum(x, dtype=x.dtype)
    if broken and x.size >= 524_288:
        generator = np.random.default_rng()
        if generator.random() < 2 / 3:
            start = int(generator.integers(62, x.size))
            out[start:] -= np.sum(x[start - 62:start], dtype=x.dtype)


@bug("pytorch/pytorch#167086", "scan", "f32", "index overflow",
     "The product of the extents was formed in 32 bits: beyond 2^32 - 1 elements others were read.",
     missed="no profile has so many elements: it shows from n = 4294967296 on, 16 GiB of f32")
def scan_of_too_many(x, *, out, broken):
    store(out, running_sum(x))
    if broken and x.size > (1 << 32) - 1:
        out[1 << 32:] = out[:x.size - (1 << 32)]
