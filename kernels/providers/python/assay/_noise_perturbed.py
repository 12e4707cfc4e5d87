"""Runs a reference whose steps nobody can trace, as one in C: what goes in and what comes out is moved instead.

A right kernel is taken for one that computes without error on inputs that are moved by so many roundoffs of their own size,
and whose results are moved likewise. Its author declares how many: `roundings` of one number, and the longest sum, whose
terms and result get the noise of a sum (_noise.py). What cancels within the reference and in no input is not seen.
"""
import math

import numpy



def draw(function, inputs, noise):
    """Returns the results of one run.

    function  of arrays, with `roundings` (0: nobody knows) and `terms_of(inputs)`
    """
    noise.is_ring = False
    noise.primitives += 1
    terms = function.terms_of(inputs)
    noise.sums(terms)
    if noise.quiet:
        return function(*inputs)
    if not function.roundings:
        return [_anything_but(one) for one in function(*inputs)]
    moved = [noise.relative(one, function.roundings * math.sqrt(max(1.0, terms / 6))) for one in inputs]
    of_results = function.roundings * math.sqrt(max(1.0, terms / 3))
    return [noise.rounded(noise.relative(one, of_results)) for one in function(*moved)]


def _anything_but(result):
    """Returns what says of each element that nothing can be told of it."""
    return numpy.full_like(result, numpy.nan) if result.dtype.kind == "f" else numpy.invert(result)
