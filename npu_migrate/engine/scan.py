"""Finds the files of a tree, tells what they are, and keeps the few that a rule could care about.

Symbolic links are never followed and nothing outside the given paths is listed. What is not looked at although it
might matter is an entry as well, with the reason.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Union

from npu_migrate.engine.globs import patterns
from npu_migrate.engine.ignore import View, view_above
from npu_migrate.engine.kinds import DOCS, PYTHON, kind_of, kind_of_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Paths = Union[Path, "Sequence[Path]"]

MAX_BYTES = 16 * 1024 * 1024
_HEAD = 8192
_SHEBANG = 128
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_NEVER = {".git", ".hg", ".svn", ".npu-migrate", "node_modules", "__pycache__", ".ipynb_checkpoints", ".eggs"}
_NEVER |= {".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"}
_NEVER_SUFFIXES = (".egg-info", ".dist-info")
_ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


class Skip(str, Enum):
    """Why an entry is listed but not read."""

    TOO_LARGE = "too-large"
    BINARY = "binary"
    UTF_16 = "utf-16"
    UNREADABLE = "unreadable"
    SPECIAL_FILE = "special-file"
    SYMLINK = "symlink"
    SYMLINK_OUTSIDE = "symlink-outside"
    IGNORED = "ignored"

    @property
    def loses(self) -> bool:
        """Whether it is a source file of the tree that nobody has looked into."""
        return self in (Skip.TOO_LARGE, Skip.BINARY, Skip.UTF_16, Skip.UNREADABLE)


@dataclass(frozen=True)
class Entry:
    """One file (or a folder that was not entered). ``path`` is relative to the root, with ``/``."""

    path: str
    absolute: Path
    kind: str | None = None
    skipped: Skip | None = None


class Candidate(NamedTuple):
    """A file that holds a keyword and its bytes; no bytes where ``entry.skipped`` says why."""

    entry: Entry
    data: bytes


def root_of(paths: Paths) -> Path:
    """The folder that entries are relative to: the given one, or the one around them all.

    Where a file is named it is the project around that: the top of its checkout, else the nearest folder above with a
    ``pyproject.toml``. A hook that is handed file names then reports the paths that everything else knows them by.
    """
    given = _as_sequence(paths)
    folders = [os.fspath(path if path.is_dir() else path.parent) for path in given]
    around = Path(folders[0] if len(folders) == 1 else os.path.commonpath(map(os.path.realpath, folders)))
    return around if all(path.is_dir() for path in given) else _project(around)


def _project(folder: Path) -> Path:
    real = Path(os.path.realpath(folder))
    for mark in (".git", "pyproject.toml"):
        found = next((step for step in (real, *real.parents) if os.path.lexists(step / mark)), None)
        if found:
            return found
    return folder


def scan(
    paths: Paths,
    *,
    exclude: Sequence[str] = (),
    include: Sequence[str] = (),
    max_bytes: int = MAX_BYTES,
    ignored: bool = False,
) -> Iterator[Entry]:
    """List every file below ``paths``, sorted by path.

    Args:
        paths: a folder, a file, or several; a path that is named is listed whatever ignore files say.
        exclude: patterns like those of a ``.gitignore`` in the root; they win over everything else.
        include: patterns of what to list although an ignore file hides it.
        max_bytes: larger files are skipped.
        ignored: also list what ignore files hide (a hidden folder as one entry).

    Raises:
        OSError: one of ``paths`` does not exist.
    """
    given = _as_sequence(paths)
    walk = _Walk(os.path.realpath(root_of(given)), exclude, include, max_bytes, ignored=ignored)
    if len(given) == 1:
        return walk.below(given[0])
    found = {entry.path: entry for path in given for entry in walk.below(path)}
    return (found[path] for path in sorted(found))


def reads(path: Path) -> bool:
    """Whether a file is of a kind that is read at all.

    Raises:
        OSError: it does not exist.
    """
    return any(entry.skipped or (entry.kind and entry.kind != DOCS) for entry in scan(path))


def candidates(
    entries: Iterable[Entry],
    keywords: Sequence[bytes],
    concerns: Callable[[str, bytes], bool] | None = None,
    also: Callable[[bytes], bool] | None = None,
) -> Iterator[Candidate]:
    """Read each file once and keep those with one of the literal ``keywords``; skipped entries are passed on.

    ``concerns`` decides by kind and content about files that are not Python (default: the keywords too), ``also`` about
    Python files without a keyword. One ``in`` a keyword: with twenty keywords, on real trees, half the time of one
    compiled alternation.
    """
    needed = _shortest(tuple(keywords))
    for entry in entries:
        if entry.skipped:
            yield Candidate(entry, b"")
        elif entry.kind and entry.kind != DOCS:
            if entry.kind == PYTHON:
                wanted = partial(_holds, needed, also)
            else:
                wanted = partial(concerns, entry.kind) if concerns else partial(_holds, needed, None)
            found = _read(entry, wanted)
            if found:
                yield found


@cache
def _shortest(keywords: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The keywords without those that hold another."""
    return tuple(
        word for word in dict.fromkeys(keywords) if not any(other != word and other in word for other in keywords)
    )


