"""scripts/lib/setup.sh: what is too old, and when a build is configured again."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lib" / "setup.sh"

# A machine whose packages are the lines of the file `here`, and a CMake that writes what Ninja needs.
MACHINE = """
source {setup}
assay_missing() {{ assay_needs | grep -vxFf here || true; }}
cmake() {{
  [[ $1 != --build ]] || return 0
  echo "configured $1" >>steps
  mkdir -p build/release
  touch build/release/build.ninja
}}
ninja() {{ echo 'ninja: no work to do.'; }}
assay_build "$PWD" release program
"""
NEEDS = subprocess.run(["bash", "-c", f"source {SETUP}; assay_needs"], capture_output=True, text=True,
                       check=True).stdout.splitlines()


class Configuring(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="assay-setup-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "CMakePresets.json").touch()

    def steps_with(self, here):
        """Builds on a machine that has these packages; returns how often it was configured so far."""
        (self.folder / "here").write_text("".join(line + "\n" for line in here), encoding="utf-8")
        subprocess.run(["bash", "-c", MACHINE.format(setup=SETUP)], cwd=self.folder, check=True, capture_output=True)
        self.steps = (self.folder / "steps").read_text(encoding="utf-8").splitlines()
        return len(self.steps)

    def test_again_for_each_library_that_came_later(self):
        mpi, benchmark = (next(row for row in NEEDS if name in row) for name in ("libopenmpi-dev", "libbenchmark-dev"))
        others = [row for row in NEEDS if row not in (mpi, benchmark)]
        self.assertEqual(self.steps_with(others), 1)
        self.assertEqual(self.steps_with(others), 1, "nothing has come")
        self.assertEqual(self.steps_with([*others, benchmark]), 2)
        self.assertEqual(self.steps_with([*others, benchmark]), 2)
        self.assertEqual(self.steps_with([*others, benchmark, mpi]), 3)
        self.assertEqual(self.steps_with([*others, benchmark, mpi]), 3)
        self.assertEqual(self.steps, ["configured --preset", *["configured build/release"] * 2])

    def test_of_a_build_made_by_hand_keeps_its_options(self):
        """What `cmake --preset release -DASSAY_CUDA=OFF` has set, the preset would undo."""
        (self.folder / "build" / "release").mkdir(parents=True)
        (self.folder / "build" / "release" / "build.ninja").touch()
        self.assertEqual(self.steps_with(NEEDS), 1)
        self.assertEqual(self.steps, ["configured build/release"])


class Versions(unittest.TestCase):
    def complaint(self, compiler, cmake, **environment):
        """What is said of a machine with these programs."""
        with tempfile.TemporaryDirectory(prefix="assay-setup-") as folder:
            for name, text in {"g++": compiler, "cmake": cmake}.items():
                program = pathlib.Path(folder, name)
                program.write_text(f"#!/bin/sh\necho '{text}'\n", encoding="utf-8")
                program.chmod(0o755)
            script = f"set -euo pipefail; source {SETUP}; assay_missing() {{ :; }}; assay_setup build"
            machine = {"PATH": f"{folder}:{os.environ['PATH']}", **environment}
            done = subprocess.run(["bash", "-c", script], env=machine, text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 1 if done.stderr else 0)
            return done.stderr

    def test_those_that_are_new_enough_are_not_spoken_of(self):
        for compiler in ("g++ (Debian 12.2.0-14) 12.2.0", "g++ (GCC) 12.0.1", "g++ (Ubuntu 13.2.0-23ubuntu4) 13.2.0"):
            for cmake in ("cmake version 3.25.1", "cmake version 4.0.0", "cmake version 3.31.6-g1"):
                with self.subTest(compiler=compiler, cmake=cmake):
                    self.assertEqual(self.complaint(compiler, cmake), "")

    def test_a_sentence_for_each_that_is_too_old(self):
        said = self.complaint("g++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", "cmake version 3.22.1")
        self.assertIn("g++ is 11.4.0, and 12 or newer is needed: install g++-12 and start again with CXX=g++-12", said)
        self.assertIn("cmake is 3.22.1, and 3.25 or newer is needed: install a newer one: python3 -m pip install cmake", said)
        self.assertIn("cmake is 3.9.0,", self.complaint("g++ (GCC) 12.1.0", "cmake version 3.9.0"))

    def test_another_processor_is_refused_first(self):
        with tempfile.TemporaryDirectory(prefix="assay-setup-") as folder:
            uname = pathlib.Path(folder, "uname")
            uname.write_text("#!/bin/sh\necho aarch64\n", encoding="utf-8")
            uname.chmod(0o755)
            done = subprocess.run(["bash", "-c", f"source {SETUP}; assay_missing() {{ exit 9; }}; assay_setup build"], text=True,
                                  env={"PATH": f"{folder}:{os.environ['PATH']}"}, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "assay: Assay is for x86-64 alone, and this machine is aarch64\n"))

    def test_the_compiler_that_is_named_counts(self):
        with tempfile.TemporaryDirectory(prefix="assay-setup-") as folder:
            named = pathlib.Path(folder, "g++-12")
            named.write_text("#!/bin/sh\necho 'g++-12 (Ubuntu 12.3.0) 12.3.0'\n", encoding="utf-8")
            named.chmod(0o755)
            self.assertEqual(self.complaint("g++ (GCC) 11.4.0", "cmake version 3.25.1", CXX=str(named)), "")


if __name__ == "__main__":
    unittest.main()
