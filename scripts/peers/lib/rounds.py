"""rounds.csv: what each round of each case measured. Rows are appended as they end; a later run completes them."""
from __future__ import annotations

import csv
import math
import pathlib
from collections import defaultdict
from dataclasses import asdict, dataclass, fields

from lib.worker import Block


@dataclass(frozen=True)
class Round:
    case_id: str
    round: int
    first: str
    assay_median_s: float
    assay_samples: int
    assay_noise: float
    assay_contended: bool
    assay_flops: float
    assay_bytes: float
    assay_implementation: str
    peer_median_s: float
    peer_samples: int
    peer_noise: float
    peer_contended: bool
    peer_implementation: str
    problem: str = ""

    @property
    def log_ratio(self) -> float:
        return math.log(self.assay_median_s / self.peer_median_s)


def measured(case_id: str, number: int, assay: Block, peer: Block, first: str) -> Round:
    return Round(case_id, number, first, assay.median_s, len(assay.launch_s), assay.noise,
                 bool(assay.record.get("contended")), float(assay.record.get("flops") or 0),
                 float(assay.record.get("bytes") or 0), assay.record.get("implementation", ""),
                 peer.median_s, len(peer.launch_s), peer.noise, bool(peer.record.get("contended")),
                 peer.record.get("implementation", ""))


def failed(case_id: str, number: int, problem: str) -> Round:
    return Round(case_id, number, "", 0, 0, 0, False, 0, 0, "", 0, 0, 0, False, "", problem)


def append(path: pathlib.Path, row: Round) -> None:
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Round)], lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(asdict(row))


def load(path: pathlib.Path) -> dict[str, list[Round]]:
    """By case, in the order of the file."""
    rounds: dict[str, list[Round]] = defaultdict(list)
    if not path.exists():
        return rounds
    read = {"int": int, "float": float, "bool": lambda text: text == "True", "str": str}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if None in row.values():
                continue  # cut off in the middle
            rounds[row["case_id"]].append(Round(**{f.name: read[str(f.type)](row[f.name]) for f in fields(Round)}))
    return rounds
