"""Prints the oldest C and C++ libraries with which the programs below a folder run: needed_versions.py FOLDER.

A newer library runs what was linked with an older one, so what counts is the newest version that a symbol asks for.
"""
import pathlib
import re
import subprocess
import sys

LIBRARIES = {"glibc": "GLIBC", "libstdc++": "GLIBCXX"}


def is_elf(file):
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"


def needed(files):
    """Returns the versions as tuples of numbers, by the library's name."""
    programs = [file for file in files if is_elf(file)]
    if not programs:
        raise SystemExit("needed_versions: there is no program and no library")
    symbols = subprocess.run(["objdump", "-T", *programs], check=True, capture_output=True, text=True).stdout
    versions = {}
    for library, word in LIBRARIES.items():
        found = re.findall(rf"\b{word}_(\d+(?:\.\d+)+)", symbols)
        if found:  # else it is linked into them
            versions[library] = max(tuple(map(int, text.split("."))) for text in found)
    if "glibc" not in versions:
        raise SystemExit("needed_versions: no symbol of glibc has a version")
    return versions


def text(version):
    return ".".join(map(str, version))


def main(folder):
    files = [file for file in pathlib.Path(folder).rglob("*") if file.is_file() and not file.is_symlink()]
    versions = needed(files)
    print(f"needs glibc {text(versions['glibc'])} and libstdc++ with GLIBCXX_{text(versions['libstdc++'])}, or newer")


if __name__ == "__main__":
    main(*sys.argv[1:])
