"""``python -m batchweave.bench loader [--json]``, from the repository's folder: ``make bench-loader`` prepares it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from batchweave.bench._loader import Settings, measure
from batchweave.bench._report import to_json, to_table


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m batchweave.bench",
        description="Measures what BatchWeave promises. Ratios are medians over rounds in which all sides take turns.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    loader = commands.add_parser("loader", help="A training loop's batches, beside those of other loaders, on a local disk")
    loader.add_argument("--json", action="store_true", help="The last line is one JSON object, and there is no table")
    loader.add_argument("--dir", type=Path, help="Where files are made, in a fresh folder that is removed again")
    loader.add_argument("--mib", type=int, default=512, help="What one pass over the data reads; at least 16 (default: 512)")
    loader.add_argument("--steps", type=int, default=100_000, help="Of the stream that a job comes back to (default: 100000)")
    loader.add_argument("--rounds", type=int, default=7, help="After one that warms caches and two that choose (default: 7)")
    loader.add_argument("--choose", type=int, default=2, help="Rounds that choose each peer's num_workers (default: 2)")
    loader.add_argument("--bw-bench", type=Path, default=Path("build/release/bw_bench"), help="The C++ side")
    return parser.parse_args()


def main() -> int:
    """Exit code 0 where every figure was measured, whether or not it met its target."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="batchweave-bench-", dir=arguments.dir) as folder:
        settings = Settings(
            folder=Path(folder),
            pass_bytes=max(arguments.mib, 16) << 20,
            resume_steps=arguments.steps,
            rounds=max(arguments.rounds, 1),
            choosing_rounds=max(arguments.choose, 1),
            bw_bench=arguments.bw_bench,
        )
        report = measure(settings)
        # Before the folder is removed, which takes its time.
        print(to_json(report) if arguments.json else to_table(report), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
