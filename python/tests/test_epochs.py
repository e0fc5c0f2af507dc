"""Epochs: passes over a sealed stream, in its order or in one drawn from a seed."""

import itertools

import pytest

from batchweave import errors
from batchweave.torch import StreamingDataLoader


def steps_of(items):
    return [step for step, _ in items]


def test_epochs_read_the_stream_again(numbered):
    stream = numbered(3)
    loader = StreamingDataLoader(stream, group="train", dp_rank=0, dp_size=1, epochs=3)
    items = steps_of(itertools.islice(loader, 4))
    loader.checkpoint("second")
    assert items == [0, 1, 2, 0]
    assert stream.info().groups["train"].checkpoints == {"second": 0}  # Held from where epochs begin.
    state = loader.state_dict()
    assert (state["epoch"], state["step"]) == (1, 1)
    loader = StreamingDataLoader(stream, dp_rank=0, dp_size=1, epochs=3)
    loader.load_state_dict(state)
    assert steps_of(loader) == [1, 2, 0, 1, 2]
    assert list(loader) == []


def test_a_shuffled_epoch_has_each_step_once_in_an_order_of_its_own(numbered):
    stream = numbered(12)
    stream.quarantine(range(4, 5), "bad")
    session = stream.open_group("train", create=True).session

    def loader(rank, seed=7):
        options = {"group": "train", "session": session, "dp_rank": rank, "dp_size": 2}
        return StreamingDataLoader(stream, epochs=2, shuffle_seed=seed, **options)

    steps = steps_of(loader(0))
    first, second = steps[:11], steps[11:]
    assert sorted(first) == sorted(second) == [step for step in range(12) if step != 4]
    assert first != sorted(first)
    assert first != second
    assert steps == steps_of(loader(1))
    assert steps != steps_of(loader(0, seed=8))

    halfway = loader(0)
    assert steps_of(itertools.islice(halfway, 14)) == steps[:14]
    resumed = loader(1)
    resumed.load_state_dict(halfway.state_dict())
    assert steps_of(resumed) == steps[14:]


def test_epochs_of_a_stream_that_grows_are_refused(numbered):
    stream = numbered(1, seal=False)
    for options in ({"epochs": 2}, {"shuffle_seed": 1}):
        with pytest.raises(errors.InvalidArgument, match="sealed"):
            next(iter(StreamingDataLoader(stream, dp_rank=0, dp_size=1, **options)))
    for options in ({"epochs": 0}, {"shuffle_seed": -1}):
        with pytest.raises(errors.InvalidArgument, match="epochs is 1 or more"):
            StreamingDataLoader(stream, dp_rank=0, dp_size=1, **options)


@pytest.mark.parametrize("options", [{"epochs": 2}, {"epochs": 2, "shuffle_seed": 1}])
def test_epochs_begin_at_the_start_and_go_on_only_there(numbered, options):
    stream = numbered(7)

    def loader(start):
        return StreamingDataLoader(stream, dp_rank=0, dp_size=1, start=start, **options)

    running = loader(3)
    items = iter(running)
    first = steps_of(itertools.islice(items, 5))
    assert sorted(first[:4]) == [3, 4, 5, 6]
    state = running.state_dict()
    left = steps_of(items)
    resumed = loader(3)
    resumed.load_state_dict(state)
    assert steps_of(resumed) == left
    assert sorted(first[4:] + left) == [3, 4, 5, 6]
    with pytest.raises(errors.InvalidArgument, match="epochs that start at step 3, this job's start at 2"):
        loader(2).load_state_dict(state)
