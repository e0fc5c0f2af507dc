"""A small training job under torchrun, as users write one: what each rank consumed goes to a file of its own.

torchrun ... job.py URL FOLDER --group NAME [--tp N] [--stop-after STEP] [--asynchronous]
"""

import argparse
import json
import pathlib

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import batchweave
from batchweave.torch import StreamingDataLoader


class Job:
    """What DCP saves: model and optimiser beside the loader."""

    def __init__(self, model, optimizer, loader):
        self.model, self.optimizer, self.loader = model, optimizer, loader

    def state_dict(self):
        model, optimizer = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optimizer": optimizer, "loader": self.loader.state_dict()}

    def load_state_dict(self, state):
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        self.loader.load_state_dict(state["loader"])


def sharded(mesh):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    return fully_shard(model, mesh=mesh["dp_shard"])


def train(arguments, mesh, log):
    model = sharded(mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=False)
    stream = batchweave.open(arguments.url)
    loader = StreamingDataLoader(stream, group=arguments.group, device_mesh=mesh, broadcast=arguments.tp > 1, stall_after=60)
    job = Job(model, optimizer, loader)
    folder = pathlib.Path(arguments.folder)
    newest = max(folder.glob("step-*"), key=lambda path: int(path.name[5:]), default=None)
    if newest is not None:
        dcp.load({"job": job}, checkpoint_id=newest)
    savers = dist.new_group()  # A save talks while training does.
    saving = None  # One under way, and the step that it was begun after.
    for step, batch in loader:
        loss = (model(batch["x"]) - batch["x"]).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total)
        log.write(json.dumps({"step": step, "ids": batch["ids"].tolist(), "loss": total.item().hex()}) + "\n")
        log.flush()
        if (step + 1) % 3 == 0:
            if saving is not None:
                settle(loader, *saving)
            place = folder / f"step-{step + 1}"
            if arguments.asynchronous:
                saving = dcp.async_save({"job": job}, checkpoint_id=place, process_group=savers), step
            else:
                dcp.save({"job": job}, checkpoint_id=place)
                register(loader, step)
        if step == arguments.stop_after:
            break
    if saving is not None:
        settle(loader, *saving)


def settle(loader, future, step):
    """A save that went on while later steps were trained."""
    future.result()
    register(loader, step)


def register(loader, step):
    dist.barrier()  # The checkpoint is durable on every rank.
    loader.checkpoint(f"step-{step + 1}", after=step)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("folder")
    parser.add_argument("--group", default="train")
    parser.add_argument("--tp", type=int, default=1)
    parser.add_argument("--stop-after", type=int)
    parser.add_argument("--asynchronous", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (dist.get_world_size() // arguments.tp, arguments.tp), mesh_dim_names=("dp_shard", "tp"))
    run = len(list(pathlib.Path(arguments.folder).glob("rank-0.*")))
    dist.barrier()
    with open(f"{arguments.folder}/rank-{dist.get_rank()}.{run}", "w") as log:
        train(arguments, mesh, log)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
