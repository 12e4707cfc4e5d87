"""scripts/lib/setup.sh: when a build is configured again."""
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


if __name__ == "__main__":
    unittest.main()
