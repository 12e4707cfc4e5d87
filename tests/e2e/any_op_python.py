"""Starts a test again by a Python that has NumPy, the distribution's, where this one has none."""
import os
import sys

SYSTEM_PYTHON = "/usr/bin/python3"

try:
    import numpy  # noqa: F401  # pylint: disable=unused-import
except ModuleNotFoundError:
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM_PYTHON) or not os.path.exists(SYSTEM_PYTHON):
        sys.exit("this test needs NumPy: install Debian's python3-numpy")
    os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-m", "unittest", *sys.argv[1:]])
