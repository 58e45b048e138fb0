"""Going back: from a run that was broken off, or from the last complete one.

Both are the same walk over a run's record. It can itself be broken off anywhere and walked again.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from npu_migrate.patch import files
from npu_migrate.patch.model import Code, PatchError
from npu_migrate.patch.state import Journal, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.patch.state import Replaced, Run

PREPARE, REPLACE, UNDO = "prepare", "replace", "undo"


def digest(data: bytes) -> str:
    """How a record names a file's content."""
    return hashlib.sha256(data).hexdigest()


def temp_beside(path: Path, run: int, index: int, *, back: bool = False) -> Path:
    """The name a file's new content (``back``: its old content) has before it takes the file's place."""
    return path.with_name(f".npu-migrate-{run}-{index}.{'old' if back else 'new'}")


def interrupted(root: Path) -> bool:
    """Whether a run on this tree was broken off, so that its files may be half old, half new."""
    return State.of(Path(os.path.realpath(root))).journal() is not None


def recover(root: Path, *, force: bool = False) -> tuple[str, ...]:
    """Put back the complete state before a run that was broken off; call it before the tree is read.

    Returns:
        The paths (from the top of the checkout, or else the root) that were put back.

    Raises:
        PatchError: ``INTERRUPTED``, a file was edited after the break and ``force`` is not given.
    """
    real = Path(os.path.realpath(root))
    state = State.of(real)
    if not state.journal():
        return ()
    with state.locked():
        return recover_locked(state, force=force)


def recover_locked(state: State, *, force: bool) -> tuple[str, ...]:
    """:func:`recover` for a caller that holds the lock."""
    journal = state.journal()
    if not journal:
        return ()
    run = state.run(journal.run)
    back: tuple[str, ...] = ()
    if run:
        if journal.step != PREPARE:
            edited = edited_since(state, run)
            if edited and not (force or journal.force):
                raise PatchError(edited[0], Code.INTERRUPTED, others=edited[1:])
            back = _put_back(state, run)
            with files.failing_as(os.fspath(state.folder), Code.HALF_DONE):
                state.set_journal(Journal(run.number, PREPARE))
        _remove_temps(state, run)
    with files.failing_as(os.fspath(state.folder), Code.HALF_DONE):
        state.drop_run(journal.run)
        state.end_journal()
    return back


def edited_since(state: State, run: Run) -> tuple[str, ...]:
    """Files that hold neither what the run wrote nor what was there before."""
    return tuple(item.path for _, item in _replaced(state, run) if _now(state, item) not in {item.old, item.new})


def _replaced(state: State, run: Run) -> Iterator[tuple[int, Replaced]]:
    """The files that the run got to: where its temporary file is still there, it never did."""
    for index, item in enumerate(run.files):
        try:
            pending = os.path.lexists(temp_beside(files.locate(state.top, item.path), run.number, index))
        except PatchError:
            pending = False
        if not pending:
            yield index, item


def _put_back(state: State, run: Run) -> tuple[str, ...]:
    """Give every file that was replaced its old bytes and permissions."""
    done = []
    for index, item in _replaced(state, run):
        if _now(state, item) == item.old:
            continue
        # A failure leaves the journal where it is, so that a later call goes on.
        with files.failing_as(item.path, Code.HALF_DONE):
            path = files.locate(state.top, item.path, make_folders=True)
            temp = temp_beside(path, run.number, index, back=True)
            temp.unlink(missing_ok=True)
            like = path.lstat() if path.is_file() and not path.is_symlink() else None
            files.write_beside(temp, state.old_bytes(run, item), like=like, mode=item.mode)
            temp.replace(path)
            files.sync_folder(path.parent)
        done.append(item.path)
    return tuple(done)


def _now(state: State, item: Replaced) -> str:
    """Digest of the file as it is; empty if it is gone or became something else."""
    try:
        return digest(files.read(files.locate(state.top, item.path)))
    except (OSError, PatchError):
        return ""


def _remove_temps(state: State, run: Run) -> None:
    for index, item in enumerate(run.files):
        for back in (False, True):
            with suppress(OSError, PatchError):
                temp_beside(files.locate(state.top, item.path), run.number, index, back=back).unlink()
