"""A stream as C++ first wrote it (tests/golden_stream_test.cc), which also reads the one that was written here.

To write the one of Python anew: remove it, and run this file as a program.
"""

import pathlib

import numpy as np
import pytest

import batchweave

FOLDER = pathlib.Path(__file__).parents[2] / "tests/golden/streams"
IDS = {"ids": np.arange(4, dtype=np.int32)}


def test_what_cpp_wrote_is_read():
    with batchweave.open(FOLDER / "by-cpp") as stream, stream.consumer() as consumer:
        tensors, plain = list(consumer)
    assert (tensors.grid, tensors.samples, tensors.cursor, tensors.metadata) == ((1, 2), 1, b"1", {"by": "C++"})
    assert tensors.schema_hash == batchweave.schema_hash(IDS)
    for one in tensors:
        found = one.numpy()["ids"]
        assert (found.tolist(), found.dtype) == ([0, 1, 2, 3], np.int32)
    assert (bytes(plain[0]), plain.metadata_bytes) == (b"plain", b"no JSON")
    with pytest.raises(ValueError, match="Expecting value"):
        print(plain.metadata)


def write():
    with batchweave.open(FOLDER / "by-python", create=True) as stream:
        with stream.producer("source") as producer:
            producer.publish([[IDS], [IDS]], cursor=b"1", samples=2, metadata={"mix": {"web": 0.5}})
            producer.publish([[b"left"], [b"right"]], cursor=b"2")
            producer.finish()
        stream.seal()


if __name__ == "__main__":
    write()
