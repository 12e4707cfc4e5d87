"""What the end-to-end tests share: the program, and a folder for each test."""
import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

ASSAY = os.environ["ASSAY"]
ABSENT = "cuda:4095"  # a GPU that no machine has


def children_of(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def is_gone(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def whole_rows(text):
    """The bytes of a CSV file up to its last line end outside quotes."""
    end, quoted = 0, False
    for at, byte in enumerate(text):
        quoted ^= byte == ord('"')
        if byte == ord("\n") and not quoted:
            end = at + 1
    return text[:end]


class AssayTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="assay-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Tests run side by side, each on a machine of its own as far as locks go.
        os.environ["ASSAY_LOCK_DIR"] = str(self.folder / "locks")

    def use_module(self, folder):
        """Lets the program load the test module in this folder of the build tree."""
        modules = pathlib.Path(os.environ["ASSAY_BUILD"], "tests", "modules", folder)
        if not modules.is_dir():
            self.skipTest("the build tree is not here")
        environment = unittest.mock.patch.dict(os.environ, ASSAY_BACKEND_PATH=str(modules))
        environment.start()
        self.addCleanup(environment.stop)

    def assay(self, *arguments, expect=0, **options):
        """Runs the program in the test's folder and demands its exit code."""
        result = subprocess.run([ASSAY, *map(str, arguments)], cwd=self.folder, text=True, timeout=1500,
                                stdin=subprocess.DEVNULL, capture_output=True, **options)
        self.assertEqual(result.returncode, expect, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def rows(self, out, file="results.csv"):
        with open(self.folder / out / file, newline="", encoding="utf-8") as text:
            return list(csv.DictReader(text, strict=True))

    def rows_so_far(self, out, file="results.csv"):
        """The whole rows of a run that is still writing, or was killed: the last row may be torn, between two pages."""
        text = whole_rows((self.folder / out / file).read_bytes()).decode()
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))

    def trials(self, *selection):
        return json.loads(self.assay("list", "--json", *selection).stdout)["trials"]
