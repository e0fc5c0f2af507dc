"""Host-local arrays, and global ones made of them, on the devices that the CPU stands for."""

import documented
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import batchweave
from batchweave import errors
from batchweave.jax import StreamingDataLoader


@pytest.fixture
def numbered(stream):
    with stream.producer("source") as producer:
        for step in range(4):
            rows = [np.arange(16 * step + 8 * d, 16 * step + 8 * d + 8, dtype=np.int32).reshape(2, 4) for d in range(2)]
            producer.publish([[{"ids": row, "x": row.astype(ml_dtypes.bfloat16)}] for row in rows])
    stream.seal()
    return stream


def test_each_process_gets_arrays_of_its_own(numbered):
    loader = StreamingDataLoader(numbered, dp_rank=1, dp_size=2)
    steps, batches = zip(*loader, strict=True)
    assert steps == (0, 1, 2, 3)
    assert batches[1]["ids"].tolist() == [[24, 25, 26, 27], [28, 29, 30, 31]]
    assert batches[1]["x"].dtype == ml_dtypes.bfloat16
    assert isinstance(batches[1]["ids"], np.ndarray)


def test_global_arrays_are_made_for_a_sharding(numbered):
    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), PartitionSpec("data"))
    loader = StreamingDataLoader(numbered, sharding=sharding)
    kept = [batch for _, batch in loader]  # Each keeps what it stands on.
    assert [int(jnp.sum(batch["ids"])) for batch in kept] == [sum(range(16 * step, 16 * step + 16)) for step in range(4)]
    assert kept[0]["ids"].shape == (4, 4)
    assert kept[0]["x"].dtype == jnp.bfloat16
    assert kept[0]["ids"].sharding.is_equivalent_to(sharding, 2)
    one_name = StreamingDataLoader(numbered, sharding={"x": sharding})
    with pytest.raises(errors.InvalidArgument, match="'ids'"):
        next(iter(one_name))


# Covers G2.
def test_the_state_counts_what_was_handed_out(numbered):
    loader = StreamingDataLoader(numbered)
    for step, _ in loader:
        if step == 1:
            break
    resumed = StreamingDataLoader(numbered, dp_rank=0, dp_size=2)
    resumed.load_state_dict(loader.state_dict())
    assert [step for step, _ in resumed] == [2, 3]
    with pytest.raises(errors.InvalidArgument, match="another stream"):
        resumed.load_state_dict({**loader.state_dict(), "stream": "0" * 32})


def test_a_group_is_read_under_its_session(numbered):
    session = numbered.open_group("train", create=True).session
    assert len(list(StreamingDataLoader(numbered, group="train", session=session))) == 4
    for wrong, message in (({"group": "train"}, "session"), ({"dp_rank": 1}, "go together")):
        with pytest.raises(errors.InvalidArgument, match=message):
            StreamingDataLoader(numbered, **wrong)
    with pytest.raises(TypeError, match=r"prefetch; .*prefetch_steps"):
        StreamingDataLoader(numbered, prefetch=3)


def test_bytes_are_no_arrays(stream, publish):
    publish(1)
    with pytest.raises(errors.SchemaMismatch, match="octet-stream"):
        next(iter(StreamingDataLoader(stream)))


def test_the_loader_is_documented_and_typed():
    documented.check(batchweave.jax.StreamingDataLoader)  # Which needs no import of its own.
