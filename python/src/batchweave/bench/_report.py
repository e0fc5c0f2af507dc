"""Figures, their targets, and how they are printed. A figure that was not measured is an error, never a number."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass

#: key: (how it is to compare, with what). Printed in this order, and each must have been measured.
TARGETS: dict[str, tuple[str, float]] = {
    "python_ratio_vs_cpp_1mib": (">=", 0.88),
    "python_ratio_vs_cpp_8mib": (">=", 0.95),
    "copies_per_slice": ("=", 0),
    "ratio_vs_mosaic_sum": (">=", 5),
    "ratio_vs_webdataset_sum": (">=", 5),
    "ratio_vs_litdata_ids": (">=", 3),
    "ratio_vs_litdata_sum": (">=", 2.3),
    "ratio_vs_torch_mmap_fresh_sum": (">=", 0.9),
    "ratio_vs_torch_mmap_fresh_checked_sum": (">=", 1.3),
    "first_batch_ratio": ("<", 1),
    "resume_ratio": ("<", 1),
}

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<": operator.lt,
    "=": operator.eq,
}


@dataclass(frozen=True)
class Figure:
    """A number, and what it is of."""

    key: str
    value: float
    meaning: str


def complete(figures: list[Figure]) -> list[Figure]:
    """Those with targets first. Raises ValueError where one is missing, there twice, or no number."""
    by_key = {figure.key: figure for figure in figures}
    missing = [key for key in TARGETS if key not in by_key]
    wrong = [figure.key for figure in figures if not math.isfinite(figure.value) or figure.value < 0]
    if missing or wrong or len(by_key) != len(figures):
        raise ValueError(f"not measured: {missing}; no numbers: {wrong}; {len(figures)} figures under {len(by_key)} keys")
    return [by_key[key] for key in TARGETS] + [figure for figure in figures if figure.key not in TARGETS]


def meets(figure: Figure) -> bool | None:
    """Whether the figure meets its target; None where it has none."""
    if figure.key not in TARGETS:
        return None
    how, limit = TARGETS[figure.key]
    return _COMPARE[how](figure.value, limit)


def to_json(figures: list[Figure]) -> str:
    """One line."""
    return json.dumps({figure.key: round(figure.value, 4) for figure in figures})


def to_table(figures: list[Figure]) -> str:
    """For people."""
    lines = []
    for figure in figures:
        target = " ".join(map(str, TARGETS.get(figure.key, ())))
        verdict = {None: "", True: "met", False: "MISSED"}[meets(figure)]
        lines.append(f"{figure.key:<38} {round(figure.value, 4):>12g}   {target + ' ' + verdict:<16} {figure.meaning}")
    return "\n".join(lines)
