"""Runs a migrated program on a simulated NPU: device handling, API names and operators, never speed or accuracy."""

from __future__ import annotations
