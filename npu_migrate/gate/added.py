"""Which lines a branch adds, as git sees it from the point where the branch began."""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import TYPE_CHECKING

from npu_migrate.errors import InputError
from npu_migrate.gate.hunks import COME, GONE, Line, lines
from npu_migrate.patch import git
from npu_migrate.patch.model import PatchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from npu_migrate.model import Finding

_DIFF: tuple[str, ...] = (
    "diff",
    "--unified=0",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--relative",
)
_DIFF += ("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=all", "--diff-filter=d")
_UNTRACKED = ("ls-files", "--others", "--exclude-standard", "-z")
_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_NAME = re.compile(r'^\+\+\+ (?:"(b/(?:[^"\\]|\\.)*)"|(b/[^\n\t]*)\t?)$', re.MULTILINE)
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPED = dict(zip('abtnvfr"\\', '\a\b\t\n\v\f\r"\\'))


class Added:
    """The added lines of each file; ``None`` where all of a file is new."""

    def __init__(self, files: dict[str, dict[int, str] | None]) -> None:
        """``files`` maps a path, relative to the root, to the numbers and texts of its added lines."""
        self.files = files

    def covers(self, finding: Finding, source: str) -> bool:
        """Whether a finding stands on an added line; ``source`` is its line."""
        found = self.files.get(finding.path, {})
        if found is None:
            return True
        if finding.cell is not None:
            return _in_notebook(source, found.values())
        return any(line in found for line in range(finding.span.line, finding.span.end_line + 1))


def added(root: Path, revision: str) -> Added:
    """The lines below ``root`` that the merge base with ``revision`` lacks; files unknown to git are all new.

    Nothing that the repository configures is run.

    Raises:
        InputError: git is missing, ``root`` is no checkout, or there is no such revision or no merge base.
    """
    program = shutil.which("git")
    if not program:
        raise InputError(says="diff-base-no-git", rev=revision)
    try:
        return Added(_files(program, root, _merge_base(program, root, revision)))
    except PatchError as error:
        raise InputError(says="diff-base-git", rev=revision, reason=error.reason) from error


def _merge_base(program: str, root: Path, revision: str) -> str:
    if not any((folder / ".git").exists() for folder in (root, *root.parents)):
        raise InputError(says="diff-base-no-checkout", path=root, rev=revision)
    # What begins with a dash would be an option.
    commit = (
        "" if revision.startswith("-") else _ask(program, root, "rev-parse", "--verify", "-q", revision + "^{commit}")
    )
    if not commit:
        raise InputError(says="diff-base-rev", rev=revision)
    base = _ask(program, root, "merge-base", commit, "HEAD")
    if not base:
        raise InputError(says="diff-base-apart", rev=revision)
    return base


def _ask(program: str, root: Path, *arguments: str) -> str:
    """The one line that git answers; nothing where it says no."""
    return git.run(program, root, arguments, ok=(0, 1)).strip()


def _files(program: str, root: Path, base: str) -> dict[str, dict[int, str] | None]:
    quiet = git.without_filters(program, root)
    diff = git.run(program, root, [*quiet, "-c", "core.quotePath=true", *_DIFF, base, "--"])
    found: dict[str, dict[int, str] | None] = dict(_parsed(diff))
    untracked = git.run(program, root, [*quiet, *_UNTRACKED])
    found.update(dict.fromkeys(filter(None, untracked.split("\0"))))
    return found


def _parsed(diff: str) -> Iterator[tuple[str, dict[int, str]]]:
    for part in _FILE.split(diff)[1:]:
        head, at, _ = part.partition("\n@@ ")
        name = _NAME.search(head + "\n") if at else None
        if name:
            path = (_unquoted(name[1]) if name[1] is not None else name[2])[len("b/") :]
            yield path, _come(list(lines(part)), notebook=path.endswith(".ipynb"))


def _come(rows: list[Line], *, notebook: bool) -> dict[int, str]:
    """The added lines; in a notebook without those that only got a comma because one was put after them."""
    gone = {_bare(row.text) for row in rows if row.mark == GONE} if notebook else set()
    come = (row for row in rows if row.mark == COME)
    return {row.new: row.text for row in come if not gone or _bare(row.text) not in gone}


def _bare(text: str) -> str:
    return text.strip().rstrip(",").removesuffix('"').removesuffix("\\n")


def _unquoted(name: str) -> str:
    """A path that git has quoted as C does: its bytes in octal where they are not ASCII."""
    raw = _ESCAPE.sub(lambda match: chr(int(match[1], 8)) if match[1].isdigit() else _ESCAPED[match[1]], name)
    return os.fsdecode(raw.encode("latin-1"))


def _in_notebook(source: str, texts: Iterable[str]) -> bool:
    """A notebook holds its lines as JSON strings: those of a cell have other numbers than those of the file."""
    spellings = {json.dumps(source)[1:-1], json.dumps(source, ensure_ascii=False)[1:-1]}
    return any(spelling in text for text in texts for spelling in spellings)
