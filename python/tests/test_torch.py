"""Places in a mesh, and what a training loop iterates, in one process."""

import itertools
import pickle
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

import numpy as np
import pytest
import torch
from torch.testing._internal.distributed.fake_pg import FakeStore

from batchweave import errors
from batchweave.torch import Place, StreamingDataLoader, StreamingDataset, collate


@pytest.fixture
def ranks():
    """Sets up a process group of many ranks in which this process is one, and nothing is sent."""

    def start(rank, size):
        torch.distributed.init_process_group("fake", store=FakeStore(), rank=rank, world_size=size)

    yield start
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def mesh(names, shape):
    return torch.distributed.init_device_mesh("cpu", shape, mesh_dim_names=names)


@pytest.mark.parametrize(
    ("names", "shape", "rank", "place"),
    [
        (("dp",), (8,), 5, Place(5, 8)),
        (("dp_replicate", "dp_shard"), (2, 4), 6, Place(6, 8)),
        (("pp", "dp_shard", "tp"), (2, 2, 2), 5, Place(0, 2)),
        (("pp", "dp_shard", "tp"), (2, 2, 2), 3, Place(1, 2)),
        (("pp", "dp_replicate", "dp_shard", "cp", "tp"), (1, 2, 2, 2, 1), 7, Place(3, 4, 1, 2)),
        (("pp", "dp_replicate", "dp_shard", "cp", "tp"), (1, 2, 2, 2, 1), 4, Place(2, 4, 0, 2)),
    ],
)
def test_a_place_is_read_from_a_mesh(ranks, names, shape, rank, place):
    ranks(rank, 8)
    assert Place.of_mesh(mesh(names, shape)) == place


@pytest.mark.parametrize(
    ("names", "message"), [(("pp", "tp"), "without a dp dimension"), (("dp", "ep"), "found .*ep"), (None, "found None")]
)
def test_a_mesh_that_says_no_place_is_refused(stream, ranks, names, message):
    ranks(0, 4)
    with pytest.raises(errors.InvalidArgument, match=message):
        StreamingDataset(stream, device_mesh=mesh(names, (2, 2)[: len(names or (1, 1))]))


def test_ranks_come_from_numbers_the_process_group_or_the_environment(stream, ranks, monkeypatch):
    assert StreamingDataset(stream).place == Place(0, 1)
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert StreamingDataset(stream).place == Place(3, 4)
    assert StreamingDataset(stream, dp_rank=1, dp_size=2, cp_rank=0, cp_size=2).place == Place(1, 2, 0, 2)
    ranks(1, 8)
    assert StreamingDataset(stream).place == Place(1, 8)
    for wrong in ({"dp_rank": 1}, {"cp_rank": 0, "cp_size": 1}, {"dp_rank": 0, "dp_size": 2, "cp_size": 2}):
        with pytest.raises(errors.InvalidArgument, match="_size"):
            StreamingDataset(stream, **wrong)
    with pytest.raises(errors.InvalidArgument, match="dp_rank"):
        StreamingDataset(stream, device_mesh=mesh(("dp",), (8,)), dp_rank=0, dp_size=1)


def test_an_option_that_there_is_not_is_refused_at_once(stream):
    for kind in (StreamingDataset, StreamingDataLoader):
        with pytest.raises(TypeError, match=r"arguments: prefetch; .*prefetch_steps"):
            kind(stream, prefetch=3)
        kind(stream, prefetch_steps=3, prefetch_bytes=1, prefetch_threads=1, stall_after=1, allow_uneven=True)


def test_several_slices_are_joined(stream):
    with stream.producer("source") as producer:
        producer.publish([[{"a": torch.tensor([[10 * dp + cp]])} for cp in range(2)] for dp in range(4)])
        producer.publish([[b"x"], [b""]])
    with stream.consumer(dp_rank=1, dp_size=2) as consumer:
        batch = consumer.next()
    assert collate(batch)["a"].tolist() == [[20, 21], [30, 31]]
    with stream.consumer(position=1) as consumer:
        first, empty = collate(consumer.next())
    assert (first.tolist(), first.dtype, empty.shape) == ([120], torch.uint8, (0,))


def steps_of(items):
    return [step for step, _ in items]


