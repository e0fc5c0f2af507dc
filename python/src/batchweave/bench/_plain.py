"""A bare loop over one file: what a reader gets that copies the bytes into memory of its own, and does nothing else."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

from batchweave import _native
from batchweave.bench._sides import DTYPE

# Read and hashed at a time: what was read is still in the processor's cache when it is hashed.
_BLOCK_BYTES = 256 << 10


class PlainRead:
    """``workers``: threads, each a batch ahead. Their memory is used again."""

    checked = False

    def __init__(self, folder: Path, samples: int, words: int) -> None:
        self._path = folder / "samples"
        self._words = words

    def write(self, batches: Iterable[torch.Tensor]) -> None:
        """See Side."""
        hashes = []
        with open(self._path, "wb") as file:
            for batch in batches:
                memory = memoryview(batch.numpy()).cast("B")
                file.write(memory)
                hashes.append([_native.hash64(block) for block in _blocks(memory)])
        np.array(hashes, np.uint64).tofile(self._path.with_suffix(".hashes"))

    def batches(self, workers: int, batch: int) -> Iterator[torch.Tensor]:
        """See Side."""
        return self.resumed(workers, batch, 0)

    def resumed(self, workers: int, batch: int, step: int) -> Iterator[torch.Tensor]:
        """See Side."""
        file = os.open(self._path, os.O_RDONLY)
        try:
            steps = os.fstat(file).st_size // (8 * batch * self._words)
            hashes = np.fromfile(self._path.with_suffix(".hashes"), np.uint64).reshape(steps, -1).tolist()
            buffers = deque(torch.empty(batch, self._words, dtype=DTYPE) for _ in range(2 * workers + 1))
            with ThreadPoolExecutor(max(workers, 1)) as threads:
                ahead: deque[Future[torch.Tensor]] = deque()
                for at in range(step, steps):
                    if workers == 0:
                        yield self._read(file, at, buffers[0], hashes[at])
                        continue
                    buffers.rotate()
                    ahead.append(threads.submit(self._read, file, at, buffers[0], hashes[at]))
                    if len(ahead) == 2 * workers:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
        finally:
            os.close(file)

    def _read(self, file: int, step: int, batch: torch.Tensor, hashes: list[int]) -> torch.Tensor:
        memory = memoryview(batch.numpy()).cast("B")
        offset = step * memory.nbytes
        for block, expected in zip(_blocks(memory), hashes, strict=True):
            if os.preadv(file, [block], offset) != block.nbytes:
                raise ValueError(f"batch {step} is cut short")
            if self.checked and _native.hash64(block) != expected:
                raise ValueError(f"batch {step} is damaged")
            offset += block.nbytes
        return batch


class PlainReadChecked(PlainRead):
    """And hashes them."""

    checked = True


def _blocks(memory: memoryview) -> list[memoryview]:
    return [memory[at : at + _BLOCK_BYTES] for at in range(0, memory.nbytes, _BLOCK_BYTES)]
