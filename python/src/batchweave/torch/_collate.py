"""From the slices of a rank to what its training step takes."""

from __future__ import annotations

from typing import Any

import torch

from batchweave import RankBatch, safetensors
from batchweave._join import join


def collate(batch: RankBatch) -> Any:
    """A dict of tensors: of one slice its own, as views; of several, joined along dimension 0 for dp and 1 for cp.

    Slices that are bytes become a list of uint8 tensors, as views, in the order of the grid.
    """
    if batch.content_type != safetensors.CONTENT_TYPE:
        return [_as_tensor(one.data) for one in batch]
    if len(batch.slices) == 1:
        return batch.slices[0].torch()
    return join(((one.dp, one.torch()) for one in batch), torch.cat)


def _as_tensor(data: memoryview) -> torch.Tensor:
    return torch.frombuffer(data, dtype=torch.uint8) if len(data) else torch.empty(0, dtype=torch.uint8)
