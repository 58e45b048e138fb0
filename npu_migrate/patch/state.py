"""Where undo records live, and the journal that says whether a run is under way.

``.git/npu-migrate`` of the checkout that holds the root; without one, ``.npu-migrate`` in the root::

    journal.json   only while files are being replaced: {"run": 3, "step": "prepare", "force": false}
    runs/3/        record.json (what was replaced, with hashes) and old.bin (the bytes before, one after the other)

A run without a journal is complete. Removing the journal is the one step that completes a run or an undo.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from npu_migrate.patch.files import failing_as, read, sync_folder, write_beside
from npu_migrate.patch.model import Code, PatchError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has none: two runs at once on one tree are then not told apart
    fcntl = None  # type: ignore[assignment]

_NAME = ".npu-migrate"
_LEFT_OVER = {".gitignore", "journal.tmp", "runs"}


@dataclass(frozen=True)
class Replaced:
    """One file of a run: its path below :attr:`State.top`, permissions, place in ``old.bin``, and both hashes."""

    path: str
    mode: int
    start: int
    size: int
    old: str
    new: str


@dataclass(frozen=True)
class Run:
    """One run; ``base`` is the root it was given, below :attr:`State.top` (empty for the top itself)."""

    number: int
    base: str
    files: tuple[Replaced, ...]


@dataclass(frozen=True)
class Journal:
    """The run under way and how far it is."""

    run: int
    step: str
    force: bool = False


class State:
    """The state folder of one tree; paths in its records count from ``top``."""

    def __init__(self, top: Path, folder: Path) -> None:
        """Use :meth:`of` to find both."""
        self.top = top
        self.folder = folder
        self.journal_file = folder / "journal.json"

    @classmethod
    def of(cls, root: Path) -> State:
        """The state folder that answers for ``root`` (a real path)."""
        own = root / _NAME
        # Records made before the tree became a checkout are found again.
        if not (own / "runs").is_dir():
            for folder in (root, *root.parents):
                if os.path.lexists(folder / ".git"):
                    git_dir = _git_dir(folder / ".git")
                    if git_dir:
                        return cls(folder, git_dir / "npu-migrate")
                    break
        return cls(root, own)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the tree against other runs; the folder is made if need be, and removed again if nothing is in it."""
        shown = os.fspath(self.folder)
        with failing_as(shown, Code.STATE_UNUSABLE):
            if self.folder.is_symlink():
                raise PatchError(shown, Code.SYMLINK)
            self.folder.mkdir(exist_ok=True)
            handle = os.open(self.folder, os.O_RDONLY)
        try:
            _lock(handle, os.fspath(self.top))
            try:
                self._hide()
                yield
            finally:
                self._tidy()
        finally:
            os.close(handle)

    def exists(self) -> bool:
        """Whether any run has left something here."""
        return self.folder.is_dir()

    def journal(self) -> Journal | None:
        """The run under way or broken off, if any."""
        if not os.path.lexists(self.journal_file):
            return None
        with self._reading():
            found = json.loads(read(self.journal_file))
            return Journal(int(found["run"]), str(found["step"]), bool(found["force"]))

    def set_journal(self, journal: Journal) -> None:
        """Note the next step, at once and for good."""
        self._save(self.journal_file, asdict(journal))

    def end_journal(self) -> None:
        """Complete the run or the undo."""
        self.journal_file.unlink()
        sync_folder(self.folder)

    def numbers(self) -> list[int]:
        """Numbers of all runs, the latest first."""
        with suppress(FileNotFoundError):
            return sorted(
                (int(path.name) for path in (self.folder / "runs").iterdir() if path.name.isdecimal()), reverse=True
            )
        return []

    def save_run(self, run: Run, old: list[bytes]) -> None:
        """Keep what is needed to go back."""
        folder = self._run_folder(run.number)
        folder.mkdir(parents=True)
        self._save(folder / "record.json", asdict(run))
        write_beside(folder / "old.bin", b"".join(old))
        sync_folder(folder)
        sync_folder(folder.parent)

    def run(self, number: int) -> Run | None:
        """A run's record; None where it was not begun, or is already being removed."""
        file = self._run_folder(number) / "record.json"
        if not file.exists():
            return None
        with self._reading():
            found = json.loads(read(file))
            files = tuple(_replaced(item) for item in found["files"])
            return Run(int(found["number"]), str(found["base"]), files)

    def old_bytes(self, run: Run, replaced: Replaced) -> bytes:
        """What the file held before the run."""
        data = read(self._run_folder(run.number) / "old.bin")
        return data[replaced.start : replaced.start + replaced.size]

    def drop_run(self, number: int) -> None:
        """Forget a run."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self._run_folder(number))

    def _run_folder(self, number: int) -> Path:
        return self.folder / "runs" / str(number)

    def _hide(self) -> None:
        """Keep git from showing a state folder that lies in the tree itself."""
        ignore = self.folder / ".gitignore"
        if self.folder.name == _NAME:
            ignore.write_bytes(b"*\n")

    def _tidy(self) -> None:
        if os.path.lexists(self.journal_file) or self.numbers():
            return
        with suppress(OSError):
            if {path.name for path in self.folder.iterdir()} <= _LEFT_OVER:
                shutil.rmtree(self.folder)

    def _save(self, path: Path, content: dict[str, Any]) -> None:
        temp = path.with_suffix(".tmp")
        with suppress(FileNotFoundError):
            temp.unlink()
        write_beside(temp, json.dumps(content).encode())
        temp.replace(path)
        sync_folder(path.parent)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PatchError(os.fspath(self.folder), Code.STATE_UNUSABLE, reason=repr(error)) from error


def _replaced(item: dict[str, Any]) -> Replaced:
    mode, start, size = (int(item[key]) for key in ("mode", "start", "size"))
    return Replaced(str(item["path"]), mode, start, size, str(item["old"]), str(item["new"]))


def _git_dir(dot_git: Path) -> Path | None:
    """The git directory, if it is one and agrees: a tree from elsewhere must not choose where we write."""
    if dot_git.is_symlink():
        return None
    if dot_git.is_dir():
        return dot_git if (dot_git / "HEAD").is_file() else None
    try:
        key, _, value = dot_git.read_text("utf-8").partition(":")
        git_dir = dot_git.parent / value.strip()
        back = (git_dir / "gitdir").read_text("utf-8").strip()
    except (OSError, ValueError):
        return None
    return git_dir if key == "gitdir" and os.path.realpath(git_dir / back) == os.path.realpath(dot_git) else None


def _lock(handle: int, path: str) -> None:
    if fcntl:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise PatchError(path, Code.BUSY) from error
