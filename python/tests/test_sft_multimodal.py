"""The example with pictures and captions: every sample once an epoch, in another order each time."""

import json
import pathlib
import subprocess
import sys

import numpy as np
from PIL import Image

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples/python/sft_multimodal.py"
PICTURES = 24


def run(*arguments):
    subprocess.run([sys.executable, EXAMPLE, *map(str, arguments)], check=True, timeout=600)


def test_every_picture_is_trained_on_once_an_epoch(url, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(PICTURES):
        name, hue = ("red", (200, 20, 20)) if number % 2 else ("blue", (20, 20, 200))
        pixels = np.full((40, 40, 3), hue, np.uint8)
        pixels[number] = 255
        Image.fromarray(pixels).save(folder / f"{number:02}.png")
        (folder / f"{number:02}.txt").write_text(f"a {name} square with a line")
    run("publish", url, folder)
    run("train", url, tmp_path / "ledger", "--epochs", 3)

    lines = [json.loads(line) for line in (tmp_path / "ledger.0").read_text().splitlines()]
    epochs = [[line for line in lines if line["epoch"] == epoch] for epoch in range(3)]
    assert [sorted(sample for line in epoch for sample in line["ids"]) for epoch in epochs] == [list(range(PICTURES))] * 3
    orders = [[line["step"] for line in epoch] for epoch in epochs]
    assert orders[0] != orders[1]
    mean = [sum(line["loss"] for line in epoch) / len(epoch) for epoch in epochs]
    assert mean[2] < mean[0]
