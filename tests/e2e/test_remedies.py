"""The remedies that messages name: each is taken out of the message as it was printed, followed, and must work.

A remedy stands in the last clause of a message: a command or options in quotes, a command up to the end of the line, or
an option, for which a user has a value. Each text of the sources that holds one must be printed by a row here.
"""
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import unittest
import unittest.mock

from support import ASSAY, AssayTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("cli", "session", "suites", "harness", "reports", "kernels")
COMMANDS = "ab|bisect|compare|devices|history|libraries|limits|list|machines|report|run|selftest|soak"
REMEDY = re.compile(rf"'((?:assay (?:{COMMANDS})|-- ?)[^']*)'|(?<!')\b(assay (?:{COMMANDS}|{{)[^;]*)|(--[a-z][a-z-]+)")
CHEATS = str(pathlib.Path(os.path.realpath(ASSAY)).parent.parent / "lib" / "assay" / "kernel_cheats.so")
TWIN = str(pathlib.Path(ASSAY).with_name("assay_twin"))

ADD = "tensor_ops/add/f32/n=3"
PRODUCT = "linear/f32/batch=512,in=512,out=512,bias=1,act=none"  # enough for a limit, whatever the caches
CPU = ("--device", "cpu")
SIM = ("--device", "sim", "--sim-devices", "1")
CHECK = ("run", "--case", ADD, *CPU, "--check-only")
MANY = ("run", "--suite", "tensor_ops", "--profile", "smoke", *CPU, "--check-only", "--out", "my run")
AB = ("ab", "--case", ADD, *CPU, "--rounds", "6", "--confirm", "6")
AXES = [word for size in ("rows", "cols") for word in ("--axis", f"{size}={','.join(map(str, range(1, 100)))}")]
COMPARED = (0, 5)  # a verdict: builds differ, and machines are noisy
BISECT = ("bisect", "--variable", "X", "--versions")

# Texts that no row prints, and why.
UNTRIED = {
    "'assay devices' lists what is here and why the rest is not": "a refusal in a case, which judges it",
    "{}; 'assay devices' lists what is here": "a refusal in a case, which judges it",
    "'assay devices' lists what is here": "a backend without devices that says nothing of its own",
    "assay {}: not under {}: each rank would do it alone; use 'assay run' in jobs": "a launcher: test_mpi.py",
    "no case can soak {}: choose some by --case": "all backends here have cases that soak",
    "it is made for version {} of assay_kernel.h, and this program has version {}: compile it again with the header in "
    "the folder of assay --include-dir": "a compiler: test_kernels.py",
    "the kernels of one side define ops, which must be the same for both: put the references into a file of their own, and "
    "name it by --own-ops": "a Python with NumPy: test_own_ops.py",
    "{} is not the only file that defines ops: put them into one, and name it by --own-ops":
        "a Python with NumPy: test_own_ops.py",
    "cannot be written to: {}; choose another with --out": "nothing is closed to the superuser",
}


@dataclasses.dataclass
class Row:
    """A command whose message names remedies."""
    arguments: tuple
    code: int = 2
    # By remedy: the value of an option; or the whole command, where the remedy is one that the user completes.
    values: dict = dataclasses.field(default_factory=dict)
    prepare: str = ""  # names the function that makes what the command meets
    mend: str = ""  # names the function that does what the user does besides
    until: str = ""  # the command is interrupted, or killed, once standard error holds this text
    then: tuple = (0,)  # exit codes of the remedies
    expected: int = 1  # remedies at least


