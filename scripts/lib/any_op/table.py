"""Counts of false alarms and misses, as CSV and as Markdown."""
import collections
import csv

from any_op import rules
from any_op.trials import LIMIT, LOSSY, RIGHT_KERNEL, WRONG_KERNEL

COLUMNS = ("group", "op", "dtype", "seed", "family", "kind", "kernel", "arithmetic", "differs", *rules.RULES, "failed", "excess")


def write_csv(trials, path):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in trials:
            writer.writerow([one.group, one.op, one.dtype, one.seed, one.family, one.kind, one.kernel, one.arithmetic,
                             one.differs, *(int(one.passed[rule]) for rule in rules.RULES), one.failed, f"{one.excess:.3g}"])


class Cases:
    """Trials of one kernel and seed, joined over families: it passes a rule if it passes on all data."""

    def __init__(self, trials):
        self._cases = collections.defaultdict(list)
        for one in trials:
            self._cases[one.group, one.op, one.dtype, one.seed, one.kind, one.kernel, one.arithmetic].append(one)

    def select(self, kind, group=None, dtype=None):
        """Returns lists of trials. A wrong kernel that differs in no bit on any data is not wrong there."""
        return [trials for key, trials in self._cases.items()
                if key[4] == kind and group in (None, key[0]) and dtype in (None, key[2])
                and (kind == RIGHT_KERNEL or kind == LOSSY or any(one.differs for one in trials))]

    def count(self, rule, kind, group=None, dtype=None):
        """Returns (false alarms or misses, cases)."""
        selected = self.select(kind, group, dtype)
        passed = sum(all(one.passed[rule] for one in trials) for trials in selected)
        return (passed if kind in (WRONG_KERNEL, LIMIT) else len(selected) - passed), len(selected)


def counts(cases):
    """Yields the rows of the table: group, dtype, rule and what was counted by kind."""
    groups = list(dict.fromkeys(key[0] for key in cases._cases))
    dtypes = list(dict.fromkeys(key[2] for key in cases._cases))
    for group, dtype in [(group, dtype) for group in groups for dtype in dtypes] + [(None, None)]:
        for rule in rules.RULES:
            yield (group or "all", dtype or "all", rule,
                   *(cases.count(rule, kind, group, dtype) for kind in (RIGHT_KERNEL, WRONG_KERNEL, LIMIT, LOSSY)))


def share(count):
    some, of_all = count
    return f"{some} of {of_all} ({100 * some / of_all:.1f}%)" if of_all else "none"


def markdown(trials, command, seconds):
    cases = Cases(trials)
    lines = ["# Any op: right kernels refused, wrong ones missed", "", f"`{command}`: {len(trials)} trials in {seconds:.0f} s.", "",
             "A case is one kernel, dtype and seed on all its data. A right one is refused if one set of data refuses it; a",
             "wrong one is missed if none does.", "",
             "| ops | dtype | rule | right, refused | wrong, missed | beyond the rule, missed | lossy, refused |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    lines += ["| " + " | ".join([*row[:3], *map(share, row[3:])]) + " |" for row in counts(cases)]
    lines += ["", "## False alarms of the measured band", "", *_listed(_refused(trials, RIGHT_KERNEL)),
              "", "## Wrong kernels that the measured band misses", "", *_listed(_missed(cases, WRONG_KERNEL)),
              "", "## Beyond the rule, and missed", "", *_listed(_missed(cases, LIMIT)),
              "", "## Lossy kernels that the measured band refuses", "", *_listed(_refused(trials, LOSSY)),
              "", "## How near right kernels of f32 come to the band", "",
              "The largest of error over what is allowed; the nearest wrong kernel's, on the data that show it best.", "",
              "| op | right | on | wrong | by |", "| --- | --- | --- | --- | --- |", *_margins(trials, cases), ""]
    return "\n".join(lines)


def _listed(counted):
    return [f"- {text}: {count}" for text, count in counted.items()] or ["None."]


def _refused(trials, kind):
    return collections.Counter(f"{one.op}/{one.dtype}, {one.kernel}, {one.arithmetic}, {one.family}: {one.failed} {one.excess:.2g}"
                               if kind == RIGHT_KERNEL else f"{one.op}/{one.dtype}, {one.kernel}, {one.family}: {one.failed}"
                               for one in trials if one.kind == kind and not one.passed[rules.BAND])


def _missed(cases, kind):
    return collections.Counter(f"{trials[0].op}/{trials[0].dtype}, {trials[0].kernel}, {trials[0].arithmetic}"
                               for trials in cases.select(kind) if all(one.passed[rules.BAND] for one in trials))


def _margins(trials, cases):
    for op in dict.fromkeys(one.op for one in trials):
        right = [one for one in trials if one.op == op and one.dtype == "f32" and one.kind == RIGHT_KERNEL]
        if not right:
            continue
        worst = max(right, key=lambda one: one.excess)
        nearest = min((max(of_case, key=lambda one: one.excess) for of_case in cases.select(WRONG_KERNEL, dtype="f32")
                       if of_case[0].op == op), key=lambda one: one.excess)
        yield (f"| {op} | {worst.excess:.2f} | {worst.family}, {worst.kernel}, {worst.arithmetic} "
               f"| {nearest.excess:.3g} | {nearest.kernel}, {nearest.arithmetic} |")
