"""Extents of tensors as texts: "rows", "2*cols", "cols//32", "(in+1)*out"."""
import ast
import functools
import itertools
import math
import re

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MARK = "n_"  # begins names in trees: "in" is a word of Python
_OPERATIONS = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b}


class NotApplicable(Exception):
    """An extent leaves a rest, or is below 0, at these sizes."""


def extents_of(text):
    """Returns the extents in "rows, cols". A scalar has none."""
    if not isinstance(text, str):
        raise ValueError(f"a shape is text such as 'rows,cols', and {text!r} is none")
    extents = tuple("".join(extent.split()) for extent in text.split(",")) if text.strip() else ()
    for extent in extents:
        names_of(extent)
    return extents


@functools.lru_cache(maxsize=None)
def _tree(text):
    try:
        tree = ast.parse(_NAME.sub(_MARK + r"\g<0>", text), mode="eval").body
    except SyntaxError:
        tree = None
    if not _is_extent(tree):
        raise ValueError(f"{text!r} is no extent: write a number, a name, or + - * // and parentheses over them")
    return tree


def _is_extent(tree):
    if isinstance(tree, ast.BinOp):
        return type(tree.op) in (*_OPERATIONS, ast.FloorDiv) and _is_extent(tree.left) and _is_extent(tree.right)
    return isinstance(tree, ast.Name) or isinstance(tree, ast.Constant) and type(tree.value) is int


def names_of(text):
    """Returns the names in an extent, in order. Raises ValueError for other text."""
    nodes = [node for node in ast.walk(_tree(text)) if isinstance(node, ast.Name)]
    return tuple(dict.fromkeys(node.id[len(_MARK):] for node in sorted(nodes, key=lambda node: node.col_offset)))


def has_limits(text):
    """Says whether some sizes may be none that the extent takes."""
    return any(isinstance(node, (ast.FloorDiv, ast.Sub)) for node in ast.walk(_tree(text)))


def value_of(text, sizes):
    """Returns the extent at these sizes. Raises NotApplicable."""
    value = _evaluate(_tree(text), text, sizes)
    if value < 0:
        raise NotApplicable(f"the extent '{text}' is below 0")
    return value


def _evaluate(tree, text, sizes):
    if isinstance(tree, ast.Constant):
        return tree.value
    if isinstance(tree, ast.Name):
        return sizes[tree.id[len(_MARK):]]
    left, right = _evaluate(tree.left, text, sizes), _evaluate(tree.right, text, sizes)
    if not isinstance(tree.op, ast.FloorDiv):
        return _OPERATIONS[type(tree.op)](left, right)
    if right == 0 or left % right:
        raise NotApplicable(f"the extent '{text}' leaves a rest")
    return left // right


def shape_of(extents, sizes):
    """Returns the shape at these sizes."""
    return tuple(value_of(extent, sizes) for extent in extents)


class Ambiguous(Exception):
    """Several names explain an extent."""


def explained(values, places):
    """Returns the text of an extent that has these values where names have these sizes, or None.

    values  one number for each place
    places  dicts of sizes. A name that has other sizes in another place is preferred to a number
    """
    names = list(places[0])
    first = values[0]

    def holds(of):
        return all(of(place) == value for place, value in zip(places, values))

    found = [name for name in names if holds(lambda place, name=name: place[name])]
    if len(found) > 1 and any(value != first for value in values):
        raise Ambiguous(" or ".join(found))
    if found:
        return found[0]
    if all(value == first for value in values):
        return str(first)
    for count in (2, 3):
        for chosen in itertools.combinations(names, count):
            if holds(lambda place, chosen=chosen: math.prod(place[name] for name in chosen)):
                return "*".join(chosen)
    for chosen in itertools.combinations(names, 2):
        if holds(lambda place, chosen=chosen: sum(place[name] for name in chosen)):
            return "+".join(chosen)
    return _near_one_name(names, first, places, holds)


def _near_one_name(names, first, places, holds):
    """Finds "2*cols", "cols+1", "cols-1" and "cols//2"."""
    for name in names:
        size = places[0][name]
        if first % size == 0 and holds(lambda place: place[name] * (first // size)):
            return f"{first // size}*{name}"
        if holds(lambda place: place[name] + first - size):
            return f"{name}{first - size:+d}"
        if first and size % first == 0 and holds(lambda place: place[name] / (size // first)):
            return f"{name}//{size // first}"
    return None