OTHER = {"--out": "other"}
ROWS = (
    Row((*CHECK, "--out", "full"), values=OTHER, prepare="full"),
    Row((*CHECK, "--out", "a"), values={**OTHER, "--resume": ("run", "--resume", "a")}, prepare="runs", expected=2),
    Row((*CHECK, "--out", "full/file"), values=OTHER, prepare="full"),
    Row((*CHECK, "--out", "full/file/run"), values=OTHER, prepare="full"),
    Row((*CHECK, "--out", "my run"), code=0),
    Row(MANY, code=4, until="trials into"),
    Row(("compare", "a", "b"), prepare="interrupted"),
    Row(("compare", "a", "full"), prepare="runs_and_full", expected=2,
        values={"assay run": (*CHECK, "--out", "c"), "--out": (*CHECK, "--out", "d")}),
    Row(("report", "full"), prepare="full", values={"assay run": (*CHECK, "--out", "c")}),
    Row(("run", "--resume", "begun"), prepare="begun", values={"--out": (*CHECK, "--out", "begun")}),
    Row((*CHECK[:3], *SIM[2:], "--check-only"), expected=2),
    Row((*CHECK[:3], "--sim-fault", "slow,percent=5", "--check-only")),
    Row((*CHECK[:3], *SIM, "--check-only"), code=4, prepare="locked", mend="unlock"),
    Row(("ab", "--case", ADD, "--rounds", "6", "--confirm", "6", "--cand-sim-fault", "slow,percent=1"), then=COMPARED),
    Row((*AB[:3], *SIM, "--rounds", "6", "--confirm", "6", "--cand-env", "X=1"), expected=2,
        values={"--device": (*AB, "--cand-env", "X=1")}, then=COMPARED),
    Row(AB, values={"--base": TWIN, "--cand-env": "X=1", "--cand-kernels": CHEATS}, prepare="honest_kernels", expected=4,
        then=COMPARED),
    Row((*AB, "--base", TWIN, "--spread", "full/file"), prepare="full",
        values={"assay ab --aa --spread": (*AB, "--aa", "--spread", "new")}, then=COMPARED),
    Row(("soak", "--case", "tensor_ops/copy/f32/n=3", *CPU), values={"--for": "1s"}),
    Row(("soak", "--for", "3s", "--case", "tensor_ops/copy/f32/n=3", *CPU, "--out", "my soak"), code=4,
        until="intervals on"),
    Row(("run", "--case", PRODUCT, *CPU), code=-signal.SIGKILL, until="measuring"),
    Row(("run", "--library", "libopenblas.so.0", *CPU, "--check-only", "--case", "tensor_ops/dot/f32/n=3"),
        values={"--kernels": "openblas"}),
    Row(("list", "x")),
    Row(("list", "--suite", "tensor_ops", "--filter", "/nothing$"), values={"--filter": "/add/"}),
    Row(("list", "--suite", "tensor_ops", *AXES), values={"--filter": "/softmax/f32/rows=7,cols=7$"}),
    Row(("list", "--suite", "tensor_ops", "--axis", "n=3", "--axis", "n=4"), values={"--axis": "n=3,4"}),
    Row((*BISECT, "a", "--", *CHECK[1:-1]), values={"--versions": (*BISECT, "a", "b", "--", *CHECK[1:-1])}, then=(3,)),
    Row((*BISECT, "a", "b"), then=(3,), values={"-- --suite linear": (*BISECT, "a", "b", "--", *CHECK[1:-1])}),
    Row((*BISECT, "a", "b", "--", "--case", "no case"), then=(2,)),
    Row(("history", "runs"), code=0, prepare="history", values={"--reference": "pinned"}),
    Row(("history", "runs", "--svg", "a.svg", "--panels", "1"), code=0, prepare="history", expected=2,
        values={"--reference": "pinned", "--panels": "9"}),
    Row(("history", "runs"), prepare="damaged"),
    Row(("machines", "runs"), prepare="damaged", then=(3,)),  # one machine alone
    Row(("machines", "runs"), prepare="of_stand_ins", then=(3,)),
    Row(("machines", "a", "b"), code=3, prepare="of_two_machines", values={"--check-only": CHECK[:-1]}),
    Row(("compare", "a", "b"), prepare="of_two_machines"),
    Row(("libraries", "a", "b"), prepare="of_two_machines", values={"assay machines": ("machines", "a", "b")}, then=(3,)),
    Row(("libraries", "a", "b"), prepare="of_a_soak", values={"assay run": (*CHECK, "--out", "c")}),
    Row(("libraries", "a", "b"), prepare="cut_short", expected=2,
        values={"--budget": (*CHECK, "--out", "c"), "--fail-fast": (*CHECK, "--out", "d")}),
)


def clause(text):
    return re.split(r"[;:] ", text)[-1]


def literals(source):
    """The texts of a source, adjacent ones joined, each with what stands before it in its statement."""
    tokens = re.compile(r"""//[^\n]*|'(?:[^'\\\n]|\\.)'|"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*|[;{}]""")
    begin = 0
    for token in tokens.finditer(source):
        if token.group().startswith('"'):
            text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', token.group()))
            yield source[begin:token.start()], text.replace("\\n", "")
        elif token.group() in ";{}":
            begin = token.end()


def texts_with_remedies():
    """The texts of errors and notes whose last clause names a command or an option."""
    found = set()
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.cpp"):
            for before, text in literals(path.read_text(encoding="utf-8")):
                is_said = re.search(r"throw|refuse|say\(|Error|Busy|remedy|why|check_", before)
                names_a_fault = text.startswith("--") and clause(text) == text
                if is_said and " " in text.strip() and REMEDY.search(clause(text)) and not names_a_fault:
                    found.add(text.strip())
    return found


def pattern(text):
    """Matches the text as it is printed, with its last clause as a group."""
    def with_values(part):
        return "(?:.*?)".join(re.escape(piece) for piece in re.split(r"\{[^}]*\}", part)) + ("(?:.*)" if part.endswith("}") else "")
    last = clause(text)
    return re.compile(with_values(text[:len(text) - len(last)]) + f"({with_values(last)})")


