"""Runs problems by `assay run`: the Model as its own kernel, or wrong variants of it."""
import csv
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import torch

from assay import _problem_op
from assay._source import Refusal
from problems import allclose
from problems.capped import capped
from problems.variants import VARIANTS

HERE = pathlib.Path(__file__).resolve().parent
JUDGED, VACUOUS, WRONG, REFUSED, TOO_LONG, BROKEN = "judged", "vacuous", "wrong", "refused", "too long", "broken"
OUTCOMES = (JUDGED, VACUOUS, WRONG, REFUSED, TOO_LONG, BROKEN)
_OF_STATUS = {"pass": JUDGED, "vacuous": VACUOUS, "fail": WRONG}
_DOUBLINGS = 4  # of the largest size, where shapes that fit together at the file's sizes do not at smaller ones
OF_VARIANTS = 5  # problems whose variants are judged in one run
_SEEDS = 5  # inputs on which the benchmark compares
_ALLCLOSE_LIMIT_S = 300


@dataclass(frozen=True)
class Tried:
    """What became of one problem."""
    level: str
    problem: str
    largest: str  # whole number among its constants, "" for those of the file
    outcome: str
    reason: str
    oracle: str
    seconds: float


@dataclass(frozen=True)
class Variant:
    """What became of one wrong variant of a problem."""
    level: str
    problem: str
    variant: str
    changes: bool  # a bit of the file's outputs
    red: bool
    caught_by: str
    reason: str
    allclose: dict  # passed, by tolerance


@dataclass(frozen=True)
class Runner:
    """How `assay run` is called."""
    assay: str
    python: str
    largest: int
    limit_s: float
    device: str = "cpu"
    kernels: str = "torch"

    def tried(self, level, paths):
        """Returns the outcomes of some problems of a level. Those that can be loaded are judged in one run."""
        loaded = {path: self._loaded(path) for path in paths}
        good = {path: one for path, one in loaded.items() if not one["why"]}
        rows = self._rows_of(good) if good else {}
        return [self._tried(level, path, one, rows.get(_problem_op.name_of(path))) for path, one in loaded.items()]

    def _tried(self, level, path, loaded, row):
        largest, seconds = str(loaded["largest"] or ""), loaded["seconds"]
        if loaded["why"]:
            return Tried(level, path.stem, largest, loaded["outcome"], loaded["why"], "", seconds)
        if row is None:
            return Tried(level, path.stem, largest, BROKEN, "the run has no row of it", "", seconds)
        outcome = _OF_STATUS.get(row["status"], TOO_LONG if row["status"] == "timeout" else BROKEN)
        return Tried(level, path.stem, largest, outcome, row["reason"], row["oracle"], seconds + float(row["wall_s"] or 0))

    def _loaded(self, path):
        """Loads a problem as the judge does, with the smallest sizes at which it can run, at last the file's own."""
        text = path.read_text(encoding="utf-8")
        began = time.monotonic()
        last = None
        for largest in [*(self.largest << doubling for doubling in range(_DOUBLINGS + 1) if self.largest), 0]:
            text_of_size = capped(text, largest) if largest else text
            outcome, why = self._load(path.name, text_of_size)
            if last and outcome == TOO_LONG:
                break  # what was said at a smaller size tells more
            last = {"largest": largest, "text": text_of_size, "outcome": outcome, "why": why}
            if outcome != REFUSED or "cannot run:" not in why:
                break
        return {**last, "seconds": time.monotonic() - began}

    def _load(self, name, text):
        """Loads in a process of its own, which a problem may end or fill."""
        with tempfile.TemporaryDirectory(prefix="assay-problem-") as folder:
            problem, said = pathlib.Path(folder, name), pathlib.Path(folder, "said")
            problem.write_text(text, encoding="utf-8")
            child = os.fork()
            if child == 0:
                signal.alarm(math.ceil(self.limit_s))
                said.write_text(_why_refused(problem), encoding="utf-8")
                os._exit(0)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if status == -signal.SIGALRM:
                return TOO_LONG, f"loading it takes more than {self.limit_s:g} s"
            if status:
                return BROKEN, f"loading it ended its process: {status}"
            why = said.read_text(encoding="utf-8")
            return (REFUSED if why else ""), why

    def _rows_of(self, problems):
        with tempfile.TemporaryDirectory(prefix="assay-problems-") as folder:
            set_of = pathlib.Path(folder, "problems")
            set_of.mkdir()
            for path, one in problems.items():
                (set_of / path.name).write_text(one["text"], encoding="utf-8")
            done, rows = self._run(folder, set_of, self.kernels)
            if not rows:
                print(done.stderr[-1000:], file=sys.stderr)
            return {row["op"]: row for row in rows}

    def _run(self, folder, problem, kernels):
        out = pathlib.Path(folder, "out")
        done = subprocess.run([self.assay, "run", "--problem", problem, "--kernels", kernels, "--python", self.python,
                               "--device", self.device, "--check-only", "--no-limits", "--timeout", str(self.limit_s),
                               "--out", out], cwd=folder, capture_output=True, text=True, check=False)
        if not (out / "results.csv").is_file():
            return done, []
        with open(out / "results.csv", encoding="utf-8", newline="") as file:
            return done, list(csv.DictReader(file))

    def variants(self, picked):
        """Judges the wrong variants of some problems in one run. Returns them, and why others have none.

        picked  [(what became of it, path)]
        """
        with tempfile.TemporaryDirectory(prefix="assay-variants-") as folder:
            problems, solutions = pathlib.Path(folder, "problems"), pathlib.Path(folder, "solutions")
            problems.mkdir()
            solutions.mkdir()
            possible, untried = {}, []
            for number, (one, path) in enumerate(picked):
                text = path.read_text(encoding="utf-8")
                text = capped(text, int(one.largest)) if one.largest else text
                base = pathlib.Path(folder, f"p{number}.py")
                base.write_text(text, encoding="utf-8")
                said = self._by_allclose(base)
                if "why" in said:
                    untried.append((one, said["why"]))
                    continue
                for at, name in enumerate(name for name in VARIANTS if said[name]):
                    of_variant = f"p{number}v{at}"
                    possible[f"problem_{of_variant}"] = (one, name, said[name])
                    (problems / f"{of_variant}.py").write_text(text, encoding="utf-8")
                    (solutions / f"{of_variant}.py").write_text(_solution(name, base), encoding="utf-8")
            done, rows = self._run(folder, problems, solutions) if possible else (None, [])
            return self._joined(possible, rows, done, untried)

    @staticmethod
    def _joined(possible, rows, done, untried):
        by_op = {row["op"]: row for row in rows}
        found = []
        for op, (one, name, said) in possible.items():
            row = by_op.get(op)
            if row is None or row["status"] not in _OF_STATUS:
                untried.append((one, f"{name}: {row['reason'] if row else done.stderr[-300:]}"))
                continue
            passed = {tolerance: is_right for tolerance, is_right in said.items() if tolerance != "changes"}
            found.append(Variant(one.level, one.problem, name, said["changes"], row["status"] != "pass", row["caught_by"],
                                 row["reason"], passed))
        return found, untried

    def _by_allclose(self, base):
        """Returns what allclose says of each variant, or {"why": ...}, by a process of its own."""
        said = base.with_suffix(".json")
        child = os.fork()
        if child == 0:
            signal.alarm(math.ceil(_ALLCLOSE_LIMIT_S))
            torch.set_num_threads(1)
            try:
                result = {variant: allclose.judged(base, variant, _SEEDS) for variant in VARIANTS}
            except Exception as error:  # pylint: disable=broad-except
                result = {"why": " ".join(f"{type(error).__name__}: {error}".split())}
            said.write_text(json.dumps(result), encoding="utf-8")
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return json.loads(said.read_text(encoding="utf-8")) if status == 0 else {"why": f"its process ended: {status}"}


