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


def running_sums(x):
    """Along the n of (outer, n, inner)."""
    return np.cumsum(x, 1, x.dtype) if x.dtype.kind == "i" else np.cumsum(wide(x), 1)


@bug("Jittor/jittor#330", "scan_axis", "f32", "tail",
     "Sums along an extent of more than 4096 elements were wrong.")
def sums_of_4096(x, *, out, broken):
    if not broken:
        return store(out, running_sums(x))
    for begin in range(0, x.shape[1], 4096):
        store(out[:, begin:begin + 4096], running_sums(x[:, begin:begin + 4096]))


@bug("IntelPython/dpnp#3063", "scan_axis", "f32", "stale memory",
     "With three levels of partial sums, from a million elements on, rows overwrote each other's.",
     missed="no profile has two rows of more than a million elements; "
            "`--case tensor_ops/scan_axis/f32/outer=2,n=1100000,inner=1` shows it")
def rows_overwrite_each_other(x, *, out, broken):
    y = running_sums(x)
    if broken and x.shape[0] > 1 and x.shape[1] > 1 << 20:
        y[:, 1 << 20:] += np.roll(y[:, (1 << 20) - 1:1 << 20], 1, axis=0) - y[:, (1 << 20) - 1:1 << 20]
    store(out, y)


@bug("cupy/cupy#10268", "scan_axis", "f32", "index overflow",
     "Offsets of more than 2^32 elements, of all rows together, lost their upper half.",
     missed="the tensor has 16 GiB")
def offsets_of_32_bits(x, *, out, broken):
    y = running_sums(x)
    if broken and x.size > 1 << 32:
        y[-1:] = y[:1]
    store(out, y)
