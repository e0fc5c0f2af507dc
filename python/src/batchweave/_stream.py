"""A stream of global batches in an object store."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from batchweave import _check, _lifetime, _native
from batchweave._batch import GlobalBatch, SliceData
from batchweave._consumer import Consumer
from batchweave._group import Group
from batchweave._parts import PartReceipt, PartTicket, slices_of_part
from batchweave._producer import Producer, as_bytes
from batchweave.errors import AlreadyExists, InvalidArgument, NotFound

# Of ranks, threads and steps ahead: what fits in C++, which has limits of its own and says them.
_COUNT_MAX = 2**32 - 1

#: Options of Stream.consumer() that loaders leave as they are.
READING_OPTIONS = ("allow_uneven", "prefetch_steps", "prefetch_bytes", "prefetch_threads", "stall_after")


def open(url: str, *, create: bool = False, storage_options: Mapping[str, str] | None = None, durable: bool = True) -> Stream:
    """Open the stream at ``url``: the URL of a folder that exists, and the stream's name as the last component.

    ``url``: ``file:///data/runs/llm-7b``, a path, ``s3://bucket/runs/llm-7b``, ``gs://...`` or ``az://...``.
    ``create``: create it where it is not there. ``storage_options``: of a cloud store, as in the URL's query, and secrets too;
    what is not given comes from the environment. Of any store: ``node_cache_dir`` and ``node_cache_bytes``, by which the ranks
    of a host read each slice once. ``durable``: on a local disk, a batch counts only once it would survive a
    power loss; False is for scratch.

    Errors: :class:`~batchweave.errors.NotFound`, :class:`~batchweave.errors.InvalidArgument` (the URL or an option: says what
    is known), :class:`~batchweave.errors.UnsuitableStore`, :class:`~batchweave.errors.AccessDenied`,
    :class:`~batchweave.errors.StoreUnavailable`, :class:`~batchweave.errors.Incompatible`,
    :class:`~batchweave.errors.CorruptData`.
    """
    options = storage_options if storage_options is not None else {}
    if not isinstance(options, Mapping) or not all(isinstance(part, str) for pair in options.items() for part in pair):
        raise InvalidArgument("storage_options is a dict of str to str")  # Without what it holds: that may be secret.
    stream = Stream(_check.text("url", os.fspath(url)), dict(options), bool(durable))
    stream._open(create)
    return stream


@dataclass(frozen=True)
class GroupInfo:
    """A group, and what it holds."""

    session: int
    start: int  #: where its session began
    checkpoints: dict[str, int]  #: name to step, oldest first


@dataclass(frozen=True)
class StreamInfo:
    """The newest version of a stream, at the time of the call."""

    version: int
    first_step: int  #: those before are trimmed
    next_step: int  #: one past the newest
    sealed: bool
    groups: dict[str, GroupInfo]
    quarantined: list[tuple[int, int, str]]  #: first, end and reason of each range in force


@dataclass(frozen=True)
class StepInfo:
    """One step, as its entry in the stream has it."""

    step: int
    producer: str  #: who published it
    incarnation: int  #: of that producer: the number of its opening
    seq: int  #: the number of the batch within its producer
    grid: tuple[int, int]  #: (dp, cp)
    samples: int  #: as its producer said
    content_type: str  #: of its slices, a MIME type
    schema_hash: int  #: 0: none
    cursor: bytes  #: where the producer's source stands after it
    metadata_bytes: bytes  #: the producer's own: JSON, where Python wrote it
    provenance: list[bytes]  #: which samples came from where, in the producer's own form: one a part of the batch


class Stream:
    """A stream: producers, consumers and groups are opened on it. Made by :func:`batchweave.open`.

    For any thread. A forked child, and whoever unpickles a stream, opens it anew at its first call; secrets are not
    pickled: there they come from the environment. Used as a context manager it is closed at the end.
    """

    def __init__(self, url: str, storage_options: dict[str, str], durable: bool) -> None:
        self._url = url
        self._storage_options = storage_options
        self._durable = durable
        self._id: str | None = None
        self._native: _native.Stream | None = None
        self._process = 0
        self._closed = False

    def _open(self, create: bool = False) -> _native.Stream:
        native = _native.open(self._url, create, list(self._storage_options.items()), self._durable)
        if self._id not in (None, native.id):
            raise NotFound(f"another stream has the name now: url={self._url} expected={self._id} found={native.id}")
        self._id, self._native, self._process = native.id, native, os.getpid()
        _lifetime.close_at_exit(self)
        return native

    def _opened(self) -> _native.Stream:
        if self._native is not None and (self._closed or self._process == os.getpid()):
            return self._native  # Which says so where it is closed.
        return self._open()

    @property
    def url(self) -> str:
        """As it was opened."""
        return self._url

    @property
    def name(self) -> str:
        """The last component of the URL."""
        return self._opened().name

    @property
    def id(self) -> str:
        """32 hexadecimal digits, for ever this stream's alone."""
        return self._opened().id

    def producer(
        self,
        name: str,
        *,
        reopen: bool = False,
        forget: bool = False,
        pending_bytes: int = 1 << 30,
        upload_threads: int = 2,
        max_lead_steps: int = 0,
        max_lead_bytes: int = 0,
        max_staleness: float = 0.0,
        stall_after: float = 300.0,
    ) -> Producer:
        """Open a source of batches by its name, and fence whoever held the name before.

        ``reopen``: go on with one that has finished. ``forget``: the name is used once, as for a task: some time after
        finish() the stream does not know it any more. ``pending_bytes``: queued and in flight at most; publish() waits for
        room. ``max_lead_steps``, ``max_lead_bytes``: publish() waits while the stream is so far ahead of its slowest group;
        0: no limit. ``max_staleness``: seconds after its upload by which a batch is to be committed; 0: as soon as may be.
        It buys attempts for requests, holds nothing back, and stats().late counts what was later all the same.
        ``stall_after``: seconds without any progress after which a wait is given up.

        Errors: :class:`~batchweave.errors.InvalidArgument` (the name), :class:`~batchweave.errors.StreamSealed`,
        :class:`~batchweave.errors.AlreadyExists` (it has finished; the message has its cursor),
        :class:`~batchweave.errors.StoreUnavailable`, :class:`~batchweave.errors.UnknownOutcome` (open again).
        """
        options = {
            "reopen": bool(reopen),
            "forget": bool(forget),
            "pending_bytes": _check.number("pending_bytes", pending_bytes),
            "upload_threads": _check.number("upload_threads", upload_threads, most=_COUNT_MAX),
            "max_lead_steps": _check.number("max_lead_steps", max_lead_steps),
            "max_lead_bytes": _check.number("max_lead_bytes", max_lead_bytes),
            "max_staleness": _check.seconds("max_staleness", max_staleness),
            "stall_after": _check.seconds("stall_after", stall_after),
        }
        return Producer(self._opened().open_producer(_check.text("name", name), options))

    def consumer(
        self,
        *,
        position: int = 0,
        dp_rank: int = 0,
        dp_size: int = 1,
        cp_rank: int = 0,
        cp_size: int = 1,
        group: str = "",
        session: int = 0,
        allow_uneven: bool = False,
        prefetch_steps: int = 4,
        prefetch_bytes: int = 1 << 30,
        prefetch_threads: int = 2,
        stall_after: float = 300.0,
    ) -> Consumer:
        """Open one rank's way through the stream. Writes nothing.

        ``position``: the first step to read; one that is not there yet is awaited. ``dp_rank`` of ``dp_size`` and ``cp_rank``
        of ``cp_size``: the rank's place in the mesh; rank r of M along an axis of G slices reads [r*G/M, (r+1)*G/M).
        ``group``, ``session``: whose hold it reads under; without, nothing is held for it. ``allow_uneven``: dp ranks may
        differ by one slice. ``prefetch_steps``, ``prefetch_bytes``: fetched ahead, whichever is less; with 0 steps there are no
        threads. ``stall_after``: seconds of waiting for one step.

        Errors: :class:`~batchweave.errors.InvalidArgument`, :class:`~batchweave.errors.StepTrimmed`,
        :class:`~batchweave.errors.MeshMismatch` (the step at the position says so already),
        :class:`~batchweave.errors.NotFound` (no such group), :class:`~batchweave.errors.Fenced` (not its current session).
        """
        options = {
            "position": _check.number("position", position),
            "dp_rank": _check.number("dp_rank", dp_rank, most=_COUNT_MAX),
            "dp_size": _check.number("dp_size", dp_size, least=1, most=_COUNT_MAX),
            "cp_rank": _check.number("cp_rank", cp_rank, most=_COUNT_MAX),
            "cp_size": _check.number("cp_size", cp_size, least=1, most=_COUNT_MAX),
            "group": _check.text("group", group),
            "session": _check.number("session", session),
            "allow_uneven": bool(allow_uneven),
            "prefetch_steps": _check.number("prefetch_steps", prefetch_steps, most=_COUNT_MAX),
            "prefetch_bytes": _check.number("prefetch_bytes", prefetch_bytes),
            "prefetch_threads": _check.number("prefetch_threads", prefetch_threads, most=_COUNT_MAX),
            "stall_after": _check.seconds("stall_after", stall_after),
        }
        return Consumer(self._opened().open_consumer(options))

    def write_part(
        self,
        ticket: PartTicket,
        slices: GlobalBatch | Sequence[Sequence[SliceData]],
        *,
        dp: range,
        cp: range | None = None,
        provenance: bytes = b"",
    ) -> PartReceipt:
        """Write one part of the batch that ``ticket`` is for, on any host, and return the receipt for its producer.

        ``dp``, ``cp``: which rows and columns of the batch's grid it holds; without ``cp`` all columns. ``slices``: of just
        these, as for :meth:`Producer.publish`: a batch of len(dp) x len(cp), or len(dp) lists of len(cp) slices.
        ``provenance``: which samples of the part came from where, up to 1 MiB.

        Nothing is visible before the producer publishes the receipt. Each call writes an object of its own; one whose receipt
        is lost, or never published, is removed by a reclaim.

        Errors: :class:`~batchweave.errors.InvalidArgument` (a ticket of another stream, rows outside its grid, slices of
        another shape or missing), :class:`~batchweave.errors.SchemaMismatch` (another kind than the ticket says),
        :class:`~batchweave.errors.AccessDenied`, :class:`~batchweave.errors.StoreUnavailable` and
        :class:`~batchweave.errors.UnknownOutcome` (call again).
        """
        if not isinstance(ticket, PartTicket):
            raise InvalidArgument(f"ticket is a PartTicket, of bytes PartTicket.from_bytes(...): found {ticket!r:.100}")
        cp = range(ticket.grid[1]) if cp is None else cp
        (dp_begin, dp_end), (cp_begin, cp_end) = _check.bounds("dp", dp), _check.bounds("cp", cp)
        if dp_end > ticket.grid[0] or cp_end > ticket.grid[1] or not dp or not cp:
            raise InvalidArgument(f"the part is outside the grid, or empty: dp={dp} cp={cp} of {ticket!r}")
        batch = slices_of_part(ticket, slices, dp, cp)
        place = (dp_begin, dp_end - dp_begin, cp_begin, cp_end - cp_begin)
        return PartReceipt(
            self._opened().write_part(ticket._native, place, batch._filled(), as_bytes(provenance, "provenance"))
        )

    def create_group(self, name: str, *, start: int = 0) -> None:
        """Create a group, which from then on holds every step from ``start``: once, before the job's first start.

        Errors: :class:`~batchweave.errors.AlreadyExists`, :class:`~batchweave.errors.StepTrimmed`,
        :class:`~batchweave.errors.InvalidArgument` (the name; beyond the newest step),
        :class:`~batchweave.errors.AccessDenied` (too many groups).
        """
        self._opened().create_group(_check.text("name", name), _check.number("start", start))

    def open_group(self, name: str, *, start: int = 0, create: bool = False) -> Group:
        """Open a session of the job that (re)starts at step ``start``, and fence the one before. One rank calls it.

        ``create``: create the group where it is not there.

        Errors: :class:`~batchweave.errors.NotFound`, :class:`~batchweave.errors.StepTrimmed` (begin at a checkpoint that is
        still held), :class:`~batchweave.errors.InvalidArgument`.
        """
        if create:
            with contextlib.suppress(AlreadyExists):
                self.create_group(name, start=start)
        return Group(self._opened().open_group(_check.text("name", name), _check.number("start", start)))

    def seal(self) -> int:
        """End the stream for ever, so that every rank ends at the same step, and return how many steps there are."""
        return self._opened().seal()

    def quarantine(self, steps: range, reason: str) -> None:
        """Let sessions that are opened from now on skip ``steps``; all ranks of one session skip the same.

        Errors: :class:`~batchweave.errors.InvalidArgument` (no steps, beyond the end, no reason or over 255 bytes),
        :class:`~batchweave.errors.StepTrimmed`, :class:`~batchweave.errors.AccessDenied` (too many).
        """
        self._opened().quarantine(_check.bounds("steps", steps), _check.text("reason", reason))

    def lift_quarantine(self, steps: range) -> None:
        """End the quarantine of just these steps, for sessions opened from now on. Errors: ``NotFound``."""
        self._opened().lift_quarantine(_check.bounds("steps", steps))

    def info(self) -> StreamInfo:
        """The newest version: where the stream begins and ends, its groups and their checkpoints."""
        info = self._opened().info()
        info["groups"] = {name: GroupInfo(**group) for name, group in info["groups"].items()}
        return StreamInfo(**info)

    def step_info(self, step: int) -> StepInfo:
        """What is known of a step without reading its slices: who published it, and its provenance.

        Errors: :class:`~batchweave.errors.NotFound` (not committed yet; the message has the newest step),
        :class:`~batchweave.errors.StepTrimmed`, :class:`~batchweave.errors.CorruptData` (an object is damaged: named).
        """
        return StepInfo(**self._opened().step_info(_check.number("step", step)))

    def close(self) -> None:
        """What was opened on it stays open."""
        self._close(None)

    def _close(self, patience: float | None) -> None:
        self._closed = True
        if self._native is not None:
            self._native.close(patience)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._close(_lifetime.patience(kind))

    def __getstate__(self) -> dict[str, Any]:
        options = {name: value for name, value in self._storage_options.items() if not _is_secret(name)}
        return {"url": self._url, "storage_options": options, "durable": self._durable, "id": self._id}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["url"], state["storage_options"], state["durable"])  # type: ignore[misc]
        self._id = state["id"]

    def __repr__(self) -> str:
        return f"<batchweave.Stream {self._url.partition('?')[0]}>"


# As the store has it that refuses them in a URL (store/cloud/src/open.rs).
def _is_secret(name: str) -> bool:
    if name.endswith("_file") or name.removeprefix("aws_") in ("sse_kms_key_id", "sse_bucket_key_enabled"):
        return False
    return any(word in name for word in ("key", "secret", "token", "password", "sas"))
