"""Takes the last run back, byte for byte; called again, the run before it."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from npu_migrate.patch.files import failing_as
from npu_migrate.patch.journal import UNDO, edited_since, recover_locked
from npu_migrate.patch.model import Code, PatchError
from npu_migrate.patch.state import Journal, Run, State


class Undone(NamedTuple):
    """Paths put back (from the top of the checkout, or else the root), and whether that run had been broken off."""

    paths: tuple[str, ...]
    interrupted: bool


def undo(root: Path, *, force: bool = False) -> Undone:
    """Put back what the files held before the last run on ``root``, or before one that was broken off.

    In a checkout the last run is the last one on ``root`` or on a folder below it.

    Args:
        root: a folder that changes were applied to.
        force: also put back files that were edited after the run, dropping those edits.

    Raises:
        PatchError: nothing was put back; ``path`` and ``others`` name the edited files.
    """
    real = Path(os.path.realpath(root))
    state = State.of(real)
    if not state.exists():
        raise PatchError(os.fspath(root), Code.NOTHING_TO_UNDO)
    with state.locked():
        if state.journal():
            return Undone(recover_locked(state, force=force), interrupted=True)
        run = _last_run(state, real)
        edited = edited_since(state, run)
        if edited and not force:
            raise PatchError(edited[0], Code.CHANGED_SINCE, others=edited[1:])
        with failing_as(os.fspath(state.folder), Code.STATE_UNUSABLE):
            state.set_journal(Journal(run.number, UNDO, force))
        return Undone(recover_locked(state, force=force), interrupted=False)


def _last_run(state: State, root: Path) -> Run:
    here = PurePosixPath(root.relative_to(state.top).as_posix())
    for number in state.numbers():
        run = state.run(number)
        if not run:
            continue
        base = PurePosixPath(run.base)
        if here in {base, *base.parents}:
            return run
        if base in here.parents:
            raise PatchError(os.fspath(state.top / run.base), Code.WIDER_RUN)
    raise PatchError(os.fspath(root), Code.NOTHING_TO_UNDO)
