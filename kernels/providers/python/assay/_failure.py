"""Texts of failures: one line, with the place in the user's file."""
import os
import traceback

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_MAX_CHARACTERS = 500


def one_line(text):
    text = " ".join(text.split())
    return text if len(text) <= _MAX_CHARACTERS else text[:_MAX_CHARACTERS - 1] + "…"


def place(error, source):
    """Returns " (mine.py:12 in softmax)": the innermost frame in the file `source`, else the innermost that is not
    ours."""
    frames = traceback.extract_tb(error.__traceback__)
    of_source = [frame for frame in frames if os.path.abspath(frame.filename) == source]
    others = [frame for frame in frames if not os.path.abspath(frame.filename).startswith((_PACKAGE + os.sep, "/<"))
              and not frame.filename.startswith("<")]
    for frame in reversed(of_source or others):
        where = "" if frame.name == "<module>" else f" in {frame.name}"
        return f" ({os.path.basename(frame.filename)}:{frame.lineno}{where})"
    return ""


def text_of(error, source):
    """Returns "ValueError: shapes differ (mine.py:12 in softmax)"."""
    return one_line("".join(traceback.format_exception_only(type(error), error))) + place(error, source)


def is_out_of_memory(error):
    """True for MemoryError, and for what PyTorch raises for a GPU and for the host."""
    if isinstance(error, MemoryError) or any(t.__name__ == "OutOfMemoryError" for t in type(error).__mro__):
        return True
    return isinstance(error, RuntimeError) and "DefaultCPUAllocator: " in str(error)
