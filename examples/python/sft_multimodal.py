"""Fine-tunes a small captioner on pictures, in several epochs over one stream.

    python sft_multimodal.py publish /data/sft pictures/          # a.png and its caption, a.txt, and so on
    python sft_multimodal.py train /data/sft ledger --epochs 3    # or by torchrun, with 2 or 4 ranks

Each epoch has the steps in an order of its own, drawn from the seed, alike on every rank. The ledger tells what was trained on.
Killed, training goes on where it was saved last, in the middle of an epoch.
"""

import argparse
import json
import pathlib
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from PIL import Image
from torch.nn.parallel import DistributedDataParallel

import batchweave
from batchweave.torch import StreamingDataLoader

DP, ROWS = 4, 1  # Slices of a global batch, samples of a slice.
SIDE, LETTERS = 32, 48  # Pixels of a picture, bytes of a caption.
SAVE_EVERY = 4  # Steps.


def sample(picture: pathlib.Path, number: int) -> dict[str, Any]:
    """One sample: pixels, caption and number."""
    with Image.open(picture) as image:
        pixels = np.asarray(image.convert("RGB").resize((SIDE, SIDE)))
    caption = picture.with_suffix(".txt").read_bytes()[:LETTERS].ljust(LETTERS, b"\0")
    return {"pixels": pixels, "caption": np.frombuffer(caption, np.uint8), "id": np.int64(number)}


def publish(url: str, folder: pathlib.Path) -> None:
    """Publishes every picture once, and ends the stream. Killed, it goes on where it was."""
    pictures = sorted(folder.glob("*.png"))
    with batchweave.open(url, create=True) as stream:
        with stream.producer("pictures") as producer:
            for first in range(int(producer.cursor or 0), len(pictures) - DP * ROWS + 1, DP * ROWS):
                with producer.batch(dp=DP, cursor=b"%d" % (first + DP * ROWS), samples=DP * ROWS) as batch:
                    for d in range(DP):
                        numbers = range(first + d * ROWS, first + (d + 1) * ROWS)
                        samples = [sample(pictures[number], number) for number in numbers]
                        batch[d, 0] = {name: np.stack([one[name] for one in samples]) for name in samples[0]}
        stream.seal()


class Captioner(torch.nn.Module):
    """Spells a caption, given the picture and the letters so far; gives the mean loss."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.see = torch.nn.Sequential(
            torch.nn.Conv2d(3, 16, 4, stride=4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16 * 64, width)
        )
        self.letters = torch.nn.Embedding(256, width)
        self.spell = torch.nn.GRU(width, width, batch_first=True)
        self.head = torch.nn.Linear(width, 256)

    def forward(self, pixels: torch.Tensor, caption: torch.Tensor) -> torch.Tensor:
        """`pixels`: [samples, SIDE, SIDE, 3] bytes; `caption`: [samples, LETTERS] bytes."""
        seen = self.see(pixels.permute(0, 3, 1, 2).float() / 255)
        spelled, _ = self.spell(self.letters(caption[:, :-1].long()), seen.unsqueeze(0))
        return torch.nn.functional.cross_entropy(self.head(spelled).flatten(0, 1), caption[:, 1:].long().flatten())


def train(url: str, ledger: str, epochs: int) -> None:
    """One rank: every picture once an epoch."""
    if dist.is_torchelastic_launched():
        dist.init_process_group()
    torch.manual_seed(0)
    net = Captioner()
    model = DistributedDataParallel(net) if dist.is_initialized() else net
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loader = StreamingDataLoader(batchweave.open(url), group="sft", epochs=epochs, shuffle_seed=1)
    saved = pathlib.Path(f"{ledger}.saved")
    parts = {"model": net, "optimizer": optimizer, "loader": loader}
    if saved.exists():
        for name, state in torch.load(saved).items():
            parts[name].load_state_dict(state)
    rank = loader.dataset.place.dp_rank
    with open(f"{ledger}.{rank}", "a") as file:
        for count, (step, batch) in enumerate(loader, start=1):
            loss = model(batch["pixels"], batch["caption"])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            epoch = loader.state_dict()["epoch"]
            line = {"epoch": epoch, "step": step, "ids": batch["id"].tolist(), "loss": loss.item()}
            print(json.dumps(line), file=file, flush=True)
            if count % SAVE_EVERY == 0 and rank == 0:  # All ranks are alike.
                torch.save({name: part.state_dict() for name, part in parts.items()}, saved.with_suffix(".new"))
                saved.with_suffix(".new").replace(saved)
    loader.checkpoint("trained")
    if dist.is_initialized():
        dist.destroy_process_group()


def main() -> None:
    """Publishes or trains, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("publish")
    command.add_argument("url")
    command.add_argument("folder", type=pathlib.Path)
    command = commands.add_parser("train")
    command.add_argument("url")
    command.add_argument("ledger")
    command.add_argument("--epochs", type=int, default=3)
    arguments = vars(parser.parse_args())
    {"publish": publish, "train": train}[arguments.pop("command")](**arguments)


if __name__ == "__main__":
    main()
