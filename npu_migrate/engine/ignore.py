"""What git would not look at: ignore files, seen from any folder of the walk, and the index that overrules them.

Everything is read from files; git itself is not run, so that a tree's own settings have no say.
"""

from __future__ import annotations

import os
import struct
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.engine.globs import Patterns, patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ENTRY_HEAD = struct.Struct(">60xH")
_EXTENDED = 0x4000
_COMPRESSED_PATHS = 4


class Rules(NamedTuple):
    """Patterns of one ignore file and the folder (absolute, ending in ``/``) that they count from."""

    base: str
    patterns: Patterns


class Repo:
    """A git checkout on the way: its extra ignore file, and which files it tracks."""

    def __init__(self, top: str) -> None:
        """``top`` is the absolute folder that holds ``.git``, ending in ``/``."""
        self.top = top

    @cached_property
    def git_dir(self) -> Path | None:
        """Folder of the index, also where ``.git`` is the file of a linked work tree or a submodule."""
        dot_git = Path(f"{self.top}.git")
        try:
            if dot_git.is_dir():
                return dot_git
            key, _, value = dot_git.read_text("utf-8").partition(":")
        except (OSError, ValueError):
            return None
        return Path(self.top, value.strip()) if key == "gitdir" else None

    def exclude(self) -> Iterator[Rules]:
        """The rules of ``info/exclude``, which all work trees of a repository share."""
        if self.git_dir:
            common = _read(self.git_dir / "commondir").strip()
            yield from _rules(self.top, (self.git_dir / common if common else self.git_dir) / "info" / "exclude")

    @cached_property
    def tracked(self) -> frozenset[str]:
        """Paths in the index, relative to :attr:`top`: a tracked file is never ignored."""
        if not self.git_dir:
            return frozenset()
        try:
            return frozenset(_index_paths((self.git_dir / "index").read_bytes()))
        except (OSError, ValueError, IndexError, struct.error):
            return frozenset()

    @cached_property
    def tracked_folders(self) -> frozenset[str]:
        """Every folder that has a tracked file somewhere below."""
        found: set[str] = set()
        for path in self.tracked:
            folder = path.rpartition("/")[0]
            while folder and folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    def tracks(self, path: str) -> bool:
        """Whether the absolute ``path`` is tracked, or is a folder with a tracked file below."""
        name = path[len(self.top) :]
        return name in self.tracked or name in self.tracked_folders


class View(NamedTuple):
    """What holds in one folder: ignore rules (the strongest first) and the checkout it belongs to."""

    rules: tuple[Rules, ...] = ()
    repo: Repo | None = None

    def entering(self, folder: str, names: Iterable[str]) -> View:
        """The view inside ``folder`` (absolute, ending in ``/``), which holds ``names``."""
        view = self
        if ".git" in names:
            repo = Repo(folder)
            view = View((*repo.exclude(), *self.rules), repo)
        if ".gitignore" in names:
            view = view._replace(rules=(*_rules(folder, Path(f"{folder}.gitignore")), *view.rules))
        return view

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether the absolute ``path`` is ignored by itself; its parents were asked before."""
        for base, rules in self.rules:
            verdict = rules.verdict(path[len(base) :], folder=folder)
            if verdict is not None:
                return verdict
        return False


def view_above(root: str) -> View:
    """What the checkout around ``root`` (absolute) says about it; nothing if it ignores ``root`` itself."""
    above = [os.fspath(parent).rstrip("/") + "/" for parent in Path(root).parents]
    top = next((i for i, folder in enumerate(above) if Path(f"{folder}.git").exists()), None)
    view = View()
    if top is None or Path(root, ".git").exists():
        return view
    steps = [*reversed(above[: top + 1]), f"{root}/"]
    for folder, below in zip(steps, steps[1:]):
        view = view.entering(folder, [name for name in (".git", ".gitignore") if Path(folder + name).exists()])
        if view.ignores(below[:-1], folder=True):
            return View(repo=view.repo)
    return view


def _rules(base: str, path: Path) -> Iterator[Rules]:
    found = patterns(_read(path).split("\n"))
    if found:
        yield Rules(base, found)


def _read(path: Path) -> str:
    # A .gitignore that is a symbolic link does not count for git either.
    try:
        return "" if path.is_symlink() else path.read_text("utf-8-sig", "surrogateescape")
    except OSError:
        return ""


def _index_paths(data: bytes) -> Iterator[str]:
    signature, version, count = struct.unpack_from(">4sLL", data)
    if signature != b"DIRC":
        raise ValueError(signature)
    at, path = 12, b""
    for _ in range(count):
        (flags,) = _ENTRY_HEAD.unpack_from(data, at)
        start = at + _ENTRY_HEAD.size + (2 if flags & _EXTENDED else 0)
        keep = 0
        if version >= _COMPRESSED_PATHS:
            dropped, start = _offset(data, start)
            keep = len(path) - dropped
        end = data.index(b"\0", start)
        path = path[:keep] + data[start:end]
        yield os.fsdecode(path)
        at = end + 1 if version >= _COMPRESSED_PATHS else at + ((end - at) // 8 + 1) * 8


def _offset(data: bytes, at: int) -> tuple[int, int]:
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1
