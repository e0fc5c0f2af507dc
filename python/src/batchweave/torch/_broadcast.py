"""One rank reads, and its tensor-parallel neighbours get the batch from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist

from batchweave.errors import BatchweaveError, InvalidArgument

Item = tuple[Any, int, Any]


def broadcast(items: Iterator[Item] | None, group: dist.ProcessGroup, device: torch.device) -> Iterator[Item]:
    """The items of the first rank of ``group``, on every rank of it. ``items`` is None on the others.

    What stops the first rank stops all: with the same exception, where it is one of BatchWeave's.
    """
    while True:
        batch: Any = None
        failure: Exception | None = None
        message: list[Any] = [None]
        if items is not None:
            try:
                message, batch = _next_message(items)
            except Exception as error:
                failure = error
                message = [("error", error if isinstance(error, BatchweaveError) else RuntimeError(repr(error)))]
        dist.broadcast_object_list(message, group_src=0, group=group, device=device)
        kind, *content = message[0]
        if kind == "end":
            return
        if kind == "error":
            raise failure or content[0]
        state, step, fields = content
        if items is None:
            batch = {name: torch.empty(shape, dtype=dtype, device=device) for name, dtype, shape in fields}
        for tensor in batch.values():
            if tensor.numel():
                dist.broadcast(tensor.view(-1).view(torch.uint8), group_src=0, group=group)
        yield state, step, batch


def _next_message(items: Iterator[Item]) -> tuple[list[Any], Any]:
    item = next(items, None)
    if item is None:
        return [("end",)], None
    state, step, batch = item
    if not isinstance(batch, dict) or not all(isinstance(tensor, torch.Tensor) for tensor in batch.values()):
        raise InvalidArgument(f"only dicts of tensors are broadcast: found {type(batch).__name__}")
    batch = {name: tensor.contiguous() for name, tensor in batch.items()}
    fields = [(name, tensor.dtype, tuple(tensor.shape)) for name, tensor in batch.items()]
    return [("item", state, step, fields)], batch
