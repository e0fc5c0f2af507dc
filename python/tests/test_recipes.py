"""The recipes for frameworks: each is stopped and goes on with the step after the last that its checkpoint has seen."""

import ast
import json
import pathlib
import subprocess
import sys

import pytest

import batchweave

RECIPES = pathlib.Path(__file__).parents[2] / "examples/python/recipes"
STEPS = 7
_HUNG_AFTER = 600  # Seconds; a busy machine needs minutes to load these frameworks.


@pytest.fixture
def data(url):
    """A sealed stream of four numbered samples a step, in two slices."""
    run([RECIPES / "publish.py", url, STEPS])
    return url


def run(command):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, timeout=_HUNG_AFTER)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()


# Covers G2.
@pytest.mark.parametrize(
    ("recipe", "group", "first_saved", "last_saved"),
    [("lightning_job.py", "lightning", 4, 6), ("hf_trainer.py", "hf", 5, 7)],  # The Trainer saves at its end, too.
)
def test_a_framework_goes_on_where_its_checkpoint_was(data, tmp_path, recipe, group, first_saved, last_saved):
    folder = tmp_path / "saved"
    # With a checkpoint after every second step.
    first = run([RECIPES / recipe, data, folder, 5])
    second = run([RECIPES / recipe, data, folder, STEPS])
    assert ast.literal_eval(first[-1]) == [0, 1, 2, 3, 4]
    assert ast.literal_eval(second[-1]) == list(range(first_saved, STEPS))
    with batchweave.open(data) as stream:
        checkpoints = stream.info().groups[group].checkpoints
    assert max(checkpoints.values()) == last_saved


@pytest.mark.parametrize("recipe", sorted(path.name for path in RECIPES.glob("*.py")))
def test_a_recipe_says_how_it_is_run(recipe):
    done = subprocess.run([sys.executable, RECIPES / recipe], capture_output=True, text=True, timeout=_HUNG_AFTER)
    assert done.returncode != 0
    assert f"{recipe} STREAM_URL" in done.stderr


# Covers G3.
def test_a_loop_by_explicit_groups_goes_on_with_other_ranks(data, tmp_path):
    def trained(ranks, *arguments):
        torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks]
        run([*torchrun, RECIPES / "megatron_loop.py", data, tmp_path / "told", *arguments])
        return [json.loads((tmp_path / "told" / f"rank-{rank}").read_text()) for rank in range(ranks)]

    (first,) = trained(1, 1, 3)
    ranks = trained(4, 2)
    assert [line["step"] for line in first] == [0, 1, 2]
    assert [line["step"] for line in ranks[0]] == list(range(2, STEPS))  # The checkpoint was after step 1.
    assert abs(first[2]["weight"] - ranks[0][0]["weight"]) < 1e-5
    assert ranks[0] == ranks[1]
    assert ranks[2] == ranks[3]
    assert [line["weight"] for line in ranks[0]] == [line["weight"] for line in ranks[2]]
    taken = sorted(sample for rank in (first[:2], ranks[0], ranks[2]) for line in rank for sample in line["ids"])
    assert taken == list(range(4 * STEPS))
