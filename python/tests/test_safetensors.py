"""Slices of arrays: every dtype there and back, alike for safetensors' own library, and no byte believed."""

import gc
import json
import struct

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy

from batchweave import _native, errors, schema_hash
from batchweave.safetensors import CONTENT_TYPE, encode, to_numpy, to_torch

DTYPES = [
    "bool", "uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "uint64", "int64", "float64",
    "complex64", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu,
]  # fmt: skip


def joined(tensors):
    return bytearray(b"".join(bytes(piece) for piece in encode(tensors)[0]))


def example(dtype, shape=(3, 5)):
    return np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(dtype)


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def golden():
    return {
        "ids": np.arange(6, dtype=np.int64).reshape(2, 3),
        "mask": np.array([True, False, True]),
        "weights": np.array([1.5, -2.0], ml_dtypes.bfloat16),
        "nothing": np.zeros((0, 4), np.float32),
    }


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(3, 5), (), (0, 4), (1,)])
def test_every_dtype_and_shape_comes_back(dtype, shape):
    tensors = {"a": example(dtype, shape), "b": np.arange(3, dtype=np.int8)}
    found, schema = to_numpy(joined(tensors))
    assert_same(found, tensors)
    assert schema == schema_hash(tensors) != 0


def test_what_we_write_the_library_reads():
    tensors = {str(np.dtype(dtype)): example(dtype) for dtype in DTYPES}
    read = dict(safetensors.deserialize(bytes(joined(tensors))))
    assert read.keys() == tensors.keys()
    for name, array in tensors.items():
        assert (read[name]["shape"], bytes(read[name]["data"])) == (list(array.shape), array.tobytes())


def test_what_the_library_writes_we_read():
    tensors = {str(np.dtype(dtype)): example(dtype) for dtype in DTYPES if dtype != "complex64"}
    written = safetensors.numpy.save(tensors, metadata={"format": "np"})
    assert_same(to_numpy(bytearray(written))[0], tensors)


# The bytes are in the store for years: they change only with a content type of another name.
def test_the_bytes_are_what_they_were():
    header = (
        b'{"ids":{"dtype":"I64","shape":[2,3],"data_offsets":[0,48]},'
        b'"nothing":{"dtype":"F32","shape":[0,4],"data_offsets":[48,48]},'
        b'"weights":{"dtype":"BF16","shape":[2],"data_offsets":[48,52]},'
        b'"mask":{"dtype":"BOOL","shape":[3],"data_offsets":[52,55]}}'
    )
    header += b" " * (-(8 + len(header)) % 64)
    data = struct.pack("<6q", *range(6)) + b"\xc0\x3f\x00\xc0" + b"\x01\x00\x01"
    assert bytes(joined(golden())) == struct.pack("<Q", len(header)) + header + data
    assert CONTENT_TYPE == "application/x-safetensors"
    assert schema_hash(golden()) == _native.hash64(b"ids\nI64\n2\nmask\nBOOL\n1\nnothing\nF32\n2\nweights\nBF16\n1\n")
    assert schema_hash(golden()) == 0x2F9180AF28CDF8BB


def test_arrays_are_views_at_multiples_of_their_items():
    memory = joined({"odd": np.arange(3, dtype=np.int8), "ids": np.arange(5), "half": np.zeros(3, np.float16)})
    address = np.frombuffer(memory, np.uint8).ctypes.data
    for name, array in to_numpy(memory)[0].items():
        assert address <= array.ctypes.data < address + len(memory), name
        assert (array.ctypes.data - address) % array.itemsize == 0
        array.flat[0] = 1  # And may be written.
    assert (to_numpy(memory)[0]["ids"].ctypes.data - address) % 64 == 0


# Of another writer, which need not care where arrays begin.
def test_an_array_that_lies_askew_is_copied():
    header = json.dumps({"a": {"dtype": "I64", "shape": [2], "data_offsets": [0, 16]}}).encode()
    header += b" " * ((8 - (8 + len(header)) % 8) % 8 + 3)
    memory = bytearray(struct.pack("<Q", len(header)) + header + struct.pack("<2q", 5, -6))
    array = to_numpy(memory)[0]["a"]
    assert array.tolist() == [5, -6]
    assert array.flags.aligned
    assert array.flags.writeable


def test_other_orders_in_memory_are_written_alike():
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    for same in (
        np.asfortranarray(array),
        array.astype(">i4"),
        np.arange(24, dtype=np.int32)[::2].reshape(3, 4) // 2,
        array.tolist(),
    ):
        assert np.array_equal(to_numpy(joined({"a": same}))[0]["a"], array)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"a": np.array([object()])}, "tensor 'a': dtype object cannot be stored"),
        ({"a": np.array(["text"])}, "tensor 'a': dtype <U4"),
        ({"a": np.zeros(2, [("x", "i4")])}, "tensor 'a'"),
        ({"a": np.zeros(2, np.complex128)}, "complex128"),
        ({"a": np.array("2020-01-01", "M8[D]")}, "datetime64"),
        ({"a": [[1, 2], [3]]}, "tensor 'a' is no array: found list.*shape"),
        ({"a": None}, "tensor 'a': dtype object"),
        ({7: np.zeros(2)}, "name is a str.*7"),
        ({"__metadata__": np.zeros(2)}, "__metadata__"),
        ({"\ud800": np.zeros(2)}, "name is no text"),
    ],
)
def test_what_cannot_be_stored_is_named(tensors, message):
    with pytest.raises(errors.InvalidArgument, match=message):
        encode(tensors)