# Covers G4.
@pytest.mark.parametrize(("workers", "context"), [(0, None), (1, "fork"), (1, "spawn"), (2, "fork"), (2, "spawn")])
def test_each_sample_comes_once_and_in_order_whatever_the_workers(numbered, workers, context):
    stream = numbered(8)
    seen = []
    for rank in range(2):
        loader = StreamingDataLoader(stream, dp_rank=rank, dp_size=2, num_workers=workers, context=context)
        items = list(loader)
        assert steps_of(items) == list(range(8))
        seen += [sample for _, batch in items for sample in batch["ids"].tolist()]
    assert sorted(seen) == [1000 * step + sample for step in range(8) for sample in range(4)]


# Covers G2, G5.
@pytest.mark.parametrize(("workers", "context"), [(0, None), (1, "fork"), (2, "spawn")])
def test_the_state_counts_what_was_handed_out(numbered, workers, context):
    stream = numbered(10)
    loader = StreamingDataLoader(stream, dp_rank=0, dp_size=2, num_workers=workers, context=context)
    assert loader.state_dict() == {"version": 1, "stream": stream.id, "step": 0, "epoch": 0, "seed": -1, "start": 0}
    assert steps_of(itertools.islice(loader, 4)) == [0, 1, 2, 3]
    state = loader.state_dict()
    assert state["step"] == 4  # Though more was fetched ahead.
    assert steps_of(itertools.islice(loader, 2)) == [4, 5]  # An iterator that was left half-way is gone on with.

    other_mesh = StreamingDataLoader(stream, dp_rank=0, dp_size=1)
    other_mesh.load_state_dict(state)
    assert steps_of(other_mesh) == list(range(4, 10))
    assert other_mesh.state_dict()["step"] == 10
    assert list(other_mesh) == []


def test_the_memory_of_a_batch_that_was_dropped_serves_the_next(numbered):
    places = set()
    for _, batch in StreamingDataLoader(numbered(6, dp=1, samples=1000), dp_rank=0, dp_size=1, prefetch_steps=0):
        places.add(batch["ids"].data_ptr())
        del batch
    assert len(places) == 1


def test_the_state_within_a_loop_counts_the_batch_in_hand(numbered):
    loader = StreamingDataLoader(numbered(3), dp_rank=0, dp_size=1)
    assert [loader.state_dict()["step"] for _ in loader] == [1, 2, 3]


def test_the_state_after_a_step_is_told_where_a_framework_looks_ahead(numbered):
    stream = numbered(5)
    loader = StreamingDataLoader(stream, group="train", dp_rank=0, dp_size=1)
    assert steps_of(itertools.islice(loader, 4)) == [0, 1, 2, 3]
    assert loader.state_dict(after=1) == {**loader.state_dict(), "step": 2}
    loader.checkpoint("trained", after=1)
    assert stream.info().groups["train"].checkpoints == {"trained": 2}
    with pytest.raises(errors.InvalidArgument, match=r"step 4 .*\[0, 1, 2, 3\]"):
        loader.state_dict(after=4)


# Covers G4, G5.
@pytest.mark.parametrize(("workers", "context"), [(1, "fork"), (1, "spawn"), (2, "fork"), (2, "spawn")])
def test_a_dataset_in_the_workers_of_a_plain_dataloader(numbered, workers, context):
    dataset = StreamingDataset(numbered(6), dp_rank=0, dp_size=2)
    running = iter(dataset)
    next(running)  # Its threads run by now: a fork must not need them.
    dataset.load_state_dict({**dataset.state_dict(), "step": 0})
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers, multiprocessing_context=context)
    found = [(step, batch["ids"].tolist()) for step, batch in loader]
    assert found == [(step, [1000 * step, 1000 * step + 1]) for step in range(6)]


