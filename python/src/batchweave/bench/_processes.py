"""The processes of a comparison, and taking turns."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from batchweave.errors import BatchweaveError


class NotMeasured(BatchweaveError):
    """A figure cannot be had here: the message says which side failed, and how."""


class Process:
    """A contestant (_contestant.py) that waits for calls."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self._log = folder / f"{name}.log"
        command = [sys.executable, "-m", "batchweave.bench._contestant", name]
        with open(self._log, "w") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def write(self, data: str, **sizes: int) -> None:
        """Make the data set of that name. Errors: :class:`NotMeasured`."""
        print(f"writing {data} for {self.name} ...", file=sys.stderr)
        self.call("write", data, **sizes)

    def folder_of(self, data: str) -> Path:
        """Of a data set."""
        return self._folder / data / self.name

    def seconds(self, do: str, data: str, **arguments: Any) -> float:
        """What a call measured. Errors: :class:`NotMeasured`."""
        return self.call(do, data, **arguments)["seconds"]

    def call(self, do: str, data: str, **arguments: Any) -> dict[str, Any]:
        """What the contestant answers. Errors: :class:`NotMeasured`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = ""
        if self._process.poll() is None:
            message = json.dumps({"do": do, "data": str(self.folder_of(data)), **arguments})
            print(message, file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        answer = json.loads(line or '{"error": "it ended"}')
        if "error" in answer:
            log = self._log.read_text(errors="replace")[-3000:]
            raise NotMeasured(f"{self.name} failed at {do} of {data} {arguments}: {answer['error']}\n{log}")
        return answer

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


Turns = dict[str, list[float]]


def take_turns(sides: dict[str, Callable[[], float]], rounds: int, *, warm: int = 0) -> Turns:
    """The seconds of each side in each of ``rounds`` rounds, after ``warm`` that do not count."""
    times: Turns = {name: [] for name in sides}
    for number in range(warm + rounds):
        for name, run in sides.items():
            seconds = run()
            if number >= warm:
                times[name].append(seconds)
    return times


def ratio(ours: list[float], theirs: list[float]) -> float:
    """How many times as fast we are: the median of the rounds' ratios. Both sides of a round met the machine alike."""
    return statistics.median(their / our for our, their in zip(ours, theirs, strict=True))
