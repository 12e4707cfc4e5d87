"""jax-ml/jax#37670 (also #37762): log of subnormal numbers is -inf on the CPU.

XLA takes subnormal numbers for zero. JAX's authors call that intended.
"""
import jax
import numpy

import assay

jax.config.update("jax_enable_x64", True)
assay.provider(f"JAX {jax.__version__}")


@assay.kernel("log", dtypes=["f64", "f32"], framework="numpy")
def log(x, *, out):
    out[...] = numpy.asarray(jax.numpy.log(x))
