"""The steps on single files that everything else is made of: look, read, write beside, rename."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from npu_migrate.patch.model import Code, PatchError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_SPECIAL_BITS = 0o7000
_ANY_WRITE = 0o222


def locate(root: Path, name: str, *, make_folders: bool = False) -> Path:
    """The file called ``name`` under ``root``, reached without a symbolic link and without leaving the tree.

    Raises:
        PatchError: ``name`` leads elsewhere, or a folder on the way is no folder.
    """
    parts = name.split("/")
    if any(part in {"", ".", ".."} for part in parts) or (os.name == "nt" and {":", "\\"} & set(name)):
        raise PatchError(name, Code.BAD_PATH)
    path = root
    for part in parts[:-1]:
        path = path / part
        if make_folders and not os.path.lexists(path):
            path.mkdir()
        try:
            mode = path.lstat().st_mode
        except OSError as error:
            raise PatchError(name, Code.MISSING) from error
        if not stat.S_ISDIR(mode):
            raise PatchError(name, Code.SYMLINK if stat.S_ISLNK(mode) else Code.MISSING)
    return path / parts[-1]


def writable(path: Path, name: str) -> os.stat_result:
    """Status of a file that may be replaced: regular, with one name, and not write-protected, nor its folder.

    Raises:
        PatchError: it may not.
    """
    try:
        status = path.lstat()
    except OSError as error:
        raise PatchError(name, Code.MISSING) from error
    if stat.S_ISLNK(status.st_mode):
        raise PatchError(name, Code.SYMLINK)
    if not stat.S_ISREG(status.st_mode):
        raise PatchError(name, Code.NOT_A_FILE)
    if status.st_nlink > 1:
        raise PatchError(name, Code.HARD_LINK)
    # A rename would get past a write-protected file, and root past a write-protected folder; both are someone's wish.
    if not (status.st_mode & _ANY_WRITE and os.access(path, os.W_OK)):
        raise PatchError(name, Code.READ_ONLY)
    if not (path.parent.stat().st_mode & _ANY_WRITE and os.access(path.parent, os.W_OK | os.X_OK)):
        raise PatchError(name, Code.READ_ONLY_FOLDER)
    return status


def same(status: os.stat_result, path: Path) -> bool:
    """Whether ``path`` is still the very file that ``status`` was taken from."""
    try:
        now = path.lstat()
    except OSError:
        return False
    return all(
        getattr(now, key) == getattr(status, key) for key in ("st_ino", "st_mode", "st_size", "st_mtime_ns", "st_nlink")
    )


def read(path: Path) -> bytes:
    """All bytes of a file that is not a symbolic link."""
    with os.fdopen(os.open(path, os.O_RDONLY | _NOFOLLOW), "rb") as file:
        return file.read()


def write_beside(temp: Path, data: bytes, *, like: os.stat_result | None = None, mode: int | None = None) -> None:
    """Create ``temp`` with ``data``, the permissions of ``mode``, and the owner and special bits of ``like``."""
    handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
        special = like.st_mode & _SPECIAL_BITS if like and _own_like(handle, like) else 0
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(handle, (mode & 0o777) | special)
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` last through a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def failing_as(path: str, code: Code) -> Iterator[None]:
    """Turn what the system refuses into a :class:`PatchError`."""
    try:
        yield
    except OSError as error:
        raise PatchError(path, code, reason=error.strerror or str(error)) from error


def _own_like(handle: int, like: os.stat_result) -> bool:
    """Give the file the owner and group of ``like``; False if the system does not let us."""
    now = os.fstat(handle)
    if (now.st_uid, now.st_gid) == (like.st_uid, like.st_gid):
        return True
    try:
        os.fchown(handle, like.st_uid, like.st_gid)
    except OSError:
        with suppress(OSError):
            os.fchown(handle, -1, like.st_gid)
        return False
    return True
