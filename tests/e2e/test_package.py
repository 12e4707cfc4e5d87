"""The archive: unpacked anywhere, it runs with what it brought along and what every machine has."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import run_paths

BUILD = os.environ["ASSAY_BUILD"]
# The C library, the C++ library and what belongs to them are the machine's own.
OF_THE_MACHINE = re.compile(r"^(linux-vdso|/lib64/ld-linux|lib(c|m|mvec|dl|rt|pthread|stdc\+\+|gcc_s)\.so)")


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="assay-package-")
        cls.addClassCleanup(cls.temporary.cleanup)
        first = pathlib.Path(cls.temporary.name) / "installed"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", first], check=True, capture_output=True, text=True)
        cls.root = pathlib.Path(cls.temporary.name) / "moved elsewhere"
        first.rename(cls.root)

    def run_bare(self, *arguments, expect=0):
        """With an empty environment and from another folder."""
        result = subprocess.run(["env", "-i", "HOME=/nonexistent", *map(str, arguments)], cwd="/tmp", text=True, timeout=1500,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual(result.returncode, expect, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result.stdout

    def test_each_program_finds_its_libraries_in_the_archive(self):
        programs = sorted((self.root / "bin").iterdir()) + sorted((self.root / "lib").rglob("*.so*"))
        emulator = sorted((self.root / "emulator").rglob("emulate-gpu")) + sorted((self.root / "emulator").rglob("*.so*"))
        self.assertIn(self.root / "bin/assay", programs)
        for program in programs:
            if program.name == "launcher_mpi.so":
                continue  # of whatever MPI library the launcher is of, which has to be there
            lines = self.run_bare("ldd", program).splitlines()
            for line in lines:
                if OF_THE_MACHINE.match(line.strip()) or "statically linked" in line:
                    continue
                if program.parent.name == "bin":
                    self.assertIn(str(self.root), line, f"{program}: {line}")
                self.assertTrue(line.split()[0] in os.listdir(self.root / "lib"), f"{program}: {line}")
        for program in emulator:
            for line in self.run_bare("ldd", program).splitlines():
                if not OF_THE_MACHINE.match(line.strip()) and "statically linked" not in line:
                    self.assertIn(str(self.root), line, f"{program}: {line}")

    def test_each_program_looks_in_the_archive_alone(self):
        for program in run_paths.programs_below(self.root):
            entries = run_paths.run_path(program)
            self.assertEqual(run_paths.problems(entries, program), [], program)
            if program.parent == self.root / "bin":
                self.assertEqual(entries, ["$ORIGIN/../lib"], program)
            else:
                self.assertEqual([entry for entry in entries if not entry.startswith("$ORIGIN")], [], program)

    def test_it_runs(self):
        out = pathlib.Path(self.temporary.name) / "run"
        self.run_bare(self.root / "bin/assay", "run", "--profile", "seeds", "--device", "cpu", "--check-only", "--out", out)
        self.assertGreater(len((out / "results.csv").read_text(encoding="utf-8").splitlines()), 1000)

    def test_it_brings_the_libraries_that_are_kernels(self):
        for word, case in (("onednn", "tensor_ops/add/f32/n=3"), ("openblas", "tensor_ops/dot/f32/n=3")):
            self.run_bare(self.root / "bin/assay", "run", "--kernels", word, "--device", "cpu", "--check-only", "--case", case,
                          "--out", pathlib.Path(self.temporary.name) / word)

    def test_its_adapters_run(self):
        if not (self.root / "bin/assay_gbench").exists():
            self.skipTest("built without Google Benchmark")
        case = ("--device", "cpu", "--profile", "seeds", "--case", "tensor_ops/add/f32/n=3")
        self.assertIn("[  PASSED  ] 1 test.", self.run_bare(self.root / "bin/assay_gtest", *case))
        timed = json.loads(self.run_bare(self.root / "bin/assay_gbench", *case, "--benchmark_format=json"))
        self.assertGreater(timed["benchmarks"][0]["real_time"], 0)

    def test_its_tests_run(self):
        tests = sorted((self.root / "bin").glob("*_test"))
        self.assertTrue(tests)
        shard = ("GTEST_TOTAL_SHARDS=40", "GTEST_SHARD_INDEX=0")  # that they run here is the question, not all of them
        for test in tests:
            self.assertIn("[  PASSED  ]", self.run_bare(*shard, test, "--gtest_brief=1"))

    def test_the_cuda_module_is_loaded_from_it(self):
        if not (self.root / "lib/assay/assay_cuda.so").exists():
            self.skipTest("built without the CUDA backend")
        output = self.run_bare(self.root / "bin/assay", "devices")
        self.assertNotIn("not loaded", output)
        self.assertNotIn("assay_cuda.so sought", output)

    def test_it_brings_the_script_for_hosts_with_gpus(self):
        out = pathlib.Path(self.temporary.name) / "evidence"
        output = self.run_bare("CUDA_VISIBLE_DEVICES=-1", sys.executable, self.root / "scripts/gpu-evidence", "--out", out, expect=3)
        self.assertIn(f"{self.root}/bin/assay' devices", output)
        self.assertIn("Assay sees no NVIDIA GPU", output)


if __name__ == "__main__":
    unittest.main()
