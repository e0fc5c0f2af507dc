"""What is still open when the interpreter ends is closed first: no thread of ours outlives the objects that it serves."""

from __future__ import annotations

import atexit
import weakref
from typing import Any

_open: weakref.WeakSet[Any] = weakref.WeakSet()


def close_at_exit(handle: Any) -> None:
    """Calls ``handle.close()`` at the end of the interpreter, where the handle is still there."""
    _open.add(handle)


@atexit.register
def _close_all() -> None:
    from batchweave._stream import Stream

    # Streams last: they have the threads of their producers.
    for handle in sorted(_open, key=lambda handle: isinstance(handle, Stream)):
        handle.close()
