"""What each loader is compared by: the same samples, ending in the same kind of tensor.

A side writes the samples in its own form, and then passes over them in batches of consecutive samples. Everything is done as
the loader's own documentation has it for data on a local disk.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import torch
from torch.utils.data import DataLoader

#: Samples are tensors of int64, in batches of shape [samples, WORDS].
DTYPE = torch.int64

#: Files of the peers are of about this size.
SHARD_BYTES = 64 << 20


class Side(Protocol):
    """One loader over one folder. ``workers``: as of ``torch.utils.data.DataLoader``."""

    def write(self, batches: Iterable[torch.Tensor]) -> None:
        """Store all samples. ``batches`` of equal shape."""

    def batches(self, workers: int, batch: int) -> Iterator[torch.Tensor]:
        """Open everything anew, and pass over all samples in order; of several workers each in its own order."""

    def resumed(self, workers: int, batch: int, step: int) -> Iterator[torch.Tensor]:
        """Open everything anew, and go on after ``step`` batches."""


def side(name: str, folder: Path, samples: int, words: int) -> Side:
    """The side of that name, over a folder of its own that is there. ``words``: of a sample."""
    module, kind = _SIDES[name]
    return getattr(importlib.import_module(module), kind)(folder, samples, words)


_SIDES = {
    "batchweave": ("batchweave.bench._sides", "BatchWeave"),
    "mosaic": ("batchweave.bench._mosaic", "Mosaic"),
    "webdataset": ("batchweave.bench._webdataset", "WebDataset"),
    "litdata": ("batchweave.bench._litdata", "LitData"),
    "litdata_tokens": ("batchweave.bench._litdata", "LitDataTokens"),
    "torch_mmap_fresh": ("batchweave.bench._torch_mmap", "TorchMmap"),
    "torch_mmap_fresh_checked": ("batchweave.bench._torch_mmap", "TorchMmapChecked"),
    "plain_read": ("batchweave.bench._plain", "PlainRead"),
    "plain_read_checked": ("batchweave.bench._plain", "PlainReadChecked"),
}


class BatchWeave:
    """A stream with one slice a step; checksums are on, as always."""

    def __init__(self, folder: Path, samples: int, words: int) -> None:
        self._url = folder / "stream"

    def write(self, batches: Iterable[torch.Tensor]) -> None:
        """See Side."""
        import batchweave

        with batchweave.open(self._url, create=True, durable=False) as stream, stream.producer("bench") as producer:
            for batch in batches:
                producer.publish([[{"data": batch}]])
            producer.finish()
            stream.seal()

    def batches(self, workers: int, batch: int) -> Iterator[torch.Tensor]:
        """See Side."""
        return self.resumed(workers, batch, 0)

    def resumed(self, workers: int, batch: int, step: int) -> Iterator[torch.Tensor]:
        """See Side."""
        import batchweave
        from batchweave.torch import StreamingDataLoader

        loader = StreamingDataLoader(batchweave.open(self._url), start=step, num_workers=workers)
        for _, tensors in loader:
            yield tensors["data"]
            del tensors


def data_loader(dataset: Any, workers: int, **options: Any) -> DataLoader:
    """torch's own, its workers forked where there are some."""
    return DataLoader(dataset, num_workers=workers, multiprocessing_context="fork" if workers else None, **options)
