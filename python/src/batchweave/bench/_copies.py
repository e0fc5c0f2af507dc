"""How often the bytes of a slice are copied after the read that brought them: by where that read put them.

A process that loads a few steps runs under strace, which sees to which addresses the kernel wrote; the process says where the
tensors lie in the end. What lies where it was read to was not copied.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from batchweave.bench._processes import NotMeasured

_CALL = re.compile(r"^(\d+) +pread64\(0x[0-9a-f]+, (0x[0-9a-f]+), (0x[0-9a-f]+), (?:0x)?[0-9a-f]+(.*)$")
_END = re.compile(r"\) += (0x[0-9a-f]+)$")
_RESUMED = re.compile(r"^(\d+) +<\.\.\. pread64 resumed>(.*)$")

_LOAD = """
import json, sys, batchweave
from batchweave.torch import StreamingDataLoader
held = [batch["data"] for _, batch in StreamingDataLoader(batchweave.open(sys.argv[1]))]
if sys.argv[2] == "copied":
    held = [tensor.clone() for tensor in held]
print(json.dumps([(tensor.data_ptr(), tensor.nbytes) for tensor in held]))
"""


def copies_per_slice(url: str, folder: Path) -> float:
    """Of every step of the stream, whose slices are all kept in memory. 0: each tensor lies where it was read to.

    Checked by a control: the same where each tensor is copied once gives 1. Errors: :class:`NotMeasured`.
    """
    control = _measured(url, folder, "copied")
    if control != 1:
        raise NotMeasured(f"copies_per_slice: tensors that are copied once count as {control} copies")
    return _measured(url, folder, "as they come")


def _measured(url: str, folder: Path, how: str) -> float:
    if shutil.which("strace") is None:
        raise NotMeasured("copies_per_slice needs strace: tools/setup.sh build check")
    trace = folder / "trace"
    options = ["-f", "-qq", "-e", "trace=pread64", "-e", "raw=pread64", "-o", str(trace)]
    command = ["strace", *options, sys.executable, "-c", _LOAD, url, how]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise NotMeasured(f"copies_per_slice: strace failed: {done.stderr[-2000:]}")
    return copied(reads_of(trace.read_text()), json.loads(done.stdout))


def reads_of(trace: str) -> list[tuple[int, int]]:
    """Where each read put its bytes, and how many, by what strace has written."""
    reads, begun = [], {}
    for line in trace.splitlines():
        call, resumed = _CALL.match(line), _RESUMED.match(line)
        if call:
            thread, address, _, rest = call.groups()
            begun[thread] = int(address, 16)
        elif resumed:
            thread, rest = resumed.groups()
        else:
            continue
        end = _END.search(rest)
        if end and thread in begun:
            reads.append((begun.pop(thread), int(end[1], 16)))
    return reads


def copied(reads: list[tuple[int, int]], tensors: list[tuple[int, int]]) -> float:
    """Copies for each of ``tensors``: the part of its bytes that do not lie where they were read to, on average."""
    if not reads or not tensors:
        raise NotMeasured(f"copies_per_slice: {len(reads)} reads and {len(tensors)} tensors were seen")
    shares = []
    for address, size in tensors:
        covered, at = 0, address
        for begin, count in sorted(reads):
            end = min(begin + count, address + size)
            if end > at and begin < address + size:
                covered += end - max(begin, at)
                at = end
        shares.append(1 - covered / size)
    return sum(shares) / len(shares)
