"""Where the loader looks for the libraries of a program: https://man7.org/linux/man-pages/man8/ld.so.8.html"""
import pathlib
import re
import stat
import subprocess

ELF = b"\x7fELF"
LOADED = (2, 3)  # ET_EXEC, ET_DYN: not object files


def is_loaded(file):
    with open(file, "rb") as binary:
        head = binary.read(18)
    return head[:4] == ELF and int.from_bytes(head[16:18], "little") in LOADED


def programs_below(folder):
    """Programs and modules, without what CMake compiled to try its compiler."""
    files = (path for path in pathlib.Path(folder).rglob("*") if path.is_file() and "CMakeFiles" not in path.parts)
    return sorted(path for path in files if is_loaded(path))


def run_path(program):
    """The entries, the empty ones too."""
    dynamic = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True).stdout
    return [entry for path in re.findall(r"Library r(?:un)?path: \[(.*)\]", dynamic) for entry in path.split(":")]


def may_be_planted(folder):
    """Whether anybody can write there, or make the folder where it is missing."""
    for place in (folder, *folder.parents):
        if not place.exists():
            continue
        mode = place.stat().st_mode
        is_open = bool(mode & stat.S_IWOTH)
        # In a sticky folder nobody replaces what is another's; what is not there can be made.
        safe_parent = place != folder and mode & stat.S_ISVTX and folder.exists()
        if is_open and not safe_parent:
            return True
    return False


def problems(entries, program):
    """Why somebody else could choose a library of the program, for each entry of its run path that lets him."""
    found = []
    for entry in entries:
        place = pathlib.Path(entry.replace("$ORIGIN", str(pathlib.Path(program).parent)))
        if not entry:
            found.append("an empty entry, which is the current directory")
        elif not place.is_absolute():
            found.append(f"the relative entry '{entry}'")
        elif may_be_planted(place):
            found.append(f"the entry '{entry}', where anybody can write")
    return found