def _read(entry: Entry, wanted: Callable[[bytes], bool]) -> Candidate | None:
    try:
        data = _bytes(entry.absolute)
    except OSError:
        return Candidate(replace(entry, skipped=Skip.UNREADABLE), b"")
    if data.startswith(_UTF16_BOMS):
        text = data.decode("utf-16", "replace").encode("utf-8", "replace")
        return Candidate(replace(entry, skipped=Skip.UTF_16), b"") if wanted(text) else None
    if not wanted(data):
        return None
    if b"\0" in data[:_HEAD]:
        return Candidate(replace(entry, skipped=Skip.BINARY), b"")
    return Candidate(entry, data)


def _holds(keywords: Sequence[bytes], also: Callable[[bytes], bool] | None, data: bytes) -> bool:
    return any(word in data for word in keywords) or (also is not None and also(data))


def _as_sequence(paths: Paths) -> Sequence[Path]:
    return [paths] if isinstance(paths, Path) else paths


class _Node(NamedTuple):
    """A file or folder still to be looked at; ``hidden``: seen only as far as it is tracked or included."""

    file: os.DirEntry[str]
    view: View
    hidden: bool


class _Walk:
    def __init__(
        self, root: str, exclude: Sequence[str], include: Sequence[str], max_bytes: int, *, ignored: bool
    ) -> None:
        self.base = _folder(root)
        self.exclude = patterns(exclude)
        self.include = patterns(include)
        self.included = [pattern.lstrip("/").split("/") for pattern in include]
        self.max_bytes = max_bytes
        self.show_ignored = ignored

    def below(self, path: Path) -> Iterator[Entry]:
        """Entries for one of the given paths: a file itself, a folder's contents."""
        if path.is_dir():
            top = os.path.realpath(path)
            return self._contents(top, view_above(top))
        absolute = _folder(os.path.realpath(path.parent)) + path.name
        return iter([self._file(absolute, path.lstat())])

    def _contents(self, top: str, view: View) -> Iterator[Entry]:
        pending: list[_Node | Entry] = list(self._children(top, view, hidden=False, is_top=True))
        while pending:
            node = pending.pop()
            if isinstance(node, Entry):
                yield node
            elif node.file.is_dir(follow_symlinks=False):
                pending.extend(self._children(node.file.path, node.view, hidden=node.hidden))
            else:
                yield self._file(node.file.path, node.file.stat(follow_symlinks=False))

    def _children(self, folder: str, view: View, *, hidden: bool, is_top: bool = False) -> Iterator[_Node | Entry]:
        """What to look at in one folder, last path first, so that a stack gives them back in order."""
        try:
            with os.scandir(folder) as found:
                files = sorted(found, key=_as_path, reverse=True)
        except OSError:
            yield self._entry(folder, skipped=Skip.UNREADABLE)
            return
        names = {file.name for file in files}
        if not is_top and names & _ENVIRONMENT_MARKS:
            return
        view = view.entering(_folder(folder), names)
        for file in files:
            node = self._visible(file, view, hidden=hidden)
            if node:
                yield node

    def _visible(self, file: os.DirEntry[str], view: View, *, hidden: bool) -> _Node | Entry | None:
        folder = file.is_dir(follow_symlinks=False)
        if folder and (file.name in _NEVER or file.name.endswith(_NEVER_SUFFIXES)):
            return None
        path = file.path[len(self.base) :]
        if not self.exclude.verdict(path, folder=folder):
            if not hidden and not view.ignores(file.path, folder=folder):
                return _Node(file, view, hidden=False)
            if self.include.verdict(path, folder=folder):
                return _Node(file, view, hidden=False)
            if (view.repo and view.repo.tracks(file.path)) or (folder and self._may_include(path)):
                return _Node(file, view, hidden=True)
        return self._entry(file.path, skipped=Skip.IGNORED) if self.show_ignored else None

    def _may_include(self, folder: str) -> bool:
        """Whether something below an ignored folder could match one of the ``include`` patterns."""
        parts = folder.split("/")
        return any(
            len(pattern) == 1 or all(name == "**" or fnmatchcase(part, name) for part, name in zip(parts, pattern))
            for pattern in self.included
        )

    def _file(self, path: str, status: os.stat_result) -> Entry:
        folder, _, name = path.rpartition("/")
        kind = kind_of(name, folder.rpartition("/")[2])
        if stat.S_ISLNK(status.st_mode):
            inside = (os.path.realpath(path) + "/").startswith(self.base)
            return self._entry(path, kind, Skip.SYMLINK if inside else Skip.SYMLINK_OUTSIDE)
        if not stat.S_ISREG(status.st_mode):
            return self._entry(path, kind, Skip.SPECIAL_FILE)
        if kind and status.st_size > self.max_bytes:
            return self._entry(path, kind, Skip.TOO_LARGE)
        if kind or "." in name:
            return self._entry(path, kind)
        try:
            return self._entry(path, kind_of_script(_bytes(path, _SHEBANG)))
        except OSError:
            return self._entry(path, skipped=Skip.UNREADABLE)

    def _entry(self, path: str, kind: str | None = None, skipped: Skip | None = None) -> Entry:
        return Entry(path[len(self.base) :] or ".", Path(path), kind, skipped)


def _folder(path: str) -> str:
    return path.rstrip("/") + "/"


def _as_path(file: os.DirEntry[str]) -> str:
    return file.name + "/" if file.is_dir(follow_symlinks=False) else file.name


def _bytes(path: str | Path, limit: int = -1) -> bytes:
    with os.fdopen(os.open(path, _READ_FLAGS), "rb", buffering=0) as file:
        return file.read(limit) or b""
