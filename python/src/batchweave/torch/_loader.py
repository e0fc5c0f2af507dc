"""What a training loop iterates."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.utils.data import DataLoader, IterableDataset

from batchweave import Group, RankBatch, Stream
from batchweave._state import State
from batchweave.errors import AccessDenied, BatchweaveError, InvalidArgument
from batchweave.torch._broadcast import broadcast as broadcast_items
from batchweave.torch._collate import collate as default_collate
from batchweave.torch._dataset import StreamingDataset

# More than any framework takes ahead.
_HANDED_OUT_MAX = 256


class StreamingDataLoader:
    """Iterating gives ``(step, batch)`` for each training step of this rank; ``state_dict`` counts what was handed out.

    All of :class:`StreamingDataset`, and:

    ``group``: the job's hold on the stream. Where ``session`` is None, the first iteration opens a session at the loader's
    position (creating the group where it is not there) on rank 0 of the default process group and tells the others: a
    collective call. It never initialises a process group. Without one, and more than one rank, open the group on one rank
    and pass its ``session`` to all.

    ``num_workers``: processes of a ``torch.utils.data.DataLoader`` between; 0, the default, is fastest. ``context``: how they
    start, "fork" or "spawn".

    ``device``: batches are copied there; to a GPU from pinned memory on a stream of their own, beside the computation.

    ``broadcast``: only the first rank along ``tp`` of the mesh (or of ``tp_group``) reads, and the others get it from that.
    """

    def __init__(
        self,
        stream: Stream,
        *,
        group: str = "",
        session: int | None = None,
        start: int = 0,
        device_mesh: DeviceMesh | None = None,
        dp_rank: int | None = None,
        dp_size: int | None = None,
        cp_rank: int | None = None,
        cp_size: int | None = None,
        collate: Callable[[RankBatch], Any] = default_collate,
        epochs: int = 1,
        shuffle_seed: int | None = None,
        num_workers: int = 0,
        context: str | None = None,
        device: torch.device | str = "cpu",
        broadcast: bool = False,
        tp_group: dist.ProcessGroup | None = None,
        **consumer: Any,
    ) -> None:
        self.dataset = StreamingDataset(
            stream,
            group=group,
            session=session or 0,
            start=start,
            device_mesh=device_mesh,
            dp_rank=dp_rank,
            dp_size=dp_size,
            cp_rank=cp_rank,
            cp_size=cp_size,
            collate=collate,
            epochs=epochs,
            shuffle_seed=shuffle_seed,
            **consumer,
        )
        #: The session's group, on the rank that opened it; None on the others.
        self.group: Group | None = None
        self._handed_out: deque[tuple[int, State]] = deque(maxlen=_HANDED_OUT_MAX)
        self._needs_session = bool(group) and session is None
        self._workers = {"num_workers": num_workers, "multiprocessing_context": context if num_workers else None}
        self._device = torch.device(device)
        self._tp_group = _tp_group(device_mesh, tp_group) if broadcast else None

    def state_dict(self, *, after: int | None = None) -> dict[str, Any]:
        """What the job has consumed: the same on every rank, for ``torch.distributed.checkpoint`` and the like.

        ``after``: the step that was trained on last, where a framework takes batches ahead of it; one of the last 256.
        Errors: ``InvalidArgument`` (it was not handed out lately).
        """
        return (self.dataset.state if after is None else self._state_after(after)).to_dict()

    def _state_after(self, step: int) -> State:
        for handed_out, state in reversed(self._handed_out):
            if handed_out == step:
                return state
        steps = [handed_out for handed_out, _ in self._handed_out]
        raise InvalidArgument(f"step {step} is not one of those that were handed out lately: {steps[-8:]}")

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where ``state`` was; before iterating. Errors: as of :meth:`StreamingDataset.load_state_dict`."""
        self.dataset.load_state_dict(state)

    def checkpoint(
        self, name: str, *, after: int | None = None, keep_last: int = 2, pin: bool = False, reclaim: bool = False
    ) -> None:
        """Register what the job has consumed as a checkpoint of its group, once the job's own is durable on every rank.

        On every rank, or on rank 0 alone: elsewhere it does nothing. A job with epochs holds all of them, as later ones read
        the stream again. ``after``: as of state_dict(). Errors: as of :meth:`batchweave.Group.checkpoint`.
        """
        if self.group is None:
            return
        state = self.dataset.state if after is None else self._state_after(after)
        self.group.checkpoint(name, step=self._held_from(state), keep_last=keep_last, pin=pin, reclaim=reclaim)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        if self._needs_session:
            self._open_session()
        for state, step, batch in self._items():
            self.dataset.state = state
            self._handed_out.append((step, state))
            yield step, batch
            del batch
            self._report_progress(state.step)

    def _items(self) -> Iterator[tuple[Any, int, Any]]:
        if self._tp_group is None:
            return self._read_to_device()
        items = self._read_to_device() if dist.get_rank(self._tp_group) == 0 else None
        return broadcast_items(items, self._tp_group, self._device)

    def _read_to_device(self) -> Iterator[tuple[Any, int, Any]]:
        # Begun at the first step: what fails as workers start is told to all whom a broadcast serves.
        items = self._read()
        yield from items if self._device.type == "cpu" else _copied(items, _copier(self._device))

    def _read(self) -> Iterator[tuple[Any, int, Any]]:
        if not self._workers["num_workers"]:
            return self.dataset.states_and_batches()
        with torch.random.fork_rng(devices=[]):  # It draws a seed for its workers: the job's own state stays as it was.
            return iter(DataLoader(_WithStates(self.dataset), batch_size=None, collate_fn=_as_it_is, **self._workers))

    def _open_session(self) -> None:
        together = dist.is_available() and dist.is_initialized()
        place = self.dataset.place
        if not together and place.dp_size * place.cp_size > 1:
            raise InvalidArgument(
                "ranks without a process group cannot agree on a session: open the group on one, and pass session=..."
            )
        opens = not together or dist.get_rank() == 0
        outcome: list[Any] = [self._opened_session() if opens else None]
        if together:
            dist.broadcast_object_list(outcome, src=0)
        if isinstance(outcome[0], Exception):
            raise outcome[0]
        self.dataset.session = outcome[0]
        self._needs_session = False

    def _opened_session(self) -> int | BatchweaveError:
        try:
            self.group = self.dataset.stream.open_group(
                self.dataset.group, start=self._held_from(self.dataset.state), create=True
            )
            return self.group.session
        except BatchweaveError as error:
            return error  # For every rank to raise.

    def _held_from(self, state: State) -> int:
        """The first step that a job which comes back to this state may read."""
        return self.dataset.start if self.dataset.has_epochs else state.step

    def _report_progress(self, step: int) -> None:
        if self.group is None or self.dataset.has_epochs:
            return
        try:
            self.group.report_progress(step)
        except AccessDenied as error:
            warnings.warn(f"producers are not told how far this job is: {error}", stacklevel=2)


