"""Writes changes in place: all of them or, whatever happens on the way, none."""

from __future__ import annotations

import os
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.patch import files, git
from npu_migrate.patch.journal import PREPARE, REPLACE, digest, recover_locked, temp_beside
from npu_migrate.patch.model import Change, Code, PatchError
from npu_migrate.patch.state import Journal, Replaced, Run, State

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Target(NamedTuple):
    """A change, the file it goes to, and what that file was when it was checked."""

    change: Change
    path: Path
    status: os.stat_result


def apply(root: Path, changes: Sequence[Change], *, force: bool = False) -> tuple[str, ...]:
    """Write ``changes`` to the tree at ``root`` and keep a record for :func:`~npu_migrate.patch.undo.undo`.

    A run that was broken off is rolled back first; as that changes what the tree holds, callers do it themselves
    (:func:`~npu_migrate.patch.journal.recover`) before they read the tree.

    Args:
        root: the folder that the changes' paths count from.
        changes: changes that change nothing are left out.
        force: go on although git knows uncommitted changes below ``root``.

    Returns:
        The paths written.

    Raises:
        PatchError: nothing was written.
    """
    root = Path(os.path.realpath(root))
    state = State.of(root)
    if state.journal():
        with state.locked():
            recover_locked(state, force=False)
    wanted = sorted((change for change in changes if change.old != change.new), key=lambda change: change.path)
    if not wanted:
        return ()
    targets = [_check(root, change) for change in wanted]
    if not force:
        git.refuse_uncommitted(root, [target.path for target in targets])
    with state.locked():
        if state.journal():
            raise PatchError(os.fspath(root), Code.BUSY)
        _write(state, root, targets)
    return tuple(change.path for change in wanted)


def _check(root: Path, change: Change) -> _Target:
    path = files.locate(root, change.path)
    status = files.writable(path, change.path)
    with files.failing_as(change.path, Code.CHANGED):
        if files.read(path) != change.old:
            raise PatchError(change.path, Code.CHANGED)
    return _Target(change, path, status)


def _write(state: State, root: Path, targets: list[_Target]) -> None:
    number = max(state.numbers(), default=0) + 1
    try:
        state.set_journal(Journal(number, PREPARE))
        state.save_run(_record(state, root, number, targets), [target.change.old for target in targets])
        for index, (change, path, status) in enumerate(targets):
            with files.failing_as(change.path, Code.WRITE_FAILED):
                temp = temp_beside(path, number, index)
                files.write_beside(temp, change.new, like=status, mode=status.st_mode)
        state.set_journal(Journal(number, REPLACE))
        for index, target in enumerate(targets):
            _replace(target, temp_beside(target.path, number, index))
        for folder in {target.path.parent for target in targets}:
            files.sync_folder(folder)
        state.end_journal()
    except BaseException as error:
        recover_locked(state, force=False)
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise PatchError(os.fspath(state.folder), Code.STATE_UNUSABLE, reason=reason) from error
        raise


def _replace(target: _Target, temp: Path) -> None:
    if not files.same(target.status, target.path):
        raise PatchError(target.change.path, Code.CHANGED)
    with files.failing_as(target.change.path, Code.WRITE_FAILED):
        temp.replace(target.path)


def _record(state: State, root: Path, number: int, targets: list[_Target]) -> Run:
    base = root.relative_to(state.top).as_posix() if root != state.top else ""
    starts = accumulate((len(target.change.old) for target in targets), initial=0)
    replaced = tuple(
        Replaced(
            path=target.path.relative_to(state.top).as_posix(),
            mode=target.status.st_mode & 0o777,
            start=start,
            size=len(target.change.old),
            old=digest(target.change.old),
            new=digest(target.change.new),
        )
        for target, start in zip(targets, starts)
    )
    return Run(number, base, replaced)
