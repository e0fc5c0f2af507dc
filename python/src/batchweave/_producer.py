"""A source of global batches."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from batchweave import _check, _lifetime, _native
from batchweave._batch import OCTET_STREAM, SLICES_MAX, GlobalBatch, SliceData
from batchweave._parts import PartReceipt, PartTicket
from batchweave.errors import InvalidArgument
from batchweave.safetensors import CONTENT_TYPE, schema_hash


@dataclass(frozen=True)
class ProducerStats:
    """What a producer did since it was opened. Bytes; seconds."""

    published: int  #: batches that publish() took
    committed: int  #: of those, batches that every rank can see
    published_bytes: int
    pending_bytes: int  #: now
    late: int  #: of those committed, longer after their upload than max_staleness
    staleness_max: float  #: the longest from the upload of a batch until this process knew it committed
    commits: int  #: versions that this process made, for all its producers
    commits_lost: int  #: its attempts that another process won
    retries: int  #: uploads begun again
    waited_for_room: float  #: publish() waited for memory: upload or commit is behind


class Producer(_lifetime.OfOneProcess):
    """A named source of global batches: each appears to all ranks whole, once and in order, with the source's cursor.

    Made by :meth:`Stream.producer`. As a context manager it flushes at a clean end, and at an exception drops what was
    not committed; the next holder of the name goes on at the cursor that was. Threads start at the first publish().
    For the process that opened it; for any of its threads.

    Errors of every method: :class:`~batchweave.errors.Fenced` (a newer holder has the name: stop),
    :class:`~batchweave.errors.StreamSealed`, :class:`~batchweave.errors.Closed`,
    :class:`~batchweave.errors.StreamStalled` (no progress for ``stall_after`` seconds: what is pending is still tried), and
    what stopped the upload or the commit of an earlier batch (:class:`~batchweave.errors.AccessDenied`...): that batch is
    tried again, so mend the cause and call again.
    """

    def __init__(self, native: _native.Producer) -> None:
        self._native = native
        self._finished = False
        _lifetime.close_at_exit(self)

    @property
    def name(self) -> str:
        """Under which it was opened."""
        return self._native.name

    @property
    def cursor(self) -> bytes | None:
        """Where the source goes on: the cursor that was committed last when this was opened. None: nothing ever was."""
        return self._native.cursor

    @property
    def committed_seq(self) -> int:
        """Batches committed so far, by every holder of the name: the seq of the last."""
        return self._native.committed_seq

    @property
    def incarnation(self) -> int:
        """The number of this opening: what fences the earlier ones."""
        return self._native.incarnation

    def publish(
        self,
        batch: GlobalBatch | Sequence[Sequence[SliceData]],
        *,
        cursor: bytes = b"",
        cursor_before: bytes | None = None,
        samples: int = 0,
        metadata: Mapping[str, Any] | None = None,
        provenance: bytes = b"",
    ) -> int:
        """Queue ``batch`` and return its seq. Waits while too much is pending, or the stream too far ahead of its readers.

        ``batch``: a :class:`GlobalBatch`, or a list of ``dp`` lists of ``cp`` slices, each bytes or a dict of arrays.
        ``cursor``: where the source stands after this batch, up to 1024 bytes. ``cursor_before``: where it stood before; then
        it must be the cursor of the batch before. ``samples``: how many. ``metadata``: JSON, up to 1024 bytes, which every
        reader gets with the batch. ``provenance``: which samples came from where, up to 1 MiB, read only when asked for.

        Errors: also :class:`~batchweave.errors.InvalidArgument`. On any error the batch is not published, and may be again.
        After Ctrl-C in here it may be on its way: the cursor tells whoever opens the producer next.
        """
        filled = GlobalBatch.of(batch)._filled()
        before = None if cursor_before is None else as_bytes(cursor_before, "cursor_before")
        return self._native.publish(
            filled,
            as_bytes(cursor, "cursor"),
            before,
            _check.number("samples", samples),
            _to_json(metadata),
            as_bytes(provenance, "provenance"),
        )

    @contextlib.contextmanager
    def batch(self, *, dp: int, cp: int = 1, content_type: str = OCTET_STREAM, **publish: Any) -> Iterator[GlobalBatch]:
        """A batch to fill, published at the end of the block; at an exception it is not. ``publish``: as of publish().

        >>> with producer.batch(dp=2, cp=1, cursor=b"17") as batch:
        ...     batch[0, 0] = b"left"
        ...     batch[1, 0] = b"right"
        """
        batch = GlobalBatch(dp=dp, cp=cp, content_type=content_type)
        yield batch
        self.publish(batch, **publish)

    def next_ticket(
        self, *, dp: int, cp: int = 1, content_type: str = OCTET_STREAM, like: Mapping[str, Any] | None = None
    ) -> PartTicket:
        """Leave for workers anywhere to write the parts of the next batch, of ``dp`` x ``cp`` slices; writes nothing.

        ``like``: where slices are dicts of arrays, one of their kind: its names, dtypes and numbers of dimensions count.
        ``content_type``: where they are bytes. Several tickets may be outstanding, for batches that follow each other;
        meanwhile publish() and finish() are refused.

        >>> ticket = producer.next_ticket(dp=64, like={"ids": np.zeros((1, 4096), np.int32)})
        >>> receipt = stream.write_part(ticket, slices, dp=range(0, 8))  # in another process: a receipt of each part
        >>> producer.publish_parts(receipts, cursor=b"17")

        Errors: also :class:`~batchweave.errors.InvalidArgument` (the grid; too many tickets).
        """
        kind = (_check.text("content_type", content_type), 0) if like is None else (CONTENT_TYPE, schema_hash(like))
        dp, cp = (_check.number(name, value, least=1, most=SLICES_MAX) for name, value in (("dp", dp), ("cp", cp)))
        return PartTicket(self._native.next_ticket(dp, cp, *kind))

    def publish_parts(
        self,
        receipts: Sequence[PartReceipt],
        *,
        cursor: bytes = b"",
        cursor_before: bytes | None = None,
        samples: int = 0,
        metadata: Mapping[str, Any] | None = None,
    ) -> int:
        """Queue the batch of the oldest outstanding ticket, whose parts are ``receipts`` in any order; return its seq.

        It becomes visible as a whole. The options are those of publish(), but for provenance, which each part has its own.
        Errors: also :class:`~batchweave.errors.InvalidArgument` (a receipt of another ticket, incarnation or stream; parts
        that are doubled, overlap, or leave a slice out: says which). The ticket then stays outstanding.
        """
        for receipt in receipts:
            if not isinstance(receipt, PartReceipt):
                raise InvalidArgument(
                    f"receipts are PartReceipts, of bytes PartReceipt.from_bytes(...): found {receipt!r:.100}"
                )
        return self._native.publish_parts(
            [receipt._native for receipt in receipts],
            as_bytes(cursor, "cursor"),
            None if cursor_before is None else as_bytes(cursor_before, "cursor_before"),
            _check.number("samples", samples),
            _to_json(metadata),
        )

    def drop_tickets(self) -> None:
        """Give up all outstanding tickets: their batches get new ones, and receipts of the old are refused."""
        self._native.drop_tickets()

    def flush(self, timeout: float | None = None) -> None:
        """Wait until all that was published is committed; at most ``timeout`` seconds, then it is a ``StreamStalled``."""
        self._native.flush(_or_none(timeout))

    def finish(self, timeout: float | None = None) -> None:
        """Flush, and end the producer in the same commit: opening its name again is an ``AlreadyExists``."""
        self._native.finish(_or_none(timeout))
        self._finished = True

    def stats(self) -> ProducerStats:
        """What it did so far."""
        return ProducerStats(**self._native.stats())

    def close(self) -> None:
        """Stop. What is pending is dropped: it was never acknowledged. Again: does nothing."""
        self._native.close()

    def __enter__(self) -> Producer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None and self._native.is_open and not self._finished:
                self.flush()
        except BaseException as failed:
            kind = type(failed)
            raise
        finally:
            self._native.close(_lifetime.patience(kind))


def _or_none(timeout: float | None) -> float | None:
    return None if timeout is None else _check.seconds("timeout", timeout)


def as_bytes(value: Any, what: str) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise InvalidArgument(f"{what} is bytes: found {type(value).__name__} (of a number or a dict: json.dumps(...).encode())")


def _to_json(metadata: Mapping[str, Any] | None) -> bytes:
    if metadata is None:
        return b""
    if not isinstance(metadata, Mapping):
        raise InvalidArgument(f"metadata is a dict: found {type(metadata).__name__}")
    try:
        return json.dumps(metadata, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"metadata is not JSON: {error}") from None
