"""Loads the file that registers kernels and defines ops."""
import ast
import hashlib
import os
import sys
import types

import assay
from assay._failure import one_line, place

SHIPPED = ("torch", "numpy", "compiled")


class Refusal(Exception):
    """Why nothing can be served: one line, with the remedy."""


def load(source):
    """Runs `source`, a path or a word of SHIPPED. Returns its name, its path and the registered kernels.
    The ops that it defines are in assay._ops."""
    if source in SHIPPED:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"kernels_{source}.py")
    else:
        path = os.path.abspath(source)
        _check_readable(source)
        sys.path.insert(0, os.path.dirname(path))  # for modules beside the file
    shown = os.path.basename(path)
    sys.argv = [path]
    run(path, shown)
    if not assay._registered and not assay._ops:
        raise Refusal(f"{shown} registers no kernel and defines no op: put @assay.kernel(OP) before a kernel, or "
                      "@assay.op(INPUTS) before a reference")
    return assay._provider or shown, path, assay._registered


def digest_of(path):
    """Tells files apart, also those that somebody makes alike on purpose."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def is_library(path):
    """Says whether the file is a shared library, and no Python. Tells nothing wrong of it: who loads it does."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def may_define_ops(path):
    """Returns false for a file that never speaks of `op`. Tells nothing wrong of it: who runs it does."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return False
    names = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
             for alias in node.names if alias.name == "assay"}
    return any(isinstance(node, ast.Attribute) and node.attr == "op" and isinstance(node.value, ast.Name)
               and node.value.id in names or
               isinstance(node, ast.ImportFrom) and node.module == "assay" and
               any(alias.name in ("op", "*") for alias in node.names) for node in ast.walk(tree))


def _check_readable(path):
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError as error:
        raise Refusal(f"cannot read {path}: {error.strerror}; --kernels takes a file, or one of the words "
                      f"{', '.join(SHIPPED)}") from None


def without_module(error):
    """Returns what is said of a module that is missing, after "NAME needs"."""
    return (f"the module '{error.name}', which {sys.executable} does not have: install it there, or choose another by "
            "--python")


def run(path, shown):
    """Returns the module that the file `path` makes."""
    # Compiled from the text at each start: a cached file may be that of an edit within the same second.
    module = types.ModuleType("assay_user_kernels")  # a name that no import statement means: mine.py may be numpy.py
    module.__file__ = path
    sys.modules[module.__name__] = module  # for dataclasses and pickle
    try:
        with open(path, "rb") as file:
            exec(compile(file.read(), path, "exec", dont_inherit=True), module.__dict__)
    except SyntaxError as error:
        where = f"{os.path.basename(error.filename or shown)}:{error.lineno}"
        raise Refusal(one_line(f"{where}: {type(error).__name__}: {error.msg}")) from None
    except SystemExit as error:
        raise Refusal(f"{shown} ended with exit code {error.code} when it was imported{place(error, path)}") from None
    except Refusal:
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name:
            raise Refusal(f"{shown} needs {without_module(error)}{place(error, path)}") from None
        said = one_line(f"{type(error).__name__}: {error}")
        raise Refusal(f"{shown} cannot be imported: {said}{place(error, path)}") from None
    return module