def _solution(variant, base):
    """Returns the text of the file with the variant as ModelNew."""
    return (f"import sys\nsys.path.insert(0, {str(HERE.parent)!r})\nfrom problems.variants import new_model\n"
            f"ModelNew = new_model({variant!r}, {str(base)!r})\n")


def _why_refused(problem):
    """Returns why the judge refuses a problem, or nothing."""
    torch.set_num_threads(1)
    try:
        _problem_op.examine(str(problem))
        return ""
    except Refusal as why:
        return str(why)


def problems_of(folder):
    """Returns [(level, path)]: each folder with Python files is a level. Numbers in names count as numbers."""
    found = [(path.parent.name, path) for path in pathlib.Path(folder).rglob("*.py")]

    def order(item):
        number = "".join(iter_digits(item[1].stem))
        return item[0], int(number) if number else sys.maxsize, item[1].name
    return sorted(found, key=order)


def iter_digits(name):
    """Yields the digits that a name begins with."""
    for letter in name:
        if not letter.isdigit():
            return
        yield letter


def batches(problems, size=12):
    """Yields the problems of one level, so many at once: each run of Assay starts PyTorch several times."""
    for level in dict.fromkeys(level for level, _ in problems):
        of_level = [path for other, path in problems if other == level]
        for at in range(0, len(of_level), size):
            yield level, of_level[at:at + size]


def chosen(tried, count):
    """Returns so many of the judged problems, spread evenly over all."""
    judged = [one for one in tried if one.outcome == JUDGED]
    if count >= len(judged):
        return judged
    return [judged[at * len(judged) // count] for at in range(count)]
