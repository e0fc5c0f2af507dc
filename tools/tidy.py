#!/usr/bin/env python3
"""Checks of the project's own rules that a compiler cannot make: docs/style.md says what they are for.

    tools/tidy.py [ROOT]

Prints one line a finding, `path:line: what is wrong and what to do`, and fails if there is any. Reads every file that
git tracks or would track.
"""

import pathlib
import sys

from tidy_checks import bans, documents, layers, listed, mutations, names, python_face, shape
from tidy_checks.source import Tree

# (check, path): why this one file may break the check. Keep it short; a long list means that the check is wrong.
EXCEPTIONS = {
    ("check_bans", "batchweave/store/full_probe.cc"): "a race can only be tried by racing: it starts its own creators",
    ("check_bans", "batchweave/store/overwrite_probe.cc"): "a race can only be tried by racing: it starts its own creators",
}

CHECKS = [
    layers.check_includes,
    bans.check_bans,
    bans.check_shared_ptr,
    bans.check_manifest_keys,
    shape.check_sizes,
    shape.check_functions,
    shape.check_headers,
    shape.check_commented_out_code,
    listed.check_sources_are_built,
    mutations.check_mutants_flag,
    mutations.check_mutation_sites,
    mutations.check_fault_points,
    names.check_file_names,
    names.check_words,
    python_face.check_python_package,
    documents.check_rows_and_citations,
    documents.check_life_of_a_batch,
    documents.check_links,
    documents.check_readme_size,
]


def findings(root, exceptions=None):
    """All findings in the tree at `root`, sorted: an exception that excuses nothing is one too."""
    exceptions = EXCEPTIONS if exceptions is None else exceptions
    tree = Tree(root)
    found, used = [], set()
    for check in CHECKS:
        for finding in check(tree):
            key = (check.__name__, finding.path)
            used.add(key) if key in exceptions else found.append(finding)
    for check, path in exceptions.keys() - used:
        found.append(tree.finding("tools/tidy.py", 1, f"the exception for {check} in {path} excuses nothing: remove it"))
    return sorted(found)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = findings(root)
    for finding in found:
        print(f"{finding.path}:{finding.line}: {finding.message}")
    if found:
        print(f"tidy: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
