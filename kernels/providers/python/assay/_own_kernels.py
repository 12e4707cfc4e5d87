"""References of a user's ops as their own kernels, in the dtype of the case: `--own-ops op.py --kernels torch`, compiled
or numpy."""
import assay
from assay import _source
from assay._source import Refusal

_FRAMEWORKS = {"torch": "torch", "compiled": "torch", "numpy": "numpy"}  # of the references, by the word


def load(word, path):
    """Returns the name, the path and the kernels of a word of _source.SHIPPED, with those of the references in the file
    `path`, as _source.load does."""
    if word == "compiled":
        change, name, source = compiler(), f"PyTorch {_version()}", word
    else:
        change = _same
        name, source, _ = _source.load(word)
    kernels = list(assay._registered)
    _source.load(path)
    assay._registered[:] = kernels  # those of the file have not been asked for
    for definition in assay._ops:
        if definition.framework == _FRAMEWORKS[word]:
            _register(definition, change(definition.function), word)
    if not assay._registered:
        raise Refusal(f"no op of {path} has a reference in PyTorch, which '{word}' takes for a kernel: name another file by "
                      "--kernels")
    return name, source, assay._registered


def compiler():
    """Returns torch.compile. Raises Refusal where there is none."""
    import torch  # pylint: disable=import-outside-toplevel
    if not hasattr(torch, "compile"):
        raise Refusal(f"PyTorch {torch.__version__} has no torch.compile, which came with 2.0: choose a newer one by "
                      "--python, or leave it out")
    return torch.compile


def _version():
    import torch  # pylint: disable=import-outside-toplevel
    return torch.__version__


def _same(function):
    return function


def _register(definition, function, word):
    def reference(*inputs):
        return function(*inputs)

    what = "reference, compiled" if word == "compiled" else "reference"
    assay.kernel(definition.name, definition.dtypes, definition.framework, describe=what)(reference)
