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
    sites = [(path, number, name)
             for path in tree.paths if path not in _OWNERS and path.endswith(CPP) and not is_test(path)
             for number, line in enumerate(tree.code(path), start=1) for name in _SITE.findall(line)]
    yield from _compare(tree, _HEADER, _LISTED, sites, what="mutation", inside="a mutation is a breach in the library: make it there",
                        missing="no BW_MUTATION({}) makes this breach: make it, or remove it")


def check_fault_points(tree):
    """Each fault point of the list is at one place of the library at least, and no other is."""
    # Not of tree.code(), which has no strings: a line of it says that the call is no comment.
    sites = [(path, number, label)
             for path in tree.paths if path not in _POINTS_OWNERS and path.endswith(CPP)
             for number, (line, code) in enumerate(zip(tree.lines(path), tree.code(path)), start=1) if "BW_FAULT_POINT" in code
             for label in _POINT.findall(line)]
    yield from _compare(tree, _POINTS_HEADER, _POINT_LISTED, sites, what="fault point",
                        inside="a fault point is a place in the library: put it there",
                        missing='no BW_FAULT_POINT("{}") is there: put it, or remove it')


def _compare(tree, header, pattern, sites, *, what, inside, missing):
    """What `header` lists, by `pattern`, against the `sites` (path, line, name) that name something of it."""
    if header not in tree:
        return
    # Not of tree.code(): a list in a macro is read as it is written.
    listed = {match[1]: number for number, line in enumerate(tree.lines(header), start=1) if (match := pattern.match(line))}
    for path, number, name in sites:
        if name not in listed:
            yield tree.finding(path, number, f"{name} is no {what} of {header}")
        elif not path.startswith("batchweave/"):
            yield tree.finding(path, number, inside)
    made = {name for _, _, name in sites}
    for name, number in listed.items():
        if name not in made:
            yield tree.finding(header, number, missing.format(name))
