"""The framework's own result: what allclose compares with."""
import numpy as np

from any_op.formats import F32, stored


class Stored(np.ndarray):
    """An array of f32 numbers that stores the result of each step in a smaller format, as an eager framework does."""
    form = F32

    def __array_finalize__(self, other):
        self.form = getattr(other, "form", F32)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        result = getattr(ufunc, method)(*map(_plain, inputs), **{key: _plain(value) for key, value in options.items()})
        if out is None:
            return self._wrapped(result)
        out[0][...] = self._wrapped(result)
        return out[0]

    def __array_function__(self, function, types, args, kwargs):
        if function in (np.mean, np.sum, np.prod, np.var, np.std):
            return super().__array_function__(function, types, args, kwargs)
        return self._wrapped(function(*_plain(args), **{key: _plain(value) for key, value in kwargs.items()}))

    def _wrapped(self, result):
        if isinstance(result, (tuple, list)):
            return type(result)(map(self._wrapped, result))
        if np.asarray(result).dtype.kind != "f":
            return result
        wrapped = stored(result, self.form).view(Stored)
        wrapped.form = self.form
        return wrapped


def _plain(value):
    if isinstance(value, Stored):
        return value.view(np.ndarray)
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain, value))
    return value


def framework_result(reference, inputs, form):
    """Runs the reference on tensors of the format: each step in f32, its result stored. Returns a tuple."""
    tensors = []
    for one in inputs:
        if one.dtype.kind == "f":
            one = one.astype(np.float32)
            if form is not F32:
                one = one.view(Stored)
                one.form = form
        tensors.append(one)
    with np.errstate(all="ignore"):
        results = reference(*tensors)
    results = results if isinstance(results, tuple) else (results,)
    plain = (np.asarray(_plain(result)) for result in results)
    return tuple(stored(result, form) if result.dtype.kind == "f" else result for result in plain)
