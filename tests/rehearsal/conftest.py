"""Runs the expectations once a tier, in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from npu_migrate.errors import InputError
from npu_migrate.rehearse.environment import prepare
from npu_migrate.rehearse.settings import Settings
from npu_migrate.rehearse.tiers import settle

HERE = Path(__file__).parent
MODULES = ("devices", "tensors", "layouts", "training", "saving", "runtime", "operators", "overlaps", "collectives")
RELEASES = {"portable": "2.7.1", "faithful": None}


@cache
def played(tier: str, folder: Path) -> dict[str, str]:
    """Name of an expectation to ``ok`` or what went wrong."""
    try:
        settings, _ = settle(Settings(tier=tier, torch_npu=RELEASES[tier], devices=2))
    except InputError as error:
        pytest.skip(str(error))
    environment = prepare(folder / tier, settings, dict(os.environ))
    done = subprocess.run(
        [sys.executable, str(HERE / "play.py"), *MODULES],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode != 0:
        return defaultdict(lambda: done.stderr[-3000:])
    outcomes: dict[str, str] = json.loads(done.stdout.strip().splitlines()[-1])
    return outcomes


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory):
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("played")
    return lambda tier: played(tier, folder)


@pytest.fixture
def tree(tmp_path):
    """A small tree; returns a function that writes a file of it."""
    root = tmp_path / "project"
    root.mkdir()

    def write(name: str, text: str) -> Path:
        (root / name).write_text(text, encoding="utf-8")
        return root

    return write
