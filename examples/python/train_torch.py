"""Trains a small language model on a text, as a job that may be killed at any point and started again.

    python train_torch.py publish /data/run book.txt --seal
    torchrun --nproc-per-node 4 train_torch.py train /data/run /data/checkpoints

Any number of ranks that divides DP may come back: the position in the stream is one number, in the checkpoint beside the
model. FOLDER/ledger.RANK tells which samples a rank has trained on.
"""

import argparse
import json
import os
import pathlib
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn.parallel import DistributedDataParallel

import batchweave
from batchweave.torch import StreamingDataLoader

DP, ROWS, CONTEXT = 4, 2, 64  # Slices of a global batch, samples of a slice, bytes of a sample.
CHECKPOINT_EVERY = 4


def publish(url: str, text: str, steps: int, seal: bool) -> None:
    """Publishes `steps` batches more, from where the last run of this stopped."""
    tokens = np.frombuffer(pathlib.Path(text).read_bytes(), np.uint8)
    samples = tokens[: len(tokens) // CONTEXT * CONTEXT].reshape(-1, CONTEXT)
    with batchweave.open(url, create=True) as stream:
        with stream.producer("text") as producer:
            begin = int(producer.cursor or 0)
            end = min(len(samples) // (DP * ROWS) * DP * ROWS, begin + steps * DP * ROWS)
            for first in range(begin, end, DP * ROWS):
                with producer.batch(dp=DP, cursor=b"%d" % (first + DP * ROWS), samples=DP * ROWS) as batch:
                    for d in range(DP):
                        ids = np.arange(first + d * ROWS, first + (d + 1) * ROWS)
                        batch[d, 0] = {"ids": ids, "tokens": samples[ids]}
        if seal:
            stream.seal()


class Model(torch.nn.Module):
    """Predicts each byte from those before it; gives the mean loss."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(256, width)
        self.place = torch.nn.Parameter(torch.zeros(CONTEXT, width))
        layer = torch.nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(width, 256)
        self.register_buffer("mask", torch.nn.Transformer.generate_square_subsequent_mask(CONTEXT - 1))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """`tokens`: [samples, CONTEXT], integers."""
        inputs, targets = tokens[:, :-1], tokens[:, 1:]
        hidden = self.layers(self.embed(inputs) + self.place[: CONTEXT - 1], mask=self.mask, is_causal=True)
        return torch.nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), targets.flatten())


def train(url: str, folder: pathlib.Path) -> None:
    """One rank of the job: resumes at the newest checkpoint in `folder`."""
    dist.init_process_group()
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model = DistributedDataParallel(Model())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = StreamingDataLoader(batchweave.open(url), group="train")

    def state_dict() -> dict[str, Any]:
        of_model, of_optimizer = get_state_dict(model, optimizer)
        return {"model": of_model, "optimizer": of_optimizer, "loader": loader.state_dict()}

    steps = [int(path.parent.name.removeprefix("step-")) for path in folder.glob("step-*/.metadata")]  # The complete ones.
    if steps:
        state = state_dict()
        dcp.load(state, checkpoint_id=folder / f"step-{max(steps)}")
        set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        loader.load_state_dict(state["loader"])

    with open(folder / f"ledger.{dist.get_rank()}", "a") as ledger:
        for step, batch in loader:
            loss = model(batch["tokens"].long())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            line = {"step": step, "ids": batch["ids"].tolist(), "loss": loss.item(), "process": os.getpid()}
            print(json.dumps(line), file=ledger, flush=True)
            if (step + 1) % CHECKPOINT_EVERY == 0:
                dcp.save(state_dict(), checkpoint_id=folder / f"step-{step + 1}")
                loader.checkpoint(f"step-{step + 1}")  # Durable on every rank by now: what is older may go.
    dist.destroy_process_group()


def main() -> None:
    """Publishes or trains, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("publish")
    command.add_argument("url")
    command.add_argument("text")
    command.add_argument("--steps", type=int, default=10**9)
    command.add_argument("--seal", action="store_true", help="end the stream after them")
    command = commands.add_parser("train")
    command.add_argument("url")
    command.add_argument("folder", type=pathlib.Path)
    arguments = vars(parser.parse_args())
    {"publish": publish, "train": train}[arguments.pop("command")](**arguments)


if __name__ == "__main__":
    main()
