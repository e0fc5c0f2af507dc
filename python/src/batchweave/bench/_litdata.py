"""LitData over optimised chunks on the local disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import litdata
import torch
from litdata.streaming.item_loader import TokensLoader
from litdata.streaming.writer import BinaryWriter

from batchweave.bench._sides import SHARD_BYTES


class LitData:
    """Its StreamingDataset and StreamingDataLoader; samples are tensors, which it stores without a header."""

    def __init__(self, folder: Path, samples: int, words: int) -> None:
        self._folder = folder / "chunks"
        self._words = words

    def _item_loader(self) -> Any:
        return None

    def write(self, batches: Iterable[torch.Tensor]) -> None:
        """See Side."""
        self._folder.mkdir()
        writer = BinaryWriter(str(self._folder), chunk_bytes=SHARD_BYTES, item_loader=self._item_loader())
        samples = (sample for batch in batches for sample in batch)
        for number, sample in enumerate(samples):
            writer[number] = sample
        writer.done()
        writer.merge(1)

    def batches(self, workers: int, batch: int) -> Iterator[torch.Tensor]:
        """See Side."""
        return iter(self._opened(workers, batch)[1])

    def resumed(self, workers: int, batch: int, step: int) -> Iterator[torch.Tensor]:
        """See Side."""
        dataset, loader = self._opened(workers, batch)
        count = step * batch
        state = {"dataset": dataset.state_dict(count, workers, batch), "current_epoch": 1}
        loader.load_state_dict({**state, "num_samples_yielded": count, "latest_worker_idx": 0})
        return iter(loader)

    def _opened(self, workers: int, batch: int) -> tuple[litdata.StreamingDataset, litdata.StreamingDataLoader]:
        dataset = litdata.StreamingDataset(str(self._folder), item_loader=self._item_loader(), shuffle=False)
        return dataset, litdata.StreamingDataLoader(dataset, batch_size=batch, num_workers=workers)


class LitDataTokens(LitData):
    """The same by its TokensLoader, which maps chunks of tokens: a sample is a block of them."""

    def _item_loader(self) -> Any:
        return TokensLoader(block_size=self._words)