def test_every_truncation_is_corrupt():
    whole = joined(golden())
    for size in range(len(whole)):
        with pytest.raises(errors.CorruptData):
            to_numpy(whole[:size])
    with pytest.raises(errors.CorruptData):
        to_numpy(whole + b"\0")


def of_header(fields, data=b""):
    text = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
    return bytearray(struct.pack("<Q", len(text)) + text + data)


NOTHING_OF_2_64_ITEMS = {"dtype": "I64", "shape": [0, 1 << 32, 1 << 32], "data_offsets": [0, 0]}


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"{",
        b"\xff{}",
        {"a": 7},
        {"a": {}},
        {"a": {"dtype": "F7", "shape": [1], "data_offsets": [0, 8]}},
        {"a": {"dtype": "I64", "shape": [2], "data_offsets": [0, 8]}},
        {"a": {"dtype": "I64", "shape": [-1], "data_offsets": [0, 8]}},
        {"a": {"dtype": "I64", "shape": [True], "data_offsets": [0, 8]}},
        {"a": {"dtype": "I64", "shape": [1.0], "data_offsets": [0, 8]}},
        {"a": {"dtype": "I64", "shape": [1], "data_offsets": [8, 0]}},
        {"a": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8, 9]}},
        {"a": {"dtype": "I64", "shape": [1], "data_offsets": [1, 9]}},
        {
            "a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
            "b": {"dtype": "U8", "shape": [4], "data_offsets": [3, 7]},
        },
        {"a": {"dtype": ["I64"], "shape": [1], "data_offsets": [0, 8]}},
        b"[" * 100_000,
        b'{"\\ud800":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}',
        {"a": {"dtype": "I64", "shape": [1] * 65, "data_offsets": [0, 8]}},
        {"a": NOTHING_OF_2_64_ITEMS, "b": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}},
        {"a": {**NOTHING_OF_2_64_ITEMS, "shape": [0, 1 << 80]}, "b": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}},
    ],
    ids=range(21),
)
def test_a_damaged_header_is_corrupt(header):
    for decode in (to_numpy, to_torch):
        with pytest.raises(errors.CorruptData, match="no safetensors"):
            decode(of_header(header, b"\0" * 8))


def test_a_header_longer_than_the_slice_is_corrupt():
    with pytest.raises(errors.CorruptData):
        to_numpy(bytearray(struct.pack("<Q", 1 << 63) + b"{}"))


def test_a_slice_says_which_step_is_damaged_or_of_another_kind(stream):
    with stream.producer("source") as producer:
        with producer.batch(dp=1, content_type=CONTENT_TYPE) as batch:
            batch[0, 0] = b"no tensors at all"
        # A producer of another make, which says one schema and writes another.
        native = _native.GlobalBatch.new(1, 1, CONTENT_TYPE, 1234)
        native.set(0, 0, [bytes(joined(golden()))])
        producer._native.publish(native, b"", None, 0, b"", b"")
        producer.publish([[b"bytes"]])
        with producer.batch(dp=1, content_type="application/other") as batch:
            batch[0, 0] = bytes(joined(golden()))
    with stream.consumer() as consumer:
        damaged, mixed, plain, other = (consumer.next() for _ in range(4))
    with pytest.raises(errors.CorruptData, match="step 0 of source, slice dp=0 cp=0"):
        damaged[0].numpy()
    with pytest.raises(errors.SchemaMismatch, match=r"step 1 of source.*00000000000004d2"):
        mixed[0].numpy()
    with pytest.raises(errors.SchemaMismatch, match="step 2 of source is application/octet-stream"):
        plain[0].numpy()
    with pytest.raises(errors.SchemaMismatch, match="step 3 of source is application/other"):
        other[0].numpy()


def test_a_batch_of_arrays_comes_back_as_views_of_what_was_received(stream):
    tensors = golden()
    with stream.producer("source") as producer:
        producer.publish([[tensors]])
    with stream.consumer() as consumer:
        batch = consumer.next()
    assert (batch.content_type, batch.schema_hash) == (CONTENT_TYPE, schema_hash(tensors))
    found = batch[0].numpy()
    assert_same(found, tensors)
    received = np.frombuffer(batch[0].data, np.uint8)
    assert np.shares_memory(found["ids"], received)
    del batch, received
    gc.collect()
    assert_same(found, tensors)  # The views hold the memory, although batch and consumer are gone.
