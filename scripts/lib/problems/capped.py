"""Texts of problems with smaller sizes: the whole numbers among a module's constants, up to a largest one."""
import ast


def capped(text, largest):
    """Returns the text with each whole number in the constants of its module at most `largest`. Lines stay."""
    lines = text.splitlines(keepends=True)
    numbers = [number for statement in ast.parse(text).body if isinstance(statement, ast.Assign)
               for number in _numbers(statement.value) if number.value > largest]
    for number in sorted(numbers, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        line = lines[number.lineno - 1].encode()  # columns count bytes
        changed = line[:number.col_offset] + str(largest).encode() + line[number.end_col_offset:]
        lines[number.lineno - 1] = changed.decode()
    return "".join(lines)


def _numbers(value):
    """Yields the whole numbers of a constant: a number, or numbers in tuples, lists and arithmetic."""
    if isinstance(value, ast.Constant) and type(value.value) is int:
        yield value
    elif isinstance(value, (ast.Tuple, ast.List)):
        for item in value.elts:
            yield from _numbers(item)
    elif isinstance(value, ast.BinOp):
        yield from _numbers(value.left)
        yield from _numbers(value.right)
