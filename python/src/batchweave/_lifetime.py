"""Ends: of blocks, and of the interpreter. What is still open then is closed first, so that no thread of ours outlives the
objects that it serves.
"""

from __future__ import annotations

import atexit
import weakref
from typing import Any, NoReturn

_open: weakref.WeakSet[Any] = weakref.WeakSet()


class OfOneProcess:
    """What no other process can use: it is not pickled."""

    __slots__ = ()

    _instead = "pickle its stream, and open another one there"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is of this process alone: {self._instead}")


#: Seconds that a block which Ctrl-C ends waits for what is under way.
HARDLY = 0.3


def patience(kind: type[BaseException] | None) -> float | None:
    """How many seconds the end of a block waits that ``kind`` has ended; None: as long as it takes."""
    return HARDLY if kind is not None and issubclass(kind, KeyboardInterrupt) else None


def close_at_exit(handle: Any) -> None:
    """Calls ``handle.close()`` at the end of the interpreter, where the handle is still there."""
    _open.add(handle)


@atexit.register
def _close_all() -> None:
    from batchweave._stream import Stream

    # Streams last: they have the threads of their producers.
    for handle in sorted(_open, key=lambda handle: isinstance(handle, Stream)):
        handle.close()
