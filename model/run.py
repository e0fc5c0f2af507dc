#!/usr/bin/env python3
"""Searches the model of the protocol: README.md says what for, and how to read what it finds.

    model/run.py [--short] [--story] [NAME...]

Each configuration must be verified, to its end; each mutation must be caught, by the property that it is there to
break. Without names: all of them; --short leaves out the large configurations; --story tells what each search found.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "model" / "stream.pml"
BUILD = ROOT / "build" / "model"

MEMORY_MIB = 3500
DEPTH_MAX = 100_000  # of a search; one that comes there is reported as incomplete
STORY_LINES_MAX = 60


class Search(NamedTuple):
    """One search. `breaks`: what a mutation must be caught by; none: everything must hold."""

    name: str
    defines: str
    breaks: str = ""
    large: bool = False
    cycles: bool = False  # look for cycles, of which there must be none: whatever is under way ends


_RECLAIM = "DATA RECLAIMS"
_TRAINER = "HOLDERS=1 GROUPS=1 RUNS=2"
_COMBINE = "COMBINERS=1"
_FORGET = "FORGETS OPERATORS=1"

CONFIGURATIONS = [
    Search("commit", "NAMES=2 HOLDERS=4"),
    Search("commit-large", "NAMES=2 HOLDERS=4 BATCHES=2 LATER_BATCHES=1", large=True),
    Search("open", "HOLDERS=3 BATCHES=2 TOMBSTONES"),
    Search("open-large", "HOLDERS=4 BATCHES=2 LATER_BATCHES=1 TOMBSTONES", large=True),
    Search("reclaim", f"{_RECLAIM} TOMBSTONES HOLDERS=3 BATCHES=2 LATER_BATCHES=1"),
    Search("reclaim-large", f"{_RECLAIM} TOMBSTONES BATCHES=2 GROUPS=1 RUNS=1", large=True),
    Search("archive", f"{_RECLAIM} ARCHIVES NAMES=2 HOLDERS=3"),
    Search("packings", f"{_RECLAIM} PACKINGS=2"),
    Search("trainer", f"{_RECLAIM} {_TRAINER}"),
    Search("trainer-large", f"{_RECLAIM} HOLDERS=2 GROUPS=1 RUNS=2", large=True),
    Search("groups", "HOLDERS=1 GROUPS=2 RUNS=2"),
    Search("groups-large", "HOLDERS=1 GROUPS=2 RUNS=3", large=True),
    Search("forget", f"{_RECLAIM} HOLDERS=3 FORGETS OPERATORS=1"),
    Search("seal", f"{_RECLAIM} NAMES=2 HOLDERS=3 SEALS OPERATORS=1"),
    Search("ends", "TERMINATES FAULTS=2 HOLDERS=3 TOMBSTONES"),
    Search("ends-cycles", "TERMINATES FAULTS=2 HOLDERS=3 TOMBSTONES", cycles=True),
    Search("ends-trainer", "TERMINATES FAULTS=1 HOLDERS=1 GROUPS=1 RUNS=2"),
    Search("ends-trainer-cycles", "TERMINATES FAULTS=1 HOLDERS=1 GROUPS=1 RUNS=2", large=True, cycles=True),
    Search("combine", f"{_COMBINE} BATCHES=2 TOMBSTONES"),
    Search("combine-names", "NAMES=2 COMBINERS=2"),
    Search("combine-rivals", "COMBINERS=2 DRAWS=2"),
    Search("combine-openings", f"{_COMBINE} DELETES DRAWS=2 OPENING_VERSIONS=1"),
    Search("combine-reclaim", f"{_RECLAIM} {_COMBINE} DELETES"),
    Search("combine-packings", f"{_RECLAIM} {_COMBINE} PACKINGS=2"),
    Search("combine-finish", f"{_RECLAIM} {_COMBINE} FINISHES"),
    Search("combine-forget", f"{_RECLAIM} {_COMBINE} {_FORGET} OPENING_VERSIONS=1"),
    Search("combine-seal", f"{_COMBINE} SEALS OPERATORS=1"),
    Search("combine-ends", f"TERMINATES FAULTS=1 {_COMBINE} DRAWS=2"),
    Search("combine-ends-cycles", f"TERMINATES FAULTS=1 {_COMBINE} DRAWS=2", cycles=True),
    Search("combine-large", f"{_COMBINE} HOLDERS=3", large=True),
    Search("combine-names-large", f"{_COMBINE} NAMES=2 HOLDERS=3", large=True),
    Search("combine-deletes-large", f"{_COMBINE} BATCHES=2 DRAWS=2 DELETES", large=True),
    Search("combine-forget-large", f"{_RECLAIM} {_COMBINE} {_FORGET} OPENING_VERSIONS=2 BATCHES=2 DRAWS=2", large=True),
]

# Rules that alone are not needed for what is promised to producers, since another one holds the same door.
_AFTERWARDS = "TRUTH_IS_NOT_ASKED BOUNDED"
SECOND_LOCKS = [
    Search("exists-is-lost, but seqs are checked", f"MUTATION_EXISTS_IS_LOST {_AFTERWARDS} BATCHES=2"),
    Search("conflict-is-lost, but seqs are checked", f"MUTATION_CONFLICT_IS_LOST {_AFTERWARDS} BATCHES=2"),
    Search("seq-unchecked, but slots are read back", "MUTATION_SEQ_UNCHECKED BATCHES=2"),
    Search("read-before-list, but later openings live", f"MUTATION_READ_BEFORE_LIST {_RECLAIM}"),
    Search("later-openings-are-dead, but LIST comes first", f"MUTATION_LATER_OPENINGS_ARE_DEAD {_RECLAIM}"),
]

MUTATIONS = [
    Search("no-read-back", "MUTATION_NO_READ_BACK", "I7"),
    Search("exists-is-ours", "MUTATION_EXISTS_IS_OURS", "I7"),
    Search("exists-is-lost", "MUTATION_EXISTS_IS_LOST", "A1"),
    Search("conflict-is-lost", "MUTATION_CONFLICT_IS_LOST", "A1"),
    Search("conflict-is-lost and seq-unchecked",
           f"MUTATION_CONFLICT_IS_LOST MUTATION_SEQ_UNCHECKED {_AFTERWARDS} BATCHES=2", "I5"),
    Search("exists-is-lost and seq-unchecked",
           f"MUTATION_EXISTS_IS_LOST MUTATION_SEQ_UNCHECKED {_AFTERWARDS} BATCHES=2", "I5"),
    Search("new-body", "MUTATION_NEW_BODY BATCHES=2", "I7"),
    Search("incarnation-unchecked", "MUTATION_INCARNATION_UNCHECKED", "I6"),
    Search("checked-once", "MUTATION_CHECKED_ONCE", "I6"),
    Search("acknowledged-by-seq", "MUTATION_ACKNOWLEDGED_BY_SEQ", "I7"),
    Search("opens-again", "MUTATION_OPENS_AGAIN", "B4"),
    Search("deleted-slots", "MUTATION_DELETED_SLOTS TOMBSTONES HOLDERS=3", "I1"),
    Search("overwrite-removes", "MUTATION_OVERWRITE_REMOVES TOMBSTONES HOLDERS=3", "I1"),
    Search("same-commit-ids", "MUTATION_SAME_COMMIT_IDS", "I7"),
    Search("tombstone-without-commit-id", "MUTATION_TOMBSTONE_WITHOUT_COMMIT_ID TOMBSTONES HOLDERS=3", "A1"),
    Search("incarnation-from-row", "MUTATION_INCARNATION_FROM_ROW HOLDERS=3 FORGETS OPERATORS=1", "I6"),
    Search("seal-checked-once", "MUTATION_SEAL_CHECKED_ONCE SEALS OPERATORS=1", "M9"),
    Search("seq-from-entries", "MUTATION_SEQ_FROM_ENTRIES GROUPS=1 RUNS=1", "I7"),
    Search("session-unchecked", f"MUTATION_SESSION_UNCHECKED {_TRAINER}", "I8"),
    Search("watermark-of-one-group", "MUTATION_WATERMARK_OF_ONE_GROUP HOLDERS=1 GROUPS=2 RUNS=2", "I8"),
    Search("trim-past-watermark", f"MUTATION_TRIM_PAST_WATERMARK {_TRAINER}", "I8"),
    Search("position-checked-once", "MUTATION_CHECKED_ONCE HOLDERS=1 GROUPS=1 RUNS=2", "I8"),
    Search("uploads-are-garbage", f"MUTATION_UPLOADS_ARE_GARBAGE {_RECLAIM}", "I8"),
    Search("archive-used-again", f"MUTATION_ARCHIVE_USED_AGAIN {_RECLAIM} ARCHIVES NAMES=2", "I8"),
    Search("undecided-archives-are-dead", f"MUTATION_UNDECIDED_ARCHIVES_ARE_DEAD {_RECLAIM} ARCHIVES", "I8"),
    Search("read-before-list and later-openings-are-dead",
           f"MUTATION_READ_BEFORE_LIST MUTATION_LATER_OPENINGS_ARE_DEAD {_RECLAIM}", "I8"),
    Search("no-nonce", f"MUTATION_NO_NONCE {_RECLAIM} PACKINGS=2", "M4"),
    Search("never-sent-again", "MUTATION_NEVER_SENT_AGAIN TERMINATES FAULTS=1", "never ends"),
    Search("announced, and acknowledged-by-seq", f"MUTATION_ACKNOWLEDGED_BY_SEQ {_COMBINE}", "I7"),
    Search("gone-is-acknowledged", f"MUTATION_GONE_IS_ACKNOWLEDGED {_COMBINE} DELETES", "I7"),
    Search("packs-again", f"MUTATION_PACKS_AGAIN {_RECLAIM} {_COMBINE} PACKINGS=2 HOLDERS=1", "M15"),
    Search("announced-finished-unchecked", f"MUTATION_ANNOUNCED_FINISHED_UNCHECKED {_COMBINE} FINISHES", "M16"),
    Search("announced-finished-unchecked, and reclaimed",
           f"MUTATION_ANNOUNCED_FINISHED_UNCHECKED TRUTH_IS_NOT_ASKED {_RECLAIM} {_COMBINE} FINISHES HOLDERS=1", "I8"),
    Search("announced-seal-unchecked", f"MUTATION_ANNOUNCED_SEAL_UNCHECKED {_COMBINE} SEALS OPERATORS=1", "M9"),
    Search("announced-incarnation-unchecked", f"MUTATION_ANNOUNCED_INCARNATION_UNCHECKED {_COMBINE}", "I6"),
    Search("announced-seq-unchecked", f"MUTATION_ANNOUNCED_SEQ_UNCHECKED {_COMBINE} BATCHES=2", "I5"),
    Search("announces-before-upload", f"MUTATION_ANNOUNCES_BEFORE_UPLOAD DATA {_COMBINE} HOLDERS=1", "I4"),
    Search("runs-beside-an-opening", f"MUTATION_RUNS_BESIDE_AN_OPENING {_COMBINE}", "I6"),
    Search("opening-base-unchecked", f"MUTATION_OPENING_BASE_UNCHECKED {_COMBINE}", "I6"),
    Search("opening-age-unchecked",
           f"MUTATION_OPENING_AGE_UNCHECKED {_COMBINE} {_FORGET} OPENING_VERSIONS=1", "I6"),
    Search("row-goes-too-soon", f"MUTATION_ROW_GOES_TOO_SOON {_COMBINE} {_FORGET} OPENING_VERSIONS=4", "I6"),
    Search("loser-deletes", f"MUTATION_LOSER_DELETES {_COMBINE} DELETES", "I8"),
    Search("fenced-by-an-older-version", f"MUTATION_FENCED_BY_AN_OLDER_VERSION {_COMBINE}", "B2"),
    Search("dead-by-an-older-version", f"MUTATION_DEAD_BY_AN_OLDER_VERSION {_COMBINE} DELETES", "I8"),
]


class Found(NamedTuple):
    states: int
    errors: int
    incomplete: str  # why the search does not count; empty: it was exhaustive


def run(command, folder):
    """The output of a step of the build; what it says is shown where it fails."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"model: failed in {folder}: {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def defines_of(search):
    return [f"-D{word}" for word in search.defines.split()]


def explore(search, folder):
    """Builds the verifier of one search and runs it. Mutations breadth first: the shortest story is told."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    run(["spin", "-a", *defines_of(search), os.path.relpath(SOURCE, folder)], folder)
    how = ["-DNP"] if search.cycles else ["-DSAFETY"]
    how += ["-DBFS"] if search.breaks else []
    # The verifier is made by a machine, and its warnings are for nobody. Where few states are searched, compiling it is
    # most of the work.
    optimised = "-O2" if search.large else "-O1" if search in CONFIGURATIONS else "-O0"
    run(["gcc", "-w", optimised, *how, "-DNOFAIR", f"-DMEMLIM={MEMORY_MIB}", "-o", "pan", "pan.c"], folder)
    options = [f"-m{DEPTH_MAX}", "-w22"]
    options += ["-l"] if search.cycles else []
    options += ["-E"] if "BOUNDED" in search.defines else []  # what may commit for ever is stopped, and stands still
    result = subprocess.run(["./pan", *options], cwd=folder, capture_output=True, text=True, check=False)
    return judge(result.stdout + result.stderr, result.returncode)


def judge(output, status):
    """What a verifier has found. Everything but a full search that says so itself is incomplete."""
    errors = re.search(r"errors: (\d+)$", output, re.MULTILINE)
    states = re.search(r"^ *([\d.e+]+) states, stored", output, re.MULTILINE)
    if status != 0 or not errors or not states:
        return Found(0, 0, f"the verifier failed (status {status}): {output.strip()[-400:]}")
    incomplete = ""
    if "Full statespace search" not in output:
        incomplete = "it was no full search"
    for mark in ("max search depth too small", "bytes limit", "out of memory", "hash table full"):
        if mark in output:
            incomplete = mark
    if int(errors[1]) == 0 and "Search not completed" in output:
        incomplete = incomplete or "search not completed"
    return Found(int(float(states[1])), int(errors[1]), incomplete)


def replay_command(search, folder, *options, at=ROOT):
    """With paths from `at`. Searches that run side by side replay in their own folders: spin writes files where it runs."""
    return ["spin", "-T", *options, "-k", os.path.relpath(folder / "stream.pml.trail", at), *defines_of(search),
            os.path.relpath(SOURCE, at)]


def story(search, folder):
    """The lines that the model tells along its trail, and what it breaks in the end."""
    if not (folder / "stream.pml.trail").exists():
        return [], "no trail"
    told = []
    for line in run(replay_command(search, folder, at=folder), folder).splitlines():
        if line.startswith(("spin: trail ends", "#processes")) or line.startswith("\t"):
            break
        if line.strip() and not line.startswith("spin:"):
            told.append(line.strip())
    broken = next((line.removeprefix("broken: ") for line in told if line.startswith("broken: ")), "never ends")
    return told, broken


def report(search, tell):
    """Runs one search; whether it ended as it must, and what to print of it."""
    folder = BUILD / re.sub(r"[^a-z0-9]+", "-", search.name)
    start = time.monotonic()
    found = explore(search, folder)
    seconds = time.monotonic() - start
    told, broken = story(search, folder) if found.errors else ([], "")
    caught = found.errors > 0 and search.breaks and re.match(rf"{search.breaks}\b", broken)
    if search.breaks:
        passed = bool(caught)
        instead = broken or found.incomplete or "nothing broke"
        verdict = f"caught: {broken}" if caught else f"NOT CAUGHT by {search.breaks}: {instead}"
    elif found.errors:
        passed, verdict = False, f"BROKEN: {broken}"
    else:
        passed = not found.incomplete
        verdict = "verified" if passed else f"INCOMPLETE: {found.incomplete}"
    lines = [f"{search.name:50} {found.states:>10} states {seconds:6.1f} s  {verdict}"]
    if found.errors and (tell or not passed):
        lines += [f"    {line}" for line in told[-STORY_LINES_MAX:]]
        lines += [f"    again, with every step: {' '.join(replay_command(search, folder, '-p', '-g'))}"]
    return passed, "\n".join(lines)


def jobs():
    """As many searches at once as there are processors, and memory for the largest."""
    memory_mib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return max(1, min(os.cpu_count() or 1, memory_mib // MEMORY_MIB))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="leave out the large configurations")
    parser.add_argument("--story", action="store_true", help="tell the counterexample of each mutation too")
    parser.add_argument("names", nargs="*", help="only these")
    options = parser.parse_args()
    searches = CONFIGURATIONS + SECOND_LOCKS + MUTATIONS
    unknown = set(options.names) - {search.name for search in searches}
    if unknown:
        parser.error(f"no such search: {', '.join(sorted(unknown))}")
    chosen = [search for search in searches
              if (search.name in options.names if options.names else not (options.short and search.large))]
    start = time.monotonic()
    failed = []
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        reports = pool.map(lambda search: report(search, options.story), chosen)
        for search, (passed, text) in zip(chosen, reports):
            print(text, flush=True)
            if not passed:
                failed.append(search.name)
    print(f"model: {len(chosen)} searches, {len(failed)} failed, {time.monotonic() - start:.0f} s")
    if failed:
        print(f"model: failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
