"""The outcomes of problems and of their wrong variants, as Markdown and as CSV."""
import collections
import csv

from problems.allclose import TOLERANCES
from problems.trials import JUDGED, OUTCOMES

PROBLEM_COLUMNS = ("level", "problem", "largest", "outcome", "seconds", "reason", "oracle")
VARIANT_COLUMNS = ("level", "problem", "variant", "changes", "red", "caught_by", "reason",
                   *(f"allclose_{tolerance:g}" for tolerance in TOLERANCES))


class Files:
    """Two CSV files that get each row as it is known: a run may take hours."""

    def __init__(self, problems, variants):
        self._writers = {}
        for path, columns in ((problems, PROBLEM_COLUMNS), (variants, VARIANT_COLUMNS)):
            if path:
                file = open(path, "w", newline="", encoding="utf-8", buffering=1)  # pylint: disable=consider-using-with
                self._writers[columns] = csv.writer(file, lineterminator="\n")
                self._writers[columns].writerow(columns)

    def problem(self, one):
        self._write(PROBLEM_COLUMNS, (one.level, one.problem, one.largest, one.outcome, f"{one.seconds:.1f}", one.reason,
                                      one.oracle))

    def variant(self, one):
        self._write(VARIANT_COLUMNS, (one.level, one.problem, one.variant, int(one.changes), int(one.red), one.caught_by,
                                      one.reason, *(int(passed) for passed in one.allclose.values())))

    def _write(self, columns, row):
        if columns in self._writers:
            self._writers[columns].writerow(row)


def markdown(tried, variants, untried, command, largest, limit_s, machine):
    sizes = (f"Whole numbers among the constants of a file are at most {largest} here, or at most the first of its doublings "
             "at which the shapes fit together, at last as they are: the files' own sizes are for large GPUs." if largest else
             "Sizes are the files' own.")
    text = f"""# Problems in KernelBench's form

`{command}`, on {machine}.

{sizes} Each problem has {limit_s:g} s. The kernel is its own `Model` in f32, by PyTorch: *judged* is one that passes and is
not vacuous, *wrong* one whose own Model is outside the band.

| level | problems | {' | '.join(OUTCOMES)} | seconds, median | most |
| --- | --: | {' | '.join('--:' for _ in OUTCOMES)} | --: | --: |
{_lines(_by_level(tried))}

## What is not judged, and why

{_listed(tried)}
"""
    return text + (_of_variants(variants, untried) if variants or untried else "")


def _lines(rows):
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def _by_level(tried):
    levels = [*dict.fromkeys(one.level for one in tried), None]
    for level in levels:
        of_level = [one for one in tried if level in (None, one.level)]
        seconds = sorted(one.seconds for one in of_level)
        yield (level or "all", len(of_level), *(sum(one.outcome == outcome for one in of_level) for outcome in OUTCOMES),
               f"{seconds[len(seconds) // 2]:.1f}", f"{seconds[-1]:.1f}")


def _listed(tried):
    others = [one for one in tried if one.outcome != JUDGED]
    return "\n".join(f"- {one.level}/{one.problem}: {one.outcome}: {one.reason}" for one in others) or "All are judged."


def _of_variants(variants, untried):
    problems = {(one.level, one.problem) for one in variants}
    return f"""
## Wrong variants

{len(variants)} variants of {len(problems)} of the judged problems, made below PyTorch's calls by
`scripts/lib/problems/variants.py`. `allclose` compares with the model in f32 on five seeds of the file's own inputs, as
the benchmark does: at 1e-4 in f32 today, and at 1e-2 before. A variant that changes no bit there is counted apart.

| variant | problems | changes bits | green in Assay | passes allclose 1e-4 | passes allclose 1e-2 | changes none | of these red in Assay |
| --- | --: | --: | --: | --: | --: | --: | --: |
{_lines(_counts(variants))}

### Green in Assay though bits change

{_green(variants)}

### Problems whose variants could not be tried

{_untried(untried)}
"""


def _counts(variants):
    by_name = collections.defaultdict(list)
    for one in variants:
        by_name[one.variant].append(one)
    for name, of_name in [*by_name.items(), ("all", variants)]:
        wrong = [one for one in of_name if one.changes]
        same = [one for one in of_name if not one.changes]
        yield (name, len(of_name), len(wrong), sum(not one.red for one in wrong),
               *(sum(one.allclose[str(tolerance)] for one in wrong) for tolerance in sorted(TOLERANCES)), len(same),
               sum(one.red for one in same))


def _untried(untried):
    return "\n".join(f"- {one.level}/{one.problem}: {why}" for one, why in untried) or "None."


def _green(variants):
    return "\n".join(f"- {one.level}/{one.problem}: {one.variant}" for one in variants
                     if one.changes and not one.red) or "None."
