"""MosaicML Streaming over MDS shards on the local disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import streaming
import streaming.base.util
import torch

from batchweave.bench._sides import SHARD_BYTES


class Mosaic:
    """Its StreamingDataset and StreamingDataLoader; of a dtype and shape that the column has once for all samples."""

    def __init__(self, folder: Path, samples: int, words: int) -> None:
        self._folder = folder / "mds"
        self._column = f"ndarray:int64:{words}"

    def write(self, batches: Iterable[torch.Tensor]) -> None:
        """See Side."""
        with streaming.MDSWriter(out=str(self._folder), columns={"data": self._column}, size_limit=SHARD_BYTES) as writer:
            for batch in batches:
                for sample in batch.numpy():
                    writer.write({"data": sample})

    def batches(self, workers: int, batch: int) -> Iterator[torch.Tensor]:
        """See Side."""
        return self._iterated(*self._opened(workers, batch))

    def resumed(self, workers: int, batch: int, step: int) -> Iterator[torch.Tensor]:
        """See Side."""
        dataset, loader = self._opened(workers, batch)
        # As saved within the first epoch; before that, its number is still that of none.
        loader.load_state_dict({**dataset.state_dict(step * batch, from_beginning=True), "epoch": 0})
        return self._iterated(dataset, loader)

    def _opened(self, workers: int, batch: int) -> tuple[streaming.StreamingDataset, streaming.StreamingDataLoader]:
        dataset = streaming.StreamingDataset(local=str(self._folder), shuffle=False, batch_size=batch)
        return dataset, streaming.StreamingDataLoader(dataset, batch_size=batch, num_workers=workers)

    def _iterated(self, dataset: streaming.StreamingDataset, loader: streaming.StreamingDataLoader) -> Iterator[torch.Tensor]:
        try:
            for batch in loader:
                yield batch["data"]
        finally:
            del loader, dataset
            streaming.base.util.clean_stale_shared_memory()
