"""Runs a program of a tree in a scratch copy, on the simulated NPU."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess  # running the user's program is what this is for
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from npu_migrate.errors import InputError
from npu_migrate.rehearse.environment import prepare
from npu_migrate.rehearse.facts import Facts
from npu_migrate.rehearse.report import Report
from npu_migrate.rehearse.tiers import settle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from npu_migrate.rehearse.settings import Settings

TIME_OVER = 124
INTERRUPTED = 130
_NOT_COPIED = (".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", "venv", ".tox", ".mypy_cache")
_PATIENCE = 10.0
_PYTHONS = frozenset({"python", "python3"})


def run(
    tree: Path,
    command: Sequence[str],
    settings: Settings,
    *,
    max_seconds: float | None = None,
    environment: dict[str, str] | None = None,
) -> Report:
    """Run a command in a scratch copy of a tree; its output goes where ours goes.

    Raises:
        InputError: there is no such tree or command.
    """
    if not tree.is_dir():
        raise InputError(says="no-path", path=tree)
    with tempfile.TemporaryDirectory(prefix="npu-rehearsal-") as folder:
        base = Path(folder).resolve()
        copy = base / "copy" / tree.resolve().name
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        journal = base / "journal"
        journal.mkdir()
        settled, why = settle(settings)
        facts = Facts(settled.torch_npu)
        asked = replace(settled, root=str(copy), journal=str(journal), torch_npu=facts.torch_npu)
        child = prepare(base, asked, environment)
        report = Report(facts.torch_npu, facts.torch, facts.cann, asked.tier, list(command), why=why)
        report.exit_code, report.ended = _supervise(_words(command), copy, child, max_seconds)
        report.take_folder(journal)
        return report


def _words(command: Sequence[str]) -> list[str]:
    """The command; a plain ``python`` is the one that runs this tool, where torch is known to be."""
    return [sys.executable if command[0] in _PYTHONS else command[0], *command[1:]]


def _supervise(words: list[str], folder: Path, environment: dict[str, str], seconds: float | None) -> tuple[int, str]:
    program = shutil.which(words[0], path=environment["PATH"]) or str(folder / words[0])
    try:
        process = subprocess.Popen(  # noqa: S603  (the command is the user's own)
            [program, *words[1:]], cwd=folder, env=environment, start_new_session=True
        )
    except OSError as error:
        raise InputError(says="no-program", path=words[0], reason=error.strerror or error) from error
    with _forwarding(process):
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return TIME_OVER, "time"
        except KeyboardInterrupt:
            _end(process)
            return INTERRUPTED, "interrupted"
    return (code if code >= 0 else 128 - code), "finished"


@contextlib.contextmanager
def _forwarding(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave nothing behind, whatever happens: the program has a session of its own, with all its children."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask politely first, so that every process can write its journal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            continue
        return
