"""Documents that say what the code does: what they claim as covered is cited by a test, and what they name exists."""

import posixpath
import re
from typing import NamedTuple

PROTOCOL = "docs/protocol.md"
FAULTS = "docs/faults.md"
LIFE_OF_A_BATCH = "docs/life-of-a-batch.md"
README_LINES_MIN, README_LINES_MAX = 90, 130
INVARIANTS = 12


class Row(NamedTuple):
    path: str
    line: int
    id: str
    status: str


_ROW = re.compile(r"^\|\s*([A-Z]\d+)\s*\|.*\|\s*([^|]*?)\s*\|\s*$")
_STATUS = re.compile(r"covered|missing: .*\S|partly covered: [^;]*[^;\s]; missing: .*\S")


def check_rows_and_citations(tree):
    """Every invariant and fault has a status, and the status agrees with the `Covers` lines of tests and models."""
    rows = _rows(tree, FAULTS) + [row for row in _rows(tree, PROTOCOL) if row.id.startswith("I")]
    citations = {}
    for path, line, ids, well_formed in _citations(tree):
        if not well_formed:
            yield tree.finding(path, line, "write `// Covers A1, I3.` on one line, ids with commas and a full stop")
        for id in ids:
            citations.setdefault(id, (path, line))

    for row in rows:
        if not _STATUS.fullmatch(row.status):
            yield tree.finding(
                row.path, row.line,
                f"{row.id}: the last column is `covered`, `missing: <part>` or `partly covered: <part>; missing: <part>`")
        elif row.status.startswith("missing") and row.id in citations:
            yield tree.finding(row.path, row.line, f"{row.id} is cited by {citations[row.id][0]}: say `covered` or `partly covered`")
        elif not row.status.startswith("missing") and row.id not in citations:
            yield tree.finding(row.path, row.line, f"{row.id} is marked covered, but no test says `// Covers {row.id}.`")

    yield from _check_numbering(tree, rows)
    known = {row.id for row in rows}
    for id, (path, line) in citations.items():
        table = PROTOCOL if id.startswith("I") else FAULTS
        if id not in known and table in tree:
            yield tree.finding(path, line, f"{id} is not a row of {table}")


def _rows(tree, path):
    if path not in tree:
        return []
    matches = ((number, _ROW.match(line)) for number, line in enumerate(tree.lines(path), start=1))
    return [Row(path, number, match[1], match[2]) for number, match in matches if match]


def _check_numbering(tree, rows):
    """Ids are never removed or given twice: each letter counts from 1 without a gap, and the invariants to their end."""
    numbers = {}
    for row in rows:
        numbers.setdefault(row.id[0], []).append(row)
    for letter, of_letter in numbers.items():
        for expected, row in enumerate(of_letter, start=1):
            if row.id != f"{letter}{expected}":
                yield tree.finding(row.path, row.line, f"expected row {letter}{expected}, found {row.id}: ids count up and stay")
                break
    if PROTOCOL in tree and len(numbers.get("I", [])) < INVARIANTS:
        yield tree.finding(PROTOCOL, 1, f"the table of invariants has {len(numbers.get('I', []))} rows of at least {INVARIANTS}")


_COVERS = re.compile(r"^\s*(?://|#|/\*)\s*Covers\s+[A-Z]\d")
_COVERS_WELL_FORMED = re.compile(r"^\s*(?://|#|/\*)\s*Covers\s+[A-Z]\d+(?:, [A-Z]\d+)*\.(?:\s.*)?$")
_ID = re.compile(r"\b[A-Z]\d+\b")


def _citations(tree):
    """(path, line, ids, well formed) of each `Covers` comment in a test, or in a model that is searched like one."""
    for path in tree.paths:
        is_model = path.startswith("model/") and path.endswith(".pml")
        if not (is_model or path.endswith("_test.cc") or path.startswith(("tests/", "sim/", "python/tests/"))):
            continue
        if not path.endswith((".cc", ".h", ".py", ".sh", ".pml")):
            continue
        for number, line in enumerate(tree.lines(path), start=1):
            if _COVERS.match(line):
                sentence = line.split(".")[0]
                yield path, number, _ID.findall(sentence), bool(_COVERS_WELL_FORMED.match(line))


_CODE_PATH = re.compile(r"`?\b((?:[\w.-]+/)+[\w.-]+\.(?:cc|h|fbs|py|md))\b`?")
_FUNCTION = re.compile(r"`((?:\w+::)*(\w+))(?:\(\))?`")


def check_life_of_a_batch(tree):
    """Each file that it names exists, and each `Function` on a line that names files is in one of them."""
    if LIFE_OF_A_BATCH not in tree:
        return
    for number, line in enumerate(tree.lines(LIFE_OF_A_BATCH), start=1):
        paths = [match[1] for match in _CODE_PATH.finditer(re.sub(r"\]\([^)]*\)", "]", line))]
        known = []
        for path in paths:
            found = next((name for name in (path, f"batchweave/{path}") if name in tree), None)
            if found:
                known.append(found)
            else:
                yield tree.finding(LIFE_OF_A_BATCH, number, f"{path} does not exist")
        for match in _FUNCTION.finditer(line):
            if known and not any(re.search(rf"\b{match[2]}\b", tree.text(path)) for path in known):
                yield tree.finding(LIFE_OF_A_BATCH, number, f"{match[1]} is not in {' or '.join(known)}")


_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")


def check_links(tree):
    folders = {posixpath.dirname(path) for path in tree.paths}
    for path in tree.paths:
        if not path.endswith(".md"):
            continue
        for number, line in enumerate(tree.lines(path), start=1):
            for match in _LINK.finditer(line):
                target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
                if "://" in match[1] or match[1].startswith("mailto:"):
                    continue
                if target not in tree and not any(folder == target or folder.startswith(f"{target}/") for folder in folders):
                    yield tree.finding(path, number, f"the link to {match[1]} leads nowhere")


def check_readme_size(tree):
    if "README.md" not in tree:
        return
    count = len(tree.lines("README.md")) - 1
    if not README_LINES_MIN <= count <= README_LINES_MAX:
        yield tree.finding("README.md", 1, f"{count} lines, expected {README_LINES_MIN} to {README_LINES_MAX}")
