"""Asks git whether work would be mixed up with ours, without letting a repository's own settings run anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from npu_migrate.patch.model import Code, PatchError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_TIMEOUT = 60
_SAFE = (
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
    *("-c", "status.renames=false"),
)
_STATUS = ("status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty", "--")
_FILTERS = ("--includes", "--name-only", "-z", "--get-regexp", r"^filter\.")
# git says 1 for no match, 128 where work trees have no settings of their own, 129 if it is too old for --worktree.
_NO_MATCH, _NO_SETTINGS, _USAGE = 1, 128, 129


def refuse_uncommitted(root: Path, paths: Iterable[Path]) -> None:
    """Raise if a checkout that holds one of ``paths`` has uncommitted changes to tracked files below ``root``.

    Only what lies below ``root`` counts: the rest of the repository is not ours to touch, so it cannot be mixed up.
    A tree outside any checkout passes, and so does every tree where git is not installed.

    Raises:
        PatchError: ``UNCOMMITTED`` with all paths, or ``GIT_FAILED`` if git cannot tell.
    """
    git = shutil.which("git")
    if not git:
        return
    found: list[str] = []
    for top in sorted(_checkouts(paths)):
        scope = root.relative_to(top).as_posix() if top in root.parents else "."
        found.extend(f"{os.fspath(top)}/{name}" for name in _uncommitted(git, top, scope))
    if found:
        shown = [os.path.relpath(path, root).replace(os.sep, "/") for path in sorted(found)]
        raise PatchError(shown[0], Code.UNCOMMITTED, others=tuple(shown[1:]))


def _checkouts(paths: Iterable[Path]) -> set[Path]:
    tops: dict[Path, Path | None] = {}
    for folder in {path.parent for path in paths}:
        steps = (folder, *folder.parents)
        tops[folder] = next((step for step in steps if os.path.lexists(step / ".git")), None)
    return {top for top in tops.values() if top}


def _uncommitted(git: str, top: Path, scope: str) -> list[str]:
    # Asked first because it says best what is wrong, such as an owner that git does not trust.
    run(git, top, ["rev-parse", "--git-dir"])
    status = run(git, top, [*without_filters(git, top), *_STATUS, scope])
    return [entry[3:] for entry in status.split("\0") if entry]


def without_filters(git: str, top: Path) -> list[str]:
    """Settings that switch off the content filters (commands) which the repository itself asks for."""
    local = run(git, top, ["config", "--local", *_FILTERS], ok=(0, _NO_MATCH))
    worktree = run(git, top, ["config", "--worktree", *_FILTERS], ok=(0, _NO_MATCH, _NO_SETTINGS, _USAGE))
    settings = []
    for key in {*local.split("\0"), *worktree.split("\0")} - {""}:
        if "=" in key:
            # -c would end the key at this sign and leave the filter on.
            raise PatchError(os.fspath(top), Code.GIT_FAILED, reason=key)
        settings += ["-c", f"{key}={'false' if key.endswith('.required') else ''}"]
    return settings


def run(git: str, top: Path, arguments: Iterable[str], *, ok: tuple[int, ...] = (0,)) -> str:
    """What git prints, with nothing of the repository's own in force that would run a command.

    Raises:
        PatchError: ``GIT_FAILED``, with the first line of git's complaint.
    """
    # Variables such as GIT_DIR, set while a hook runs, would point git at another repository.
    environment = {
        key: value for key, value in os.environ.items() if key.startswith("GIT_CONFIG") or not key.startswith("GIT_")
    }
    environment.update(LC_ALL="C", GIT_TERMINAL_PROMPT="0", GIT_NO_LAZY_FETCH="1", GIT_LITERAL_PATHSPECS="1")
    try:
        done = subprocess.run(  # noqa: S603  # a fixed command; the tree's part are the scope after `--` and -c keys
            [git, *_SAFE, *arguments],
            cwd=top,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PatchError(os.fspath(top), Code.GIT_FAILED, reason=str(error)) from error
    if done.returncode not in ok:
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        raise PatchError(os.fspath(top), Code.GIT_FAILED, reason=said or f"exit {done.returncode}")
    return os.fsdecode(done.stdout)
