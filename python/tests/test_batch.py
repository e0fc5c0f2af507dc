"""What a batch takes and what it refuses, with a message that says what came."""

import numpy as np
import pytest

import batchweave
from batchweave import GlobalBatch, errors


@pytest.fixture
def producer(stream):
    with stream.producer("source") as opened:
        yield opened


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        ([], r"a list of dp lists of cp slices.*found a list of 0"),
        ([b"a", b"b"], r"found a list of 2: bytes of 1, bytes of 1"),
        (b"ab", r"found bytes of 2"),
        ({"ids": 1}, r"found \{ids: int\[\]\}"),
        (7, r"found int"),
        ([[b"a"], [b"b", b"c"]], r"dp=2 rows.*found \[1, 2\]"),
        ([[], []], r"dp=2 rows.*found \[0, 0\]"),
        ([["text"]], r"slice \(0, 0\) is bytes or a dict of arrays: found str"),
        ([[b"a"], [None]], r"slice \(1, 0\).*found NoneType"),
    ],
)
def test_a_list_of_another_shape_is_refused(producer, slices, message):
    with pytest.raises(errors.InvalidArgument, match=message):
        producer.publish(slices)


@pytest.mark.parametrize("at", [(2, 0), (0, 1), (-1, 0), 0, (0,), ("0", 0)])
def test_a_coordinate_outside_the_grid_is_refused(at):
    batch = GlobalBatch(dp=2, cp=1)
    with pytest.raises(errors.InvalidArgument, match=r"dp=2|2 x 1"):
        batch[at] = b"a"


def test_a_slice_is_set_once_and_none_is_left_out(producer):
    batch = GlobalBatch(dp=2)
    with pytest.raises(errors.InvalidArgument, match="empty"):
        producer.publish(batch)
    batch[0, 0] = b"a"
    with pytest.raises(errors.InvalidArgument, match="dp=0"):
        batch[0, 0] = b"again"
    with pytest.raises(errors.InvalidArgument, match="dp=1"):
        producer.publish(batch)
    batch[1, 0] = b""
    assert batch.size_bytes == 1
    assert producer.publish(batch) == 1
    with pytest.raises(errors.InvalidArgument, match="published already"):
        producer.publish(batch)


@pytest.mark.parametrize("grid", [(0, 1), (1, 0), (65537, 1), (300, 300), (-1, 1), ("2", 1), (2.0, 1)])
def test_a_grid_that_is_none_is_refused(grid):
    with pytest.raises(errors.InvalidArgument):
        GlobalBatch(dp=grid[0], cp=grid[1])


def test_slices_of_two_kinds_are_no_batch():
    batch = GlobalBatch(dp=3)
    batch[0, 0] = {"ids": np.zeros(4, np.int32)}
    batch[1, 0] = {"ids": np.zeros(9, np.int32)}  # Another size is the same kind.
    for other in (
        {"ids": np.zeros(4, np.int64)},
        {"other": np.zeros(4, np.int32)},
        {"ids": np.zeros((2, 2), np.int32)},
        b"bytes",
    ):
        with pytest.raises(errors.SchemaMismatch, match=r"slice \(2, 0\)"):
            batch[2, 0] = other


def test_memory_that_may_change_is_copied_at_once(stream, producer):
    memory, array = bytearray(b"before"), np.arange(3)
    with producer.batch(dp=1) as batch:
        batch[0, 0] = memory
        memory[:] = b"after!"
    with producer.batch(dp=1) as batch:
        batch[0, 0] = {"ids": array}
        array[:] = 7
    producer.flush()
    with stream.consumer() as consumer:
        assert bytes(consumer.next()[0]) == b"before"
        assert consumer.next()[0].numpy()["ids"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cursor": "text"}, "cursor is bytes: found str"),
        ({"cursor": b"x" * 1025}, "cursor is too long"),
        ({"metadata": [1]}, "metadata is a dict: found list"),
        ({"metadata": {"a": object()}}, "not JSON"),
        ({"metadata": {"a": float("nan")}}, "not JSON"),
        ({"metadata": {"a": "x" * 1024}}, "metadata is too long"),
        ({"samples": -1}, "samples.*found -1"),
        ({"samples": "2"}, "samples.*found '2'"),
        ({"provenance": 3}, "provenance is bytes"),
        ({"provenance": b"x" * ((1 << 20) + 1)}, "provenance is too long"),
    ],
)
def test_what_goes_with_a_batch_has_limits(producer, options, message):
    with pytest.raises(errors.InvalidArgument, match=message):
        producer.publish([[b"a"]], **options)
    assert producer.publish([[b"a"]]) == 1  # Nothing is lost by it.


# Covers C2.
def test_a_source_that_was_rewound_is_refused(producer):
    producer.publish([[b"a"]], cursor=b"10", cursor_before=b"")
    with pytest.raises(errors.InvalidArgument, match="does not go on where it stood"):
        producer.publish([[b"b"]], cursor=b"6", cursor_before=b"5")


def test_a_content_type_of_bytes_is_told(stream, producer):
    with producer.batch(dp=1, content_type="application/json") as batch:
        batch[0, 0] = b"[]"
    producer.flush()
    with stream.consumer() as consumer:
        batch = consumer.next()
    assert batch.content_type == "application/json"
    with pytest.raises(errors.SchemaMismatch, match="application/json"):
        batch[0].numpy()
    with pytest.raises(errors.InvalidArgument, match="content type"):
        GlobalBatch(dp=1, content_type="a\nb")


def test_version_is_that_of_the_library():
    assert batchweave.__version__.count(".") == 2
