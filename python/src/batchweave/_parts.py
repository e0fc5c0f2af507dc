"""What travels between a producer and the workers that write parts of its batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from batchweave import _native
from batchweave._batch import GlobalBatch
from batchweave.errors import InvalidArgument, SchemaMismatch
from batchweave.safetensors import CONTENT_TYPE


class _Message:
    """Bytes that may go by any queue or file, and by pickle."""

    __slots__ = ("_native",)

    def __init__(self, native: Any) -> None:
        self._native = native

    def __bytes__(self) -> bytes:
        return self._native.encode()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bytes(other) == bytes(self)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        return type(self).from_bytes, (bytes(self),)

    @classmethod
    def from_bytes(cls, message: bytes) -> Any:
        raise NotImplementedError


class PartTicket(_Message):
    """Leave to write any part of one batch: made by :meth:`Producer.next_ticket`, for :meth:`Stream.write_part` anywhere.

    ``bytes(ticket)`` may go by any queue or file; it may be pickled too. Tickets of the same bytes are equal.
    """

    @classmethod
    def from_bytes(cls, message: bytes) -> PartTicket:
        """What ``bytes(ticket)`` was. Errors: :class:`~batchweave.errors.CorruptData`,
        :class:`~batchweave.errors.Incompatible`.
        """
        return cls(_native.PartTicket.decode(message))

    @property
    def producer(self) -> str:
        """Whose batch it is."""
        return self._native.producer

    @property
    def incarnation(self) -> int:
        """Of that producer: one that was opened since takes no parts of this ticket."""
        return self._native.incarnation

    @property
    def seq(self) -> int:
        """The number of the batch within its producer."""
        return self._native.seq

    @property
    def grid(self) -> tuple[int, int]:
        """(dp, cp) of the whole batch."""
        return self._native.dp, self._native.cp

    @property
    def content_type(self) -> str:
        """Of its slices, a MIME type."""
        return self._native.content_type

    @property
    def schema_hash(self) -> int:
        """Of its slices, where they are dicts of arrays; else 0."""
        return self._native.schema_hash

    def __repr__(self) -> str:
        return f"<PartTicket seq={self.seq} of {self.producer}, dp={self.grid[0]} cp={self.grid[1]}>"


class PartReceipt(_Message):
    """One part that is written: made by :meth:`Stream.write_part`, for :meth:`Producer.publish_parts`.

    ``bytes(receipt)`` may go by any queue or file; it may be pickled too.
    """

    @classmethod
    def from_bytes(cls, message: bytes) -> PartReceipt:
        """What ``bytes(receipt)`` was. Errors: :class:`~batchweave.errors.CorruptData`,
        :class:`~batchweave.errors.Incompatible`.
        """
        return cls(_native.PartReceipt.decode(message))

    @property
    def ticket(self) -> PartTicket:
        """Under which it was written."""
        return PartTicket(self._native.ticket)

    @property
    def dp(self) -> range:
        """The rows of the batch's grid that it holds."""
        begin, count, _, _ = self._native.range
        return range(begin, begin + count)

    @property
    def cp(self) -> range:
        """And of each row the slices."""
        _, _, begin, count = self._native.range
        return range(begin, begin + count)

    @property
    def size_bytes(self) -> int:
        """Of its slices together."""
        return self._native.size_bytes

    def __repr__(self) -> str:
        return f"<PartReceipt dp={self.dp} cp={self.cp} of {self.ticket!r}>"


def slices_of_part(ticket: PartTicket, slices: Any, dp: range, cp: range) -> GlobalBatch:
    """The batch that a worker gave, of the size of its part and of the ticket's kind."""
    batch = GlobalBatch.of(slices, content_type="" if ticket.content_type == CONTENT_TYPE else ticket.content_type)
    if (batch.dp, batch.cp) != (len(dp), len(cp)):
        raise InvalidArgument(f"a part of dp={dp} and cp={cp} is {len(dp)} x {len(cp)} slices: found {batch.dp} x {batch.cp}")
    kind = batch._kind
    if kind is not None and kind != (ticket.content_type, ticket.schema_hash):
        raise SchemaMismatch(
            f"the part is of another kind than its ticket: found {kind[0] or 'bytes'} with schema {kind[1]:016x}, expected "
            f"{ticket.content_type} with schema {ticket.schema_hash:016x}"
        )
    return batch
