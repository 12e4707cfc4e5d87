"""Counts of false alarms and misses, as CSV and as Markdown."""
import collections
import csv

from any_op import rules
from any_op.trials import LIMIT, LOSSY, RIGHT_KERNEL, WRONG_KERNEL

COLUMNS = ("group", "op", "dtype", "seed", "family", "kind", "kernel", "arithmetic", "differs", *rules.RULES,
           "failed", "excess")
ALL = "all"


def write_csv(trials, path):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in trials:
            passed = (int(one.passed[rule]) for rule in rules.RULES)
            writer.writerow([one.group, one.op, one.dtype, one.seed, one.family, one.kind, one.kernel, one.arithmetic,
                             one.differs, *passed, one.failed, f"{one.excess:.3g}"])


class Cases:
    """Trials of one kernel and seed, joined over families: it passes a rule if it passes on all data."""

    def __init__(self, trials):
        cases = collections.defaultdict(list)
        for one in trials:
            cases[one.op, one.dtype, one.seed, one.kind, one.kernel, one.arithmetic].append(one)
        self._cases = list(cases.values())

    def select(self, kind, group=ALL, dtype=ALL):
        """Returns lists of trials. A wrong kernel that differs in no bit on any data is not wrong there."""
        return [trials for trials in self._cases
                if trials[0].kind == kind and group in (ALL, trials[0].group) and dtype in (ALL, trials[0].dtype)
                and (kind in (RIGHT_KERNEL, LOSSY) or any(one.differs for one in trials))]

    def count(self, rule, kind, group=ALL, dtype=ALL):
        """Returns (false alarms or misses, cases)."""
        selected = self.select(kind, group, dtype)
        passed = sum(all(one.passed[rule] for one in trials) for trials in selected)
        return (passed if kind in (WRONG_KERNEL, LIMIT) else len(selected) - passed), len(selected)


def markdown(trials, command, seconds):
    cases = Cases(trials)
    return f"""# Any op: right kernels refused, wrong ones missed

`{command}`: {len(trials)} trials of {len({one.op for one in trials})} ops in {seconds:.0f} s.

A case is one kernel, dtype and seed on all its data. A right one is refused if one set of data refuses it; a wrong one
is missed if none does. Ops *held out* changed nothing in the rule. Beyond the rule are a single element
off by 3 ulp and lost tails beside large outputs. Lossy kernels are right for inputs that move by a roundoff, but lose
bits at a large mean.

| ops | dtype | rule | right, refused | wrong, missed | beyond the rule, missed | lossy, refused |
| --- | --- | --- | --- | --- | --- | --- |
{_lines(_counts(trials, cases))}

## False alarms of the measured band

{_listed(_refused(trials, RIGHT_KERNEL))}

## Wrong kernels that the measured band misses

{_listed(_missed(cases, WRONG_KERNEL))}

## Beyond the rule, and missed

{_listed(_missed(cases, LIMIT))}

## Lossy kernels that the measured band refuses

{_listed(_refused(trials, LOSSY))}

## How near kernels of f32 come to the band

The largest error of a right kernel over what is allowed, and that of the least wrong kernel on the data that show it
best.

| op | right | on | wrong | by |
| --- | --- | --- | --- | --- |
{_lines(_margins(trials, cases))}
"""


def _lines(rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _counts(trials, cases):
    groups = dict.fromkeys(one.group for one in trials)
    dtypes = dict.fromkeys(one.dtype for one in trials)
    for group, dtype in [(group, dtype) for group in groups for dtype in dtypes] + [(ALL, ALL)]:
        for rule in rules.RULES:
            counts = (cases.count(rule, kind, group, dtype) for kind in (RIGHT_KERNEL, WRONG_KERNEL, LIMIT, LOSSY))
            yield (group, dtype, rule, *map(_share, counts))


def _share(count):
    some, of_all = count
    return f"{some} of {of_all} ({100 * some / of_all:.1f}%)" if of_all else "none"


def _listed(counted):
    return "\n".join(f"- {text}: {count}" for text, count in counted.items()) or "None."


def _refused(trials, kind):
    return collections.Counter(f"{one.op}/{one.dtype}, {one.kernel}, {one.family}: {one.failed}"
                               for one in trials if one.kind == kind and not one.passed[rules.BAND])


def _missed(cases, kind):
    return collections.Counter(f"{trials[0].op}/{trials[0].dtype}, {trials[0].kernel}, {trials[0].arithmetic}"
                               for trials in cases.select(kind) if all(one.passed[rules.BAND] for one in trials))


def _excess(trial):
    return trial.excess


def _margins(trials, cases):
    of_f32 = [one for one in trials if one.dtype == "f32"]
    for op in dict.fromkeys(one.op for one in of_f32):
        right = max((one for one in of_f32 if one.op == op and one.kind == RIGHT_KERNEL), key=_excess)
        wrong = min((max(case, key=_excess) for case in cases.select(WRONG_KERNEL, dtype="f32") if case[0].op == op),
                    key=_excess)
        yield (op, f"{right.excess:.2f}", f"{right.family}, {right.kernel}, {right.arithmetic}",
               f"{wrong.excess:.3g}", f"{wrong.kernel}, {wrong.arithmetic}")
