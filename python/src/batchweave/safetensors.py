"""Dicts of arrays as safetensors: what a slice of tensors looks like in the store.

Writing lays the arrays down once, behind a header whose length makes the data begin at a multiple of 64 bytes. Reading
gives views of the received bytes, without a copy where the layout allows it: an array that does not begin at a multiple
of its own item size is copied.
"""

from __future__ import annotations

import functools
import json
import math
import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from batchweave import _native
from batchweave.errors import CorruptData, InvalidArgument

if TYPE_CHECKING:
    import torch

CONTENT_TYPE = "application/x-safetensors"

_ALIGNMENT = 64
_HEADER_LENGTH = struct.Struct("<Q")
_HEADER_BYTES_MAX = 1 << 20
# What numpy and torch can have, an array of no items included.
_DIMENSIONS_MAX = 64
_ITEMS_MAX = 1 << 58


class _Kind(NamedTuple):
    item_bytes: int
    torch: str
    numpy: str
    needs_ml_dtypes: bool = False


# The names of safetensors, and those of torch and numpy. What is smaller than a byte has no place in either.
_KINDS = {
    "BOOL": _Kind(1, "bool", "bool"),
    "U8": _Kind(1, "uint8", "uint8"),
    "I8": _Kind(1, "int8", "int8"),
    "F8_E5M2": _Kind(1, "float8_e5m2", "float8_e5m2", True),
    "F8_E4M3": _Kind(1, "float8_e4m3fn", "float8_e4m3fn", True),
    "F8_E8M0": _Kind(1, "float8_e8m0fnu", "float8_e8m0fnu", True),
    "U16": _Kind(2, "uint16", "uint16"),
    "I16": _Kind(2, "int16", "int16"),
    "F16": _Kind(2, "float16", "float16"),
    "BF16": _Kind(2, "bfloat16", "bfloat16", True),
    "U32": _Kind(4, "uint32", "uint32"),
    "I32": _Kind(4, "int32", "int32"),
    "F32": _Kind(4, "float32", "float32"),
    "U64": _Kind(8, "uint64", "uint64"),
    "I64": _Kind(8, "int64", "int64"),
    "F64": _Kind(8, "float64", "float64"),
    "C64": _Kind(8, "complex64", "complex64"),
}
_NAME_OF_NUMPY = {kind.numpy: name for name, kind in _KINDS.items()}
_NAME_OF_TORCH = {kind.torch: name for name, kind in _KINDS.items()}


class _Array(NamedTuple):
    kind: str
    shape: tuple[int, ...]
    memory: memoryview  # The bytes, in C order.


class _Place(NamedTuple):
    name: str
    kind: str
    shape: tuple[int, ...]
    begin: int  # In the slice.
    count: int


class _Layout(NamedTuple):
    places: tuple[_Place, ...]
    schema_hash: int


