"""torch's DataLoader over one file of samples, which each pass maps anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset

from batchweave import _native
from batchweave.bench._sides import data_loader


class TorchMmap:
    """Nothing is checked: what is in the mapping is taken."""

    checked = False

    def __init__(self, folder: Path, samples: int, words: int) -> None:
        self._path = folder / "samples"
        self._shape = (samples, words)

    def write(self, batches: Iterable[torch.Tensor]) -> None:
        """See Side."""
        hashes = []
        with open(self._path, "wb") as file:
            for batch in batches:
                file.write(memoryview(batch.numpy()).cast("B"))
                hashes.extend(_native.hash64(sample.numpy()) for sample in batch)
        np.array(hashes, np.uint64).tofile(self._path.with_suffix(".hashes"))

    def batches(self, workers: int, batch: int) -> Iterator[torch.Tensor]:
        """See Side."""
        return self.resumed(workers, batch, 0)

    def resumed(self, workers: int, batch: int, step: int) -> Iterator[torch.Tensor]:
        """See Side."""
        dataset = _Mapped(self._path, self._shape, self.checked)
        return iter(data_loader(dataset, workers, batch_size=batch, sampler=range(step * batch, self._shape[0])))


class TorchMmapChecked(TorchMmap):
    """The same XXH3 a sample as BatchWeave has a slice."""

    checked = True


class _Mapped(Dataset):
    def __init__(self, path: Path, shape: tuple[int, int], checked: bool) -> None:
        self._mapped = np.memmap(path, np.int64, "c", shape=shape)
        self._hashes = np.fromfile(path.with_suffix(".hashes"), np.uint64) if checked else None

    def __len__(self) -> int:
        return len(self._mapped)

    def __getitem__(self, index: int) -> torch.Tensor:
        sample = self._mapped[index]
        if self._hashes is not None and _native.hash64(sample) != self._hashes[index]:
            raise ValueError(f"sample {index} is damaged")
        return torch.from_numpy(sample)
