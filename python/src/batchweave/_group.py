"""A training job's hold on a stream."""

from __future__ import annotations

from types import TracebackType

from batchweave import _check, _lifetime, _native


class Group(_lifetime.OfOneProcess):
    """A training job's hold on the stream, as the one rank has it that opened its session.

    Made by :meth:`Stream.open_group` on one rank, at each (re)start of the job; all ranks open their consumers with its
    ``session``. What its checkpoints may still need stays; what no group holds may be reclaimed.

    Errors of every method: :class:`~batchweave.errors.Fenced` (a newer session has replaced this one: stop),
    :class:`~batchweave.errors.NotFound` (the group was dropped, the stream deleted),
    :class:`~batchweave.errors.StoreUnavailable` and :class:`~batchweave.errors.UnknownOutcome` (call again: it is the same).
    """

    def __init__(self, native: _native.Group) -> None:
        self._native = native
        _lifetime.close_at_exit(self)

    @property
    def name(self) -> str:
        """Under which it was created."""
        return self._native.name

    @property
    def session(self) -> int:
        """The number of this opening, for every rank's consumer."""
        return self._native.session

    def checkpoint(self, name: str, *, step: int, keep_last: int = 2, pin: bool = False, reclaim: bool = False) -> None:
        """Register a checkpoint, once the model's own is durable on every rank.

        ``step``: the next one that a job restored from it reads. ``keep_last``: of the checkpoints that are not pinned, by
        order of registration; the others are let go. ``pin``: kept until release(). ``reclaim``: remove at once what this
        checkpoint let go of. A name that is there already moves.

        Errors: also :class:`~batchweave.errors.StepTrimmed`, :class:`~batchweave.errors.InvalidArgument` (beyond the newest
        step; the name), :class:`~batchweave.errors.AccessDenied` (too many; no right to delete: it is registered all the same).
        """
        step, keep_last = _check.number("step", step), _check.number("keep_last", keep_last, least=1)
        self._native.checkpoint(_check.text("name", name), step, keep_last, bool(pin), bool(reclaim))

    def release(self, name: str) -> None:
        """Let go of one checkpoint. Errors: also ``InvalidArgument`` (it is the last one)."""
        self._native.release(_check.text("name", name))

    def report_progress(self, step: int) -> None:
        """Tell producers that wait for their readers how far the job has read; after each step. It writes every few seconds.

        Errors: :class:`~batchweave.errors.AccessDenied`, once; then nothing more is told.
        """
        self._native.report_progress(_check.number("step", step))

    def close(self) -> None:
        """Nothing is let go in the store: the group stays."""
        self._native.close()

    def __enter__(self) -> Group:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._native.close(_lifetime.patience(kind))