def encode(tensors: Mapping[str, Any]) -> tuple[list[Any], int]:
    """The pieces of memory that make up the slice of ``tensors``, and the hash of their schema.

    Errors: :class:`InvalidArgument` names the tensor, what it is and what to do about it.
    """
    arrays = {_checked_name(name): _array_of(name, tensor) for name, tensor in tensors.items()}
    # The largest items first: then each array begins at a multiple of its own.
    order = sorted(arrays, key=lambda name: (-_KINDS[arrays[name].kind].item_bytes, name))
    header, end = {}, 0
    for name in order:
        array = arrays[name]
        begin, end = end, end + array.memory.nbytes
        header[name] = {"dtype": array.kind, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    if len(text) > _HEADER_BYTES_MAX:
        raise InvalidArgument(f"the names of {len(arrays)} tensors take {len(text)} bytes, at most {_HEADER_BYTES_MAX}")
    pieces = [_HEADER_LENGTH.pack(len(text)) + text, *(arrays[name].memory for name in order)]
    return pieces, _schema_hash((name, arrays[name].kind, len(arrays[name].shape)) for name in order)


def schema_hash(tensors: Mapping[str, Any]) -> int:
    """The hash of names, dtypes and numbers of dimensions of ``tensors``: what batches of one kind have in common.

    Sizes do not count, since batches may grow. Never 0, which stands for none.
    """
    return encode(tensors)[1]


def to_numpy(buffer: Any) -> tuple[dict[str, np.ndarray], int]:
    """The arrays of a slice as views of ``buffer``, and the hash of their schema. Errors: :class:`CorruptData`."""
    layout = _parse(*_header_of(buffer))
    arrays = {}
    for name, kind, shape, begin, count in layout.places:
        dtype = _numpy_dtype(kind)
        if begin % dtype.alignment:
            memory = memoryview(buffer)[begin : begin + count * dtype.itemsize]
            arrays[name] = np.frombuffer(bytearray(memory), dtype).reshape(shape)
        else:
            arrays[name] = np.frombuffer(buffer, dtype, count, begin if count else 0).reshape(shape)
    return arrays, layout.schema_hash


def to_torch(buffer: Any) -> tuple[dict[str, torch.Tensor], int]:
    """The tensors of a slice as views of ``buffer``, and the hash of their schema. Errors: :class:`CorruptData`."""
    views, schema = _torch_views(*_header_of(buffer))
    return {name: view(buffer) for name, view in views}, schema


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or name == "__metadata__":
        raise InvalidArgument(f"a tensor's name is a str, and not __metadata__: found {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"a tensor's name is no text: {error}") from None
    return name


def _array_of(name: str, tensor: Any) -> _Array:
    if any(kind.__module__.split(".")[0] == "torch" for kind in type(tensor).__mro__):
        return _array_of_torch(name, tensor)
    try:
        array = np.asarray(tensor)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidArgument(f"tensor {name!r} is no array: found {type(tensor).__name__}: {error}") from None
    if array.dtype.hasobject or array.dtype.name not in _NAME_OF_NUMPY:
        raise InvalidArgument(
            f"tensor {name!r}: dtype {array.dtype} cannot be stored; known are {', '.join(sorted(_NAME_OF_NUMPY))}"
        )
    kind = _NAME_OF_NUMPY[array.dtype.name]
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    flat = np.ascontiguousarray(array).reshape(-1)
    return _Array(kind, array.shape, memoryview(flat.view(np.uint8)))


def _array_of_torch(name: str, tensor: Any) -> _Array:
    import torch

    if not isinstance(tensor, torch.Tensor):
        raise InvalidArgument(f"tensor {name!r}: found {type(tensor).__name__}, which is no array")
    if tensor.requires_grad:
        raise InvalidArgument(f"tensor {name!r} requires grad, which would be lost: publish tensor.detach()")
    if tensor.device.type != "cpu":
        raise InvalidArgument(f"tensor {name!r} is on {tensor.device}: publish tensor.cpu()")
    if tensor.layout is not torch.strided or tensor.is_quantized:
        raise InvalidArgument(f"tensor {name!r} is {tensor.layout}, {tensor.dtype}: publish a dense one, as tensor.to_dense()")
    kind = _NAME_OF_TORCH.get(str(tensor.dtype).removeprefix("torch."))
    if kind is None:
        raise InvalidArgument(
            f"tensor {name!r}: dtype {tensor.dtype} cannot be stored; known are {', '.join(sorted(_NAME_OF_TORCH))}"
        )
    dense = tensor.resolve_conj().resolve_neg().contiguous()
    return _Array(kind, tuple(tensor.shape), memoryview(dense.view(-1).view(torch.uint8).numpy()))


def _header_of(buffer: Any) -> tuple[bytes, int]:
    """The header of a slice, and the bytes of all of it."""
    memory = memoryview(buffer)
    slice_bytes = memory.nbytes
    if slice_bytes < 8:
        raise CorruptData(f"no safetensors: {slice_bytes} bytes are too few for a header")
    (header_bytes,) = _HEADER_LENGTH.unpack_from(memory)
    end = 8 + header_bytes
    if end > slice_bytes or header_bytes > _HEADER_BYTES_MAX:
        raise CorruptData(f"no safetensors: a header of {header_bytes} bytes in a slice of {slice_bytes}")
    return memory[8:end].tobytes(), slice_bytes


# Batches of one shape have the same header.
@functools.lru_cache(maxsize=256)
def _parse(header: bytes, slice_bytes: int) -> _Layout:
    try:
        described = json.loads(header)
        described.pop("__metadata__", None)
        places = [_place(name, fields, 8 + len(header)) for name, fields in described.items()]
        schema = _schema_hash((place.name, place.kind, len(place.shape)) for place in places)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CorruptData(f"no safetensors: the header is damaged: {error}") from None
    end = 8 + len(header)
    for place in sorted(places, key=lambda place: (place.begin, place.count)):
        if place.begin != end:
            raise CorruptData(f"no safetensors: tensor {place.name!r} begins at {place.begin}, expected {end}")
        end += place.count * _KINDS[place.kind].item_bytes
    if end != slice_bytes:
        raise CorruptData(f"no safetensors: the tensors end at {end} of {slice_bytes} bytes")
    return _Layout(tuple(places), schema)


def _place(name: str, fields: dict[str, Any], data_begin: int) -> _Place:
    kind, shape = fields["dtype"], tuple(fields["shape"])
    begin, end = fields["data_offsets"]
    numbers = (begin, end, *shape)
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError(f"tensor {name!r} has sizes {numbers}")
    if kind not in _KINDS:
        raise ValueError(f"tensor {name!r} has dtype {kind!r}, which this version does not know")
    if len(shape) > _DIMENSIONS_MAX or math.prod(size for size in shape if size > 0) > _ITEMS_MAX:
        raise ValueError(f"tensor {name!r} has {len(shape)} dimensions, of {shape[:8]} items and so on")
    count = math.prod(shape)
    if end - begin != count * _KINDS[kind].item_bytes:
        raise ValueError(f"tensor {name!r} of shape {shape} and dtype {kind} has {end - begin} bytes")
    return _Place(name, kind, shape, data_begin + begin, count)


def _schema_hash(schema: Any) -> int:
    text = "".join(f"{name}\n{kind}\n{dimensions}\n" for name, kind, dimensions in sorted(schema))
    return _native.hash64(text.encode()) or 1


# What a step costs in Python is mostly this, so all that a header decides is decided once.
@functools.lru_cache(maxsize=256)
def _torch_views(header: bytes, slice_bytes: int) -> tuple[list[tuple[str, Callable[[Any], torch.Tensor]]], int]:
    """For each tensor of slices with this header its name and what makes it of a slice; and the hash of their schema."""
    layout = _parse(header, slice_bytes)
    return [(place.name, _torch_view(place)) for place in layout.places], layout.schema_hash


def _torch_view(place: _Place) -> Callable[[Any], torch.Tensor]:
    import torch

    described = _KINDS[place.kind]
    dtype = getattr(torch, described.torch, None)
    if dtype is None:
        raise ImportError(f"tensor {place.name!r} is {described.torch}, which torch {torch.__version__} does not have")
    # A dtype of numpy that torch takes, with items of the same size.
    carrier = np.dtype(f"int{8 * described.item_bytes}" if described.needs_ml_dtypes else described.numpy)
    begin, end = place.begin, place.begin + place.count * carrier.itemsize
    if place.count == 0:
        return lambda buffer: torch.empty(place.shape, dtype=dtype)
    if begin % carrier.itemsize:
        return lambda buffer: torch.frombuffer(bytearray(memoryview(buffer)[begin:end]), dtype=dtype).view(place.shape)
    # By way of numpy: torch.frombuffer() and view() take longer.
    ndarray, from_numpy, shape = np.ndarray, torch.from_numpy, place.shape
    if described.needs_ml_dtypes:
        return lambda buffer: from_numpy(ndarray(shape, carrier, buffer, begin)).view(dtype)
    return lambda buffer: from_numpy(ndarray(shape, carrier, buffer, begin))


@functools.cache
def _numpy_dtype(kind: str) -> np.dtype:
    if not _KINDS[kind].needs_ml_dtypes:
        return np.dtype(_KINDS[kind].numpy)
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            f"numpy knows {kind} only by the package ml_dtypes: install it, or read the slice by .torch()"
        ) from None
    return np.dtype(getattr(ml_dtypes, _KINDS[kind].numpy))
