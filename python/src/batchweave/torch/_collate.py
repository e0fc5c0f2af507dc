"""From the slices of a rank to what its training step takes."""

from __future__ import annotations

from typing import Any

import torch

from batchweave import RankBatch, safetensors


def collate(batch: RankBatch) -> Any:
    """A dict of tensors: of one slice its own, as views; of several, joined along dimension 0 for dp and 1 for cp.

    Slices that are bytes become a list of uint8 tensors, as views, in the order of the grid.
    """
    if batch.content_type != safetensors.CONTENT_TYPE:
        return [_as_tensor(one.data) for one in batch]
    if len(batch) == 1:
        return batch[0].torch()
    rows: dict[int, list[dict[str, torch.Tensor]]] = {}
    for one in batch:
        rows.setdefault(one.dp, []).append(one.torch())
    joined = [_join(pieces, dimension=1) for pieces in rows.values()]
    return _join(joined, dimension=0) if joined else {}


def _join(pieces: list[dict[str, torch.Tensor]], dimension: int) -> dict[str, torch.Tensor]:
    if len(pieces) == 1:
        return pieces[0]
    return {name: torch.cat([piece[name] for piece in pieces], dim=dimension) for name in pieces[0]}


def _as_tensor(data: memoryview) -> torch.Tensor:
    return torch.frombuffer(data, dtype=torch.uint8) if len(data) else torch.empty(0, dtype=torch.uint8)
