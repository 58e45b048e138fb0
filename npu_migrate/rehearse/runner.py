"""Runs a program of a tree in a scratch copy, on the simulated NPU."""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from npu_migrate.errors import InputError
from npu_migrate.processes import supervise
from npu_migrate.rehearse.environment import prepare
from npu_migrate.rehearse.facts import Facts
from npu_migrate.rehearse.report import Report
from npu_migrate.rehearse.tiers import settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_migrate.rehearse.settings import Settings

_NOT_COPIED = (".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", "venv", ".tox", ".mypy_cache")
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
        report.exit_code, report.ended = supervise(_words(command), copy, child, max_seconds)
        report.take_folder(journal)
        return report


def _words(command: Sequence[str]) -> list[str]:
    """The command; a plain ``python`` is the one that runs this tool, where torch is known to be."""
    return [sys.executable if command[0] in _PYTHONS else command[0], *command[1:]]
