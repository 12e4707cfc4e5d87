"""The commands of README.md and docs/: their options exist, their selections select something, their scripts are there."""
import os
import pathlib
import re
import shlex
import subprocess
import unittest

from support import ASSAY, AssayTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNKNOWN = "--no-such-option"
FILES = {"--kernels", "--resume", "--expected"}  # their values stand for the reader's


def commands(beginning):
    """(page, words) of each command line in the code blocks that begins so."""
    found = []
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in re.findall(r"^```\w*\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                line = re.sub(r"^(\$ )?(mpirun -np \d+ |srun -n \d+ )?(\w+=\S+ )*", "", line)
                if re.match(beginning, line):
                    words = shlex.split(re.sub(r"\s+#.*| && .*| 2?>.*", "", line))
                    found.append((page.relative_to(ROOT), words))
    return found


class Commands(AssayTest):
    def test_their_options_exist(self):
        """An unknown option at the end is the first that the program knows nothing of."""
        found = commands("assay [a-z]")
        self.assertGreater(len(found), 60)
        for page, words in found:
            with self.subTest(page=str(page), command=shlex.join(words)):
                end = words.index("--") if "--" in words else len(words)
                said = self.assay(*words[1:end], UNKNOWN, *words[end:], expect=2).stderr
                self.assertIn(f"'{UNKNOWN}'", said)

    def options(self, command):
        """The options of a command, each with whether it takes a value."""
        found = re.findall(r"^ +(?:-\w,)?(--[a-z-]+)(?: ([A-Z]\S*))?", self.assay(command, "--help").stdout, re.MULTILINE)
        return {name: value not in ("", "Excludes:") for name, value in found}

    def selection(self, words):
        """The words of `assay run` that `assay list` takes too; None where they need the reader's files."""
        if FILES & set(words):
            return None
        kept, left, known, of_run = [], list(words), self.options("list"), self.options("run")
        while left:
            word = left.pop(0)
            if word in known or not word.startswith("--"):
                kept.append(word)
            elif of_run[word]:
                left.pop(0)
        return kept

    def test_their_selections_select_something(self):
        chosen = [(page, self.selection(words[2:])) for page, words in commands("assay [a-z]") if words[1] in ("run", "list")]
        chosen = [(page, words) for page, words in chosen if words is not None]
        self.assertGreater(len(chosen), 20)
        for page, words in chosen:
            with self.subTest(page=str(page), selection=shlex.join(words)):
                may_lack = re.search(r"cuda|mpi|numa:1", shlex.join(words))  # devices that may not be here
                done = subprocess.run([ASSAY, "list", *words], cwd=self.folder, capture_output=True, text=True, timeout=60)
                self.assertIn(done.returncode, (0, 3) if may_lack else (0,), done.stderr)

    def test_scripts_that_build_explain_themselves_first(self):
        for script in ("run", "test", "package", "wheel"):
            done = subprocess.run([ROOT / "scripts" / script, "--help"], capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("builds" if script in ("run", "test") else f"scripts/{script} [", done.stdout.lower())

    def test_their_scripts_are_there(self):
        found = commands("scripts/")
        self.assertGreater(len(found), 10)
        for page, words in found:
            with self.subTest(page=str(page), script=words[0]):
                self.assertTrue(os.access(ROOT / words[0], os.X_OK))


if __name__ == "__main__":
    unittest.main()
