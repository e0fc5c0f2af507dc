"""The rollout example: workers and trainer are killed, a sleeper is fenced, and each rollout is trained on once."""

import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import batchweave

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples/python/rollout.py"
PROMPTS = 40  # Of each of two workers.
_HUNG_AFTER = 600


class Job:
    """The processes of one run; those that still live are ended with the test."""

    def __init__(self, url, folder):
        self.url, self.folder, self.started = url, folder, []

    def start(self, command, *arguments):
        words = [sys.executable, EXAMPLE, command, self.url, self.folder, *arguments]
        self.started.append(subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True))
        return self.started[-1]

    def work(self, name):
        return self.start("work", name, {"left": 0, "right": PROMPTS}[name], PROMPTS)

    def train(self, prompts=2 * PROMPTS):
        return self.start("train", "--prompts", prompts)

    def has_ended(self, process):
        _, told = process.communicate(timeout=_HUNG_AFTER)
        assert process.returncode == 0, told

    def lines(self):
        ledger = self.folder / "ledger"
        text = ledger.read_text() if ledger.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def wait_until(self, done):
        for _ in range(_HUNG_AFTER * 20):
            if done(self.lines()):
                return
            time.sleep(0.05)
        pytest.fail(f"the job does not go on: {self.lines()[-1:]}")


@pytest.fixture
def job(url, tmp_path):
    made = Job(url, tmp_path / "state")
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()


# Covers G10, G2, B2.
def test_every_rollout_is_trained_on_once_whoever_is_killed(job):
    trainer, left, sleeper = job.train(16), job.work("left"), job.work("right")
    job.has_ended(trainer)  # Now both workers wait for a trainer: they are a few steps ahead.
    left.kill()
    sleeper.send_signal(signal.SIGSTOP)  # Taken for dead by whoever starts its twin.
    assert left.wait() == -signal.SIGKILL
    trainer, left = job.train(), job.work("left")
    job.wait_until(lambda lines: len(lines) >= 24)
    trainer.kill()  # It cannot have ended: prompts of the sleeper are missing.
    assert trainer.wait() == -signal.SIGKILL
    trainer, right = job.train(), job.work("right")
    for process in (left, right, trainer):
        job.has_ended(process)
    sleeper.send_signal(signal.SIGCONT)
    _, told = sleeper.communicate(timeout=_HUNG_AFTER)
    assert sleeper.returncode != 0
    assert "Fenced" in told

    lines = job.lines()
    by_step = {line["step"]: line for line in lines}  # A step that was read again after a kill: the last one counts.
    assert sorted(by_step) == list(range(2 * PROMPTS))
    assert sorted(line["prompt"] for line in by_step.values()) == list(range(2 * PROMPTS))
    for line in lines:
        assert (line["by"], line["prompt"], line["policy"]) == tuple(
            by_step[line["step"]][key] for key in ("by", "prompt", "policy")
        )
        assert 0 <= line["policy"] <= line["version"]  # Made by a policy that was there; the metadata says which.
    for name in ("left", "right"):
        versions = [by_step[step]["policy"] for step in sorted(by_step) if by_step[step]["by"] == name]
        assert all(before <= after for before, after in itertools.pairwise(versions))
    with batchweave.open(job.url) as stream:
        info = stream.info()
    assert info.next_step == 2 * PROMPTS
    assert info.groups["trainer"].checkpoints == {"policy-76": 76, "policy-80": 80}
    assert os.path.exists(job.folder / "policy.json")
