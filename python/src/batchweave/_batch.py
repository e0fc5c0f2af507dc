"""A global batch before it is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batchweave import _check, _native, safetensors
from batchweave.errors import InvalidArgument, SchemaMismatch

OCTET_STREAM = "application/octet-stream"

SLICES_MAX = 1 << 16

#: What one slice may be: bytes as they are, or a dict of arrays, by name.
SliceData = Any


class GlobalBatch:
    """The batch of one training step for every rank: ``dp`` x ``cp`` slices, each set once, in any order.

    >>> batch = GlobalBatch(dp=2, cp=1)
    >>> batch[0, 0] = {"ids": np.arange(8)}
    >>> batch[1, 0] = {"ids": np.arange(8, 16)}

    A slice is bytes (``bytes`` are kept, not copied; ``bytearray`` and other memory is copied at once), or a dict of numpy
    arrays, torch tensors on the CPU, or what ``numpy.asarray`` takes: those are copied at once, as safetensors. All slices
    of a batch are of one kind: the same names, dtypes and numbers of dimensions; sizes may differ. Not for several threads.

    ``content_type``: of slices that are bytes, a MIME type.

    Errors: :class:`~batchweave.errors.InvalidArgument` (a grid of no slices or more than 65536; a coordinate outside it, or
    set twice; a tensor that cannot be stored: the message names it), :class:`~batchweave.errors.SchemaMismatch`.
    """

    def __init__(self, *, dp: int, cp: int = 1, content_type: str = OCTET_STREAM) -> None:
        self.dp = _check.number("dp", dp, least=1, most=SLICES_MAX)
        self.cp = _check.number("cp", cp, least=1, most=SLICES_MAX)
        self._content_type = _check.text("content_type", content_type)
        self._kind: tuple[str, int] | None = None  # Content type and schema hash: those of the first slice that was set.
        _native.GlobalBatch.new(self.dp, self.cp, content_type, 0)  # Refuses a grid that is none.
        self._native: _native.GlobalBatch | None = None

    @classmethod
    def of(cls, slices: GlobalBatch | Sequence[Sequence[SliceData]], *, content_type: str = OCTET_STREAM) -> GlobalBatch:
        """From a list of ``dp`` lists of ``cp`` slices each; what is a batch already is left as it is."""
        if isinstance(slices, GlobalBatch):
            return slices
        _check_nested(slices)
        batch = cls(dp=len(slices), cp=len(slices[0]), content_type=content_type)
        for dp, row in enumerate(slices):
            for cp, data in enumerate(row):
                batch[dp, cp] = data
        return batch

    def __setitem__(self, at: tuple[int, int], data: SliceData) -> None:
        dp, cp = self._coordinate(at)
        if isinstance(data, Mapping):
            pieces, schema = safetensors.encode(data)
            kind = (safetensors.CONTENT_TYPE, schema)
        else:
            pieces, kind = [_memory(data, at)], (self._content_type, 0)
        self._of_kind(kind, at, data).set(dp, cp, pieces)

    def _coordinate(self, at: Any) -> tuple[int, int]:
        if not (isinstance(at, tuple) and len(at) == 2 and all(isinstance(i, int) and i >= 0 for i in at)):
            raise InvalidArgument(
                f"a coordinate is a pair of numbers, batch[dp, cp]: found {at!r} in a grid of {self.dp} x {self.cp}"
            )
        if at[0] >= self.dp or at[1] >= self.cp:
            raise InvalidArgument(
                f"the coordinate is outside the grid: dp={at[0]} cp={at[1]} in a grid of dp={self.dp} cp={self.cp}"
            )
        return at

    def _of_kind(self, kind: tuple[str, int], at: Any, data: SliceData) -> _native.GlobalBatch:
        if self._native is None:
            self._native = _native.GlobalBatch.new(self.dp, self.cp, *kind)
            self._kind = kind
        elif kind != self._kind:
            raise SchemaMismatch(
                f"slice {at} is of another kind than the slices before: found {_describe(data)}; all slices of a batch "
                "have the same names, dtypes and numbers of dimensions"
            )
        return self._native

    def _filled(self) -> _native.GlobalBatch:
        if self._native is None:
            raise InvalidArgument(f"the batch is empty: no slice of dp={self.dp} x cp={self.cp} was set")
        return self._native

    @property
    def size_bytes(self) -> int:
        """Of the slices that were set so far."""
        return self._native.size_bytes if self._native else 0


def _check_nested(slices: Any) -> None:
    def is_list(value: Any) -> bool:
        return isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview, str))

    if not is_list(slices) or not slices or not all(is_list(row) for row in slices):
        rows = (
            f"a list of {len(slices)}: {', '.join(_describe(row) for row in slices[:3])}"
            if is_list(slices)
            else _describe(slices)
        )
        raise InvalidArgument(
            f"a batch is a list of dp lists of cp slices each, as [[slice], [slice]] for dp=2, cp=1: found {rows}"
        )
    lengths = [len(row) for row in slices]
    if len(set(lengths)) > 1 or not lengths[0]:
        raise InvalidArgument(
            f"a batch of dp={len(slices)} rows needs the same number of slices, cp, in each: found {lengths[:16]}"
        )


def _memory(data: Any, at: Any) -> Any:
    try:
        memoryview(data)
    except TypeError:
        raise InvalidArgument(f"slice {at} is bytes or a dict of arrays: found {_describe(data)}") from None
    return data


def _describe(data: Any) -> str:
    if isinstance(data, Mapping):
        fields = (
            f"{name}: {getattr(value, 'dtype', type(value).__name__)}{list(getattr(value, 'shape', []))}"
            for name, value in list(data.items())[:8]
        )
        return "{" + ", ".join(fields) + "}"
    return f"{type(data).__name__} of {len(data)}" if hasattr(data, "__len__") else type(data).__name__
