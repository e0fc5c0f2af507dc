"""The files of the project, and C++ without its comments and strings."""

import os
import pathlib
import re
import subprocess
from typing import NamedTuple

CPP = (".cc", ".h")


class Finding(NamedTuple):
    path: str
    line: int
    message: str


class Tree:
    """Files of a checkout: paths are relative to its root, with slashes. Each file is read once."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.paths = sorted(_listed_by_git(self.root) or _found_on_disk(self.root))
        self._known = set(self.paths)
        self._text = {}
        self._code = {}

    @staticmethod
    def finding(path, line, message):
        return Finding(path, line, message)

    def __contains__(self, path):
        return path in self._known

    def text(self, path):
        if path not in self._text:
            self._text[path] = (self.root / path).read_bytes().decode("utf-8", errors="replace")
        return self._text[path]

    def lines(self, path):
        return self.text(path).split("\n")

    def code(self, path):
        """The lines of a C++ file, with comments blanked and strings emptied."""
        if path not in self._code:
            self._code[path] = blank_comments_and_strings(self.text(path)).split("\n")
        return self._code[path]

    def under(self, *folders, suffixes=CPP):
        """The paths below any of `folders` that end in one of `suffixes`."""
        prefixes = tuple(f"{folder}/" for folder in folders)
        return [path for path in self.paths if path.startswith(prefixes) and path.endswith(suffixes)]


def is_test(path):
    """Test code: never linked into what users run."""
    return path.endswith("_test.cc") or path.startswith(("tests/", "batchweave/testing/"))


_TOKEN = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.VERBOSE,
)


def blank_comments_and_strings(text):
    def blank(match):
        token = match.group()
        newlines = "\n" * token.count("\n")
        return newlines if token.startswith("/") else '""' + newlines

    return _TOKEN.sub(blank, text)


def _listed_by_git(root):
    if not (root / ".git").exists():
        return []
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, check=False)
    names = {name for name in listing.stdout.decode().split("\0") if name}
    return [name for name in names if (root / name).is_file()]


def _found_on_disk(root):
    """For a checkout without git, or one that git refuses to read because another user owns it."""
    found = []
    for folder, folders, files in os.walk(root):
        relative = pathlib.Path(folder).relative_to(root)
        folders[:] = [name for name in folders if name not in (".git", "build", "__pycache__")]
        found.extend((relative / name).as_posix() for name in files)
    return found
