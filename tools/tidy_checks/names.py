"""Names that say nothing, and words that do not belong in a public repository."""

import re

_EMPTY_NAMES = {"util", "utils", "utility", "utilities", "helper", "helpers", "common", "misc"}


def check_file_names(tree):
    for path in tree.paths:
        for part in path.split("/"):
            words = set(re.split(r"[._-]", part.lower()))
            if words & _EMPTY_NAMES:
                yield tree.finding(path, 1, f"`{part}` says nothing: name the folder or file after what is in it")
                break


_WORDS = [
    (re.compile(r"(?<![\w.$}~-])/(?:work|root|home)/"), "a path of one machine: make it relative, or an option"),
    (re.compile(r"\bsession log|\bissues? #?\d|\bissue [A-F]\b", re.IGNORECASE), "bookkeeping of the work: say what the code needs"),
    (re.compile(r"AKIA[0-9A-Z]{16}"), "an access key"),
    (re.compile(r"BEGIN (?:[A-Z]+ )?PRIVATE KEY"), "a private key"),
]

# Public pages that the project may point to, and names that stand for a server in examples and tests.
_HOSTS = re.compile(
    r"(?:[\w-]+\.)*(?:github\.com|github\.io|apache\.org|w3\.org|rfc-editor\.org|debian\.org|cmake\.org|llvm\.org|google\.com"
    r"|amazon\.com|microsoft\.com|python\.org|cppreference\.com|spinroot\.com|example(?:\.com|\.org)?|invalid|test)$"
    r"|localhost$|127\.0\.0\.1$|[{<$%]"
)
_URL = re.compile(r"https?://(?:[^\s/@\"']*@)?([^\s/:\"'`)>?#]+)")


def check_words(tree):
    for path in tree.paths:
        if path == "LICENSE" or path.startswith(("tests/golden/", "tests/fuzz/corpus/")):
            continue
        for number, line in enumerate(tree.lines(path), start=1):
            for pattern, what in _WORDS:
                if pattern.search(line):
                    yield tree.finding(path, number, what)
            for match in _URL.finditer(line):
                if not _HOSTS.match(match[1]):
                    yield tree.finding(path, number, f"{match[1]}: not a host that the project points to (tools/tidy_checks/names.py)")
