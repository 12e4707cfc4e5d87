"""No program of the build tree loads a library from where anybody can put one."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import run_paths

ASSAY = os.environ["ASSAY"]
BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])


class RunPaths(unittest.TestCase):
    def test_every_program_and_module_names_safe_folders_alone(self):
        programs = run_paths.programs_below(BUILD)
        self.assertIn(pathlib.Path(ASSAY).resolve(), [program.resolve() for program in programs])
        for program in programs:
            with self.subTest(program=program.relative_to(BUILD)):
                self.assertEqual(run_paths.problems(run_paths.run_path(program), program), [])

    def test_a_library_in_the_current_directory_is_not_loaded(self):
        with tempfile.TemporaryDirectory(prefix="assay-planted-") as folder:
            needed = [line.split()[0] for line in subprocess.run(["ldd", ASSAY], check=True, capture_output=True,
                                                                 text=True).stdout.splitlines() if "=> /" in line]
            for name in needed:
                pathlib.Path(folder, name).write_text("no library", encoding="ascii")
            bare = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
            done = subprocess.run([ASSAY, "--version"], cwd=folder, env=bare, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_unsafe_entries_are_told_from_safe_ones(self):
        for entries, is_wrong in (([], False), (["$ORIGIN/../lib"], False), (["/usr/lib"], False), (["/usr/lib", ""], True),
                                  (["lib"], True), (["$ORIGIN", "./lib"], True), (["/tmp"], True), (["/tmp/nowhere/lib"], True)):
            with self.subTest(entries=entries):
                found = run_paths.problems(entries, "/usr/bin/env")
                self.assertEqual(bool(found), is_wrong, found)


if __name__ == "__main__":
    unittest.main()
