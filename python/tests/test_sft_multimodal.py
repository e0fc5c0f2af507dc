"""The example with pictures and captions: every sample once an epoch, in another order each time."""

import itertools
import json
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples/python/sft_multimodal.py"
PICTURES = 24


def run(*arguments):
    subprocess.run([sys.executable, EXAMPLE, *map(str, arguments)], check=True, timeout=600)


@pytest.fixture
def stream_of_pictures(url, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(PICTURES):
        name, hue = ("red", (200, 20, 20)) if number % 2 else ("blue", (20, 20, 200))
        pixels = np.full((40, 40, 3), hue, np.uint8)
        pixels[number] = 255
        Image.fromarray(pixels).save(folder / f"{number:02}.png")
        (folder / f"{number:02}.txt").write_text(f"a {name} square with a line")
    run("publish", url, folder)
    return url


def lines_of(ledger):
    return [json.loads(line) for line in ledger.read_text().splitlines(keepends=True) if line.endswith("\n")]


def test_every_picture_is_trained_on_once_an_epoch(stream_of_pictures, tmp_path):
    run("train", stream_of_pictures, tmp_path / "ledger", "--epochs", 3)
    lines = lines_of(tmp_path / "ledger.0")
    epochs = [[line for line in lines if line["epoch"] == epoch] for epoch in range(3)]
    assert [sorted(sample for line in epoch for sample in line["ids"]) for epoch in epochs] == [list(range(PICTURES))] * 3
    orders = [[line["step"] for line in epoch] for epoch in epochs]
    assert orders[0] != orders[1]
    mean = [sum(line["loss"] for line in epoch) / len(epoch) for epoch in epochs]
    assert mean[2] < mean[0]


# Covers G2.
def test_killed_in_an_epoch_it_goes_on_in_the_same_order(stream_of_pictures, tmp_path):
    epochs, steps = 60, PICTURES // 4
    ledger, whole = tmp_path / "ledger", tmp_path / "undisturbed"
    train = ["train", stream_of_pictures, ledger, "--epochs", epochs]
    with subprocess.Popen([sys.executable, EXAMPLE, *map(str, train)]) as job:
        while job.poll() is None and (not (tmp_path / "ledger.0").exists() or len(lines_of(tmp_path / "ledger.0")) < 2 * steps):
            time.sleep(0.01)
        job.kill()
    killed = lines_of(tmp_path / "ledger.0")
    assert 2 * steps <= len(killed) < epochs * steps
    run(*train)
    resumed = lines_of(tmp_path / "ledger.0")[len(killed) :]
    run("train", stream_of_pictures, whole, "--epochs", epochs)
    kept = killed[: epochs * steps - len(resumed)]
    assert len(kept) % 4 == 0
    assert kept + resumed == lines_of(tmp_path / "undisturbed.0")  # Every picture, order and loss.
    taken = [sample for line in itertools.islice(kept + resumed, steps) for sample in line["ids"]]
    assert sorted(taken) == list(range(PICTURES))
