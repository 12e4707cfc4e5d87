"""Problems in KernelBench's form: a file with Model, get_inputs and get_init_inputs; another with ModelNew.

    problem = load_problem("softmax.py")
    draw(problem.reference, problem.arrays(), noise)   # the model in f64
    solution = load_solution("mine.py", problem)       # with the model's seed and state

Nothing here decides what is right. _problem_op.py makes an op of a problem, _solutions.py kernels of it.
"""
import ast
import dataclasses
import os
import random
import re
import sys

import numpy
import torch

from assay._failure import one_line, place
from assay._noise import Noise
from assay._noise_torch import draw
from assay._problem_source import fixed_dtype
from assay._source import Refusal, run, without_module

_NEEDED = ("Model", "get_inputs", "get_init_inputs")
_OF_GPUS = re.compile(r"\bcuda\b|nvidia|\bgpu\b", re.IGNORECASE)


@dataclasses.dataclass
class Problem:
    """A model and its inputs, as the file makes them from a seed."""
    name: str
    path: str
    seed: int
    training: bool
    model: torch.nn.Module
    inputs: list
    init_inputs: list
    module: object = dataclasses.field(repr=False)  # the file's
    outputs: tuple = ()  # of the reference, in f64
    noise: object = None  # what a run of the reference showed
    twin: torch.nn.Module = None  # the model in f64
    _state: dict = dataclasses.field(default=None, repr=False)  # of the twin, before any run

    def make_twin(self):
        """Makes the model in f64. Not in a run of the reference, whose steps are noisy and of f64."""
        twin = _seeded(self.seed, self.module.Model, self.init_inputs)  # copies of some parametrized modules cannot be made
        _copy_state(self.model, twin)
        _set_mode(twin, self.training)
        self.twin = _doubled(twin)
        self._state = {key: value.clone() for key, value in self.twin.state_dict().items()}

    def reference(self, *inputs):
        """Runs the twin from its first state, since averages of a batch norm in training move. Returns its tensors."""
        with torch.no_grad():
            for key, value in self.twin.state_dict().items():
                value.copy_(self._state[key])
        return outputs_of(self.twin(*inputs))

    def drawn(self, seed):
        """Returns the file's inputs from another seed."""
        return _seeded(seed, lambda *_: list(self.module.get_inputs()), [])

    def arguments(self, tensors):
        """Returns the arguments of forward: these tensors in place of those of `inputs`, and its constants."""
        left = iter(tensors)

        def filled(value):
            if isinstance(value, torch.Tensor):
                tensor = next(left)
                return tensor.view(torch.bool) if value.dtype == torch.bool else tensor
            return type(value)(filled(item) for item in value) if type(value) in (list, tuple) else value
        return [filled(value) for value in self.inputs]

    def arrays(self):
        """Returns the inputs as arrays, floats in f64. Others stay as they are."""
        return [_array(value) for value in self.inputs]


def load_problem(path, seed=0, training=None):
    """Makes the model of a file, its inputs, and the outputs of its twin. Raises Refusal for what cannot be judged.

    training  sets the mode of the model; None: as its constructor leaves it, which is training
    """
    shown = os.path.basename(path)
    problem = open_problem(path, seed, training)
    try:
        problem.make_twin()
        arrays = problem.arrays()
        problem.noise = Noise(quiet=True)
        outputs = [draw(problem.reference, arrays, noise) for noise in (problem.noise, Noise(quiet=True))]
    except Exception as error:
        raise _refusal(error, problem.path, shown) from None
    _check_outputs(outputs, shown)
    problem.outputs = outputs[0]
    return problem


