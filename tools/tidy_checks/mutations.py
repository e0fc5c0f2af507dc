"""Breaches of the protocol and fault points stay behind their macros: base/mutation.h and base/fault_point.h say what they
are for."""

import re

from .source import CPP, is_test

_HEADER = "batchweave/base/mutation.h"
_OWNERS = (_HEADER, "batchweave/base/mutation.cc")
_POINTS_HEADER = "batchweave/base/fault_point.h"
_POINTS_OWNERS = (_POINTS_HEADER, "batchweave/base/fault_point.cc")
_FLAG = "BATCHWEAVE_MUTANTS"
_LISTED = re.compile(r"^\s*X\((k\w+),")
_SITE = re.compile(r"\bBW_MUTATION\((\w+)\)")
_POINT_LISTED = re.compile(r'^\s*X\("([^"]+)",')
_POINT = re.compile(r'\bBW_FAULT_POINT\("([^"]*)"\)')


def check_mutants_flag(tree):
    """Only CMake, and the macros themselves, know which build has mutants."""
    for path in tree.paths:
        if path in _OWNERS + _POINTS_OWNERS or not path.endswith(CPP):
            continue
        for number, line in enumerate(tree.code(path), start=1):
            if _FLAG in line:
                yield tree.finding(path, number, f"{_FLAG} is for base/mutation.h and base/fault_point.h alone: "
                                                 "ask BW_MUTATION(kName), or SetMutation(); say BW_FAULT_POINT(\"label\")")


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


def check_fault_points(tree):
    """Each fault point of the list is at one place of the library at least, and no other is."""
    if _POINTS_HEADER not in tree:
        return
    listed = {match[1]: number
              for number, line in enumerate(tree.lines(_POINTS_HEADER), start=1) if (match := _POINT_LISTED.match(line))}
    made = set()
    for path in tree.paths:
        if path in _POINTS_OWNERS or not path.endswith(CPP):
            continue
        # Not of tree.code(), which has no strings: a line of it says that the call is no comment.
        for number, (line, code) in enumerate(zip(tree.lines(path), tree.code(path)), start=1):
            for label in _POINT.findall(line) if "BW_FAULT_POINT" in code else []:
                if label not in listed:
                    yield tree.finding(path, number, f"{label} is no fault point of {_POINTS_HEADER}")
                elif not path.startswith("batchweave/"):
                    yield tree.finding(path, number, "a fault point is a place in the library: put it there")
                made.add(label)
    for label, number in listed.items():
        if label not in made:
            yield tree.finding(_POINTS_HEADER, number, f"no BW_FAULT_POINT(\"{label}\") is there: put it, or remove it")
