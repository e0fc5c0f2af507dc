"""Shared memory has names that outlive who made them: none is made here, and what torch's own workers make is gone at the end.

By what processes do, not by what is there: others of the machine have theirs.
"""

import re
import subprocess
import sys
import textwrap

import pytest

_MAKE = "open openat openat2 creat mknod mknodat link linkat rename renameat renameat2"
_REMOVE = "unlink unlinkat"
_CALL = re.compile(r"^\d+ +(\w+)\(")
_NAME = re.compile(r'"(/dev/shm/[^"]*)"')


def shared_memory(trace):
    """The names that were looked for, that were made, and that were left, by what strace has written."""
    named, made, left = set(), set(), set()
    for line in trace.splitlines():
        call, names = _CALL.match(line), _NAME.findall(line)
        if not call or not names:
            continue
        named.update(names)
        if call[1] in _REMOVE.split():
            left.difference_update(names)
        elif not call[1].startswith("open") or "O_CREAT" in line:
            made.add(names[-1])
            left.add(names[-1])
    return named, made, left


@pytest.fixture
def traced(tmp_path):
    """Runs a script in a Python of its own under strace, and gives what it did with shared memory."""

    def run(script, *arguments):
        trace = tmp_path / "trace"
        calls = f"trace={_MAKE} {_REMOVE}".replace(" ", ",")
        strace = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", calls, "-o", trace]
        command = [*strace, sys.executable, "-c", textwrap.dedent(script), *arguments]
        subprocess.run(list(map(str, command)), check=True, timeout=600)
        text = trace.read_text()
        assert "stream.json" in text  # It sees what the script opens.
        return shared_memory(text)

    return run


# Covers G6.
def test_none_is_made(url, traced):
    named, _, _ = traced(
        """
        import sys, batchweave
        with batchweave.open(sys.argv[1], create=True, durable=False) as stream:
            with stream.producer("source") as producer:
                producer.publish([[b"a"]])
            with stream.consumer() as consumer:
                batch = consumer.next()
                assert not [line for line in open("/proc/self/maps") if "/dev/shm" in line]
        """,
        url,
    )
    assert named == set()


# Covers G6.
def test_workers_leave_none_behind(stream, traced):
    torch = pytest.importorskip("torch")
    with stream.producer("source") as producer:
        for step in range(4):
            producer.publish([[{"ids": torch.arange(step, step + 4)}]])
    stream.seal()
    script = """
        import sys, batchweave.torch
        stream = batchweave.open(sys.argv[1])
        loader = batchweave.torch.StreamingDataLoader(stream, dp_rank=0, dp_size=1, num_workers=int(sys.argv[2]))
        assert [int(batch["ids"][0]) for _, batch in loader] == [0, 1, 2, 3]
    """
    _, made, _ = traced(script, stream.url, 0)
    assert made == set()
    _, made, left = traced(script, stream.url, 1)
    assert made  # By torch, which hands a worker's tensors over in it.
    assert left == set()


def test_what_a_trace_says_is_understood():
    trace = """\
1  openat(AT_FDCWD, "/dev/shm/torch_1", O_RDWR|O_CREAT|O_EXCL, 0600) = 3
2  openat(AT_FDCWD, "/dev/shm/torch_1", O_RDWR) = 3
2  unlink("/dev/shm/torch_1" <unfinished ...>
1  openat(AT_FDCWD, "/dev/shm/sem.x", O_RDWR|O_CREAT|O_EXCL, 0600) = 3
1  link("/dev/shm/sem.x", "/dev/shm/sem.mp") = 0
1  unlink("/dev/shm/sem.x") = 0
2  openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3
"""
    named = {"/dev/shm/torch_1", "/dev/shm/sem.x", "/dev/shm/sem.mp"}
    assert shared_memory(trace) == (named, named, {"/dev/shm/sem.mp"})
