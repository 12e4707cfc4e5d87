"""jax-ml/jax#26658 (also #16200): a subnormal number plus zero is zero, and equals zero, on the CPU.

The reports are of JAX 0.5.0 and 0.4.11. XLA takes subnormal numbers for zero. JAX's authors call that intended.
"""
import jax
import numpy

import assay

jax.config.update("jax_enable_x64", True)
assay.provider(f"JAX {jax.__version__}")


@assay.kernel("add", dtypes=["f64", "f32"], framework="numpy")
def add(a, b, *, out):
    out[...] = numpy.asarray(jax.numpy.add(a, b))


@assay.kernel("equal", dtypes=["f64", "f32"], framework="numpy")
def equal(a, b, *, out):
    out[...] = numpy.asarray(jax.numpy.equal(a, b))
