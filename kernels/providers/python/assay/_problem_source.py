"""Reads the text of a problem for what no twin in another precision can follow."""
import ast

_CASTS = {"float", "half", "bfloat16"}
_DTYPES = {"float", "float32", "half", "float16", "bfloat16", "FloatTensor", "HalfTensor", "BFloat16Tensor"}
_CONTEXTS = {"autocast"}
_INSTEAD = "leave the dtype to the inputs and parameters"


def fixed_dtype(tree, root="Model"):
    """Returns the line and the text of a floating dtype that the forward of `root` or its helpers fix, or None.

    Parameters and inputs may have any dtype: constructors and the functions that only they call are not looked at.
    """
    modules = _names_of_torch(tree)
    for function in _reachable(tree, root):
        for node in ast.walk(function):
            if _fixes_dtype(node, modules):
                return node.lineno, ast.unparse(node), _INSTEAD
    return None


def _names_of_torch(tree):
    """Returns the names that the file has for the module torch."""
    imports = [name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    return {name.asname or "torch" for name in imports if name.name == "torch"}


def _fixes_dtype(node, modules):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _CASTS and not node.args:
            return True
        if node.func.attr in _CONTEXTS:
            return True
    return (isinstance(node, ast.Attribute) and node.attr in _DTYPES and isinstance(node.value, ast.Name)
            and node.value.id in modules)


def _reachable(tree, root):
    """Returns the functions that a call of `root` may run: its forward, and whatever has a name that these mention."""
    functions, classes = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.ClassDef):
            classes[node.name] = node
    found, seen, todo = [], set(), [root]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in classes:
            todo += _mentioned(classes[name])  # its parts, which its constructor names, and its bases
            found += [node for node in classes[name].body if isinstance(node, ast.FunctionDef) and
                      node.name in ("forward", "__call__")]
    todo = [name for function in found for name in _mentioned(function)]
    seen = {"__init__"}
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for function in functions.get(name, ()):
            found.append(function)
            todo += _mentioned(function)
    return found


def _mentioned(tree):
    names = [node.id if isinstance(node, ast.Name) else node.attr for node in ast.walk(tree)
             if isinstance(node, (ast.Name, ast.Attribute))]
    return sorted(set(names))
