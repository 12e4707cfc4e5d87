"""Wrong elementwise ops with a repeated operand that nobody has reported: the judge's first shapes for them took each for
right."""
import numpy as np

from registry import imagined

def apply(function, inputs, expand, out):
    """Calls the function with the operand of (outer, inner) as `expand` lays it out."""
    function(*[x if x.ndim == 3 else expand(x, *out.shape) for x in inputs], out=out)


def in_the_middle(x, *_):
    """Along the middle of three extents."""
    return x[:, None]


@imagined("the last extents of an operand", "add_broadcast", "f32", "layout",
          "The operand's extents are taken for the last two of the result where they fit.")
def the_last_extents(a, b, *, out, broken):
    def expand(x, _, n, inner):
        return x if broken and x.shape == (n, inner) else in_the_middle(x)
    apply(np.add, (a, b), expand, out)


@imagined("a row in vectors by a mask", "mul_broadcast", "f32", "layout",
          "Vectors of four of a row begin again by a mask, which is right for powers of two.")
def a_row_in_vectors(a, b, *, out, broken):
    def expand(x, outer, n, inner):
        if not broken or outer != 1 or inner % 4 != 0:
            return in_the_middle(x)
        vectors = inner // 4
        at = np.arange(n * vectors) & (vectors - 1)
        return x.reshape(vectors, 4)[at].reshape(1, n, inner)
    apply(np.multiply, (a, b), expand, out)


@imagined("a row by the reciprocal of its length", "sub_broadcast", "f64,f32", "rounding",
          "The row of an element is its index times 1 / inner in f32, which is one too low for 61.")
def a_row_by_a_reciprocal(a, b, *, out, broken):
    def expand(x, outer, n, inner):
        if not broken:
            return in_the_middle(x)
        index = np.arange(n * inner)
        row = (index.astype(np.float32) * (np.float32(1) / np.float32(inner))).astype(np.int64)
        at = np.arange(outer)[:, None] * inner + index - row * inner
        return np.ravel(x)[np.clip(at, 0, x.size - 1)].reshape(outer, n, inner)
    if out.size > 0:
        apply(np.subtract, (a, b), expand, out)


@imagined("a scalar as an argument", "add_broadcast", "f64,i64", "precision",
          "A scalar of f64 is handed on as f32, one of i64 as f64.")
def a_scalar_as_an_argument(a, b, *, out, broken):
    def expand(x, *_):
        if not broken or x.size != 1:
            return in_the_middle(x)
        narrow = np.float32 if x.dtype == np.float64 else np.float64
        return x.astype(narrow).astype(x.dtype)[:, None]
    apply(np.add, (a, b), expand, out)


@imagined("an empty mask by its sum", "where_broadcast", "f32", "index overflow",
          "A row of the mask counts as empty if its bytes add up to zero in a byte.")
def an_empty_mask(mask, a, b, *, out, broken):
    chosen = mask != 0
    if broken and mask.ndim == 2:
        chosen &= mask.sum(1, keepdims=True, dtype=np.uint8) != 0
    apply(lambda m, x, y, out: np.copyto(out, np.where(m, x, y)), (chosen, a, b), in_the_middle, out)
