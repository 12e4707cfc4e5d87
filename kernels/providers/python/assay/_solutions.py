"""Makes kernels of solutions of problems: ModelNew of a file, or the Model itself, eager or compiled."""
import os
import sys

import torch

import assay
from assay import _source
from assay._own_kernels import compiler
from assay._problem import make_solution, open_problem, outputs_of
from assay._problem_op import files_of, name_of
from assay._source import Refusal

_NEW = "ModelNew"


def load(source, problem):
    """Returns the name, the path and the kernels of `source`, as _source.load does."""
    problems = files_of(problem)
    if source == "torch":
        return _of_models(problems, source, "Model, eager", lambda model: model)
    if source == "compiled":
        return _of_models(problems, source, "Model, compiled", compiler())
    if os.path.isdir(source):
        return _of_folder(source, problems)
    if source in _source.SHIPPED:
        return _source.load(source)
    return _of_file(source, problems)


def _of_models(problems, source, what, change):
    for path in problems:
        _register(path, lambda problem: change(problem.model), what)
    return f"PyTorch {torch.__version__}", source, assay._registered


def _of_file(source, problems):
    path, module = _module_of(source)
    if not hasattr(module, _NEW):
        if not assay._registered:
            raise Refusal(f"{os.path.basename(path)} has no class {_NEW}, which takes the place of Model, and registers no "
                          f"kernel: name the class {_NEW}")
        return assay._provider or os.path.basename(path), path, assay._registered
    if len(problems) > 1:
        raise Refusal(f"{os.path.basename(path)} has one {_NEW}, and there are {len(problems)} problems: name one of them by "
                      "--problem, or a folder of solutions by --kernels")
    _register_class(problems[0], path, module)
    return os.path.basename(path), path, assay._registered


def _of_folder(folder, problems):
    """Takes the file of the same name for each problem. Others are of no problem, and named."""
    of_problems = {os.path.basename(path): path for path in problems}
    files = {os.path.basename(path): path for path in files_of(folder)}
    if others := sorted(set(files) - set(of_problems)):
        raise Refusal(f"{others[0]} is a solution of no problem: give it the name of one of them")
    for name, file in files.items():
        path, module = _module_of(file)
        if not hasattr(module, _NEW):
            raise Refusal(f"{name} has no class {_NEW}, which takes the place of Model: name it so")
        _register_class(of_problems[name], path, module)
    return os.path.basename(os.path.abspath(folder)), os.path.abspath(folder), assay._registered


def _module_of(source):
    path = os.path.abspath(source)
    if not os.path.isfile(path):
        raise Refusal(f"cannot read {source}: no such file; --kernels takes a file, or one of the words "
                      f"{', '.join(_source.SHIPPED)}")
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # for modules beside the file
    return path, _source.run(path, os.path.basename(path))


def _register_class(problem_path, path, module):
    _register(problem_path, lambda problem: make_solution(getattr(module, _NEW), problem),
              f"{_NEW} of {os.path.basename(path)}")


def _register(path, make, what):
    def prepare(of_op):
        problem = open_problem(path)
        model = make(problem)
        if isinstance(model, torch.nn.Module):
            model = model.to(of_op.device)
        problem.model = None  # its memory is that of the solution now, or no longer needed

        def forward(*tensors):
            with torch.no_grad():
                return tuple(_as_stored(tensor) for tensor in outputs_of(model(*problem.arguments(tensors))))
        return forward

    def forward(*tensors):
        """Names the kernel in texts of failures."""

    assay.kernel(name_of(path), dtypes=["f32"], framework="torch", prepare=prepare, describe=what)(forward)


def _as_stored(tensor):
    """Returns truth values as the bytes that the op has in their place."""
    return tensor.view(torch.uint8) if tensor.dtype == torch.bool else tensor
