"""WebDataset over tar shards on the local disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
import webdataset

from batchweave.bench._sides import DTYPE, SHARD_BYTES


class WebDataset:
    """Its WebDataset and WebLoader: samples are raw members, without a decoder to pass, and batches are made by the workers."""

    def __init__(self, folder: Path, samples: int, words: int) -> None:
        self._folder = folder
        # Two at least, since each worker reads shards of its own.
        self._shard_samples = max(1, min(SHARD_BYTES // (8 * words), -(-samples // 2)))

    def write(self, batches: Iterable[torch.Tensor]) -> None:
        """See Side."""
        pattern = str(self._folder / "%06d.tar")
        samples = (sample for batch in batches for sample in batch.numpy())
        with webdataset.ShardWriter(pattern, maxcount=self._shard_samples, maxsize=1 << 40, verbose=0) as writer:
            for number, sample in enumerate(samples):
                writer.write({"__key__": f"{number:08}", "bin": sample.tobytes()})

    def batches(self, workers: int, batch: int) -> Iterator[torch.Tensor]:
        """See Side."""
        return self._loader(self._samples(), workers, batch)

    def resumed(self, workers: int, batch: int, step: int) -> Iterator[torch.Tensor]:
        """See Side. It has no state: what was read before is read again, and passed over."""
        return self._loader(self._samples().slice(step * batch, None), workers, batch)

    def _samples(self) -> webdataset.WebDataset:
        shards = sorted(str(path) for path in self._folder.glob("*.tar"))
        return webdataset.WebDataset(shards, shardshuffle=False).to_tuple("bin")

    def _loader(self, samples: webdataset.WebDataset, workers: int, batch: int) -> Iterator[torch.Tensor]:
        batched = samples.map_tuple(_as_tensor).batched(batch, collation_fn=_stacked)
        return iter(webdataset.WebLoader(batched, batch_size=None, num_workers=workers))


def _as_tensor(member: bytes) -> torch.Tensor:
    return torch.frombuffer(member, dtype=DTYPE)


def _stacked(samples: list[tuple[torch.Tensor]]) -> torch.Tensor:
    return torch.stack([sample for (sample,) in samples])
