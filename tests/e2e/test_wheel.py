"""The wheel: pip installs it without a network, its commands are the program, and pip removes all of it."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

from test_python_kernels import python_with

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASE = ("--device", "cpu", "--check-only", "--case", "tensor_ops/add/f32/n=3")
ADD = """import sys
import assay, numpy

assay.provider("of " + sys.prefix)

@assay.kernel("add", dtypes=["f32"])
def add(a, b, *, out):
    numpy.{}(a, b, out=out)
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="assay-wheel-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.wheels = cls.folder / "wheels"
        cls.wheels.mkdir()
        installed = cls.folder / "installed"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", installed], check=True, capture_output=True)
        # Stands for the CUDA module on a host with eight GPUs, whatever this build and this machine have.
        shutil.copy(BUILD / "tests/modules/gpus/assay_eight_gpus.so", installed / "lib/assay/assay_cuda.so")
        subprocess.run([sys.executable, ROOT / "scripts/lib/pack_wheel.py", installed, cls.wheels], check=True,
                       capture_output=True)
        cls.environment = cls.folder / "an environment"
        python = python_with("numpy, ensurepip")
        if python is None:
            raise AssertionError("no Python here has NumPy and ensurepip: install Debian's python3-numpy and python3-venv")
        subprocess.run([python, "-m", "venv", "--system-site-packages", cls.environment], check=True, capture_output=True)
        cls.files_before = cls.files()

    def setUp(self):
        self.pip("install", "--no-deps", next(self.wheels.glob("assay-*.whl")))
        self.addCleanup(self.pip, "uninstall", "--yes", "assay", "assay-cuda")

    @classmethod
    def files(cls):
        return sorted(str(path.relative_to(cls.environment)) for path in cls.environment.rglob("*"))

    @classmethod
    def words(cls, program, *arguments):
        """A command with an empty environment: nothing but its path tells the environment."""
        return ["env", "-i", "HOME=/nonexistent", "PATH=/usr/bin:/bin", f"ASSAY_LOCK_DIR={cls.folder}/locks",
                str(cls.environment / "bin" / program), *map(str, arguments)]

    def command(self, program, *arguments, expect=0):
        result = subprocess.run(self.words(program, *arguments), cwd=self.folder, text=True, timeout=1500,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual(result.returncode, expect, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result.stdout + result.stderr

    def pip(self, *arguments):
        offline = ("--no-index", "--no-cache-dir", "--find-links", self.wheels) if arguments[0] == "install" else ()
        return self.command("python", "-B", "-m", "pip", "--disable-pip-version-check", *arguments, *offline)

    def program(self):
        return next(self.environment.glob("lib/python*/site-packages/assay/_program/bin/assay"))

    def test_its_record_names_each_file_with_its_hash(self):
        for path in self.wheels.iterdir():
            with zipfile.ZipFile(path) as wheel:
                names = wheel.namelist()
                record = next(name for name in names if name.endswith("/RECORD"))
                rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))
                self.assertEqual([row[0] for row in rows], names)
                for name, digest, size in rows:
                    data = wheel.read(name)
                    sha256 = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual([digest, size], ["", ""] if name == record else [f"sha256={sha256}", str(len(data))])

    def test_its_name_holds_the_glibc_that_it_needs(self):
        folder = self.folder / "unpacked"
        asked = set()
        for wheel in self.wheels.glob("*.whl"):
            with zipfile.ZipFile(wheel) as packed:
                packed.extractall(folder)
        for file in folder.rglob("*"):
            if file.is_file() and file.read_bytes()[:4] == b"\x7fELF":
                versions = subprocess.run(["readelf", "--version-info", file], check=True, capture_output=True, text=True).stdout
                asked |= {int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", versions)}
        for wheel in self.wheels.glob("*.whl"):
            self.assertIn(f"manylinux_2_{max(asked)}_x86_64", wheel.name)

    def test_it_holds_no_tests_and_no_second_copy_of_a_library(self):
        with zipfile.ZipFile(next(self.wheels.glob("assay-*.whl"))) as wheel:
            names = {entry.filename: entry.CRC for entry in wheel.infolist()}
        self.assertEqual([name for name in names if name.endswith("_test")], [])
        libraries = [checksum for name, checksum in names.items() if ".so" in name]
        self.assertEqual(len(libraries), len(set(libraries)), names)

    def test_it_runs_the_seeds(self):
        self.assertRegex(self.command("assay", "--version"), r"^assay \d+\.\d+\.\d+ ")
        self.assertIn("PASSED: ", self.command("assay", "run", "--profile", "seeds", "--check-only", "--device", "cpu"))

    def test_a_kernel_in_python_runs_in_the_environments_python(self):
        for function, expect in (("add", 0), ("subtract", 1)):
            (self.folder / "mine.py").write_text(ADD.format(function), encoding="utf-8")
            self.command("assay", "run", "--kernels", "mine.py", *CASE, "--out", function, expect=expect)
            with open(self.folder / function / "results.csv", newline="", encoding="utf-8") as text:
                row, = csv.DictReader(text)
            self.assertEqual(row["status"], "fail" if expect else "pass")
            self.assertTrue(row["implementation"].startswith(f"of {self.environment}"), row["implementation"])

    def test_another_python_can_be_named(self):
        (self.folder / "mine.py").write_text(ADD.format("add"), encoding="utf-8")
        error = self.command("assay", "run", "--kernels", "mine.py", "--python", "/nonexistent/python", *CASE, expect=2)
        self.assertIn("--python: there is no program '/nonexistent/python'", error)

    def test_the_package_declares_kernels_and_ops(self):
        for line in ("kernel('add')", "op(['n', 'n'], sizes={'n': 8})"):
            self.assertIn("add\n", self.command("python", "-c", f"import assay\n@assay.{line}\ndef add(a, b): pass\n"
                                                "print(add.__name__)"))

    def test_a_command_is_the_program(self):
        self.assertIn("--no-such", self.command("assay", "run", "--no-such", expect=2))
        process = subprocess.Popen(self.words("assay", "run", "--device", "cpu", "--check-only", "--out", "interrupted"),
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while process.poll() is None and not (self.folder / "interrupted" / "results.csv").exists():
            time.sleep(0.05)
        self.assertEqual(pathlib.Path(f"/proc/{process.pid}/exe").resolve(), self.program())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 4)  # the program ended in order; Python would have died of it
        self.assertIn("interrupted", (self.folder / "interrupted" / "run.json").read_text(encoding="utf-8"))

    def test_a_program_that_cannot_start_is_no_wrong_result(self):
        self.program().chmod(0o644)
        self.assertIn("cannot start", self.command("assay", "devices", expect=4))

    def test_its_adapters_run(self):
        if not (BUILD / "bin/assay_gbench").exists():
            self.skipTest("built without Google Benchmark")
        case = ("--device", "cpu", "--case", "tensor_ops/add/f32/n=3")
        self.assertIn("[  PASSED  ] 1 test.", self.command("assay_gtest", *case))
        self.assertIn("tensor_ops/add/f32/n=3", self.command("assay_gbench", *case))

    def test_the_extra_brings_the_cuda_module(self):
        self.assertNotIn("cuda:7", self.command("assay", "devices"))
        self.pip("install", "assay[cuda]")
        self.assertIn("cuda:7", self.command("assay", "devices"))

    def test_uninstalling_leaves_nothing(self):
        (self.folder / "mine.py").write_text(ADD.format("add"), encoding="utf-8")
        for names in (("assay", "assay-cuda"), ("assay-cuda", "assay")):
            self.pip("install", "assay[cuda]")
            self.assertNotEqual(self.files(), self.files_before)
            self.command("assay", "run", "--kernels", "mine.py", *CASE)
            self.pip("uninstall", "--yes", *names)
            self.assertEqual(self.files(), self.files_before)


if __name__ == "__main__":
    unittest.main()
