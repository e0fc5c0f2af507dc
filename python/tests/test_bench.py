"""The benchmark of the loader runs and gives every figure; of a run so short its times mean nothing, and are not looked at."""

import json
import pathlib
import subprocess
import sys

import pytest

from batchweave.bench._copies import copied, reads_of
from batchweave.bench._processes import NotMeasured, ratio
from batchweave.bench._report import TARGETS, Figure, complete, meets, to_json

ROOT = pathlib.Path(__file__).parents[2]


def test_a_short_run_gives_every_figure(tmp_path):
    command = [sys.executable, "-m", "batchweave.bench", "loader", "--json", "--mib", "16", "--steps", "200"]
    options = ["--rounds", "1", "--choose", "1", "--dir", tmp_path, "--bw-bench", ROOT / "build/release/bw_bench"]
    done = subprocess.run([*command, *map(str, options)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    figures = json.loads(done.stdout.splitlines()[-1])
    assert set(TARGETS) <= set(figures)
    floors = ("torch_mmap_fresh", "torch_mmap_fresh_checked", "plain_read", "plain_read_checked")
    for peer in ("mosaic", "webdataset", "litdata", *floors):
        for what in ("ids", "sum"):
            assert figures[f"ratio_vs_{peer}_{what}"] > 0
            assert figures[f"workers_{peer}_{what}"] in (0, 1, 2)
    assert figures["copies_per_slice"] == 0
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_measured_is_no_figure(tmp_path):
    command = [sys.executable, "-m", "batchweave.bench", "loader", "--json", "--mib", "16", "--steps", "200"]
    options = ["--rounds", "1", "--choose", "1", "--dir", tmp_path, "--bw-bench", tmp_path / "none"]
    done = subprocess.run([*command, *map(str, options)], capture_output=True, text=True, timeout=600)
    assert done.returncode != 0
    assert "make bench-loader" in done.stderr
    assert done.stdout == ""


def figures(**changed):
    return [Figure(key, value, "") for key, value in {**dict.fromkeys(TARGETS, 1.0), **changed}.items()]


def test_a_report_has_every_figure_once_and_numbers_only():
    report = complete([Figure("extra", 2.0, ""), *figures()])
    assert list(json.loads(to_json(report))) == [*TARGETS, "extra"]
    for wrong in (figures()[1:], figures() * 2, figures(resume_ratio=float("nan")), figures(resume_ratio=float("inf"))):
        with pytest.raises(ValueError, match="not measured"):
            complete(wrong)


def test_a_target_is_met_or_missed():
    verdict = {figure.key: meets(figure) for figure in figures(copies_per_slice=0.0, resume_ratio=0.99)}
    assert verdict["copies_per_slice"] is verdict["resume_ratio"] is verdict["python_ratio_vs_cpp_1mib"] is True
    assert verdict["first_batch_ratio"] is verdict["ratio_vs_mosaic_sum"] is False
    assert meets(Figure("extra", 1, "")) is None


def test_a_ratio_is_the_median_of_the_rounds():
    assert ratio([1, 1, 1], [2, 9, 3]) == 3
    assert ratio([2, 4], [1, 1]) == 0.375


TRACE = """\
101  pread64(0x5, 0x1000, 0x400, 0)         = 0x400
102  pread64(0x6, 0x8000, 0x400, 0 <unfinished ...>
101  pread64(0x5, 0x1400, 0x400, 0x400) = 0x200
102  <... pread64 resumed>) = 0x400
103  pread64(0x7, 0x9000, 0x400, 0x0) = -1 EIO (Input/output error)
104  +++ exited with 0 +++
"""


def test_reads_are_taken_from_a_trace():
    assert reads_of(TRACE) == [(0x1000, 0x400), (0x1400, 0x200), (0x8000, 0x400)]


@pytest.mark.parametrize(
    ("tensors", "expected"),
    [
        ([(0x1000, 0x600)], 0),  # In two reads.
        ([(0x1100, 0x100), (0x8000, 0x400)], 0),
        ([(0x4000, 0x400)], 1),
        ([(0x1000, 0x400), (0x4000, 0x400)], 0.5),
        ([(0x1400, 0x400)], 0.5),  # Half of it lies elsewhere.
    ],
)
def test_what_lies_where_it_was_read_to_was_not_copied(tensors, expected):
    assert copied(reads_of(TRACE), tensors) == expected
    with pytest.raises(NotMeasured):
        copied([], tensors)
