"""A stream for the recipes: python publish.py STREAM_URL [STEPS]

Each step has two slices of two samples: their numbers, `ids`, and rows of four floats, `x`.
"""

import sys

import numpy as np

import batchweave

DP, ROWS = 2, 2  # Slices of a global batch, samples of a slice.


def main(url: str, steps: int = 7) -> None:
    """Publishes `steps` steps and ends the stream; killed, it goes on where it was."""
    with batchweave.open(url, create=True) as stream:
        with stream.producer("numbers") as producer:
            for step in range(int(producer.cursor or 0), steps):
                with producer.batch(dp=DP, cursor=b"%d" % (step + 1), samples=DP * ROWS) as batch:
                    for d in range(DP):
                        ids = np.arange(ROWS) + (step * DP + d) * ROWS
                        batch[d, 0] = {"ids": ids, "x": np.repeat(ids[:, None] * 0.01, 4, axis=1).astype(np.float32)}
        stream.seal()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
