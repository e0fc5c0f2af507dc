"""Streams as JAX training jobs read them.

>>> loader = StreamingDataLoader(stream, group="pretrain", session=session, sharding=NamedSharding(mesh, P("data")))
>>> for step, batch in loader:  # a dict of global arrays
...     state = train_step(state, batch)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from batchweave import RankBatch, Stream, _check
from batchweave._join import join
from batchweave._needs import needs
from batchweave._state import State
from batchweave._stream import READING_OPTIONS
from batchweave.errors import InvalidArgument, SchemaMismatch
from batchweave.safetensors import CONTENT_TYPE

with needs("jax", "0.4.30"):
    import jax

__all__ = ["StreamingDataLoader"]


class StreamingDataLoader:
    """Iterating gives ``(step, batch)`` for each training step: a dict of arrays, the same on every process but for the data.

    Each process reads its own part: ``dp_rank`` of ``dp_size``, by default ``jax.process_index()`` of
    ``jax.process_count()``, and ``cp_rank`` of ``cp_size``. Several slices of a process are joined, cp along dimension 1 and
    dp along dimension 0.

    ``sharding``: of the global arrays, or a dict of one for each name; they are made by
    ``jax.make_array_from_process_local_data``. Without, iterating gives this process's numpy arrays: of one slice views of
    what was received, not copies. ``group`` and ``session``: whose hold it reads under; one process opens the group, and tells
    the others its session. ``start``: the first step. ``consumer``: ``allow_uneven``, ``prefetch_steps``, ``prefetch_bytes``,
    ``prefetch_threads``, ``stall_after``, as of :meth:`batchweave.Stream.consumer`.

    Errors: those of :class:`batchweave.Consumer`; :class:`~batchweave.errors.InvalidArgument` (a group without its session; an
    array without a sharding), :class:`~batchweave.errors.SchemaMismatch` (slices that are bytes).
    """

    def __init__(
        self,
        stream: Stream,
        *,
        group: str = "",
        session: int = 0,
        start: int = 0,
        dp_rank: int | None = None,
        dp_size: int | None = None,
        cp_rank: int = 0,
        cp_size: int = 1,
        sharding: jax.sharding.Sharding | dict[str, jax.sharding.Sharding] | None = None,
        **consumer: Any,
    ) -> None:
        if (dp_rank is None) != (dp_size is None):
            raise InvalidArgument(f"dp_rank and dp_size go together: found {dp_rank} and {dp_size}")
        if group and not session:
            raise InvalidArgument(
                "a group is read under its session: open the group on one process, and pass session=... to all"
            )
        ranks = {
            "dp_rank": jax.process_index() if dp_rank is None else dp_rank,
            "dp_size": jax.process_count() if dp_size is None else dp_size,
            "cp_rank": cp_rank,
            "cp_size": cp_size,
        }
        _check.options(consumer, READING_OPTIONS)
        self.stream = stream
        self._options = {**consumer, **ranks, "group": group, "session": session}
        self._sharding = sharding
        self._state = State(stream.id, start, start=start)

    def state_dict(self) -> dict[str, Any]:
        """What the job has consumed: the same on every process."""
        return self._state.to_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where ``state`` was. Errors: ``InvalidArgument`` (another stream's, damaged)."""
        self._state = State.from_dict(state, self.stream.id, -1)

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self.stream.consumer(position=self._state.step, **self._options) as consumer:
            for batch in consumer:
                self._state = self._state._replace(step=batch.step + 1)
                yield batch.step, self._arrays(batch)
                del batch

    def _arrays(self, batch: RankBatch) -> dict[str, Any]:
        if batch.content_type != CONTENT_TYPE:
            raise SchemaMismatch(
                f"step {batch.step} of {batch.producer} is {batch.content_type}, not arrays: use stream.consumer"
            )
        local = join(((one.dp, one.numpy()) for one in batch), np.concatenate)
        if self._sharding is None:
            return local
        return {name: jax.make_array_from_process_local_data(self._sharding_of(name), array) for name, array in local.items()}

    def _sharding_of(self, name: str) -> jax.sharding.Sharding:
        if not isinstance(self._sharding, dict):
            return self._sharding
        if name not in self._sharding:
            raise InvalidArgument(f"no sharding for array {name!r}: there are those of {', '.join(self._sharding)}")
        return self._sharding[name]
