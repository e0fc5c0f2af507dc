"""Streams in a folder of the test's own."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import batchweave


@pytest.fixture
def url(tmp_path):
    """Of a stream that is not there yet."""
    return f"{tmp_path}/run"


@pytest.fixture
def stream(url):
    with batchweave.open(url, create=True, durable=False) as opened:
        yield opened


@pytest.fixture
def run_python():
    """Runs a script in a Python of its own, and returns what it printed; fails where it failed or hung."""

    def run(script, *arguments, expect=0, timeout=300):
        command = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(script), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        assert done.returncode == expect, f"exit {done.returncode}, expected {expect}:\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr or expect != 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def publish(stream):
    """Publishes and commits batches of dp x cp slices of bytes, each telling where it is from."""

    def run(steps, dp=1, cp=1, name="source"):
        with stream.producer(name) as producer:
            first = producer.committed_seq
            for number in range(first, first + steps):
                slices = [[f"{number}:{d}:{c}".encode() for c in range(cp)] for d in range(dp)]
                producer.publish(slices, cursor=str(number + 1).encode(), samples=dp)

    return run


@pytest.fixture
def numbered(stream):
    """Publishes steps of `dp` slices, each with samples that are its own, and seals the stream where told to."""

    def run(steps, dp=2, seal=True, samples=2):
        with stream.producer("source") as producer:
            for step in range(producer.committed_seq, producer.committed_seq + steps):
                first = 1000 * step
                producer.publish([[{"ids": np.arange(first + d * samples, first + (d + 1) * samples)}] for d in range(dp)])
        if seal:
            stream.seal()
        return stream

    return run
