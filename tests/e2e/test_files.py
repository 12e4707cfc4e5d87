"""Files that a user names: outputs that take nothing away, and inputs that end."""
import csv
import io
import os
import stat
import subprocess
import threading
import unittest

from support import ASSAY, AssayTest

CASE = "tensor_ops/add/f32/n=4096"
SIM = ("--device", "sim", "--sim-devices", "1")
USERS = "case,reason,owner,expires\ntensor_ops/add/*,a known one,me,2099-12-31\n"

# Each command that writes a file of the user's choice, up to the file's name, and how what it writes begins.
REPLACING = {
    "report": (("report", "run", "-o"), "<!DOCTYPE html>"),
    "history --csv": (("history", "run", "--csv"), "host,device,"),
    "history --changes": (("history", "run", "--changes"), "host,device,"),
    "history --svg": (("history", "run", "--svg"), "<?xml "),
    "selftest": (("selftest", "--only", "low_bit", "--csv"), "fault,case_id,"),
}
KEEPING = {
    "limits": (("limits", *SIM, "--stand-ins", "--quiet", "--csv"), "device,limit,"),
    "compare --csv": (("compare", "run", "again", "--csv"), "case_id,suite,"),
    "compare --markdown": (("compare", "run", "again", "--markdown"), "#"),
}
ALL = {**REPLACING, **KEEPING}


class FilesTest(AssayTest):
    """In a folder with two directories of one timed case: `run` and `again`."""

    real = {}

    def setUp(self):
        super().setUp()
        if not FilesTest.real:
            for name in ("run", "again"):
                self.assay("run", "--case", CASE, "--device", "cpu", "--no-limits", "--quiet", "--out", name)
            FilesTest.real = {path.relative_to(self.folder): path.read_bytes() for name in ("run", "again")
                            for path in (self.folder / name).iterdir()}
        for path, content in FilesTest.real.items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_bytes(content)


