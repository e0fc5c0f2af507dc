"""A stream as torch's IterableDataset."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from numpy.random import PCG64, Generator
from torch.distributed.device_mesh import DeviceMesh
from torch.utils.data import IterableDataset, get_worker_info

from batchweave import RankBatch, Stream, _check
from batchweave._state import State
from batchweave._stream import READING_OPTIONS
from batchweave.errors import InvalidArgument
from batchweave.torch._ahead import Ahead
from batchweave.torch._collate import collate as default_collate
from batchweave.torch._place import Place, place_of

# Steps of a shuffled epoch that are read ahead, and by how many threads.
_SHUFFLED_AHEAD = 4
_SHUFFLED_THREADS = 2


class StreamingDataset(IterableDataset):
    """The slices of one rank, step after step: iterating gives ``(step, batch)``, in the same order on every rank.

    ``group`` and ``session``: whose hold it reads under, as of :meth:`batchweave.Stream.consumer`. The rank's place is that in
    ``device_mesh`` (see :meth:`Place.of_mesh`), or by ``dp_rank`` of ``dp_size`` and ``cp_rank`` of ``cp_size``, or else all
    ranks of the process group, or of RANK and WORLD_SIZE, are dp. ``collate``: from a :class:`batchweave.RankBatch` to what
    iterating gives; without, see :func:`collate`. ``start``: the first step. ``consumer``: ``allow_uneven``,
    ``prefetch_steps``, ``prefetch_bytes``, ``prefetch_threads``, ``stall_after``, as of :meth:`batchweave.Stream.consumer`.

    ``epochs``: passes over a sealed stream from ``start`` to its end. ``shuffle_seed``: each epoch in an order of its own,
    alike on every rank; it permutes steps, not samples.

    In a ``DataLoader`` pass ``batch_size=None``. Of its workers the first reads, and the others have nothing to do: reading and
    verifying are done by threads already, and one reader keeps one order. For a state that counts what the trainer has
    consumed, though more was fetched, use :class:`StreamingDataLoader`; here it is what iterating gave.

    Errors: :class:`~batchweave.errors.InvalidArgument`; of iterating, those of :class:`batchweave.Consumer`.
    """

    def __init__(
        self,
        stream: Stream,
        *,
        group: str = "",
        session: int = 0,
        start: int = 0,
        device_mesh: DeviceMesh | None = None,
        dp_rank: int | None = None,
        dp_size: int | None = None,
        cp_rank: int | None = None,
        cp_size: int | None = None,
        collate: Callable[[RankBatch], Any] = default_collate,
        epochs: int = 1,
        shuffle_seed: int | None = None,
        **consumer: Any,
    ) -> None:
        if epochs < 1 or (shuffle_seed is not None and shuffle_seed < 0):
            raise InvalidArgument(f"epochs is 1 or more, and shuffle_seed 0 or more: found {epochs}, {shuffle_seed}")
        _check.options(consumer, READING_OPTIONS)
        self.stream = stream
        self.group = group
        self.session = session
        self.start = start
        self.epochs = epochs
        ranks = {"dp_rank": dp_rank, "dp_size": dp_size, "cp_rank": cp_rank, "cp_size": cp_size}
        self.place: Place = place_of(device_mesh, ranks)
        self._collate = collate
        self._seed = -1 if shuffle_seed is None else shuffle_seed
        self._consumer = consumer
        self.state = State(stream.id, start, 0, self._seed, start)  #: What iterating goes on with.

    def state_dict(self) -> dict[str, Any]:
        """What iterating goes on with: the same on every rank."""
        return self.state.to_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where ``state`` was.

        Errors: ``InvalidArgument`` (another stream's, of another seed, of epochs that start elsewhere, damaged).
        """
        loaded = State.from_dict(state, self.stream.id, self._seed)
        if self.has_epochs and loaded.start != self.start:
            raise InvalidArgument(f"the state is of epochs that start at step {loaded.start}, this job's start at {self.start}")
        self.state = loaded

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        for state, step, batch in self.states_and_batches():
            self.state = state
            yield step, batch

    def states_and_batches(self) -> Iterator[tuple[State, int, Any]]:
        """Each batch with its step, and with the state of a job that has consumed it."""
        worker = get_worker_info()
        if worker is not None and worker.id > 0:
            return
        state = self.state
        end = self._end_of_epochs()
        while state.epoch < self.epochs:
            for consumed, batch in self._epoch(state, end):
                state = State(state.stream, consumed, state.epoch, state.seed, state.start)
                yield state, batch.step, self._collate(batch)
                del batch
            state = State(state.stream, self.start, state.epoch + 1, state.seed, state.start)

    @property
    def has_epochs(self) -> bool:
        """Whether more is read than each step once and in order."""
        return self.epochs > 1 or self._seed >= 0

    def _end_of_epochs(self) -> int | None:
        if not self.has_epochs:
            return None
        info = self.stream.info()
        if not info.sealed:
            raise InvalidArgument("epochs are passes over a sealed stream, and this one still grows: seal it, or read it once")
        return info.next_step

    def _epoch(self, state: State, end: int | None) -> Iterator[tuple[int, RankBatch]]:
        """What is left of an epoch: each batch, and how far the epoch is then."""
        if self._seed >= 0 and end is not None:
            yield from self._shuffled(state, end)
            return
        with self.stream.consumer(position=state.step, **self._options()) as consumer:
            for batch in consumer:
                yield batch.step + 1, batch
                del batch

    def _shuffled(self, state: State, end: int) -> Iterator[tuple[int, RankBatch]]:
        order = Generator(PCG64([self._seed, state.epoch])).permutation(end - self.start)
        waiting: deque[tuple[int, Future[RankBatch | None]]] = deque()
        with Ahead(self._read, _SHUFFLED_THREADS) as reads:
            for index in range(state.step - self.start, end - self.start):
                waiting.append((self.start + index + 1, reads.call(self.start + int(order[index]))))
                if len(waiting) > _SHUFFLED_AHEAD:
                    yield from _taken(waiting.popleft())
            while waiting:
                yield from _taken(waiting.popleft())

    def _read(self, step: int) -> RankBatch | None:
        options = {**self._options(), "prefetch_steps": 0}
        with self.stream.consumer(position=step, **options) as consumer:
            batch = consumer.next()
        return batch if batch is not None and batch.step == step else None  # None: it is quarantined.

    def _options(self) -> dict[str, Any]:
        place = self.place
        ranks = {"dp_rank": place.dp_rank, "dp_size": place.dp_size, "cp_rank": place.cp_rank, "cp_size": place.cp_size}
        return {**self._consumer, **ranks, "group": self.group, "session": self.session}


def _taken(read: tuple[int, Future[RankBatch | None]]) -> Iterator[tuple[int, RankBatch]]:
    batch = read[1].result()
    if batch is not None:
        yield read[0], batch
