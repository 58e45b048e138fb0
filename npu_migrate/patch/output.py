"""Writes the patched tree to a new folder; the source is only read."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from npu_migrate.patch import files
from npu_migrate.patch.model import Change, Code, PatchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LEFT_OUT = {".git", ".npu-migrate"}


def write_copy(root: Path, folder: Path, changes: Sequence[Change], *, only: Sequence[str] = ()) -> None:
    """Copy the tree at ``root`` to ``folder``, with ``changes`` put in.

    Everything is copied, ignored files too, with modes and times; symbolic links stay links and are not followed.
    Left out are ``.git`` (at any depth: a copied submodule's would point nowhere), our own state folder, sockets,
    pipes and devices. ``folder`` appears complete or not at all.

    Args:
        root: the tree to copy.
        folder: where to; must be new or empty.
        changes: what to write instead of what the tree holds.
        only: copy just these paths (relative to ``root``) instead of the whole tree.

    Raises:
        PatchError: ``folder`` is as it was before.
    """
    source = os.path.realpath(root)
    target = Path(os.path.realpath(folder))
    _check_target(Path(source), target, os.fspath(folder))
    wanted = {change.path: change for change in changes if change.old != change.new}
    with files.failing_as(os.fspath(folder), Code.WRITE_FAILED):
        target.parent.mkdir(parents=True, exist_ok=True)
        with _temporary(target) as temp:
            copy = _Copy(Path(source), wanted, only)
            copy.folder(Path(source), temp, "")
            copy.finish()
            left = sorted(wanted.keys() - copy.changed)
            if left:
                raise PatchError(left[0], Code.MISSING, others=tuple(left[1:]))
            temp.rename(target)


def _check_target(source: Path, target: Path, shown: str) -> None:
    if target == source or source in target.parents:
        raise PatchError(shown, Code.OUTPUT_INSIDE)
    if target in source.parents:
        raise PatchError(shown, Code.OUTPUT_AROUND)
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise PatchError(shown, Code.OUTPUT_NOT_A_FOLDER)
    if any(target.iterdir()):
        raise PatchError(shown, Code.OUTPUT_NOT_EMPTY)


@contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """A folder beside ``target`` that is gone afterwards unless it was renamed."""
    temp = Path(tempfile.mkdtemp(prefix=".npu-migrate-", dir=target.parent))
    try:
        yield temp
    finally:
        shutil.rmtree(temp, ignore_errors=True)


class _Copy:
    def __init__(self, root: Path, changes: dict[str, Change], only: Sequence[str]) -> None:
        self.root = root
        self.changes = changes
        self.only = {path.strip("/") for path in only}
        self.changed: set[str] = set()
        self.folders: list[tuple[Path, Path]] = []

    def folder(self, source: Path, target: Path, prefix: str) -> None:
        """Copy what ``source`` holds into ``target``, which exists; ``prefix`` is its path from the root."""
        self.folders.append((source, target))
        with os.scandir(source) as found:
            for file in sorted(found, key=lambda entry: entry.name):
                name = prefix + file.name
                if file.name in _LEFT_OUT or not self._asked_for(name):
                    continue
                with files.failing_as(name, Code.WRITE_FAILED):
                    self._one(Path(file.path), target / file.name, name)

    def finish(self) -> None:
        """Give the folders their modes and times, which could not be written to or removed otherwise."""
        for source, target in reversed(self.folders):
            shutil.copystat(source, target)

    def _one(self, source: Path, target: Path, name: str) -> None:
        mode = source.lstat().st_mode
        if stat.S_ISLNK(mode):
            target.symlink_to(source.readlink())
        elif stat.S_ISDIR(mode):
            target.mkdir()
            self.folder(source, target, name + "/")
        elif stat.S_ISREG(mode):
            self._file(source, target, name)

    def _file(self, source: Path, target: Path, name: str) -> None:
        change = self.changes.get(name)
        if not change:
            shutil.copy2(source, target, follow_symlinks=False)
            return
        if files.read(source) != change.old:
            raise PatchError(name, Code.CHANGED)
        target.write_bytes(change.new)
        shutil.copymode(source, target)
        self.changed.add(name)

    def _asked_for(self, name: str) -> bool:
        return not self.only or any(
            name == path or name.startswith(path + "/") or path.startswith(name + "/") for path in self.only
        )
