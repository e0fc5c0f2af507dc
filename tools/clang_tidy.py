#!/usr/bin/env python3
"""Runs clang-tidy over the project's sources in a compile database, and remembers which passed.

    tools/venv.sh && tools/clang_tidy.py BUILD_FOLDER [--jobs N]

What passed is remembered in build/lint-cache by a hash of the source, of every project header that it includes, of its
compile command and of .clang-tidy: a second run reads only what changed.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG_TIDY = ROOT / "build" / "venv" / "bin" / "clang-tidy"  # tools/venv.sh puts it there.
# It brings the headers of its own compiler, but for those of the sanitizers.
SANITIZER_HEADERS = "-idirafter/usr/lib/llvm-19/lib/clang/19/include"
CACHE = ROOT / "build" / "lint-cache"
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@functools.cache
def read(path):
    return path.read_bytes()


@functools.cache
def included_by(path, build):
    """The project's files and the generated ones that `path` includes directly."""
    names = _INCLUDE.findall(read(path).decode(errors="replace"))
    candidates = (folder / name for name in names for folder in (ROOT, build))
    return [candidate for candidate in candidates if candidate.is_file()]


def closure(path, build):
    seen, waiting = {path}, [path]
    while waiting:
        new = set(included_by(waiting.pop(), build)) - seen
        seen |= new
        waiting.extend(new)
    return sorted(seen)


def key_of(entry, build, version):
    command = entry.get("command") or shlex.join(entry["arguments"])
    digest = hashlib.sha256(version + read(ROOT / ".clang-tidy") + command.replace(str(ROOT), "").encode())
    for path in closure(pathlib.Path(entry["file"]), build):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + read(path))
    return digest.hexdigest()


def is_ours(path):
    return path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build")


def check(file, key, build):
    """Empty where clang-tidy has nothing to say of `file`, else what it says."""
    command = [CLANG_TIDY, "--quiet", "-p", str(build), f"--extra-arg={SANITIZER_HEADERS}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        (CACHE / key).touch()
        return ""
    return done.stdout + "".join(line for line in done.stderr.splitlines(True) if "warnings generated" not in line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    build = arguments.build.resolve()

    CACHE.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, check=True).stdout
    entries = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}
    keys = {file: key_of(entry, build, version) for file, entry in entries.items() if is_ours(pathlib.Path(file))}
    todo = {file: key for file, key in sorted(keys.items()) if not (CACHE / key).exists()}
    print(f"clang-tidy: {len(todo)} of {len(keys)} files", flush=True)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for said in pool.map(lambda item: check(item[0], item[1], build), todo.items()):
            if said:
                failed += 1
                print(said, flush=True)
    if failed:
        print(f"clang-tidy: {failed} files with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