def test_a_dataset_in_a_plain_dataloader(numbered):
    stream = numbered(5)
    dataset = StreamingDataset(stream, dp_rank=0, dp_size=1)
    items = list(torch.utils.data.DataLoader(dataset, batch_size=None))
    assert steps_of(items) == [0, 1, 2, 3, 4]
    assert items[1][1]["ids"].tolist() == [1000, 1001, 1002, 1003]
    assert dataset.state_dict()["step"] == 5
    dataset.load_state_dict({**dataset.state_dict(), "step": 3})
    assert next(iter(dataset))[0] == 3
    assert dataset.state_dict()["step"] == 4  # It counts the batch in hand.
    dataset.load_state_dict({**dataset.state_dict(), "step": 3})
    assert steps_of(pickle.loads(pickle.dumps(dataset))) == [3, 4]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: {**state, "stream": "0" * 32}, "another stream"),
        (lambda state: {**state, "version": 2}, "no state of this version"),
        (lambda state: {}, "no state of this version"),
        (lambda state: None, "found None"),
        (lambda state: {**state, "step": -1}, "damaged"),
        (lambda state: {**state, "step": "1"}, "damaged"),
        (lambda state: {**state, "start": -1}, "damaged"),
        (lambda state: {name: value for name, value in state.items() if name != "epoch"}, "damaged"),
        (lambda state: {**state, "seed": 7}, "shuffle_seed=7"),
    ],
)
def test_a_wrong_state_is_refused(numbered, change, message):
    loader = StreamingDataLoader(numbered(1), dp_rank=0, dp_size=1)
    with pytest.raises(errors.InvalidArgument, match=message):
        loader.load_state_dict(change(loader.state_dict()))


def test_a_batch_size_ramp_needs_no_restart(numbered):
    numbered(2, dp=2, seal=False)
    stream = numbered(2, dp=4)
    loader = StreamingDataLoader(stream, dp_rank=1, dp_size=2)
    assert [batch["ids"].tolist() for _, batch in loader] == [
        [2, 3],
        [1002, 1003],
        [2004, 2005, 2006, 2007],
        [3004, 3005, 3006, 3007],
    ]


# Covers M13.
def test_a_session_skips_what_was_quarantined_before_it(numbered):
    stream = numbered(6)
    stream.quarantine(range(1, 3), "bad shard")
    loader = StreamingDataLoader(stream, group="train", dp_rank=0, dp_size=1)
    assert steps_of(loader) == [0, 3, 4, 5]
    late = StreamingDataLoader(stream, group="train", session=loader.group.session, dp_rank=1, dp_size=2)
    stream.lift_quarantine(range(1, 3))
    assert steps_of(late) == [0, 3, 4, 5]
    assert late.group is None


def test_a_loader_opens_its_session_and_registers_its_checkpoints(numbered):
    stream = numbered(8)
    loader = StreamingDataLoader(stream, group="train", dp_rank=0, dp_size=1)
    loader.checkpoint("nothing yet")  # No session is open: nothing is done.
    assert next(iter(loader))[0] == 0
    session = loader.group.session
    for step, _ in loader:
        if step % 2:
            loader.checkpoint(f"after-{step}", keep_last=2)
    assert loader.group.session == session
    info = stream.info()
    assert info.groups["train"].checkpoints == {"after-5": 6, "after-7": 8}
    assert info.first_step == 6

    restored = StreamingDataLoader(stream, group="train", dp_rank=0, dp_size=1)
    restored.load_state_dict({**loader.state_dict(), "step": 6})
    assert steps_of(restored) == [6, 7]
    with pytest.raises(errors.Fenced):
        loader.checkpoint("late")


def test_ranks_without_a_process_group_are_told_to_pass_the_session(numbered):
    with pytest.raises(errors.InvalidArgument, match="session"):
        next(iter(StreamingDataLoader(numbered(1), group="train", dp_rank=0, dp_size=2)))


# Covers G3.
def test_another_number_of_ranks_along_dp_and_cp_goes_on(stream):
    with stream.producer("source") as producer:
        for step in range(6):
            grid = [[{"ids": torch.tensor([[1000 * step + 10 * dp + cp]])} for cp in range(2)] for dp in range(4)]
            producer.publish(grid)
    stream.seal()

    def read(dp_size, cp_size, state, steps):
        joined = {}
        for dp_rank, cp_rank in itertools.product(range(dp_size), range(cp_size)):
            ranks = {"dp_rank": dp_rank, "dp_size": dp_size, "cp_rank": cp_rank, "cp_size": cp_size}
            loader = StreamingDataLoader(stream, **ranks)
            if state is not None:
                loader.load_state_dict(state)
            for step, batch in itertools.islice(loader, steps):
                joined.setdefault(step, []).extend(batch["ids"].flatten().tolist())
        return loader.state_dict(), joined

    state, before = read(4, 1, None, 2)
    state, between = read(2, 2, state, 3)
    _, after = read(1, 1, state, 9)
    assert [list(part) for part in (before, between, after)] == [[0, 1], [2, 3, 4], [5]]
    for step, ids in {**before, **between, **after}.items():
        assert sorted(ids) == [1000 * step + 10 * dp + cp for dp in range(4) for cp in range(2)]


