"""Brings the torch_npu wheel that fits the installed torch: by pip, checked against a known hash, into the cache."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess  # pip
import sys
import zipfile
from pathlib import Path

from npu_migrate import tomlfile
from npu_migrate.target import versions

_PINS = Path(__file__).with_name("wheels.toml")
_CACHE = "NPU_MIGRATE_CACHE"


class Unfit(Exception):  # noqa: N818  (it is no error: the other tier is used)
    """The faithful tier cannot be used here."""

    def __init__(self, reason: str, fact: str) -> None:
        """Take the key of the reason in the table of texts, and what it is about."""
        super().__init__(reason, fact)
        self.reason = reason
        self.fact = fact


def cache() -> Path:
    """Where wheels and libraries are kept."""
    named = os.environ.get(_CACHE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "npu-migrate"


def installed_torch() -> str:
    """The version of torch, without its build.

    Raises:
        Unfit: there is none.
    """
    try:
        return importlib.metadata.version("torch").partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        reason = "no-torch"
        raise Unfit(reason, "torch") from None


def here() -> tuple[str, str]:
    """The tags of this Python and this processor in the names of wheels."""
    return f"cp{sys.version_info.major}{sys.version_info.minor}", os.uname().machine


def version_of(name: str) -> str:
    """The release that a wheel holds."""
    return name.split("-")[1]


def tried(name: str) -> bool:
    """Whether the wheel's release has been run under the expectations."""
    return version_of(name) in tomlfile.read(_PINS)["tried"]


def pin(wanted: str | None = None) -> tuple[str, str]:
    """The file name and hash of the wheel for this Python and this torch: of the release asked for, else the newest.

    Raises:
        Unfit: there is none.
    """
    torch = installed_torch()
    tag, machine = here()
    pins: dict[str, str] = tomlfile.read(_PINS)["sha256"]
    fitting = [
        name
        for name in pins
        if version_of(name).partition(".post")[0] == torch and f"-{tag}-" in name and name.endswith(f"{machine}.whl")
    ]
    if not fitting:
        reason = "no-wheel"
        raise Unfit(reason, f"torch {torch} {tag} {machine}")
    best = max(fitting, key=lambda name: (version_of(name) == wanted, versions.key(version_of(name))))
    return best, pins[best]


def unpacked(wanted: str | None = None) -> Path:
    """The folder with the unpacked wheel, fetched where it is not there.

    Raises:
        Unfit: it cannot be had.
    """
    name, digest = pin(wanted)
    final = cache() / name[: -len(".whl")]
    if not final.is_dir():
        final.parent.mkdir(parents=True, exist_ok=True)
        draft = final.with_name(final.name + ".part")
        shutil.rmtree(draft, ignore_errors=True)
        with zipfile.ZipFile(_fetch(name, digest)) as archive:
            archive.extractall(draft)
        draft.replace(final)
    return final


def _fetch(name: str, digest: str) -> Path:
    folder = cache() / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if not path.exists():
        version = version_of(name)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(folder)]
        try:
            subprocess.run([*command, f"torch_npu=={version}"], check=True, capture_output=True)  # noqa: S603
        except (OSError, subprocess.CalledProcessError) as error:
            reason = "no-download"
            raise Unfit(reason, f"torch_npu=={version}") from error
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        path.unlink()
        reason = "wrong-hash"
        raise Unfit(reason, name)
    return path
