"""One rank's way through a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from batchweave import _check, _lifetime, _native, safetensors
from batchweave.errors import CorruptData, SchemaMismatch

if TYPE_CHECKING:
    import numpy as np
    import torch


class Slice(_lifetime.OfOneProcess):
    """One slice of a step, in memory that goes back to the consumer when the last view of it is gone.

    The memory is this rank's alone and may be written.
    """

    __slots__ = ("_batch", "_native")
    _instead = "pickle its bytes, arrays or tensors"

    def __init__(self, native: _native.Slice, batch: _native.RankBatch) -> None:
        self._native = native
        self._batch = batch

    @property
    def dp(self) -> int:
        """Its place in the batch's grid, along dp."""
        return self._native.dp

    @property
    def cp(self) -> int:
        """And along cp."""
        return self._native.cp

    @property
    def data(self) -> memoryview:
        """The bytes, not copied."""
        return memoryview(self._native)

    def __bytes__(self) -> bytes:
        """A copy."""
        return bytes(self.data)

    def __len__(self) -> int:
        return self._native.size_bytes

    def numpy(self) -> dict[str, np.ndarray]:
        """The arrays of the slice, by name: views, not copies.

        bfloat16 and the 8-bit floats need the package ml_dtypes.
        Errors: :class:`~batchweave.errors.SchemaMismatch` (the slice is no dict of arrays, or not of the batch's schema),
        :class:`~batchweave.errors.CorruptData`.
        """
        return self._decoded(safetensors.to_numpy)

    def torch(self) -> dict[str, torch.Tensor]:
        """The tensors of the slice, by name: views, not copies. Errors: as of numpy()."""
        return self._decoded(safetensors.to_torch)

    def _decoded(self, decode: Any) -> Any:
        batch = self._batch
        if batch.content_type != safetensors.CONTENT_TYPE:
            raise SchemaMismatch(
                f"step {batch.step} of {batch.producer} is {batch.content_type or 'of no content type'}, not "
                f"{safetensors.CONTENT_TYPE}: read it by slice.data"
            )
        try:
            arrays, schema = decode(self._native)
        except CorruptData as error:
            raise CorruptData(f"step {batch.step} of {batch.producer}, slice dp={self.dp} cp={self.cp}: {error}") from None
        if batch.schema_hash not in (0, schema):
            raise SchemaMismatch(
                f"step {batch.step} of {batch.producer}, slice dp={self.dp} cp={self.cp}: the tensors have schema "
                f"{schema:016x}, the batch says {batch.schema_hash:016x}: its producer mixed two kinds"
            )
        return arrays


class RankBatch(_lifetime.OfOneProcess):
    """What one rank gets of one step: a sequence of its slices, in the order of the grid: cp outermost, dp innermost."""

    __slots__ = ("_native", "slices", "step")
    _instead = "pickle the bytes, arrays or tensors of its slices"

    def __init__(self, native: _native.RankBatch) -> None:
        self._native = native
        self.step: int = native.step
        self.slices: list[Slice] = [Slice(one, native) for one in native.slices()]

    @property
    def producer(self) -> str:
        """Who published it."""
        return self._native.producer

    @property
    def seq(self) -> int:
        """The number of the batch within its producer."""
        return self._native.seq

    @property
    def grid(self) -> tuple[int, int]:
        """(dp, cp) of the global batch."""
        return self._native.dp, self._native.cp

    @property
    def samples(self) -> int:
        """In the global batch, as its producer said."""
        return self._native.samples

    @property
    def content_type(self) -> str:
        """Of its slices, a MIME type."""
        return self._native.content_type

    @property
    def schema_hash(self) -> int:
        """0: none."""
        return self._native.schema_hash

    @property
    def cursor(self) -> bytes:
        """Where the producer's source stands after this batch."""
        return self._native.cursor

    @property
    def metadata(self) -> dict[str, Any]:
        """The producer's own. Errors: ``ValueError`` where it is not JSON: then read metadata_bytes."""
        return json.loads(self._native.metadata or b"{}")

    @property
    def metadata_bytes(self) -> bytes:
        """As they were published."""
        return self._native.metadata

    def __len__(self) -> int:
        return len(self.slices)

    def __getitem__(self, index: int) -> Slice:
        return self.slices[index]

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)


@dataclass(frozen=True)
class ConsumerStats:
    """What a consumer did since it was opened. Bytes; seconds."""

    steps: int
    delivered_bytes: int
    payload_gets: int
    payload_bytes: int  #: received, what was read again included
    manifest_reads: int
    retries: int  #: reads begun again after a short, altered or failed one
    waited_for_commit: float  #: for a step to be committed: the producers are behind
    waited_for_fetch: float  #: for a step's bytes: the store or the network is behind
    buffered_bytes: int  #: fetched ahead, now
    newest_known: int  #: one past the newest step, as last seen


class Consumer(_lifetime.OfOneProcess):
    """One rank's way through the stream, step after step: fetched ahead, verified. Its whole state is ``position``.

    Made by :meth:`Stream.consumer`. Iterating ends at the end of a sealed stream, and may go on after an error: that leaves
    the position where it was. Threads start at the first step. For the process that opened it; one thread at a time, but
    for close() and stats().

    Errors of next() and of iterating: :class:`~batchweave.errors.StreamStalled`, :class:`~batchweave.errors.StepTrimmed`,
    :class:`~batchweave.errors.MeshMismatch`, :class:`~batchweave.errors.CorruptData` (which object and check),
    :class:`~batchweave.errors.StoreUnavailable`, :class:`~batchweave.errors.AccessDenied`,
    :class:`~batchweave.errors.Incompatible`, :class:`~batchweave.errors.NotFound` (the stream was deleted),
    :class:`~batchweave.errors.Closed`.
    """

    def __init__(self, native: _native.Consumer) -> None:
        self._native = native
        _lifetime.close_at_exit(self)

    @property
    def position(self) -> int:
        """The step after the last one returned."""
        return self._native.position

    def next(self, timeout: float | None = None) -> RankBatch | None:
        """The batch of the next step, or None at the end of a sealed stream.

        Waits up to ``timeout`` seconds, at most ``stall_after``, for it to be committed.
        """
        batch = self._native.next(None if timeout is None else _check.seconds("timeout", timeout))
        return None if batch is None else RankBatch(batch)

    def __iter__(self) -> Consumer:
        return self

    def __next__(self) -> RankBatch:
        batch = self._native.next(None)
        if batch is None:
            raise StopIteration
        return RankBatch(batch)

    def stats(self) -> ConsumerStats:
        """What it did so far."""
        return ConsumerStats(**self._native.stats())

    def close(self) -> None:
        """End the threads; a next() that waits in another thread is a ``Closed``. Batches that are held stay valid."""
        self._native.close()

    def __enter__(self) -> Consumer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._native.close(_lifetime.patience(kind))
