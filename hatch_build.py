"""Ships the rules inside the wheel.

They live beside the package because they are what people read and add. An editable install finds them there and gets
no copy, which would go stale.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RulesHook(BuildHookInterface):  # type: ignore[type-arg]  # generic only in newer hatchling
    """Adds ``rules/`` to a standard wheel as ``npu_migrate/rules/``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folder as something to include; hatchling leaves out caches."""
        if version == "standard":
            build_data["force_include"][str(Path(self.root) / "rules")] = "npu_migrate/rules"
