"""What the Python package leaves alone: it belongs to the training job whose process it is in."""

import re

_PACKAGE = "python/src/"
LINES_MAX = 400
EXAMPLE_LINES_MAX = 119  # One sitting's reading.

_BANS = [
    (re.compile(r"\bimport\s+(?:pickle|marshal|dill)\b|\bfrom\s+pickle\b"), "no pickle in the store: slices are bytes or safetensors"),
    (re.compile(r"\bshared_memory\b|/dev/shm"), "no shared memory with a name: it outlives who made it (fault G6)"),
    (re.compile(r"\binit_process_group\s*\("), "process groups are the job's: take them as arguments"),
    (re.compile(r"\b(?:np|numpy)\.random\.|\bmanual_seed\b|^\s*(?:import|from)\s+random\b"),
     "the global random state is the job's: take a seed, and draw by a generator of your own"),
    (re.compile(r"\bos\.fork\s*\(|\bProcessPoolExecutor\b|^\s*(?:import|from)\s+multiprocessing\b"), "no processes of our own"),
    (re.compile(r"#\s*noqa\b|#\s*type:\s*ignore(?!\[)"), "mend it, or say which rule in pyproject.toml"),
]


def check_python_package(tree):
    for path in tree.under("python", "examples", suffixes=(".py",)):
        count, limit = len(tree.lines(path)) - 1, EXAMPLE_LINES_MAX if path.startswith("examples/") else LINES_MAX
        if count > limit:
            yield tree.finding(path, limit, f"{count} lines, at most {limit}: one subject a file")
    for path in tree.under(_PACKAGE.rstrip("/"), suffixes=(".py",)):
        for number, line in enumerate(tree.lines(path), start=1):
            for pattern, instead in _BANS:
                match = pattern.search(line)
                if match:
                    yield tree.finding(path, number, f"`{match.group().strip()}` is banned here: {instead}")
