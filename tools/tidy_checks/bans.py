"""What the library does not do itself, and what to use instead."""

import re
from typing import NamedTuple

from .source import is_test


class Ban(NamedTuple):
    pattern: re.Pattern
    instead: str
    folders: tuple  # where the ban holds
    allowed: tuple = ()  # files that may
    in_tests: bool = False  # holds in test code too


def _ban(pattern, instead, folders=("batchweave",), allowed=(), in_tests=False):
    return Ban(re.compile(pattern), instead, folders, allowed, in_tests)


_SYSTEM = ("batchweave/base/clock.cc", "batchweave/base/random.cc", "batchweave/base/threads.cc")
_CLOCK = ("batchweave/base/clock.cc",)
_WAITERS = ("batchweave/base/clock.cc", "batchweave/base/clock.h")
_OURS = ("batchweave", "sim")
_CODE = ("batchweave", "sim", "bench", "cli", "examples", "tests", "python")

BANS = [
    _ban(r"\b(?:steady|system|high_resolution)_clock::now\b|\bclock_gettime\b|\bgettimeofday\b",
         "take the time from Clock, which Env holds: Now() or WallNow()", _OURS, _CLOCK, in_tests=True),
    _ban(r"\bsleep_(?:for|until)\b|(?<![\w.>])u?sleep\s*\(|\bnanosleep\b",
         "wait by Clock::SleepUntil, in tests by ManualClock", _OURS, _CLOCK, in_tests=True),
    _ban(r"\bcondition_variable\b|\bwait_(?:for|until)\b",
         "use Condition and WaitUntil of base/clock.h: the simulator must see every wait", _OURS, _WAITERS),
    _ban(r"\brandom_device\b|(?<![\w.>:])(?:std::)?s?rand\s*\(|\bgetrandom\b",
         "take Random, which Env holds", _OURS, _SYSTEM, in_tests=True),
    _ban(r"\bmt19937(?:_64)?\b|\bdefault_random_engine\b", "take Random, which Env holds", _OURS, _SYSTEM),
    _ban(r"\b(?:secure_)?getenv\b|(?<![\w.>])environ\b",
         "take it as an option; only store/environment.cc reads the environment, and in the mutants' build base/fault_point.cc",
         allowed=("batchweave/store/environment.cc", "batchweave/base/fault_point.cc")),
    _ban(r"\bstd::(?:jthread|thread|async)\b|\bpthread_create\b", "start threads through Threads, which Env holds",
         allowed=("batchweave/base/threads.cc",)),
    _ban(r"\bthreads?_?(?:\(\))?\s*(?:\.|->)\s*Start\s*\(",
         "docs/style.md lists the files that start threads: put the call into one of their loops",
         allowed=("batchweave/producer/uploader.cc", "batchweave/consumer/prefetcher.cc",
                  "batchweave/log/archive_history.cc")),
    _ban(r"\bthrow\b|\btry\s*\{|\bcatch\s*\(", "return Result<T>: exceptions begin in the Python bindings",
         ("batchweave", "cli"), ("cli/main.cc",)),
    _ban(r"(?<![\w.>])_?(?:exit|_Exit|quick_exit|abort|terminate)\s*\(",
         "return an Error, or for a bug use BW_CHECK", allowed=("batchweave/base/check.cc", "batchweave/base/check.h")),
    _ban(r"\busing\s+namespace\b(?!\s+std::(?:string_view_|chrono_|string_)?literals)",
         "name what you use", _CODE, in_tests=True),
    _ban(r"#\s*include\s*<iostream>", "the library prints nothing; cli and bench use fmt::print", in_tests=True),
    _ban(r"\bm(?:re)?map\s*\(|<sys/mman\.h>", "read by pread into the caller's buffer: a truncated file is a SIGBUS",
         ("batchweave/store",)),
]

# In comments as well as in code.
_MARKS = re.compile(r"\b(?:TODO|FIXME|XXX|NOLINT\w*)\b")


def check_bans(tree):
    for path in tree.under(*_CODE):
        bans = [ban for ban in BANS if _holds(ban, path)]
        for number, line in enumerate(tree.code(path), start=1):
            for ban in bans:
                match = ban.pattern.search(line)
                if match:
                    yield tree.finding(path, number, f"`{match.group().strip()}` is banned here: {ban.instead}")
        for number, line in enumerate(tree.lines(path), start=1):
            match = _MARKS.search(line)
            if match:
                yield tree.finding(path, number, f"{match.group()}: do it now, or write it where work is planned")


def _holds(ban, path):
    if path in ban.allowed or (is_test(path) and not ban.in_tests):
        return False
    return path.startswith(tuple(f"{folder}/" for folder in ban.folders))


_SHARED = re.compile(r"\bstd::(?:shared_ptr|make_shared|enable_shared_from_this)\b")


def check_shared_ptr(tree):
    """Who shares ownership says why, once: in a comment on the line of some mention or at most three lines above it. A
    source whose own header mentions it has said so there."""
    for path in tree.under("batchweave"):
        mentions = _mentions(tree, path)
        if not mentions or is_test(path) or (path.endswith(".cc") and _mentions(tree, f"{path[:-3]}.h")):
            continue
        lines = tree.lines(path)
        if not any("//" in near for number in mentions for near in lines[max(0, number - 4):number]):
            yield tree.finding(path, mentions[0], "shared ownership without a comment that says why: prefer unique_ptr")


def _mentions(tree, path):
    if path not in tree:
        return []
    return [number for number, line in enumerate(tree.code(path), start=1) if _SHARED.search(line)]


_MANIFEST_KEY = re.compile(r"(?:\.|->)\s*Manifest\s*\(")


def check_manifest_keys(tree):
    """log/ alone creates manifests; lifecycle/ replaces old ones by tombstones: nobody else asks StreamKeys for their keys."""
    for path in tree.under("batchweave", "cli", "bench", "examples", "python"):
        if is_test(path) or path.startswith(("batchweave/log/", "batchweave/lifecycle/")):
            continue
        for number, line in enumerate(tree.code(path), start=1):
            if _MANIFEST_KEY.search(line):
                yield tree.finding(path, number, "only log/ and lifecycle/ (tombstones) use keys of manifests: go through ManifestLog")
