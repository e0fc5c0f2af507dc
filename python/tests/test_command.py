"""The command that comes with the package, on what the package wrote."""

import json
import os
import subprocess
import sys

import numpy as np

import batchweave.safetensors

COMMAND = os.path.join(os.path.dirname(sys.executable), "batchweave")


def run(*arguments, text=True):
    return subprocess.run([COMMAND, *map(str, arguments)], check=True, capture_output=True, text=text).stdout


def test_the_command_is_of_the_same_version():
    assert batchweave.__version__ in run("--version")


def test_the_command_reads_what_python_wrote(stream, url):
    tensors = {"ids": np.arange(4)}
    with stream.producer("source") as producer:
        producer.publish([[tensors], [tensors]], cursor=b"17", samples=8, metadata={"mix": {"web": 0.5}})
    stream.seal()
    step = json.loads(run("show", url, "--step", 0, "--json"))
    assert "x-safetensors" in json.dumps(step)
    pieces, _ = batchweave.safetensors.encode(tensors)
    assert run("cat", url, "--step", 0, "--dp", 1, text=False) == b"".join(bytes(piece) for piece in pieces)
    run("verify", url, "--deep")