class _WithStates(IterableDataset):
    """In a worker: batches with the states that go with them."""

    def __init__(self, dataset: StreamingDataset) -> None:
        self._dataset = dataset

    def __iter__(self) -> Iterator[tuple[Any, int, Any]]:
        return self._dataset.states_and_batches()


def _as_it_is(item: Any) -> Any:
    """Without it, a DataLoader makes tensors of arrays."""
    return item


def _tp_group(device_mesh: DeviceMesh | None, tp_group: dist.ProcessGroup | None) -> dist.ProcessGroup:
    if tp_group is not None:
        return tp_group
    if device_mesh is None or "tp" not in (device_mesh.mesh_dim_names or ()):
        raise InvalidArgument("broadcast needs the ranks that share a batch: a device_mesh with a dimension tp, or tp_group")
    return device_mesh.get_group("tp")


def _copied(items: Iterator[tuple[Any, int, Any]], copy: Callable[[Any], Any]) -> Iterator[tuple[Any, int, Any]]:
    for state, step, batch in items:
        yield state, step, copy(batch)
        del batch  # Its memory serves the next one.


def _copier(device: torch.device) -> Callable[[Any], Any]:
    """Copies a batch to ``device``, which is not the CPU."""
    if device.type != "cuda":
        return lambda batch: _map(batch, lambda tensor: tensor.to(device))
    side = torch.cuda.Stream(device)

    def copy(batch: Any) -> Any:
        with torch.cuda.stream(side):
            copied = _map(batch, lambda tensor: tensor.pin_memory().to(device, non_blocking=True))
        current = torch.cuda.current_stream(device)
        current.wait_stream(side)
        _map(copied, lambda tensor: tensor.record_stream(current))
        return copied

    return copy


def _map(batch: Any, function: Callable[[torch.Tensor], Any]) -> Any:
    if isinstance(batch, torch.Tensor):
        return function(batch)
    if isinstance(batch, Mapping):
        return {name: _map(value, function) for name, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        values = [_map(value, function) for value in batch]
        return type(batch)(*values) if hasattr(batch, "_fields") else type(batch)(values)
    return batch
