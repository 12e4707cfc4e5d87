"""Arithmetic of a simulated kernel: sums and products in f32, in an order of its own or with a fault."""
import numpy as np

from any_op.formats import BF16, F16, TF32, nearest, stored

BLOCK = 32  # terms that a blocked sum adds before it passes them on


class Arithmetic:
    """Sums as NumPy and its BLAS take them. `used` tells whether a kernel has called for a sum."""

    def __init__(self):
        self.used = False

    def dot(self, a, b):
        """The product of matrices, or of stacks of them."""
        self.used = True
        return self._dot(np.asarray(a, np.float32), np.asarray(b, np.float32))

    def sum(self, x, axis=-1, keepdims=False):
        self.used = True
        total = self._sum(np.moveaxis(np.asarray(x, np.float32), axis, -1))
        return np.expand_dims(total, axis) if keepdims else total

    def mean(self, x, axis=-1, keepdims=True):
        return self.sum(x, axis, keepdims) / np.float32(x.shape[axis])

    def _dot(self, a, b):
        return a @ b

    def _sum(self, x):
        return x.sum(-1, dtype=np.float32)


class OneByOne(Arithmetic):
    """Adds each term to one accumulator."""

    def _dot(self, a, b):
        total = np.zeros(1, np.float32)
        for k in range(a.shape[-1]):
            total = self._add_product(total, a[..., :, k, None], b[..., k, None, :])
        return total

    def _sum(self, x):
        return np.add.accumulate(x, axis=-1, dtype=np.float32)[..., -1]

    def _add_product(self, total, a, b):
        return total + a * b


class Fused(OneByOne):
    """Rounds the product and the sum once, as an FMA does."""

    def _add_product(self, total, a, b):
        return (total.astype(np.float64) + a.astype(np.float64) * b).astype(np.float32)


class Blocked(Arithmetic):
    """Sums blocks of terms, then the blocks one by one."""

    def _dot(self, a, b):
        total = np.zeros(1, np.float32)
        for k in range(0, a.shape[-1], BLOCK):
            total = total + self._pass_on(a[..., k:k + BLOCK] @ b[..., k:k + BLOCK, :])
        return total

    def _sum(self, x):
        total = np.zeros(1, np.float32)
        for k in range(0, x.shape[-1], BLOCK):
            total = total + self._pass_on(x[..., k:k + BLOCK].sum(-1, dtype=np.float32))
        return total.reshape(x.shape[:-1])

    def _pass_on(self, partial):
        return partial


class Pairwise(Arithmetic):
    """Halves the terms until few are left."""

    def _dot(self, a, b):
        terms = a.shape[-1]
        if terms <= 4:
            return a @ b
        half = terms // 2
        return self._dot(a[..., :half], b[..., :half, :]) + self._dot(a[..., half:], b[..., half:, :])

    def _sum(self, x):
        while x.shape[-1] > 1:
            odd = x[..., x.shape[-1] // 2 * 2:]
            x = np.concatenate([x[..., 0:-1:2] + x[..., 1::2], odd], -1)
        return x[..., 0]


class FactorsIn(Arithmetic):
    """Rounds the factors of products to a format of fewer bits."""

    def __init__(self, form):
        super().__init__()
        self._form = form

    def _dot(self, a, b):
        return stored(a, self._form) @ stored(b, self._form)


class TensorFloatCut(Arithmetic):
    """Cuts the factors of products to TF32, as a tensor core does that is given f32."""

    def _dot(self, a, b):
        return self._cut(a) @ self._cut(b)

    @staticmethod
    def _cut(x):
        return (np.ascontiguousarray(x).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


class Accumulator(OneByOne):
    """Keeps the accumulator in a format of 16 bits."""

    def __init__(self, form):
        super().__init__()
        self._form = form

    def _sum(self, x):
        total = np.zeros(x.shape[:-1], np.float32)
        for k in range(x.shape[-1]):
            total = stored(total + x[..., k], self._form)
        return total

    def _add_product(self, total, a, b):
        return nearest(total + a.astype(np.float64) * b, self._form).astype(np.float32)


class SplitK(Blocked):
    """Passes the sums of blocks on in bf16."""

    def _pass_on(self, partial):
        return stored(partial, BF16)


class TermMissing(Arithmetic):
    """Forgets the last term of each sum."""

    def _dot(self, a, b):
        return a[..., :-1] @ b[..., :-1, :]

    def _sum(self, x):
        return x[..., :-1].sum(-1, dtype=np.float32)


ORDERS = {"blas": Arithmetic, "one by one": OneByOne, "fma": Fused, "blocked": Blocked, "pairwise": Pairwise}

TF32_FAULTS = {"TF32 operands": lambda: FactorsIn(TF32), "TF32 operands, cut": TensorFloatCut}
FAULTS = {**TF32_FAULTS,
          "bf16 accumulator": lambda: Accumulator(BF16),
          "f16 accumulator": lambda: Accumulator(F16),
          "split-K in bf16": SplitK,
          "a term missing": TermMissing}


def allowed_beside_f32(arithmetic, form):
    """Returns what is right where an op allows that arithmetic on tensors of the format, and a fault elsewhere."""
    return {"tf32": TF32_FAULTS, "operands": {"operands in the dtype": lambda: FactorsIn(form)}}.get(arithmetic, {})