def open_problem(path, seed=0, training=None):
    """Makes the model of a file and its inputs, and runs nothing. Raises Refusal."""
    path = os.path.abspath(path)
    shown = os.path.basename(path)
    tree = _parsed(path, shown)
    names = {node.name for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    module = _module(path, shown)
    for name in _NEEDED:
        if not callable(getattr(module, name, None)):
            raise Refusal(f"{shown} has no {'class' if name == 'Model' else 'function'} {name}: a problem defines "
                          f"{', '.join(_NEEDED)}")
    fixed = fixed_dtype(tree) if "Model" in names else None
    if fixed is not None:
        line, text, instead = fixed
        raise Refusal(one_line(f"{shown}:{line}: {text} fixes a dtype, so nothing more precise can judge it: "
                               f"{instead}"))
    try:
        return _made(module, path, seed, training)
    except Refusal:
        raise
    except Exception as error:
        raise _refusal(error, path, shown) from None


def outputs_of(result):
    """Returns the tensors in what forward returns: a tensor, or tuples and lists of them."""
    if isinstance(result, torch.Tensor):
        return (result,)
    if not isinstance(result, (tuple, list)):
        raise TypeError(f"forward returns no tensor and no tuple of tensors, but {type(result).__name__}")
    return tuple(tensor for item in result for tensor in outputs_of(item))


def load_solution(path, problem, name="ModelNew"):
    """Makes the other file's ModelNew from the problem's seed, with the state of its model where the names agree."""
    path = os.path.abspath(path)
    shown = os.path.basename(path)
    _parsed(path, shown)
    module = _module(path, shown)
    if not callable(getattr(module, name, None)):
        raise Refusal(f"{shown} has no class {name}: it takes the place of the Model of {problem.name}")
    try:
        return make_solution(getattr(module, name), problem)
    except Exception as error:
        raise _refusal(error, path, shown) from None


def make_solution(cls, problem):
    """Makes the model of another class from the problem's seed, with its state and mode."""
    solution = _seeded(problem.seed, cls, problem.init_inputs)
    _copy_state(problem.model, solution)
    _set_mode(solution, problem.training)
    return solution


def _parsed(path, shown):
    try:
        with open(path, "rb") as file:
            return ast.parse(file.read(), shown)
    except OSError as error:
        raise Refusal(f"cannot read {path}: {error.strerror}") from None
    except SyntaxError as error:
        raise Refusal(one_line(f"{shown}:{error.lineno}: {type(error).__name__}: {error.msg}")) from None


def _module(path, shown):
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # for modules beside the file
    return run(path, shown)


def _made(module, path, seed, training):
    init_inputs = _seeded(seed, lambda *_: list(module.get_init_inputs()), [])
    model = _seeded(seed, module.Model, init_inputs)
    if training is not None:
        model.train(training)
    inputs = _seeded(seed, lambda *_: list(module.get_inputs()), [])
    for value in inputs:
        if isinstance(value, (dict, set)):
            raise Refusal(f"{os.path.basename(path)}: get_inputs gives a {type(value).__name__}: give its tensors one by one")
    name = os.path.splitext(os.path.basename(path))[0]
    problem = Problem(name, path, seed, model.training, model, inputs, init_inputs, module)
    devices = {tensor.device.type for tensor in (*model.parameters(), *model.buffers(), *flat(inputs))}
    if devices - {"cpu"}:
        raise Refusal(f"{os.path.basename(path)} makes tensors on {', '.join(sorted(devices - {'cpu'}))}: leave the "
                      "device to Assay, which judges on the CPU")
    return problem


def _seeded(seed, make, arguments):
    random.seed(seed)
    numpy.random.seed(seed % 2 ** 32)
    torch.manual_seed(seed)
    if len(arguments) == 2 and isinstance(arguments[0], list) and isinstance(arguments[1], dict):
        return make(*arguments[0], **arguments[1])  # [[positional], {by name}]
    return make(*arguments)


def _set_mode(model, training):
    """Keeps the modes of parts, which a constructor may have set, where the model as a whole has that mode already."""
    if getattr(model, "training", training) != training:
        model.train(training)


def _copy_state(model, other):
    """Copies parameters and buffers. Of names that do not all agree, the same seed has to do."""
    if not isinstance(model, torch.nn.Module) or not isinstance(other, torch.nn.Module):
        return
    state, other_state = model.state_dict(), other.state_dict()
    if {key: value.shape for key, value in state.items()} == {key: value.shape for key, value in other_state.items()}:
        other.load_state_dict(state)


def _doubled(module):
    """Converts a model to f64, tensors included that are neither parameters nor buffers."""
    module.double()
    for part in module.modules():
        for name, value in list(vars(part).items()):
            if name not in ("_parameters", "_buffers", "_modules"):
                vars(part)[name] = _double(value)
    return module


def _double(value):
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if type(value) in (list, tuple):
        return type(value)(_double(item) for item in value)
    if type(value) is dict:
        return {key: _double(item) for key, item in value.items()}
    return value


def _array(value):
    if isinstance(value, torch.Tensor):
        return _double(value.detach()).numpy()
    if type(value) in (list, tuple):
        return type(value)(_array(item) for item in value)
    return value


def flat(values):
    """Yields the tensors among the inputs."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif type(value) in (list, tuple):
            yield from flat(value)


def _check_outputs(runs, shown):
    first, second = runs
    if not first:
        raise Refusal(f"{shown}: forward returns no tensor")
    if not all(one.shape == other.shape and numpy.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
               for one, other in zip(first, second)):
        raise Refusal(f"{shown}: forward is not deterministic, two runs differ: take its random numbers as inputs, "
                      "or set dropout to 0")
    for at, output in enumerate(first):
        if output.dtype.kind == "f" and output.size and not numpy.isfinite(output).any():
            raise Refusal(f"{shown}: output {at} of forward has no finite number in f64")


def _refusal(error, path, shown):
    said = one_line(f"{type(error).__name__}: {error}")
    if isinstance(error, ModuleNotFoundError) and error.name:
        return Refusal(f"{shown} needs {without_module(error)}{place(error, path)}")
    if _OF_GPUS.search(said):
        return Refusal(f"{shown} needs a GPU, but is judged on the CPU: take the device from the inputs. "
                       f"{said}{place(error, path)}")
    return Refusal(f"{shown} cannot run: {said}{place(error, path)}")
