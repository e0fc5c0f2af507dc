"""Tensors of torch in slices: every dtype there and back, as views, alike for safetensors' own library."""

import numpy as np
import pytest
import safetensors.torch
import torch

import batchweave
from batchweave import errors
from batchweave.safetensors import encode, to_torch

DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.uint16, torch.int16, torch.float16, torch.bfloat16, torch.uint32, torch.int32,
    torch.float32, torch.uint64, torch.int64, torch.float64, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2,
    torch.float8_e8m0fnu,
]  # fmt: skip


def joined(tensors):
    return bytearray(b"".join(bytes(piece) for piece in encode(tensors)[0]))


def raw(tensor):
    return bytes(tensor.contiguous().view(-1).view(torch.uint8).numpy())


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert (found[name].dtype, found[name].shape) == (tensor.dtype, tensor.shape)
        assert raw(found[name]) == raw(tensor)


def example(dtype, shape=(3, 5)):
    return torch.arange(1, 1 + int(np.prod(shape)), dtype=torch.float32).reshape(shape).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(3, 5), (), (0, 4)])
def test_every_dtype_and_shape_comes_back(dtype, shape):
    tensors = {"a": example(dtype, shape), "b": torch.arange(3, dtype=torch.int8)}
    assert_same(to_torch(joined(tensors))[0], tensors)


def test_tensors_are_alike_for_the_library():
    tensors = {str(dtype): example(dtype) for dtype in DTYPES if dtype != torch.float8_e8m0fnu}  # It does not load that.
    assert_same(safetensors.torch.load(bytes(joined(tensors))), tensors)
    assert_same(to_torch(bytearray(safetensors.torch.save(tensors)))[0], tensors)


def test_a_schema_is_that_of_numpy():
    of_torch = {"ids": torch.zeros(2, 3, dtype=torch.int32), "mask": torch.zeros(4, dtype=torch.bool)}
    assert batchweave.schema_hash(of_torch) == batchweave.schema_hash({name: value.numpy() for name, value in of_torch.items()})


def test_tensors_are_views_of_what_was_received(stream):
    with stream.producer("source") as producer:
        producer.publish([[{"ids": torch.arange(64), "mask": torch.ones(3, dtype=torch.bool)}]])
    with stream.consumer() as consumer:
        batch = consumer.next()
    first, again = batch[0].torch(), batch[0].torch()
    assert first["ids"].data_ptr() == again["ids"].data_ptr()
    first["ids"][0] = 7
    assert np.frombuffer(batch[0].data, np.int64, 1, len(batch[0]) - 64 * 8 - 3)[0] == 7
    del batch, again
    assert first["ids"].tolist() == [7, *range(1, 64)]


def test_tensors_of_any_layout_in_memory_are_stored():
    tensor = torch.arange(12, dtype=torch.int32).reshape(3, 4)
    for same in (tensor.t().contiguous().t(), torch.arange(24, dtype=torch.int32)[::2].reshape(3, 4) // 2, tensor.expand(3, 4)):
        assert torch.equal(to_torch(joined({"a": same}))[0]["a"], tensor)
    turned = torch.tensor([1 + 2j], dtype=torch.complex64).conj()
    assert to_torch(joined({"a": turned}))[0]["a"].tolist() == [1 - 2j]


# Of another writer, which need not care where tensors begin.
@pytest.mark.parametrize("dtype", [torch.int64, torch.complex64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(3, 5), ()])
def test_a_tensor_that_lies_askew_is_copied(dtype, shape):
    tensors = {"a": example(dtype, shape)}
    library = safetensors.torch.save(tensors)
    header = library[8 : 8 + int.from_bytes(library[:8], "little")]
    askew = header + b" " * (1 + -(8 + len(header)) % 8)
    memory = bytearray(len(askew).to_bytes(8, "little") + askew + library[8 + len(header) :])
    found, _ = to_torch(memory)
    assert_same(found, tensors)
    assert found["a"].data_ptr() % found["a"].element_size() == 0


class Own(torch.Tensor):
    """Of a user's own class."""


def test_a_tensor_of_a_class_of_the_users_is_one():
    tensor = example(torch.bfloat16)
    assert_same(to_torch(joined({"a": tensor.as_subclass(Own)}))[0], {"a": tensor})
    with pytest.raises(errors.InvalidArgument, match="requires grad"):
        encode({"a": torch.zeros(2, requires_grad=True).as_subclass(Own)})


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.zeros(2, requires_grad=True), r"tensor 'a' requires grad.*detach"),
        (torch.zeros(2, device="meta"), r"tensor 'a' is on meta: publish tensor.cpu"),
        (torch.zeros(2, 2).to_sparse(), r"tensor 'a' is torch.sparse_coo.*to_dense"),
        (torch.zeros(2, dtype=torch.complex128), r"dtype torch.complex128"),
        (torch.Size([2]), r"tensor 'a': found Size"),
    ],
)
def test_tensors_that_cannot_be_stored_are_named(tensor, message):
    with pytest.raises(errors.InvalidArgument, match=message):
        encode({"a": tensor})
