"""The Trainer of Hugging Face over a stream, as publish.py makes one: python hf_trainer.py STREAM_URL FOLDER STEPS

The Trainer would deal batches out to ranks, and skip what a resumed job has seen. The loader knows both, so it is given as it
is: get_train_dataloader says so, and ignore_data_skip. Its state lies in the folder of each checkpoint.
"""

import json
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import torch
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

import batchweave
from batchweave.torch import StreamingDataLoader

STATE = "stream.json"


class Regression(torch.nn.Module):
    """Any model whose forward takes the batch by name."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """Gives the loss."""
        return {"loss": (self.layer(x) - x).square().mean()}


class Batches:
    """What the Trainer iterates: batches without their steps."""

    def __init__(self, loader: StreamingDataLoader) -> None:
        self.loader = loader
        self.trained: list[int] = []

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        for step, batch in self.loader:
            self.trained.append(step)
            yield {"x": batch["x"]}


class Saves(TrainerCallback):
    """Puts the loader's state beside what the Trainer saves, and registers it with the stream."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches

    def on_save(self, args: TrainingArguments, state: Any, control: Any, **_: Any) -> None:
        folder = pathlib.Path(args.output_dir) / f"checkpoint-{state.global_step}"
        loader = self.batches.loader
        (folder / STATE).write_text(json.dumps(loader.state_dict()))
        loader.checkpoint(folder.name)


class StreamTrainer(Trainer):
    """Takes the loader as it is."""

    def __init__(self, batches: Batches, **rest: Any) -> None:
        super().__init__(**rest)
        self.batches = batches

    def get_train_dataloader(self) -> Batches:
        return self.batches


def main(url: str, folder: str, steps: int) -> list[int]:
    """Trains up to `steps` steps in all; tells which it has trained on."""
    batches = Batches(StreamingDataLoader(batchweave.open(url), group="hf"))
    saved = get_last_checkpoint(folder) if pathlib.Path(folder).is_dir() else None
    if saved is not None:
        batches.loader.load_state_dict(json.loads((pathlib.Path(saved) / STATE).read_text()))
    arguments = TrainingArguments(
        folder,
        max_steps=steps,
        save_steps=2,
        save_total_limit=1,
        ignore_data_skip=True,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
    )
    trainer = StreamTrainer(batches, model=Regression(), args=arguments, callbacks=[Saves(batches)])
    trainer.train(resume_from_checkpoint=saved)
    return batches.trained


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
