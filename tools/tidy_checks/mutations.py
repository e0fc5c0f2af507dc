"""Breaches of the protocol stay behind their one macro: base/mutation.h says what they are for."""

import re

from .source import CPP, is_test

_HEADER = "batchweave/base/mutation.h"
_OWNERS = (_HEADER, "batchweave/base/mutation.cc")
_FLAG = "BATCHWEAVE_MUTANTS"
_LISTED = re.compile(r"^\s*X\((k\w+),")
_SITE = re.compile(r"\bBW_MUTATION\((\w+)\)")


def check_mutants_flag(tree):
    """Only CMake, and the macro itself, know which build has mutants."""
    for path in tree.paths:
        if path in _OWNERS or not path.endswith(CPP):
            continue
        for number, line in enumerate(tree.code(path), start=1):
            if _FLAG in line:
                yield tree.finding(path, number, f"{_FLAG} is for base/mutation.h alone: ask BW_MUTATION(kName), or SetMutation()")


def check_mutation_sites(tree):
    """Each mutation is made somewhere in the library, and nothing but a mutation is."""
    if _HEADER not in tree:
        return
    # Not of tree.code(): a list in a macro is read as it is written.
    listed = {match[1]: number for number, line in enumerate(tree.lines(_HEADER), start=1) if (match := _LISTED.match(line))}
    made = set()
    for path in tree.paths:
        if path in _OWNERS or not path.endswith(CPP) or is_test(path):
            continue
        for number, line in enumerate(tree.code(path), start=1):
            for name in _SITE.findall(line):
                if name not in listed:
                    yield tree.finding(path, number, f"{name} is no mutation of {_HEADER}")
                elif not path.startswith("batchweave/"):
                    yield tree.finding(path, number, "a mutation is a breach in the library: make it there")
                made.add(name)
    for name, number in listed.items():
        if name not in made:
            yield tree.finding(_HEADER, number, f"no BW_MUTATION({name}) makes this breach: make it, or remove it")
