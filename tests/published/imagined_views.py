"""Kernels that heed strides, but not all of them."""
import numpy as np
from numpy.lib.stride_tricks import as_strided

from registry import imagined
from tools import as_if_dense


def is_dense(x):
    return x.flags.c_contiguous


@imagined("add that looks at one operand", "add", "f32,i32", "layout",
          "The second operand is taken for dense where the first one and the output are.", views=True)
def added(a, b, *, out, broken):
    np.add(a, as_if_dense(b) if broken and is_dense(a) and is_dense(out) else b, out=out)


@imagined("where with strides of another operand", "where", "f32,u8", "layout",
          "The third operand is read by the strides of the second one.", views=True)
def chosen(mask, a, b, *, out, broken):
    of_b = as_strided(b, b.shape, a.strides) if broken and not is_dense(b) and is_dense(a) else b
    out[...] = np.where(mask != 0, a, of_b)


@imagined("mul into dense memory", "mul", "f32,i32", "layout",
          "The output of dense operands is written as if it was dense.", views=True)
def multiplied(a, b, *, out, broken):
    to = as_if_dense(out) if broken and is_dense(a) and is_dense(b) else out
    np.multiply(a, b, out=to)


@imagined("copy to columns", "copy", "f32,u8", "layout", "The last stride of the output is taken for one.", views=True)
def copied(x, *, out, broken):
    strides = (*out.strides[:-1], out.itemsize) if broken else out.strides
    as_strided(out, out.shape, strides)[...] = x


@imagined("sum_axis of matrices apart", "sum_axis", "f32", "layout",
          "Matrices are taken to follow each other, whatever lies between them.", views=True)
def summed(x, *, out, broken):
    apart = x.shape[1] * x.strides[1] if broken and x.shape[1] > 1 else x.strides[0]
    of_matrices = as_strided(x, x.shape, (apart, *x.strides[1:]))
    out[...] = of_matrices.astype(np.float64).sum(1)


@imagined("batched_matmul of transposed operands", "batched_matmul", "f32,f64", "layout",
          "Rows of a transposed operand are taken to follow each other in memory.", views=True)
def products(a, b, *, out, broken):
    if broken and b.strides[1] == b.itemsize and b.shape[1] > 1:
        b = as_strided(b, b.shape, (b.strides[0], b.itemsize, b.itemsize * b.shape[1]))
    wide = np.float64 if a.dtype == np.float32 else np.longdouble
    out[...] = np.matmul(a.astype(wide), b.astype(wide))
