"""A loop in the manner of Megatron, by explicit groups, over a stream as publish.py makes one:

    torchrun --nproc-per-node 4 megatron_loop.py STREAM_URL FOLDER [TP [STEPS]]

It is saved after every second step, and goes on there, with another number of ranks too; it ends after STEPS.

Ranks are given by number, as megatron.core.parallel_state tells them; one tensor-parallel rank reads for its group; a step's
batch is cut into micro-batches; every rank of a pipeline would read the same.
"""

import json
import pathlib
import sys

import torch
import torch.distributed as dist

import batchweave
from batchweave.torch import StreamingDataLoader

MICRO_BATCH = 2
SAVE_EVERY = 2  # Steps.


def groups(tp_size: int) -> tuple[dist.ProcessGroup, dist.ProcessGroup]:
    """This rank's data-parallel and tensor-parallel groups, tp innermost: what parallel_state gives."""
    ranks = torch.arange(dist.get_world_size()).reshape(-1, tp_size)
    of_dp, _ = dist.new_subgroups_by_enumeration(ranks.t().tolist())
    of_tp, _ = dist.new_subgroups_by_enumeration(ranks.tolist())
    return of_dp, of_tp


def main(url: str, place: str, tp_size: int = 1, steps: int | None = None) -> None:
    """Trains until the stream ends; FOLDER/rank-N tells what each rank has trained on since it was started."""
    dist.init_process_group()
    folder = pathlib.Path(place)
    folder.mkdir(parents=True, exist_ok=True)
    dp, tp = groups(tp_size)
    loader = StreamingDataLoader(
        batchweave.open(url),
        group="megatron",
        dp_rank=dist.get_rank(dp),
        dp_size=dist.get_world_size(dp),
        broadcast=tp_size > 1,
        tp_group=tp,
    )
    torch.manual_seed(0)
    weight = torch.eye(4).mul(0.5).requires_grad_()
    saved = max(folder.glob("step-*.pt"), key=lambda path: int(path.stem[5:]), default=None)
    if saved is not None:
        state = torch.load(saved)
        loader.load_state_dict(state["loader"])
        weight.data.copy_(state["weight"])
    trained = []
    for step, batch in loader:
        rows = batch["x"].split(MICRO_BATCH)
        for micro in rows:
            ((micro @ weight - micro).square().mean() / len(rows)).backward()
        dist.all_reduce(weight.grad, op=dist.ReduceOp.SUM, group=dp)
        with torch.no_grad():
            weight -= 0.1 * weight.grad / dist.get_world_size(dp)
        weight.grad = None
        trained.append({"step": step, "ids": batch["ids"].tolist(), "weight": weight.sum().item()})
        if (step + 1) % SAVE_EVERY == 0 and dist.get_rank() == 0:  # Every rank has the weight and the state.
            new = folder / "new"
            torch.save({"weight": weight.detach(), "loader": loader.state_dict()}, new)
            new.rename(folder / f"step-{step + 1}.pt")
            loader.checkpoint(f"step-{step + 1}")
        if step + 1 == steps:
            break
    (folder / f"rank-{dist.get_rank()}").write_text(json.dumps(trained))
    dist.destroy_process_group()


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