# Covers G8.
@pytest.mark.parametrize("workers", [0, 1])
def test_what_stops_a_reader_is_raised_in_the_loop(numbered, workers):
    stream = numbered(2, seal=False)
    loader = StreamingDataLoader(stream, dp_rank=0, dp_size=1, num_workers=workers, stall_after=0.2)
    items = iter(loader)
    assert [next(items)[0], next(items)[0]] == [0, 1]
    with pytest.raises(errors.StreamStalled, match="waiting for step 2"):
        next(items)


def arrays_of(batch):
    return batch[0].numpy()


@pytest.mark.parametrize("workers", [0, 1])
def test_what_collate_gives_is_what_comes(numbered, workers):
    loader = StreamingDataLoader(numbered(2), dp_rank=0, dp_size=2, collate=arrays_of, num_workers=workers)
    assert [type(batch["ids"]) for _, batch in loader] == [np.ndarray] * 2


Pair = namedtuple("Pair", "tensors rest")


def paired(batch):
    return Pair(MappingProxyType(batch[0].torch()), [batch[1].torch()["ids"], "kept"])


def test_batches_are_copied_to_a_device(numbered):
    stream = numbered(1)
    (_, batch), *_ = StreamingDataLoader(stream, dp_rank=0, dp_size=1, device="meta")
    assert (batch["ids"].device.type, batch["ids"].shape) == ("meta", (4,))
    (_, pair), *_ = StreamingDataLoader(stream, dp_rank=0, dp_size=1, device="meta", collate=paired)
    assert isinstance(pair, Pair)
    assert (pair.tensors["ids"].device.type, pair.rest[0].device.type, pair.rest[1]) == ("meta", "meta", "kept")


def test_a_broadcast_tells_every_rank_of_an_error(run_python, numbered):
    stream = numbered(1, seal=False)
    script = """
        import sys, torch, torch.distributed as dist, batchweave
        from batchweave.torch import StreamingDataLoader
        url, rank, rendezvous = sys.argv[1], int(sys.argv[2]), sys.argv[3]
        dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2)
        def collate(batch):
            return [1] if fails == "collate" else batch[0].torch()
        for fails in ("stall", "collate", "workers"):
            options = {"num_workers": 1, "context": "no such way to start them"} if fails == "workers" else {}
            loader = StreamingDataLoader(batchweave.open(url), dp_rank=0, dp_size=1, broadcast=True, tp_group=dist.group.WORLD,
                                         collate=collate, stall_after=0.2, **options)
            try:
                for step, batch in loader:
                    print(step, batch["ids"].tolist())
            except batchweave.BatchweaveError as error:
                print(type(error).__name__)
            except (RuntimeError, ValueError) as error:
                print("no such way to start them" in str(error))
        dist.destroy_process_group()
    """
    with ThreadPoolExecutor(2) as threads:
        arguments = (stream.url, f"{stream.url}.rendezvous")
        printed = list(threads.map(lambda rank: run_python(script, arguments[0], rank, arguments[1]), range(2)))
    assert printed == ["0 [0, 1]\nStreamStalled\nInvalidArgument\nTrue\n"] * 2


@pytest.mark.parametrize("workers", [0, 1])
def test_the_random_state_of_the_job_is_left_alone(numbered, workers):
    stream = numbered(3)
    torch.manual_seed(1)
    np.random.seed(1)
    list(StreamingDataLoader(stream, dp_rank=0, dp_size=1, epochs=2, shuffle_seed=3, num_workers=workers))
    drawn = (torch.rand(1).item(), np.random.random())
    torch.manual_seed(1)
    np.random.seed(1)
    assert drawn == (torch.rand(1).item(), np.random.random())
