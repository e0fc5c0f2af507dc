"""The way to a GPU: `build/venv/bin/python -m pytest python/tests/test_cuda.py`, a minute on a machine that has one."""

import pytest
import torch

from batchweave import errors
from batchweave.torch import StreamingDataLoader

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device on this machine")

STEPS = 40
WORDS = 1 << 18  # 2 MiB a batch: several are on their way at once.


@pytest.fixture
def numbered(stream):
    """A sealed stream whose steps are all of one number, their own."""
    with stream.producer("source") as producer:
        for step in range(STEPS):
            producer.publish([[{"data": torch.full((WORDS,), step), "half": torch.full((8,), step, dtype=torch.bfloat16)}]])
    stream.seal()
    return stream


def busy(device):
    """Work that keeps the current stream of the device busy for some milliseconds."""
    matrix = torch.ones(4096, 4096, device=device)
    return matrix @ matrix


def loader_of(stream, **options):
    return StreamingDataLoader(stream, dp_rank=0, dp_size=1, device="cuda", **options)


@pytest.mark.parametrize("workers", [0, 1])
def test_every_batch_arrives_whole_though_the_device_is_behind(numbered, workers):
    context = "spawn" if workers else None  # A fork after CUDA has started is torch's to refuse.
    sums = []
    for step, batch in loader_of(numbered, num_workers=workers, context=context):
        assert (batch["data"].device.type, batch["half"].dtype) == ("cuda", torch.bfloat16)
        busy("cuda")  # The copies of later batches must neither overtake nor overwrite what waits behind this.
        sums.append((step, batch["data"].sum(), batch["half"].float().sum()))
        del batch
    assert [(step, int(data), int(half)) for step, data, half in sums] == [
        (step, WORDS * step, 8 * step) for step in range(STEPS)
    ]


def test_batches_that_are_kept_keep_their_memory(numbered):
    kept = [batch["data"] for _, batch in loader_of(numbered, prefetch_steps=2)]
    busy("cuda")
    assert [(int(data.min()), int(data.max())) for data in kept] == [(step, step) for step in range(STEPS)]


def test_copies_run_from_pinned_memory_on_a_stream_of_their_own(numbered):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        for _, batch in loader_of(numbered):
            busy("cuda")
            del batch
        torch.cuda.synchronize()
    device = [event for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    copies = {event.device_resource_id for event in device if "HtoD" in event.name and "Pinned" in event.name}
    kernels = {event.device_resource_id for event in device if "gemm" in event.name.lower()}
    pageable = [event.name for event in device if "HtoD" in event.name and "Pageable" in event.name]
    assert not pageable
    assert copies
    assert kernels
    assert not copies & kernels


def test_a_tensor_on_a_device_is_not_published(stream):
    with stream.producer("source") as producer, pytest.raises(errors.InvalidArgument, match=r"on cuda:0: publish tensor\.cpu"):
        producer.publish([[{"a": torch.ones(2, device="cuda")}]])


def test_device_memory_does_not_grow_with_steps(numbered):
    for _ in loader_of(numbered):
        pass
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in loader_of(numbered):
        pass
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() <= before + 4 * WORDS * 8
