"""The benchmark ``loader``: all figures in one run."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from batchweave.bench._copies import copies_per_slice
from batchweave.bench._processes import NotMeasured, Process, Turns, ratio, take_turns
from batchweave.bench._report import Figure, complete, to_table

OURS = "batchweave"
#: Each of them at its best of these: variants of one loader, num_workers.
PEERS = {"mosaic": ["mosaic"], "webdataset": ["webdataset"], "litdata": ["litdata", "litdata_tokens"]}
FLOORS = {name: [name] for name in ("torch_mmap_fresh", "torch_mmap_fresh_checked", "plain_read", "plain_read_checked")}
WORKERS = (0, 1, 2)

_BATCH = 16
_SAMPLE_WORDS = (256 << 10) // 8
# Of the stream that a job comes back to: small, so that what counts is finding the place.
_SMALL_WORDS = 128
_WARM_STEPS = 8
# Data sets of every side.
_SAMPLES, _STEPS = "samples", "steps"
_MIB = 1 << 20


@dataclass(frozen=True)
class Settings:
    """Sizes of a run. ``folder`` is fresh; whoever made it removes it."""

    folder: Path
    pass_bytes: int
    resume_steps: int
    rounds: int
    choosing_rounds: int
    bw_bench: Path


def measure(settings: Settings) -> list[Figure]:
    """All figures. Errors: :class:`NotMeasured`."""
    figures = [Figure("load_average", os.getloadavg()[0], "of the machine, as the run began")]
    with ExitStack() as stack:
        variants = {**PEERS, **FLOORS}.values()
        names = [OURS, *(variant for of_peer in variants for variant in of_peer)]
        processes = {name: stack.enter_context(Process(name, settings.folder)) for name in names}
        for name, slice_bytes in (("1mib", _MIB), ("8mib", 8 * _MIB)):
            figures += _told(_beside_cpp(settings, processes[OURS], name, slice_bytes))
        figures += _told(_beside_peers(settings, processes))
        figures += _told(_openings(settings, processes))
    return complete(figures)


def _tell(what: str) -> None:
    print(f"measuring {what} ...", file=sys.stderr)


def _told(figures: list[Figure]) -> list[Figure]:
    print(to_table(figures), file=sys.stderr)
    return figures


def _beside_cpp(settings: Settings, python: Process, name: str, slice_bytes: int) -> list[Figure]:
    data = f"slices-{name}"
    steps = _WARM_STEPS + max(4, settings.pass_bytes // slice_bytes // 2)
    python.write(data, steps=steps, batch=1, words=slice_bytes // 8)
    url = str(python.folder_of(data) / "stream")
    _tell(f"slices of {name} beside C++")
    sides = {
        "python": lambda: python.seconds("pace", data, warm=_WARM_STEPS),
        "cpp": lambda: _cpp_seconds(settings.bw_bench, url, steps),
    }
    turns = take_turns(sides, 2 * settings.rounds, warm=1)
    mib = (steps - _WARM_STEPS) * slice_bytes / _MIB
    speeds = {side: mib / statistics.median(turns[side]) for side in sides}
    figures = [
        Figure(f"python_ratio_vs_cpp_{name}", ratio(turns["python"], turns["cpp"]), "tensors, over slices of C++'s consumer"),
        Figure(f"python_mib_per_s_{name}", speeds["python"], "of StreamingDataLoader"),
        Figure(f"cpp_mib_per_s_{name}", speeds["cpp"], "of C++'s consumer, with the same options"),
    ]
    if name == "1mib":
        _tell("copies")
        copies = copies_per_slice(url, settings.folder)
        figures.append(Figure("copies_per_slice", copies, "after the read; by addresses, under strace"))
    return figures


def _cpp_seconds(bw_bench: Path, url: str, steps: int) -> float:
    command = [str(bw_bench), "consume", "--url", url, "--warm", str(_WARM_STEPS), "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        told = getattr(error, "stderr", None) or error
        raise NotMeasured(f"the C++ side failed ({bw_bench}; `make bench-loader` builds it): {told}") from None
    measured = json.loads(done.stdout.splitlines()[-1])
    if measured["steps"] != steps:
        raise NotMeasured(f"the C++ side read {measured['steps']} steps of {steps}")
    return measured["microseconds"] / 1e6


@dataclass(frozen=True)
class Entrant:
    """A variant of a loader, and its num_workers."""

    process: Process
    workers: int

    def reader(self, what: str) -> Callable[[], float]:
        """One pass of it."""
        return lambda: self.process.seconds("read", _SAMPLES, what=what, workers=self.workers)


def _beside_peers(settings: Settings, processes: dict[str, Process]) -> list[Figure]:
    steps = settings.pass_bytes // (_BATCH * _SAMPLE_WORDS * 8)
    for process in processes.values():
        process.write(_SAMPLES, steps=steps, batch=_BATCH, words=_SAMPLE_WORDS)
    mib = (steps - 1) * _BATCH * _SAMPLE_WORDS * 8 / _MIB
    figures = []
    for what in ("ids", "sum"):
        _tell(f"which num_workers is best for each peer, reading {what}")
        best = {
            peer: _best([processes[variant] for variant in variants], what, settings.choosing_rounds)
            for peer, variants in {**PEERS, **FLOORS}.items()
        }
        _tell(what)
        entrants = {OURS: Entrant(processes[OURS], 0), **best}
        turns = take_turns({name: entrant.reader(what) for name, entrant in entrants.items()}, settings.rounds, warm=1)
        figures.append(Figure(f"mib_per_s_{what}", mib / statistics.median(turns[OURS]), "of ours"))
        for peer, entrant in best.items():
            how = f"{entrant.process.name}, num_workers={entrant.workers}"
            figures.append(Figure(f"ratio_vs_{peer}_{what}", ratio(turns[OURS], turns[peer]), f"over {how}"))
            figures.append(Figure(f"mib_per_s_{peer}_{what}", mib / statistics.median(turns[peer]), f"of {how}"))
            figures.append(Figure(f"workers_{peer}_{what}", entrant.workers, "which was the best of 0, 1, 2"))
        for name in ("plain_read", "plain_read_checked"):
            key, meaning = f"{name}_ratio_vs_litdata_{what}", "of a bare loop, over LitData: no reader of that kind gets more"
            figures.append(Figure(key, ratio(turns[name], turns["litdata"]), meaning))
    return figures


def _best(processes: list[Process], what: str, rounds: int) -> Entrant:
    entrants = [Entrant(process, workers) for process in processes for workers in WORKERS]
    turns = take_turns({str(number): entrant.reader(what) for number, entrant in enumerate(entrants)}, rounds)
    number = min(turns, key=lambda name: statistics.median(turns[name]))
    return entrants[int(number)]


def _openings(settings: Settings, processes: dict[str, Process]) -> list[Figure]:
    steps = settings.resume_steps
    names = (OURS, *(variant for variants in PEERS.values() for variant in variants), "torch_mmap_fresh")
    sides = {name: processes[name] for name in names}
    for process in sides.values():
        process.write(_STEPS, steps=steps, batch=1, words=_SMALL_WORDS)
    figures = []
    for key, step in (("first_batch", 0), ("resume", steps // 2)):
        _tell(f"the time to the {key.replace('_', ' ')} of {steps} steps")
        turns = take_turns({name: _opener(process, step) for name, process in sides.items()}, settings.rounds, warm=1)
        figures += _opening_figures(key, turns)
    return figures


def _opener(process: Process, step: int) -> Callable[[], float]:
    return lambda: process.seconds("open", _STEPS, step=step)


def _opening_figures(key: str, turns: Turns) -> list[Figure]:
    median = {name: statistics.median(seconds) for name, seconds in turns.items()}
    best = min((variant for variants in PEERS.values() for variant in variants), key=lambda name: median[name])
    meaning = f"our time to open and get the batch, over that of {best}, the fastest that streams"
    times = [Figure(f"{key}_ms_{name}", 1e3 * median[name], "without workers") for name in turns]
    return [Figure(f"{key}_ratio", ratio(turns[best], turns[OURS]), meaning), *times]
