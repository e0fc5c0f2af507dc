"""Sizes of files, functions and lines, and the first lines of a header."""

import re
from typing import NamedTuple

from .source import CPP

_ROOTS = ("batchweave", "sim", "bench", "cli", "examples", "tests", "python")

HEADER_LINES_MAX = 200
SOURCE_LINES_MAX = 400
TEST_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 140

_CODE_SUFFIXES = CPP + (".fbs", ".py", ".sh", ".cmake", ".pml", "CMakeLists.txt", "Makefile", ".ci/run")


def lines_max(path):
    if path.endswith(".h"):
        return HEADER_LINES_MAX
    return TEST_LINES_MAX if path.endswith("_test.cc") else SOURCE_LINES_MAX


def check_sizes(tree):
    for path in tree.under(*_ROOTS):
        count, limit = len(tree.lines(path)) - 1, lines_max(path)
        if count > limit:
            yield tree.finding(path, limit, f"{count} lines, at most {limit}: one class or operation a file")
    for path in tree.paths:
        if not path.endswith(_CODE_SUFFIXES):
            continue
        for number, line in enumerate(tree.lines(path), start=1):
            if len(line) > COLUMNS_MAX:
                yield tree.finding(path, number, f"{len(line)} columns, at most {COLUMNS_MAX}")


def check_functions(tree):
    for path in tree.under(*_ROOTS):
        for first, last in function_bodies(tree.code(path)):
            count = last - first - 1
            if count > FUNCTION_LINES_MAX:
                yield tree.finding(path, first, f"a function of {count} lines, at most {FUNCTION_LINES_MAX}: split it")


def check_headers(tree):
    for path in tree.under(*_ROOTS, suffixes=(".h",)):
        lines = tree.lines(path)
        if not lines[0].startswith("//"):
            yield tree.finding(path, 1, "a header begins with a comment: what it is for")
        first = next((line for line in tree.code(path) if line.strip()), "")
        if first != "#pragma once":
            yield tree.finding(path, 1, "the first line after the comment is `#pragma once`")


# A comment that is a statement. One that is set in by three spaces or more is an example, and meant to be read.
_DEAD_CODE = re.compile(
    r"^\s*// ?(?:[\w:.>-]+\([^()]*\)+;|(?:const |auto )?[\w:<>]+[&*]? ?\w* [-+|&]?= .*;|return\b.*;"
    r"|(?:if|for|while) \(.*\{|\}|#include .*)$"
)


def check_commented_out_code(tree):
    for path in tree.under(*_ROOTS):
        for number, line in enumerate(tree.lines(path), start=1):
            if _DEAD_CODE.match(line):
                yield tree.finding(path, number, "commented-out code: delete it (an example in a comment is set in by three spaces)")


class _Brace(NamedTuple):
    kind: str  # "scope" (namespace, class), "function", or "other" (initialiser, enum, block in a function)
    line: int
    head: str  # the text before it, since the last statement of its scope


_SCOPE = re.compile(r'\b(?:namespace|class|struct|union|extern "")\b')
_FUNCTION_END = re.compile(r"(?:\)|\}|\b(?:const|noexcept|override|final|mutable|try)|&|->[^()=]*)$")


def function_bodies(code):
    """(line of the opening brace, line of the closing brace) of each function in `code`, the lines of a C++ file without
    its comments and strings. Lambdas and local classes belong to the function around them."""
    stack, head = [], ""
    for number, line in _without_preprocessor(code):
        for piece in re.split(r"([{};])", line):
            if piece == "{":
                stack.append(_Brace(_kind_of(head, stack), number, head))
                head = ""
            elif piece == "}" and stack:
                brace = stack.pop()
                if brace.kind == "function" and not any(outer.kind == "function" for outer in stack):
                    yield brace.line, number
                # `: member_{value} {`: what follows the initialiser is still the head of the same function.
                head = brace.head + "}" if brace.kind == "other" else ""
            elif piece == ";":
                head = ""
            else:
                head += piece
        head += " "


def _kind_of(head, stack):
    head = head.strip()
    if any(brace.kind == "function" for brace in stack):
        return "other"
    if "(" in head and _FUNCTION_END.search(head) and not head.startswith("enum"):
        return "function"
    return "scope" if _SCOPE.search(head) else "other"


def _without_preprocessor(code):
    continued = False
    for number, line in enumerate(code, start=1):
        directive = continued or line.lstrip().startswith("#")
        continued = directive and line.endswith("\\")
        if not directive:
            yield number, line
