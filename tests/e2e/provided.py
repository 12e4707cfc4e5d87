"""Runs of the kernels that come with Assay, those of PyTorch and NumPy, by a Python that has these."""
import pathlib
import shutil
import subprocess

from support import ASSAY, AssayTest

PACKAGES = {"torch": "python3-torch", "numpy": "python3-numpy"}


def known_of(word):
    """The list of known failures beside these kernels."""
    return pathlib.Path(ASSAY).parent.parent / "lib" / "assay" / "python" / "assay" / f"known_{word}.csv"


def python_with(module):
    """A Python that has the module, the distribution's first, or None."""
    for python in ("/usr/bin/python3", "python3"):
        command = [python, "-c", f"import {module}"]
        if shutil.which(python) and subprocess.run(command, capture_output=True).returncode == 0:
            return python
    return None


class Provided(AssayTest):
    def run_with(self, word, *options, device="cpu", expect=0, out="out"):
        """Runs the kernels of that word, and returns the rows that are no skip."""
        python = python_with(word)
        if python is None:
            self.skipTest(f"no Python here has {word}: install Debian's {PACKAGES[word]}")
        self.assay("run", "--kernels", word, "--python", python, "--device", device, "--check-only", *options,
                   "--out", out, expect=expect)
        rows = [row for row in self.rows(out) if row["status"] != "skip"]
        self.assertTrue(rows)
        return rows
