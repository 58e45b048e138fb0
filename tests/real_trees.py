"""Real PyTorch code from the package index: wheels and source archives, unpacked once into pytest's cache."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

# Pinned, so that a count recorded in a test means the same next year.
TREES = ("yolov5==7.0.14", "timm==1.0.19", "open_clip_torch==2.30.0", "accelerate==1.2.1")


def tree(pin: str, cache: pytest.Cache) -> Path:
    """Where the package's files are, fetched by pip if need be; the test is skipped where pip reaches no index."""
    target = Path(cache.mkdir("real-trees")) / pin
    if not (target / ".complete").is_file():
        _fetch(pin, target)
        (target / ".complete").touch()
    return target


def python_files(pin: str, cache: pytest.Cache) -> list[Path]:
    """The Python files of a package."""
    return sorted(tree(pin, cache).rglob("*.py"))


def _fetch(pin: str, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-d",
        str(target),
        pin,
    ]
    done = subprocess.run([*command, "--only-binary=:all:"], capture_output=True, text=True, check=False)
    if done.returncode:
        done = subprocess.run([*command, "--no-binary=:all:"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip cannot bring {pin}: {done.stderr.strip().splitlines()[-1:]}")
    for archive in [*target.glob("*.whl"), *target.glob("*.zip")]:
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(target)  # noqa: S202  # zipfile keeps members inside the folder
        archive.unlink()
    for archive in target.glob("*.tar.gz"):
        with tarfile.open(archive) as opened:
            opened.extractall(target, filter="data")  # the filter is the protection
        archive.unlink()
