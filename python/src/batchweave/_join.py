"""Several slices of one rank as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Arrays = dict[str, Any]


def join(slices: Iterable[tuple[int, Arrays]], concatenate: Callable[[list[Any], int], Any]) -> Arrays:
    """From (dp, arrays) of each slice to the rank's arrays: cp along dimension 1, then dp along dimension 0.

    One slice is left as it is; of none there are no arrays.
    """
    rows: dict[int, list[Arrays]] = {}
    for dp, arrays in slices:
        rows.setdefault(dp, []).append(arrays)
    return _joined([_joined(row, concatenate, 1) for row in rows.values()], concatenate, 0)


def _joined(pieces: list[Arrays], concatenate: Callable[[list[Any], int], Any], dimension: int) -> Arrays:
    if len(pieces) < 2:
        return pieces[0] if pieces else {}
    return {name: concatenate([piece[name] for piece in pieces], dimension) for name in pieces[0]}
