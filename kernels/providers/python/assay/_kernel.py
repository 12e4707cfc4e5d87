"""One kernel for one problem: the user's function, and the tensors that it is called with."""
import functools
import inspect

from assay._frameworks import framework_of

MAX_VIEWS = 256  # tuples of addresses whose tensors are kept


def kind_of(value):
    module = type(value).__module__
    return type(value).__name__ if module == "builtins" else f"{module}.{type(value).__name__}"


class Kernel:
    def __init__(self, registration, problem, devices=None):
        """`devices` drive the problem's device where Assay has no backend for it."""
        self._problem = problem
        self._framework = framework_of(registration.framework, problem.device, devices)
        for tensor in (*problem.inputs, *problem.outputs):
            self._framework.dtype(tensor.dtype)
        function = registration.function
        if registration.prepare is not None:
            function = registration.prepare(problem) or function
        self._function = function
        self._name = getattr(registration.function, "__name__", registration.op)
        self._wanted = self._check_parameters()
        describe = registration.describe
        self.description = describe(problem) if callable(describe) else describe
        self._launches = {}

    def _check_parameters(self):
        """Returns the names among out, params, problem and stream that the function takes by keyword."""
        try:
            signature = inspect.signature(self._function)
        except (TypeError, ValueError):  # a built-in function may have none
            return {"out"}
        wanted = {name for name in ("out", "params", "problem", "stream") if name in signature.parameters}
        inputs = len(self._problem.inputs)
        try:
            signature.bind(*[None] * inputs, **dict.fromkeys(wanted))
        except TypeError as error:
            raise TypeError(f"{self._name}{signature} cannot be called with the {inputs} input(s) of "
                            f"{self._problem.op}: {error}") from None
        return wanted

    def launch(self, inputs, outputs, stream):
        """Calls the function with tensors at these addresses (ctypes arrays, or lists)."""
        key = (stream, *inputs[:len(self._problem.inputs)], *outputs[:len(self._problem.outputs)])
        launch = self._launches.get(key)
        if launch is None:
            launch = self._bound(*key)
            if len(self._launches) >= MAX_VIEWS:
                del self._launches[next(iter(self._launches))]
            self._launches[key] = launch
        call, outs = launch
        self._framework.use(stream)
        result = call()
        if result is not None:
            self._store(result, outs)
        elif "out" not in self._wanted:
            raise TypeError(f"{self._name} neither takes the parameter `out` nor returns a tensor")

    def _bound(self, stream, *addresses):
        """Makes the tensors, and a call of the function with them."""
        problem = self._problem
        tensors = [self._framework.tensor(address, tensor)
                   for address, tensor in zip(addresses, (*problem.inputs, *problem.outputs))]
        inputs, outs = tensors[:len(problem.inputs)], tuple(tensors[len(problem.inputs):])
        values = {"out": outs if len(outs) > 1 else outs[0], "params": problem.params, "problem": problem,
                  "stream": self._framework.stream(stream)}
        return functools.partial(self._function, *inputs, **{name: values[name] for name in self._wanted}), outs

    def _store(self, result, outs):
        """Copies what the function returned, unless that is `out` itself."""
        results = result if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(outs):
            raise TypeError(f"{self._name} returned {len(results)} tensors, the op has {len(outs)}")
        for got, out in zip(results, outs):
            if got is out:
                continue
            if not isinstance(got, type(out)):
                raise TypeError(f"{self._name} returned a {kind_of(got)}, the output is a {kind_of(out)} of shape "
                                f"{tuple(out.shape)}")
            if tuple(got.shape) != tuple(out.shape):
                raise ValueError(f"{self._name} returned the shape {tuple(got.shape)}, the output has "
                                 f"{tuple(out.shape)}")
            if got.dtype != out.dtype:
                raise TypeError(f"{self._name} returned {got.dtype}, the output has {out.dtype}")
            self._framework.copy(out, got)