def with_options(arguments, words):
    """The command with these options, each in place of its earlier value."""
    kept = list(arguments)
    for word in words:
        if word.startswith("--") and word in kept:
            at = kept.index(word)
            has_value = at + 1 < len(kept) and not kept[at + 1].startswith("--")
            while word in kept:
                at = kept.index(word)
                del kept[at:at + 1 + has_value]
    return [*kept, *words]


class Remedies(AssayTest):
    TEXTS = texts_with_remedies()

    # -- What the commands meet

    def full(self):
        (self.folder / "full").mkdir()
        (self.folder / "full" / "file").write_text("{}", encoding="utf-8")

    def runs(self, *names, arguments=CHECK):
        for name in names or ("a",):
            self.assay(*arguments, "--quiet", "--out", name)

    def runs_and_full(self):
        self.runs()
        self.full()

    def edit(self, folder, **changes):
        path = self.folder / folder / "run.json"
        run = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**run, **changes}), encoding="utf-8")

    def interrupted(self):
        self.runs("a", "b")
        self.edit("b", interrupted=True, exit_code=4)

    def begun(self):
        self.runs("begun")
        for path in (self.folder / "begun").iterdir():
            if path.name != "plan.csv":
                path.unlink()

    def locked(self):
        (self.folder / "locks").mkdir()
        self.lock = open(self.folder / "locks" / "SIM-0", "w", encoding="ascii")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def unlock(self):
        self.lock.close()

    def honest_kernels(self):
        environment = unittest.mock.patch.dict(os.environ, ASSAY_CHEAT="right-1")
        environment.start()
        self.addCleanup(environment.stop)

    def history(self):
        for name in ("1", "2"):
            self.runs(f"runs/{name}", arguments=("run", "--case", ADD, "--case", ADD.replace("add", "mul"), *CPU,
                                                 "--no-limits"))
        self.runs("pinned")
        build = json.loads((self.folder / "pinned" / "run.json").read_text(encoding="utf-8"))["build_id"]
        self.edit("runs/1", build_id="pinned")
        self.assertNotEqual(build, "pinned")

    def damaged(self):
        self.history()
        (self.folder / "runs" / "2" / "results.csv").write_text("no,results\n1\n", encoding="utf-8")

    def of_stand_ins(self):
        for name in ("1", "2"):
            self.runs(f"runs/{name}", arguments=("run", "--case", ADD, *SIM, "--no-limits"))

    def of_two_machines(self):
        self.runs("a", "b")
        self.edit("b", host="other")
        for file in ("devices.csv", "results.csv"):
            path = self.folder / "b" / file
            name = self.rows("b", "devices.csv")[0]["name"] if file == "devices.csv" else name
            path.write_text(path.read_text(encoding="utf-8").replace(name, "another processor"), encoding="utf-8")

    def of_a_soak(self):
        self.runs("a", "b")
        self.edit("b", command_line=["assay", "soak"])

    def cut_short(self):
        self.runs("a", "b")
        self.edit("b", planned=7)

    # -- Messages and remedies

    def message(self, row):
        if not row.until:
            result = self.assay(*row.arguments, expect=row.code)
            return result.stdout + result.stderr
        with subprocess.Popen([ASSAY, *row.arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            said = ""
            while row.until not in said:
                line = process.stderr.readline()
                self.assertTrue(line, said)
                said += line
            process.send_signal(max(signal.SIGINT, -row.code))
            said += process.stderr.read()
        self.assertEqual(process.returncode, row.code, said)
        return said

    def run_to(self, codes, *command):
        done = subprocess.run([ASSAY, *command], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertIn(done.returncode, codes, f"{command}\n{done.stdout}\n{done.stderr}")

    def follow(self, row, remedy):
        is_option = remedy.startswith("--")
        value = row.values.get(remedy)
        if isinstance(value, tuple):
            command = value
        elif is_option and value is not None:
            command = with_options(row.arguments, [remedy, value])
        else:
            words = shlex.split(remedy)
            command = with_options(row.arguments, words) if is_option else words[1:]
        self.run_to(row.then, *command)

    def try_row(self, row):
        """Follows all remedies of the row's message; returns the texts that it was made of."""
        getattr(self, row.prepare or "setUp")()
        message = self.message(row)
        getattr(self, row.mend or "id")()
        texts, remedies = set(), []
        for text in self.TEXTS:
            for found in pattern(text).finditer(message):
                texts.add(text)
                remedies += ["".join(groups).strip() for groups in REMEDY.findall(found.group(1))]
        self.assertGreaterEqual(len(set(remedies)), row.expected, message)
        for remedy in dict.fromkeys(remedies):
            with self.subTest(remedy=remedy):
                self.follow(row, remedy)
        return texts

    def test_each_remedy_works(self):
        printed = set()
        for row in ROWS:
            with self.subTest(" ".join(row.arguments)[:200]):
                self.setUp()
                printed |= self.try_row(row)
        self.assertEqual(self.TEXTS - printed, set(UNTRIED), "a row prints each text with a remedy")


if __name__ == "__main__":
    unittest.main()
