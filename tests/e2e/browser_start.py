"""Runs a test or a script that needs a browser with the Python that can drive one: browser_start.py [--require] ARGUMENT...

Exits 77 where there is none and says what is missing; with --require that is a failure.
"""
import os
import shutil
import subprocess
import sys

SKIPPED = 77


def python_with_selenium():
    """Distributions give selenium to their own Python, which need not be the first in PATH."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import selenium.webdriver"],
                                                     stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return None


def chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def main(arguments):
    is_required = arguments[:1] == ["--require"]
    python = python_with_selenium()
    found = {"Chromium (Debian: chromium)": chromium(), "its driver (chromium-driver)": shutil.which("chromedriver"),
             "selenium for Python (python3-selenium)": python}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        print(f"{'failed' if is_required else 'skipped'}: there is no {', no '.join(missing)}", file=sys.stderr)
        return 1 if is_required else SKIPPED
    os.execv(python, [python, *arguments[is_required:]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
