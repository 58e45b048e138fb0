"""Brings one wheel at a time onto the disk and takes out of it what the derivation reads."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

from npu_migrate.target.refresh import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

# torch_npu is built for Linux only; of torch the macOS wheel is the smallest, and its operator list is the same.
LINUX = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux1_x86_64")
MACOS = ("macosx_14_0_arm64", "macosx_13_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64", "macosx_10_9_x86_64")
PYTHONS = ("3.11", "3.10", "3.12", "3.9", "3.8", "3.7")


class NoWheelError(RuntimeError):
    """pip found no wheel of this name and version."""


def download(name: str, version: str, platforms: Sequence[str], into: Path, pythons: Sequence[str] = PYTHONS) -> Path:
    """One wheel, for the first of the usual Pythons that it was built for."""
    said = ""
    for python in pythons:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += [part for platform in platforms for part in ("--platform", platform)]
        command += ["--python-version", python, "--dest", str(into), f"{name}=={version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        found = sorted(into.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
        if done.returncode == 0 and found:
            return found[0]
        said = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else said
    raise NoWheelError(said or f"{name}=={version}")


def unpack(wheel: Path, into: Path, wanted: Callable[[str], bool]) -> None:
    """Take the wanted members out of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if wanted(member):
                archive.extract(member, into)


def torch_npu_member(member: str) -> bool:
    """The sources, lists and libraries of torch_npu."""
    return member.startswith("torch_npu") and (member.endswith((".py", ".yaml", ".so")) or errors.member(member))


def torch_member(member: str) -> bool:
    """The operator list of torch and the sources of ``torch.cuda``."""
    return member.endswith("native_functions.yaml") or (member.startswith("torch/cuda/") and member.endswith(".py"))
