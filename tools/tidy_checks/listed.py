"""A source that no CMakeLists.txt names is not built, and a test that is not built does not exist."""

import posixpath
import re

_ROOTS = ("batchweave", "sim", "bench", "cli", "tests", "examples", "python")
_COMMENT = re.compile(r"#[^\n]*")
_ROOT_VARIABLE = re.compile(r"\$\{(?:CMAKE_SOURCE_DIR|PROJECT_SOURCE_DIR|BatchWeave_SOURCE_DIR)\}/")
_HERE_VARIABLE = re.compile(r"\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/")


def check_sources_are_built(tree):
    named = _named_files(tree)
    folders_built = {posixpath.dirname(path) for path in named if path.endswith((".cc", ".fbs"))}
    for path in tree.under(*_ROOTS, suffixes=(".cc", ".fbs", ".h")):
        if path in named or (path.endswith(".h") and posixpath.dirname(path) in folders_built):
            continue
        yield tree.finding(path, 1, "no CMakeLists.txt names this file, so it is never built: list it, or delete it")


def _named_files(tree):
    """The tracked files that some CMakeLists.txt names, relative to its own folder or to the root."""
    named = set()
    for path in tree.paths:
        if posixpath.basename(path) != "CMakeLists.txt":
            continue
        folder = posixpath.dirname(path)
        text = _HERE_VARIABLE.sub("", _COMMENT.sub("", tree.text(path)))
        for word in re.split(r'[\s()";]+', text):
            absolute = _ROOT_VARIABLE.match(word)
            file = _ROOT_VARIABLE.sub("", word) if absolute else posixpath.normpath(posixpath.join(folder, word))
            # A list of schemas may leave out the ending, since what flatc makes of them has another one.
            named.update(name for name in (file, f"{file}.fbs") if name in tree)
    return named
