"""The table: a row a case, geometric means, as CSV and as Markdown."""
from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from statistics import median

from lib import signed_rank
from lib.cases import LEFT_OUT, parse_case
from lib.rounds import Round

LIMIT = 1.25
WRONG = "torch is wrong"


@dataclass(frozen=True)
class Row:
    case_id: str
    op: str
    dtype: str
    group: str
    unlike: str
    rounds: int
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    verdict: str
    assay_median_s: float | None
    torch_median_s: float | None
    assay_rate: float | None
    torch_rate: float | None
    rate_unit: str
    assay_noise: float | None
    torch_noise: float | None
    contended_rounds: int
    implementation: str
    torch_implementation: str
    problem: str


def verdict(ratio: float, interval: tuple[float, float] | None) -> str:
    if interval is None:
        return "too few rounds"
    if interval[1] <= LIMIT:
        return "faster" if interval[1] < 1 else "within"
    return "SLOWER" if interval[0] > LIMIT else "unclear"


def row_of(case_id: str, rounds: Sequence[Round]) -> Row:
    case = parse_case(case_id)
    good = [r for r in rounds if not r.problem]
    problems = Counter(r.problem for r in rounds if r.problem)
    text = "; ".join(f"{problem} ({count} rounds)" for problem, count in problems.items())
    if not good:
        is_wrong = all(problem.startswith("torch: fail: ") for problem in problems)
        return Row(case_id, case.op, case.dtype, case.group, case.unlike, 0, None, None, None,
                   WRONG if is_wrong else "problem", None, None, None, None, "", None, None, 0, "", "", text)
    logs = [r.log_ratio for r in good]
    between = signed_rank.interval(logs)
    low, high = (math.exp(between[0]), math.exp(between[1])) if between else (None, None)
    ratio = math.exp(signed_rank.hodges_lehmann(logs))
    assay_s, torch_s = median(r.assay_median_s for r in good), median(r.peer_median_s for r in good)
    work = good[0].assay_flops if case.is_product else good[0].assay_bytes
    said = verdict(ratio, (low, high) if low is not None and high is not None else None)
    return Row(case_id, case.op, case.dtype, case.group, case.unlike, len(good), ratio, low, high,
               said, assay_s, torch_s, work / assay_s, work / torch_s, "FLOP/s" if case.is_product else "B/s",
               median(r.assay_noise for r in good), median(r.peer_noise for r in good),
               sum(r.assay_contended or r.peer_contended for r in good), good[0].assay_implementation,
               good[0].peer_implementation, text)


@dataclass(frozen=True)
class Mean:
    name: str
    cases: int
    ratio: float
    low: float | None
    high: float | None
    worst: str


def mean_of(name: str, rows: Sequence[Row], rounds: dict[str, list[Round]]) -> Mean:
    """The geometric mean of the cases' ratios; its interval from the rounds that all of them have."""
    by_case = {row.case_id: {r.round: r.log_ratio for r in rounds[row.case_id] if not r.problem} for row in rows}
    common = set.intersection(*(set(logs) for logs in by_case.values()))
    per_round = [sum(logs[number] for logs in by_case.values()) / len(by_case) for number in sorted(common)]
    between = signed_rank.interval(per_round) if per_round else None
    worst = max(rows, key=lambda row: row.ratio or 0)
    ratio = math.exp(sum(math.log(row.ratio) for row in rows if row.ratio) / len(rows))
    return Mean(name, len(rows), ratio, math.exp(between[0]) if between else None,
                math.exp(between[1]) if between else None, f"{worst.case_id} {worst.ratio:.2f}")


def means(rows: Sequence[Row], rounds: dict[str, list[Round]]) -> list[Mean]:
    """Per group and dtype, and overall; without the cases that do not do the same work."""
    alike = [row for row in rows if row.ratio and not row.unlike]
    groups: dict[str, list[Row]] = {}
    for row in alike:
        groups.setdefault(f"{row.group} {row.dtype}", []).append(row)
    for dtype in sorted({row.dtype for row in alike}, reverse=True):
        groups[f"all {dtype}"] = [row for row in alike if row.dtype == dtype]
    groups["overall"] = alike
    return [mean_of(name, members, rounds) for name, members in groups.items() if members]


def as_csv(rows: Sequence[Row] | Sequence[Mean], kind: type) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [f.name for f in fields(kind)], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: f"{value:.6g}" if isinstance(value, float) else value
                         for name, value in asdict(row).items()})
    return text.getvalue()


def number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def time_text(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.3f}"


def rate_text(rate: float | None, unit: str) -> str:
    return "" if not rate else f"{rate * 1e-9:.1f} G{unit}"


def as_markdown(rows: Sequence[Row], all_means: Sequence[Mean], facts: Sequence[str]) -> str:
    lines = ["# Assay against PyTorch", ""] + [f"- {fact}" for fact in facts]
    lines += ["", "| geometric mean of assay/torch | cases | ratio | interval | slowest |", "|---|--:|--:|---|---|"]
    lines += [f"| {m.name} | {m.cases} | {m.ratio:.3f} | {between(m.low, m.high)} | {m.worst} |" for m in all_means]
    counts = Counter(row.verdict for row in rows)
    said = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    lines += ["", f"Against {LIMIT}: {said}.", "",
              "| case | ratio | interval | verdict | Assay ms | torch ms | Assay | torch | noise % |",
              "|---|--:|---|---|--:|--:|--:|--:|---|"]
    for row in sorted(rows, key=lambda row: -(row.ratio or math.inf)):
        noise = "" if row.assay_noise is None else f"{row.assay_noise * 100:.0f}, {(row.torch_noise or 0) * 100:.0f}"
        mark = "*" if row.unlike else ""
        lines.append(f"| {row.case_id}{mark} | {number(row.ratio)} | {between(row.ratio_low, row.ratio_high)} | "
                     f"{row.verdict} | {time_text(row.assay_median_s)} | {time_text(row.torch_median_s)} | "
                     f"{rate_text(row.assay_rate, row.rate_unit)} | {rate_text(row.torch_rate, row.rate_unit)} | "
                     f"{noise} |")
    unlike = sorted({(row.op, row.unlike) for row in rows if row.unlike})
    lines += [""] + [f"\\* {op}: {why}; in no mean." for op, why in unlike]
    lines += ["", "Left out:"] + [f"- {op}: {why}" for op, why in LEFT_OUT.items()]
    troubles = [row for row in rows if row.problem]
    if troubles:
        lines += ["", "Problems:"] + [f"- {row.case_id}: {row.problem}" for row in troubles]
    return "\n".join(lines) + "\n"
