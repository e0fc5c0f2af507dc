"""One side in a process of its own, so that none meets the memory, threads or patches of another.

Reads calls as lines of JSON from standard input, and answers each by a line: what it measured, or an error.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from numpy.random import PCG64, Generator

from batchweave.bench._sides import DTYPE, Side, side

_SEED = 1


class DataSet:
    """One side over one data set: ``steps`` batches of ``batch`` samples of ``words`` words."""

    def __init__(self, name: str, folder: Path, steps: int, batch: int, words: int) -> None:
        folder.mkdir(parents=True)
        self._side: Side = side(name, folder, steps * batch, words)
        self._steps, self._batch, self._words = steps, batch, words
        # A sample is this plus its number, so that the first word is the number.
        self._base = torch.from_numpy(Generator(PCG64(_SEED)).integers(1 << 40, size=words))
        self._base[0] = 0

    def write(self) -> dict[str, Any]:
        """Make it."""
        self._side.write(self._samples())
        return {}

    def read(self, what: str, workers: int) -> dict[str, Any]:
        """One pass: the seconds from the first batch to the last, which the first does not count in.

        ``what``: "ids", a word of each sample, or "sum", all of them. Checked: every sample came, and as it was written.
        """
        items = self._side.batches(workers, self._batch)
        total, count = self._read(next(items), what), 1
        began = time.perf_counter()
        for data in items:
            total += self._read(data, what)
            count += 1
        seconds = time.perf_counter() - began
        samples = self._steps * self._batch
        expected = samples * (samples - 1) // 2
        if what == "sum":
            expected = expected * self._words + samples * int(self._base.sum())
        if count != self._steps or (total - expected) % 2**64:
            raise ValueError(f"{count} batches of {self._steps}, total {total}, expected {expected}")
        return {"seconds": seconds}

    def open(self, step: int) -> dict[str, Any]:
        """The seconds until the batch of ``step`` is there: opened anew, without workers, which would only be started more."""
        began = time.perf_counter()
        items = self._side.batches(0, self._batch) if step == 0 else self._side.resumed(0, self._batch, step)
        first = int(next(items)[0, 0])
        seconds = time.perf_counter() - began
        del items
        if first != step * self._batch:
            raise ValueError(f"the first sample is {first}, expected {step * self._batch}")
        return {"seconds": seconds}

    def pace(self, warm: int) -> dict[str, Any]:
        """The seconds of all steps after the first ``warm``, where nothing is done with the tensors.

        As of C++'s side: each is let go before the next is asked for, and to close the stream does not count.
        """
        items = self._side.batches(0, self._batch)
        for _ in range(warm):
            next(items)
        began = time.perf_counter()
        for _ in range(self._steps - warm):
            next(items)
        seconds = time.perf_counter() - began
        if next(items, None) is not None:
            raise ValueError(f"more than {self._steps} steps")
        return {"seconds": seconds}

    def _read(self, batch: torch.Tensor, what: str) -> int:
        if batch.shape != (self._batch, self._words) or batch.dtype != DTYPE:
            raise ValueError(f"a batch of {batch.dtype} and shape {tuple(batch.shape)}")
        return int((batch if what == "sum" else batch[:, 0]).sum())

    def _samples(self) -> Iterator[torch.Tensor]:
        for step in range(self._steps):
            numbers = torch.arange(step * self._batch, (step + 1) * self._batch, dtype=DTYPE)
            yield self._base + numbers.unsqueeze(1)


class Contestant:
    """One side, with its data sets by name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._sets: dict[str, DataSet] = {}

    def write(self, data: str, **sizes: int) -> dict[str, Any]:
        """Make a data set. ``data``: the folder of its own."""
        self._sets[data] = DataSet(self._name, Path(data), **sizes)
        return self._sets[data].write()

    def call(self, do: str, data: str, **arguments: Any) -> dict[str, Any]:
        """What a line of input asks for."""
        if do == "write":
            return self.write(data, **arguments)
        return getattr(self._sets[data], do)(**arguments)


def main() -> None:
    """Argument: the side's name."""
    # What a library prints goes elsewhere.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    contestant = Contestant(sys.argv[1])
    for line in sys.stdin:
        try:
            answer = contestant.call(**json.loads(line))
        except Exception as error:
            traceback.print_exc()
            answer = {"error": repr(error)}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