class Outputs(FilesTest):
    def refused(self, arguments, file):
        result = self.assay(*arguments, file, expect=2)
        self.assertEqual(result.stdout, "", "decided before the work")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(f"'{file}'", result.stderr)
        return result.stderr

    def names(self):
        return sorted(path.name for path in self.folder.iterdir() if path.name != "locks")

    def test_a_file_of_the_users_is_never_overwritten(self):
        (self.folder / "known.csv").write_text(USERS, encoding="utf-8")
        names = self.names()
        for name, (arguments, _) in ALL.items():
            with self.subTest(name):
                self.assertRegex(self.refused(arguments, "known.csv"), "exists already.*another name")
                self.assertEqual((self.folder / "known.csv").read_text(encoding="utf-8"), USERS)
                self.assertEqual(self.names(), names)

    def test_an_older_one_of_its_own_is_replaced_and_so_is_an_empty_file(self):
        for name, (arguments, begin) in REPLACING.items():
            with self.subTest(name):
                (self.folder / "out").write_bytes(b"")
                for _ in range(2):
                    self.assay(*arguments, "out")
                    self.assertTrue((self.folder / "out").read_text(encoding="utf-8").startswith(begin))
                    with open(self.folder / "out", "a", encoding="utf-8") as file:
                        file.write("an older one")
                self.assay(*arguments, "out")
                self.assertNotIn("an older one", (self.folder / "out").read_text(encoding="utf-8"))
        self.assertEqual(self.names(), ["again", "out", "run"], "nothing is left beside it")

    def test_one_of_another_kind_is_not_replaced(self):
        self.assay("report", "run", "-o", "page.html")
        self.refused(("history", "run", "--csv"), "page.html")

    def test_a_folder_is_no_file_and_a_missing_one_is_said(self):
        (self.folder / "taken").mkdir()
        for name, (arguments, _) in ALL.items():
            with self.subTest(name):
                self.assertIn("is a directory", self.refused(arguments, "taken"))
                self.assertIn("there is no folder 'nowhere'", self.refused(arguments, "nowhere/out"))

    def test_an_empty_name_is_a_mistake(self):
        for name, (arguments, _) in ALL.items():
            with self.subTest(name):
                self.assertIn("must not be empty", self.assay(*arguments, "", expect=2).stderr)

    def test_a_dash_is_standard_output_and_takes_it_alone(self):
        for name, (arguments, begin) in ALL.items():
            for file in ("-", "/proc/self/fd/1"):  # /dev/stdout is a link to that
                with self.subTest(name, file=file):
                    text = self.assay(*arguments, file).stdout
                    self.assertTrue(text.startswith(begin), text[:80])
                    if begin.endswith(","):
                        widths = {len(row) for row in csv.reader(io.StringIO(text, newline=""), strict=True)}
                        self.assertEqual(len(widths), 1, "nothing but rows")
        self.assertEqual(self.names(), ["again", "run"])

    def test_two_files_do_not_share_it(self):
        for arguments in (("history", "run", "--svg", "-", "--csv"), ("compare", "run", "again", "--markdown", "-", "--csv"),
                          ("limits", *SIM, "--stand-ins", "--json", "--csv")):
            self.assertIn("standard output", self.assay(*arguments, "-", expect=2).stderr)
        self.assertIn("two files", self.assay("history", "run", "--svg", "out", "--csv", "./out", expect=2).stderr)

    def test_a_redirected_standard_output_is_appended_to(self):
        (self.folder / "log").write_text("before\n", encoding="utf-8")
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            subprocess.run([ASSAY, "history", "run", "--csv", "/proc/self/fd/1"], cwd=self.folder, stdout=log, check=True)
        self.assertTrue((self.folder / "log").read_text(encoding="utf-8").startswith("before\nhost,device,"))

    def test_a_pipe_is_written_through_and_stays(self):
        os.mkfifo(self.folder / "pipe")
        for name, (arguments, begin) in ALL.items():
            with self.subTest(name):
                taken = []
                reader = threading.Thread(target=lambda: taken.append((self.folder / "pipe").read_bytes()))
                reader.daemon = True
                reader.start()
                self.assay(*arguments, "pipe")
                reader.join(20)
                self.assertTrue(taken and taken[0].decode().startswith(begin), name)
                self.assertTrue(stat.S_ISFIFO((self.folder / "pipe").stat().st_mode))

    def test_a_full_device_is_an_error_and_stays(self):
        # A device of its own: one of /dev must not be at stake.
        full = self.folder / "full"
        try:
            os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
            full.open("wb").close()
        except PermissionError:
            self.skipTest("no device can be made here")
        for name, (arguments, _) in ALL.items():
            with self.subTest(name):
                self.assertIn("No space left", self.assay(*arguments, "full", expect=4).stderr)
                self.assertTrue(stat.S_ISCHR(full.stat().st_mode))

    def test_a_link_stays_and_its_target_is_written(self):
        (self.folder / "below").mkdir()
        (self.folder / "link").symlink_to("below/target")
        for name, (arguments, begin) in ALL.items():
            with self.subTest(name):
                (self.folder / "below/target").unlink(missing_ok=True)
                self.assay(*arguments, "link")
                self.assertEqual(os.readlink(self.folder / "link"), "below/target")
                self.assertTrue((self.folder / "below/target").read_text(encoding="utf-8").startswith(begin))
        (self.folder / "below/target").write_text(USERS, encoding="utf-8")
        self.refused(REPLACING["report"][0], "link")

    def test_files_beside_it_are_not_touched(self):
        (self.folder / "x.html.part").write_text("the user's", encoding="utf-8")
        self.assay("report", "run", "-o", "x.html")
        self.assertEqual((self.folder / "x.html.part").read_text(encoding="utf-8"), "the user's")

    def test_the_files_of_a_run_directory_are_its_own(self):
        for path, content in FilesTest.real.items():
            self.assertIn("belongs to the run", self.refused(("report", "run", "-o"), path))
            self.assertEqual((self.folder / path).read_bytes(), content)
        for path, arguments in (("run/limits.csv", KEEPING["limits"][0]), ("run/ab.csv", REPLACING["history --csv"][0])):
            self.assertIn("belongs to the run", self.refused(arguments, path), "also one that is not there")
        self.assay("report", "run", "-o", "run/report.html")

    def test_permissions_are_those_of_any_new_file_and_stay(self):
        self.assay("report", "run", "-o", "new", preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE((self.folder / "new").stat().st_mode), 0o640)
        (self.folder / "new").chmod(0o604)
        self.assay("report", "run", "-o", "new")
        self.assertEqual(stat.S_IMODE((self.folder / "new").stat().st_mode), 0o604)


