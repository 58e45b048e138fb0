"""Runs a migrated program on a simulated NPU: device handling, API names and operators, never speed or accuracy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npu_migrate.rehearse.report import Report
    from npu_migrate.rehearse.runner import run
    from npu_migrate.rehearse.settings import Settings
    from npu_migrate.rehearse.simulation import simulate

__all__ = ["Report", "Settings", "run", "simulate"]

_PLACES = {"Report": "report", "run": "runner", "Settings": "settings", "simulate": "simulation"}


def __getattr__(name: str) -> object:
    """Load what is asked for: a report is read without what runs programs."""
    if name not in _PLACES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
