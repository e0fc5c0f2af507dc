"""Jobs under torchrun: killed, resumed on another mesh, with DDP and FSDP2, saved by torch.distributed.checkpoint."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch

import batchweave

JOB = pathlib.Path(__file__).with_name("job.py")
README = pathlib.Path(__file__).parents[2] / "README.md"
DICTIONARY = README.parent / "build/demo/raw/usr/share/dictd/gcide.txt"
EXAMPLE = README.parent / "examples/python/train_torch.py"
STEPS = 9
_HUNG_AFTER = 600  # Seconds; a busy machine needs minutes to start a job.
DP = 4


@pytest.fixture
def data(stream):
    """A sealed stream of numbered samples."""
    with stream.producer("source") as producer:
        for step in range(STEPS):
            ids = torch.arange(8 * step, 8 * step + 8)
            rows = torch.stack([ids * 0.01, ids * 0.02, ids % 3, ids % 5], dim=1).float()
            producer.publish([[{"ids": ids[2 * d : 2 * d + 2], "x": rows[2 * d : 2 * d + 2]}] for d in range(DP)])
    stream.seal()
    return stream


@pytest.fixture
def run_job(data, tmp_path):
    """Runs a job of so many ranks under a group's name; gives what each rank consumed, and how the job ended."""

    def run(ranks, *options, group="train"):
        folder = tmp_path / group
        folder.mkdir(exist_ok=True)
        number = len(list(folder.glob("rank-0.*")))
        command = torchrun(ranks, JOB, data.url, folder, "--group", group, *options)
        done = subprocess.run(command, capture_output=True, text=True, timeout=_HUNG_AFTER)
        logs = [folder / f"rank-{rank}.{number}" for rank in range(ranks)]
        assert all(log.exists() for log in logs), done.stderr[-4000:]
        return [[json.loads(line) for line in log.read_text().splitlines()] for log in logs], done

    return run


def ids_of(logs, steps):
    return sorted(sample for log in logs for line in log if line["step"] in steps for sample in line["ids"])


def torchrun(ranks, *command):
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), *map(str, command)]


def ledgers(folder):
    paths = sorted(folder.glob("ledger.*"))
    return [[json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")] for path in paths]


def wait_for_step(folder, step, job):
    """Until some rank has trained on it, and the process of that rank."""
    while job.poll() is None:
        for line in (line for ledger in ledgers(folder) for line in ledger):
            if line["step"] == step:
                return line["process"]
        time.sleep(0.05)
    pytest.fail("the job ended by itself")


@pytest.fixture
def text(tmp_path):
    """The beginning of the demo's dictionary; of a clone that has not fetched it, another text."""
    path = tmp_path / "text"
    path.write_bytes(DICTIONARY.read_bytes()[: 1 << 16] if DICTIONARY.exists() else README.read_bytes() * 2)
    return path


def publish(url, text, *options):
    subprocess.run([sys.executable, EXAMPLE, "publish", url, text, *options], check=True, timeout=_HUNG_AFTER)


def train(ranks, url, folder):
    """What each rank has trained on since the job was started, once the stream ends."""
    for path in folder.glob("ledger.*"):
        path.unlink()
    subprocess.run(torchrun(ranks, EXAMPLE, "train", url, folder), check=True, timeout=_HUNG_AFTER)
    return ledgers(folder)


# Covers G1, G2, G3, G4.
def test_the_example_is_killed_and_resumes_with_any_number_of_ranks(url, tmp_path, text):
    folder, steps = tmp_path / "checkpoints", 12
    publish(url, text, "--steps", "7")
    with subprocess.Popen(torchrun(4, EXAMPLE, "train", url, folder), stderr=subprocess.DEVNULL) as job:
        os.kill(wait_for_step(folder, 6, job), signal.SIGKILL)  # After the checkpoint at 4, while it waits for a step.
        assert job.wait(timeout=_HUNG_AFTER) != 0
    killed = ledgers(folder)
    publish(url, text, "--steps", str(steps - 7), "--seal")
    resumed = train(2, url, folder)
    assert [[line["step"] for line in ledger] for ledger in resumed] == [list(range(4, steps))] * 2
    # What the model has seen that is there now: each sample once.
    assert ids_of(killed, range(4)) + ids_of(resumed, range(4, steps)) == list(range(steps * 8))
    losses = [line["loss"] for line in killed[0] + resumed[0]]
    assert losses[-1] < losses[0]
    with batchweave.open(url) as stream:
        assert stream.info().groups["train"].checkpoints == {"step-8": 8, "step-12": 12}

    # With the same ranks the loss goes on bit for bit: here once more from the checkpoint before the last.
    shutil.rmtree(folder / "step-12")
    again = train(2, url, folder)
    assert [trained(ledger) for ledger in again] == [trained(ledger)[4:] for ledger in resumed]


def trained(ledger):
    return [(line["step"], line["ids"], line["loss"]) for line in ledger]


def test_the_loss_goes_on_bit_for_bit_with_the_same_ranks(run_job, data):
    data.create_group("undisturbed")  # Holds the steps that the other group's checkpoints let go.
    jobs = [run_job(2, "--asynchronous", *options) for options in (["--stop-after", 6], [])]
    jobs.append(run_job(2, group="undisturbed"))
    assert [done.returncode for _, done in jobs] == [0, 0, 0], [done.stderr[-4000:] for _, done in jobs]
    (before, after, undisturbed) = (logs[0] for logs, _ in jobs)
    assert [line["step"] for line in after] == [6, 7, 8]  # The step that was trained on after the checkpoint comes again.
    assert before[:6] + after == undisturbed
    assert before[6] == after[0]


# Covers G3.
def test_one_of_the_tensor_parallel_ranks_reads_for_all_and_goes_on_where_one_rank_was(run_job):
    (alone,), done = run_job(1, "--stop-after", 4)
    assert done.returncode == 0, done.stderr[-4000:]
    logs, done = run_job(4, "--tp", 2)  # Saved by one rank, after step 2.
    assert done.returncode == 0, done.stderr[-4000:]
    assert logs[0] == logs[1]
    assert logs[2] == logs[3]
    assert ids_of([alone], range(3)) + ids_of([logs[0], logs[2]], range(3, STEPS)) == list(range(8 * STEPS))
