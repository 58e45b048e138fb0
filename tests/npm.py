"""Packages of npm that tests need: fetched when one asks for them, never part of this repository."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def install(cache, *pins):
    """The folder in pytest's cache with these packages under node_modules; without npm the test is skipped."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = Path(cache.mkdir("npm")) / "+".join(pin.replace("/", "-") for pin in pins)
    if not (folder / ".complete").is_file():
        folder.mkdir(exist_ok=True)
        (folder / "package.json").write_text("{}")
        command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *pins]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode:
            pytest.skip(f"npm cannot bring {' '.join(pins)}: {done.stderr.strip().splitlines()[-1:]}")
        (folder / ".complete").touch()
    return folder
