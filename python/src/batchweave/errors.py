"""What can go wrong, one class for each thing that a caller can do about it.

All are :class:`BatchweaveError`. Some are also the built-in exception that one would look for: a stall is a
``TimeoutError``, a call that is wrong a ``ValueError``. The message says what, which, why and what to do.
"""

from __future__ import annotations


class BatchweaveError(Exception):
    """Anything that BatchWeave refuses or fails to do. ``code`` is the same word as in C++, in the command and in JSON."""

    code: str = "error"


class InvalidArgument(BatchweaveError, ValueError):
    """The call itself is wrong: mend it."""

    code = "invalid_argument"


class SchemaMismatch(InvalidArgument):
    """Slices of one batch differ in kind, or a batch is not what its reader takes it for: mend producer or reader."""


class NotFound(BatchweaveError, LookupError):
    """There is no stream, step, group or folder by that name."""

    code = "not_found"


class AlreadyExists(BatchweaveError):
    """It is there already; of a producer: it has finished, and ``reopen=True`` goes on with it."""

    code = "already_exists"


class StoreUnavailable(BatchweaveError, ConnectionError):
    """Nothing happened: try again."""

    code = "unavailable"


class UnknownOutcome(BatchweaveError):
    """A write may have happened: look, or open again, before anything else."""

    code = "unknown_outcome"


class AccessDenied(BatchweaveError, PermissionError):
    """Permission, a read-only store, quota or a full disk: a person must act."""

    code = "denied"


class CorruptData(BatchweaveError):
    """The bytes are not what was written, and were not delivered."""

    code = "corrupt"


class StepTrimmed(BatchweaveError):
    """The step was there, and is gone: begin at a checkpoint that is still held."""

    code = "trimmed"


class Fenced(BatchweaveError):
    """A newer holder has taken over the producer's name, or the group: stop."""

    code = "fenced"


class StreamStalled(BatchweaveError, TimeoutError):
    """The wait was too long. The message says what was awaited, what is newest and who made it. Call again to go on."""

    code = "stalled"


class MeshMismatch(BatchweaveError, ValueError):
    """The ranks cannot share the grid evenly: change the mesh, or the grid of later batches."""

    code = "mesh_mismatch"


class StreamSealed(BatchweaveError):
    """The stream has ended: nothing more can be published."""

    code = "sealed"


class Incompatible(BatchweaveError):
    """Written by newer software: upgrade."""

    code = "incompatible"


class UnsuitableStore(BatchweaveError):
    """The store breaks a rule that exactly-once stands on; the message names it. Use another store."""

    code = "unsuitable_store"


class Closed(BatchweaveError):
    """The handle was closed, or belongs to the process that this one was forked from."""

    code = "closed"


#: From the C++ code to the class.
BY_CODE: dict[str, type[BatchweaveError]] = {
    kind.code: kind
    for kind in (
        InvalidArgument,
        NotFound,
        AlreadyExists,
        StoreUnavailable,
        UnknownOutcome,
        AccessDenied,
        CorruptData,
        StepTrimmed,
        Fenced,
        StreamStalled,
        MeshMismatch,
        StreamSealed,
        Incompatible,
        UnsuitableStore,
        Closed,
    )
}
