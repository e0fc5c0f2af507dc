"""Includes go only to the left: base <- format, store <- log <- producer, consumer, lifecycle <- stream <- sim, bench, cli, python."""

import re

from .source import is_test

_BASE = {"base"}
_LOG = {"base", "format", "store", "log"}
_ENDS = {"producer", "consumer", "lifecycle"}
_LIBRARY = _LOG | _ENDS | {"stream"}

# What each layer may include, besides itself. format and store ignore each other, and so do the three after log.
MAY_INCLUDE = {
    "base": set(),
    "format": _BASE,
    "store": _BASE,
    "log": _LOG,
    "producer": _LOG,
    "consumer": _LOG,
    "lifecycle": _LOG,
    "stream": _LOG | _ENDS,
    "testing": _LOG | {"producer"},  # The laws that those of production are compared with.
    "sim": _LIBRARY | {"testing"},
    "bench": _LIBRARY | {"testing"},
    "cli": _LIBRARY,
    "python": _LIBRARY,
    "examples": _LIBRARY,
    "tests": _LIBRARY | {"testing", "sim", "cli", "examples", "bench"},
}
ROOTS = ("batchweave", "sim", "bench", "cli", "python", "examples", "tests")

_INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def layer_of(path):
    """The layer of a file or an include path, or None for what is not the project's."""
    parts = path.split("/")
    if len(parts) < 2 or parts[0] not in ROOTS:
        return None
    return parts[1] if parts[0] == "batchweave" else parts[0]


def check_includes(tree):
    for path in tree.under(*ROOTS):
        for number, line in enumerate(tree.lines(path), start=1):
            match = _INCLUDE.match(line)
            if match:
                message = _what_is_wrong(tree, path, quoted=match[1], angled=match[2])
                if message:
                    yield tree.finding(path, number, message)


def _what_is_wrong(tree, path, quoted, angled):
    if angled:
        return f'write "{angled}" with quotes: it is ours' if angled.startswith("batchweave/") else None
    target = layer_of(quoted)
    if target is None:
        return f'"{quoted}" is not written from the root of the repository ("batchweave/log/..."), or is not ours: then use <>'
    if quoted not in tree and not quoted.endswith("_generated.h"):
        return f'"{quoted}" does not exist'
    return _what_is_wrong_with_layers(path, layer_of(path), target)


def _what_is_wrong_with_layers(path, layer, target):
    if layer not in MAY_INCLUDE:
        return f"{layer} is not a layer: add the folder to tools/tidy_checks/layers.py and docs/architecture.md, or move the file"
    if target == layer or target in MAY_INCLUDE[layer]:
        return None
    if target == "testing":
        return None if is_test(path) else "testing/ is for tests, sim and bench only"
    return f"{layer} may not include {target}: layers go base <- format, store <- log <- producer, consumer, lifecycle <- stream"
