"""Arguments that C++ would refuse by their types alone are refused here, in words."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

from batchweave.errors import InvalidArgument

#: Of steps, bytes and counts: what fits in all languages.
NUMBER_MAX = 2**63 - 1


def number(name: str, value: Any, *, least: int = 0, most: int = NUMBER_MAX) -> int:
    """``value`` as an int, where it is one (numpy's too) from ``least`` to ``most``."""
    try:
        found = operator.index(value)
    except TypeError:
        found = None
    if found is None or isinstance(value, bool) or not least <= found <= most:
        raise InvalidArgument(f"{name} is a whole number from {least} to {most}: found {value!r}")
    return found


def bounds(name: str, value: Any) -> tuple[int, int]:
    """Where a range of whole numbers begins and ends."""
    if not isinstance(value, range) or value.step != 1:
        raise InvalidArgument(f"{name} are a range, as range(5000, 5100): found {value!r}")
    return number(f"the first of {name}", value.start), number(f"the end of {name}", value.stop)


def seconds(name: str, value: Any) -> float:
    """``value`` as a float, where it is a time of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise InvalidArgument(f"{name} is a number of seconds, 0 or more: found {value!r}")
    return float(value)


def text(name: str, value: Any) -> str:
    """``value``, where it is a str."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{name} is a str: found {value!r}")
    return value


def options(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuses keyword arguments that are passed on, as Python does where there is nobody to pass them on to."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise TypeError(
            f"unexpected keyword arguments: {', '.join(unknown)}; beside those of its own it takes {', '.join(known)}"
        )
