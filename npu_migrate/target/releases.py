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


def every(*, legacy: bool = False) -> tuple[Release, ...]:
    """The same as releases."""
    return tuple(one for one in _releases().values() if legacy or not one.legacy)


def matrix() -> tuple[Release, ...]:
    """Every release of Huawei's version table, oldest first, whether or not the tables here know more about it."""
    table = store.table("matrix")
    python: dict[str, list[str]] = table["python"]
    return tuple(
        Release(name, row["torch"], row["cann"], tuple(python.get(row["torch"], ())), listed=True)
        for name, row in table["rows"].items()
    )


def nearest_listed(release: str) -> Release | None:
    """For a release outside the table: the newest listed one of the same torch that is not newer, if there is one."""
    ordered = versions.key(release)
    same = [one for one in matrix() if one.torch == versions.base(release) and versions.key(one.torch_npu) <= ordered]
    return same[-1] if same else None


def column(release: str) -> int:
    """The place of a release in every series."""
    return list(_releases()).index(release)


def get(version: str | None = None) -> Release:
    """The release that a version text means; the newest known one for ``None``."""
    return _releases()[resolve(version) if version else known()[-1]]


def resolve(version: str) -> str:
    """The full name of a release; ``2.7.1`` and ``2.7`` mean the newest that begins so, ``==2.7.1`` the very one."""
    every = _releases()
    wanted = version.strip().lower().removeprefix("v")
    exact = wanted.removeprefix("==").strip()
    if exact in every and (wanted.startswith("==") or ".post" in exact):
        return exact
    if versions.is_version(wanted):
        numbers = wanted.partition("+")[0].split(".")
        fitting = [name for name in every if name.split(".")[: len(numbers)] == numbers]
        if fitting:
            return fitting[-1]
    raise UnknownRelease(version, near(exact) or known()[-3:])


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
    return tuple(resolve(versions.base(name)) for name in (*below[-1:], *above[:1]))
