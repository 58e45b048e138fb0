"""Which torch_npu releases the tables know, and which one a version text means."""

from __future__ import annotations

import difflib
from functools import lru_cache

from npu_migrate.target import store, versions
from npu_migrate.target.model import Release


class UnknownRelease(ValueError):  # noqa: N818 - named by what it says; callers read `version` and `near`
    """No such torch_npu release in the tables; ``near`` holds those that may be meant, best first."""

    def __init__(self, version: str, near: tuple[str, ...]) -> None:
        """Keep the facts for whoever words the message."""
        super().__init__(version)
        self.version = version
        self.near = near


@lru_cache(maxsize=1)
def _releases() -> dict[str, Release]:
    return {
        name: Release(
            name, row["torch"], row["cann"], tuple(row["python"]), bool(row["listed"]), bool(row.get("legacy", False))
        )
        for name, row in store.table("releases").get("releases", {}).items()
    }


def known(*, legacy: bool = False) -> tuple[str, ...]:
    """The releases of the tables, oldest first; the 1.x ones only where asked for."""
    return tuple(name for name, one in _releases().items() if legacy or not one.legacy)


def column(release: str) -> int:
    """The place of a release in every series."""
    return list(_releases()).index(release)


def get(version: str | None = None) -> Release:
    """The release that a version text means; the newest known one for ``None``."""
    return _releases()[resolve(version) if version else known()[-1]]


def resolve(version: str) -> str:
    """The full name of a release; ``2.7.1`` and ``2.7`` mean the newest that begins so."""
    every = _releases()
    wanted = version.strip().lower().removeprefix("v")
    if wanted in every and not _has_posts(wanted):
        return wanted
    if versions.is_version(wanted):
        numbers = wanted.split("+")[0].split(".")
        fitting = [name for name in every if name.split(".")[: len(numbers)] == numbers]
        if fitting:
            return fitting[-1]
    raise UnknownRelease(version, near(wanted))


def _has_posts(wanted: str) -> bool:
    return any(name.startswith(wanted + ".post") for name in _releases())


def near(wanted: str) -> tuple[str, ...]:
    """Releases that may be meant: of the same torch, else the neighbours, else whatever is spelled alike."""
    names = list(_releases())
    if not versions.is_version(wanted):
        return tuple(difflib.get_close_matches(wanted, names, n=3, cutoff=0.5))
    same = [name for name in names if versions.base(name) == versions.base(wanted)]
    if same:
        return tuple(reversed(same))
    ordered = versions.key(wanted)
    below = [name for name in names if versions.key(name) < ordered]
    above = [name for name in names if versions.key(name) > ordered]
    return (*below[-1:], *above[:1])
