"""Runs a migrated program on a simulated NPU: device handling, API names and operators, never speed or accuracy."""

from __future__ import annotations

from npu_migrate.rehearse.report import Report
from npu_migrate.rehearse.runner import run
from npu_migrate.rehearse.settings import Settings
from npu_migrate.rehearse.simulate import simulate

__all__ = ["Report", "Settings", "run", "simulate"]