class Listings(FilesTest):
    """A reader who has seen enough closes the pipe: `assay list | head`."""

    def unread(self, *arguments):
        """Exit code and errors of a program whose standard output nobody reads."""
        reader, writer = os.pipe()
        os.close(reader)
        try:
            result = subprocess.run([ASSAY, *arguments], cwd=self.folder, stdout=writer, stderr=subprocess.PIPE, text=True,
                                    timeout=1500, check=False)
        finally:
            os.close(writer)
        return result.returncode, result.stderr

    def test_end_quietly(self):
        listing = ("list", "--profile", "smoke", "--device", "cpu")
        for arguments in (("--help",), ("run", "--help"), ("devices",), ("devices", "--json"), listing, (*listing, "--json"),
                          ("limits", *SIM, "--stand-ins", "--quiet"), ("history", "run"), ("history", "run", "--csv", "-"),
                          ("compare", "run", "again"), ("report", "run", "-o", "-")):
            with self.subTest(arguments):
                code, said = self.unread(*arguments)
                self.assertEqual(code, 0, said)
                self.assertNotRegex(said, "written|pipe")

    def test_a_verdict_stays(self):
        text = (self.folder / "again/results.csv").read_text(encoding="utf-8")
        (self.folder / "again/results.csv").write_text(text.replace(",pass,", ",fail,", 1), encoding="utf-8")
        self.assertEqual(self.unread("compare", "run", "again")[0], 1)

    def test_records_that_are_lost_are_an_error(self):
        code, said = self.unread("run", "--case", CASE, "--device", "cpu", "--check-only", "--jsonl")
        self.assertEqual(code, 4)
        self.assertIn("--jsonl", said)


class Inputs(FilesTest):
    def refused_input(self, *arguments, because):
        # A pipe would be waited for, and a device has no end: neither may take a test's whole time.
        try:
            result = subprocess.run([ASSAY, *map(str, arguments)], cwd=self.folder, text=True, timeout=20, check=False,
                                    stdin=subprocess.DEVNULL, capture_output=True)
        except subprocess.TimeoutExpired:
            self.fail(f"{arguments} waits")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(because, result.stderr)

    def test_a_pipe_is_no_file(self):
        os.mkfifo(self.folder / "pipe")
        check = ("run", "--case", CASE, "--check-only", "--device", "cpu")
        self.refused_input(*check, "--expected", "pipe", because="pipe: cannot be read: it is a pipe")
        self.refused_input("list", "--cases", "pipe", because="pipe: cannot be read: it is a pipe")
        self.refused_input("list", "--cases", "run", because="it is a directory")
        for name in ("results.csv", "devices.csv", "limits.csv"):
            file = self.folder / "again" / name
            kept = file.read_bytes() if file.exists() else None
            file.unlink(missing_ok=True)
            os.mkfifo(file)
            commands = {"results.csv": (("report", "again"), ("history", "again"), ("compare", "run", "again")),
                        "devices.csv": (("report", "again"), ("compare", "run", "again")),
                        "limits.csv": (("report", "again"),)}[name]
            for command in commands:
                self.refused_input(*command, because=name)
            file.unlink()
            if kept is not None:
                file.write_bytes(kept)

    def test_a_device_is_no_file(self):
        self.refused_input("list", "--cases", "/dev/zero", because="/dev/zero: cannot be read: it is a device")

    def test_a_dash_is_standard_input_for_known_failures(self):
        for known, expect in ((USERS, 0), ("case,reason\n", 2)):
            result = subprocess.run([ASSAY, "run", "--case", CASE, *SIM, "--check-only", "--sim-fault", "low_bit", "--expected",
                                     "-", "--out", f"out{expect}"], cwd=self.folder, input=known, text=True,
                                    capture_output=True, timeout=1500, check=False)
            self.assertEqual(result.returncode, expect, result.stderr)
        self.assertIn("standard input:1:1: the header needs a column 'owner'", result.stderr)

    def test_more_columns_than_any_table_has(self):
        wide = self.folder / "wide.csv"
        wide.write_text(",".join(f"c{i}" for i in range(200_000)) + "\n", encoding="utf-8")
        for arguments in (("list", "--cases", wide), ("run", "--case", CASE, "--expected", wide)):
            self.refused_input(*arguments, because="more than 1000 fields")
        (self.folder / "again/results.csv").write_bytes(wide.read_bytes())
        for arguments in (("report", "again"), ("history", "again"), ("compare", "run", "again")):
            self.refused_input(*arguments, because="more than 1000 fields")

    def test_a_time_of_nothing_is_no_time(self):
        (row,) = self.rows("again")
        row["time_ci_high_s"] = "0"
        with open(self.folder / "again/results.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
            writer.writerow(row)
        for arguments in (("report", "again"), ("history", "again"), ("compare", "run", "again")):
            self.refused_input(*arguments, because="time_ci_high_s: must be above 0")


if __name__ == "__main__":
    unittest.main()
