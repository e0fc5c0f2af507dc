#!/usr/bin/env python3
"""Draws what `bw_sim scale --json` found: docs/images/scale-*.svg.

    build/release/bw_sim scale --json | tail -1 >rows.json
    tools/plot_scale.py rows.json docs/images

Needs matplotlib; `make plots` does all of it.
"""

import argparse
import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402 -- the backend is chosen first

# One colour a law, that of what users get the strongest; told apart also by their marks.
STYLES = {
    "default": {"label": "combining (what users get)", "color": "#0b5fa5", "marker": "o", "linewidth": 2.4},
    "fair": {"label": "fair", "color": "#3a8f3a", "marker": "s", "linewidth": 1.4},
    "fixed": {"label": "fixed, at its best interval", "color": "#c2571a", "marker": "^", "linewidth": 1.4},
    "one": {
        "label": "fixed, 1 s for every number",
        "color": "#c2571a",
        "marker": "v",
        "linewidth": 1.2,
        "linestyle": "--",
    },
    "aimd": {"label": "aimd", "color": "#7d5ba6", "marker": "D", "linewidth": 1.4},
}

# File, title, key, unit, whether the axis is logarithmic.
FIGURES = [
    ("ingest", "Batches committed over batches offered", "ingest_ratio", "share", False),
    ("staleness-p50", "From uploaded to committed, median", "staleness_p50_s", "seconds", True),
    ("staleness-p99", "From uploaded to committed, 99th percentile", "staleness_p99_s", "seconds", True),
    ("requests", "Requests of all kinds, a batch", "requests_per_batch", "requests", True),
    ("puts", "PUTs of manifests, a commit", "manifest_puts_per_commit", "PUTs", True),
    ("cost", "Requests at list prices, for a million batches", "usd_per_million_batches", "dollars", True),
    ("jain", "Fairness among producers (Jain's index)", "jain", "1: all alike", False),
]


def points(rows: list[dict], policy: str, key: str) -> list[tuple[int, float]]:
    """What is plotted of one law: S3, a short manifest, no trouble."""
    return sorted(
        (row["producers"], row[key])
        for row in rows
        if row["policy"] == policy and row["steps"] == 0 and "store" not in row and "trouble" not in row
    )


def one_of_fixed(rows: list[dict]) -> list[dict]:
    """The rows of `fixed` at the interval that is tried for every number of producers, as a law of their own."""
    return [row | {"policy": "one"} for row in rows if row["policy"] == "fixed" and row["interval_s"] == 1]


def best_of_fixed(rows: list[dict]) -> list[dict]:
    """A full run has every interval of `fixed`: the one of the least staleness is kept for each number of producers."""
    best: dict[tuple, dict] = {}
    others = []
    for row in rows:
        if row["policy"] != "fixed":
            others.append(row)
            continue
        key = (row["producers"], row["steps"], row.get("store"), row.get("trouble"))
        if key not in best or row["staleness_p99_s"] < best[key]["staleness_p99_s"]:
            best[key] = row
    return others + list(best.values())


def draw(rows: list[dict], title: str, key: str, unit: str, logarithmic: bool, path: pathlib.Path) -> None:
    """One figure: a line a law over the number of producers."""
    figure, axes = pyplot.subplots(figsize=(8.4, 3.8))
    for policy, style in STYLES.items():
        line = points(rows, policy, key)
        if line:
            axes.plot(*zip(*line, strict=True), **style)
    axes.set_xscale("log")
    axes.set_xticks([1, 4, 16, 64, 256, 1000, 4000, 10000])
    axes.get_xaxis().set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: f"{int(x):,}"))
    axes.minorticks_off()
    if logarithmic:
        axes.set_yscale("log")
        axes.get_yaxis().set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
        axes.get_yaxis().set_minor_locator(matplotlib.ticker.NullLocator())
        axes.get_yaxis().set_major_formatter(matplotlib.ticker.FuncFormatter(lambda y, _: f"{y:g}"))
    else:
        axes.set_ylim(0, 1.05)
    axes.set_title(title, fontsize=11)
    axes.set_xlabel("producers, each with 0.2 batches a second")
    axes.set_ylabel(unit)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    # The same rows give the same bytes.
    figure.savefig(path, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    pyplot.close(figure)


def main() -> int:
    """Reads rows, draws all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=pathlib.Path, help="the last line of `bw_sim scale --json`")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    matplotlib.rcParams["svg.hashsalt"] = "batchweave"
    rows = json.loads(arguments.rows.read_text())["rows"]
    rows = best_of_fixed(rows) + one_of_fixed(rows)
    if not any(points(rows, policy, "ingest_ratio") for policy in STYLES):
        sys.exit(f"plot_scale: no rows of S3 and a short manifest in {arguments.rows}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, title, key, unit, logarithmic in FIGURES:
        draw(rows, title, key, unit, logarithmic, arguments.folder / f"scale-{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
