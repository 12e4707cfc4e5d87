"""The wheel of the emulator: with nothing else pip installs it, it runs a program, and pip removes all of it."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from test_python_kernels import python_with

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = BUILD / "emulator/ptx/program_plain"


class EmulatorWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="emulator-wheel-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        installed, wheels = cls.folder / "installed", cls.folder / "wheels"
        wheels.mkdir()
        subprocess.run(["cmake", "--install", BUILD / "emulator", "--prefix", installed], check=True, capture_output=True)
        subprocess.run([sys.executable, ROOT / "scripts/lib/pack_wheel.py", installed / "emulator", wheels], check=True,
                       capture_output=True)
        cls.wheel, = wheels.iterdir()
        cls.environment = cls.folder / "an environment"
        python = python_with("ensurepip")
        if python is None:
            raise AssertionError("no Python here has ensurepip: install Debian's python3-venv")
        subprocess.run([python, "-m", "venv", cls.environment], check=True, capture_output=True)

    def files(self):
        return sorted(str(path.relative_to(self.environment)) for path in self.environment.rglob("*"))

    def command(self, program, *arguments, expect=0):
        """With an empty environment, from a folder that has nothing of ours."""
        words = ["env", "-i", "HOME=/nonexistent", "PATH=/usr/bin:/bin", self.environment / "bin" / program, *arguments]
        result = subprocess.run(list(map(str, words)), cwd="/", text=True, timeout=300, stdin=subprocess.DEVNULL,
                                capture_output=True, check=False)
        self.assertEqual(result.returncode, expect, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result.stdout + result.stderr

    def pip(self, *arguments):
        self.command("python", "-B", "-m", "pip", "--disable-pip-version-check", *arguments)

    def test_its_program_is_the_emulator_and_nothing_is_left_of_it(self):
        before = self.files()
        self.pip("install", "--no-index", "--no-cache-dir", self.wheel)
        self.assertIn("1998", self.command("emulate-gpu", PROGRAM))
        self.assertRegex(self.command("emulate-gpu", PROGRAM, "race", expect=86), r"reverse\(.*program\.cu:15, ")
        self.assertRegex(self.command("emulate-gpu", "--version"), r"^emulate-gpu \d+\.\d+")
        self.pip("uninstall", "--yes", "emulate-gpu")
        self.assertEqual(before, self.files())

    def test_it_holds_nothing_of_assay_and_names_its_glibc(self):
        asked = set()
        with zipfile.ZipFile(self.wheel) as packed:
            names = packed.namelist()
            packed.extractall(self.folder / "unpacked")
        self.assertEqual([], [name for name in names if not re.match(r"emulate_gpu(/|-[^/]+\.dist-info/)", name)])
        for file in (self.folder / "unpacked").rglob("*"):
            if file.is_file() and file.read_bytes()[:4] == b"\x7fELF":
                versions = subprocess.run(["readelf", "--version-info", file], check=True, capture_output=True, text=True).stdout
                asked |= {int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", versions)}
        self.assertIn(f"manylinux_2_{max(asked)}_x86_64", self.wheel.name)


if __name__ == "__main__":
    unittest.main()
