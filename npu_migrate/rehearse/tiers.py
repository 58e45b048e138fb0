"""Which tier a rehearsal can have on this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from npu_migrate.errors import InputError
from npu_migrate.rehearse.facts import Facts
from npu_migrate.rehearse.faithful import stubs, wheel
from npu_migrate.target import UnknownRelease

if TYPE_CHECKING:
    from npu_migrate.rehearse.settings import Settings

TIERS = ("auto", "portable", "faithful")


def settle(settings: Settings) -> tuple[Settings, tuple[str, str]]:
    """Settings with a tier that works here, and why it is not the faithful one (a key of the texts, and a fact).

    Raises:
        InputError: the faithful tier was asked for and cannot be had.
    """
    if settings.tier == "portable":
        return _portable(settings), ("", "")
    try:
        return _faithful(settings), ("", "")
    except wheel.Unfit as unfit:
        if settings.tier == "faithful":
            raise InputError(says=f"faithful-{unfit.reason}", fact=unfit.fact) from unfit
        return _portable(settings), (unfit.reason, unfit.fact)


def _portable(settings: Settings) -> Settings:
    """For the release that fits the installed torch, unless another was asked for; any torch will do."""
    wanted = settings.torch_npu or _release_of_installed_torch()
    return replace(settings, tier="portable", torch_npu=wanted)


def _release_of_installed_torch() -> str | None:
    try:
        return Facts(wheel.installed_torch()).torch_npu
    except (wheel.Unfit, UnknownRelease):
        return None


def _faithful(settings: Settings) -> Settings:
    wanted = Facts(settings.torch_npu).torch_npu if settings.torch_npu is not None else None
    name, _ = wheel.pin(wanted)
    version = wheel.version_of(name)
    if settings.tier == "auto" and wanted not in {None, version}:
        reason = "other-release"
        raise wheel.Unfit(reason, version)
    if settings.tier == "auto" and not wheel.tried(name):
        reason = "not-tried"
        raise wheel.Unfit(reason, version)
    missing = stubs.missing_tools()
    if missing:
        reason = "no-tools"
        raise wheel.Unfit(reason, ", ".join(missing))
    wheel.unpacked(wanted)
    return replace(settings, tier="faithful", torch_npu=wanted or version)
