"""A loop in the manner of Megatron, by explicit groups, over a stream as publish.py makes one:

    torchrun --nproc-per-node 4 megatron_loop.py STREAM_URL FOLDER [TP]

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


def groups(tp_size: int) -> tuple[dist.ProcessGroup, dist.ProcessGroup]:
    """This rank's data-parallel and tensor-parallel groups, tp innermost: what parallel_state gives."""
    ranks = torch.arange(dist.get_world_size()).reshape(-1, tp_size)
    of_dp, _ = dist.new_subgroups_by_enumeration(ranks.t().tolist())
    of_tp, _ = dist.new_subgroups_by_enumeration(ranks.tolist())
    return of_dp, of_tp


def main(url: str, folder: str, tp_size: int = 1) -> None:
    """Trains until the stream ends; FOLDER/rank-N tells what each rank has trained on."""
    dist.init_process_group()
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
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    pathlib.Path(folder, f"rank-{dist.get_rank()}").write_text(json.dumps(trained))
    dist.destroy_process_group()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
