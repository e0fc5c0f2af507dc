"""Reinforcement learning: workers roll out the newest policy, a trainer learns from each rollout once. Each may be killed.

    python rollout.py train /data/rollouts state/ --prompts 64        # creates the stream's group: start it first
    python rollout.py work  /data/rollouts state/ left  0 64          # prompts 0 to 63; `right 64 64` elsewhere

A worker that comes back goes on with the prompt after its last committed one, and whatever runs twice is fenced. No worker is
more than LEAD steps ahead of the trainer, so that no rollout is of a policy much older than that. Each batch's metadata has the
version of the policy that made it.
"""

import argparse
import json
import os
import pathlib
import time

import numpy as np

import batchweave

ARMS, ROLLOUTS, LEAD = 4, 16, 8  # Actions, rollouts of a prompt, steps of the stream.
PAY = np.array([0.1, 0.2, 0.9, 0.3])  # Of each action, unknown to the policy.


def save(folder: pathlib.Path, policy: dict) -> None:
    """Replaces the policy as a whole: whoever reads it never sees half of one."""
    draft = folder / "policy.tmp"
    draft.write_text(json.dumps(policy))
    os.replace(draft, folder / "policy.json")


def load(folder: pathlib.Path) -> dict | None:
    """The newest policy, and the step that the trainer goes on with."""
    path = folder / "policy.json"
    return json.loads(path.read_text()) if path.exists() else None


def chances(logits: list[float]) -> np.ndarray:
    """Of each action."""
    weights = np.exp(np.array(logits) - max(logits))
    return weights / weights.sum()


def work(url: str, folder: pathlib.Path, name: str, first: int, prompts: int) -> None:
    """Rolls out `prompts` prompts from `first` on; killed and started again, the rest of them."""
    while load(folder) is None:
        time.sleep(0.1)
    with batchweave.open(url) as stream, stream.producer(name, max_lead_steps=LEAD) as producer:
        for prompt in range(int(producer.cursor or first), first + prompts):
            policy = load(folder)
            generator = np.random.default_rng([prompt, policy["version"]])
            actions = generator.choice(ARMS, ROLLOUTS, p=chances(policy["logits"]))
            rewards = (generator.random(ROLLOUTS) < PAY[actions]).astype(np.float32)
            rollout = {"prompt": np.array([prompt]), "actions": actions, "rewards": rewards}
            metadata = {"policy": policy["version"]}
            producer.publish([[rollout]], cursor=b"%d" % (prompt + 1), samples=ROLLOUTS, metadata=metadata)
            producer.flush()  # The lead counts what is committed: a worker could run ahead before its first commit.
        producer.finish()


def train(url: str, folder: pathlib.Path, prompts: int) -> None:
    """One update of the policy a step, until all prompts were trained on; killed, it goes on after its last update."""
    folder.mkdir(exist_ok=True)
    policy = load(folder) or {"version": 0, "step": 0, "logits": [0.0] * ARMS}
    with batchweave.open(url, create=True) as stream, open(folder / "ledger", "a") as ledger:
        group = stream.open_group("trainer", start=policy["step"], create=True)
        save(folder, policy)
        with stream.consumer(group="trainer", session=group.session, position=policy["step"]) as consumer:
            while policy["step"] < prompts:
                batch = consumer.next()
                rollout, made_by = batch[0].numpy(), batch.metadata["policy"]
                gain = rollout["rewards"] - rollout["rewards"].mean()
                for action, advantage in zip(rollout["actions"], gain, strict=True):
                    change = -chances(policy["logits"])
                    change[action] += 1
                    policy["logits"] = (np.array(policy["logits"]) + 0.1 * advantage * change).tolist()
                line = {"step": batch.step, "by": batch.producer, "prompt": int(rollout["prompt"][0]), "policy": made_by}
                print(json.dumps({**line, "version": policy["version"], "mean": float(rollout["rewards"].mean())}), file=ledger)
                ledger.flush()
                policy["version"], policy["step"] = policy["version"] + 1, batch.step + 1
                save(folder, policy)  # One state: policy and place in the stream move together.
                group.report_progress(policy["step"])
                if policy["step"] % 4 == 0:
                    group.checkpoint(f"policy-{policy['version']}", step=policy["step"], keep_last=2)
    print("chances", chances(policy["logits"]).round(2).tolist())


def main() -> None:
    """Trains or works, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("train", "work"):
        command = commands.add_parser(name)
        command.add_argument("url")
        command.add_argument("folder", type=pathlib.Path)
        if name == "work":
            command.add_argument("name")
            command.add_argument("first", type=int)
            command.add_argument("prompts", type=int)
        else:
            command.add_argument("--prompts", type=int, required=True, help="Of all workers together")
    arguments = vars(parser.parse_args())
    {"train": train, "work": work}[arguments.pop("command")](**arguments)


if __name__ == "__main__":
    main()
