"""Lightning over a stream, as publish.py makes one: python lightning_job.py STREAM_URL FOLDER [STEPS]

Lightning takes a batch ahead of the training, to know which is the last. So the module saves the state after the step that it
has trained on, and Lightning is given an iterable without a state: that of a loader it would save too, one batch too far.
"""

import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

import batchweave
from batchweave.torch import StreamingDataLoader


class Regression(lightning.LightningModule):
    """Any module; `training_step` gets (step, batch)."""

    def __init__(self, loader: StreamingDataLoader) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.loader = loader
        self.trained: list[int] = []
        self.saving: int | None = None

    def training_step(self, item: tuple[int, dict[str, torch.Tensor]], _: int) -> torch.Tensor:
        step, batch = item
        self.trained.append(step)
        return (self.layer(batch["x"]) - batch["x"]).square().mean()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=0.01)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["stream"] = self.loader.state_dict(after=self.trained[-1])
        self.saving = self.trained[-1]

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.loader.load_state_dict(checkpoint["stream"])

    def on_train_batch_start(self, *_: Any) -> None:
        self.register()

    def on_train_end(self) -> None:
        self.register()

    def register(self) -> None:
        """Tells the stream of what was saved since the last call, and is durable by now: what older ones needed may go."""
        if self.saving is not None:
            self.loader.checkpoint(f"step-{self.saving + 1}", after=self.saving)
            self.saving = None


class Batches:
    """What Lightning iterates."""

    def __init__(self, loader: StreamingDataLoader) -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[tuple[int, dict[str, torch.Tensor]]]:
        return iter(self.loader)


def main(url: str, folder: str, steps: int = -1) -> list[int]:
    """Trains until the stream ends, or `steps` more; tells which it has trained on."""
    loader = StreamingDataLoader(batchweave.open(url), group="lightning")
    module = Regression(loader)
    trainer = lightning.Trainer(
        max_epochs=1,
        max_steps=steps,
        accelerator="cpu",
        callbacks=[ModelCheckpoint(folder, every_n_train_steps=2)],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,  # The loader knows which part is this rank's.
    )
    saved = next(pathlib.Path(folder).glob("*.ckpt"), None)  # Lightning keeps the newest alone.
    trainer.fit(module, train_dataloaders=Batches(loader), ckpt_path=saved, weights_only=False)
    return module.trained


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    print(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else -1))
