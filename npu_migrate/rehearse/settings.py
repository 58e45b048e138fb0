"""What one rehearsal was asked for; travels to every child process as a file."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "NPU_MIGRATE_REHEARSAL"
"""The environment variable that names the settings file."""


@dataclass(frozen=True)
class Settings:
    """The options of a rehearsal."""

    tier: str = "auto"
    torch_npu: str | None = None
    devices: int = 8
    on_unsupported: str = "raise"
    on_cpu_fallback: str = "warn"
    max_steps: int | None = None
    root: str | None = None
    journal: str | None = None

    def save(self, path: Path) -> None:
        """Write the settings where a child process can read them."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Settings:
        """Read what `save` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def from_environment(cls) -> Settings | None:
        """The settings of the rehearsal this process belongs to, if it belongs to one."""
        path = os.environ.get(VARIABLE)
        return cls.load(Path(path)) if path else None

    @property
    def visible_devices(self) -> int:
        """How many devices the program sees: ``ASCEND_RT_VISIBLE_DEVICES`` hides the others, as on hardware."""
        listed = os.environ.get("ASCEND_RT_VISIBLE_DEVICES")
        if listed is None:
            return self.devices
        seen = 0
        for position, entry in enumerate(part.strip() for part in listed.split(",")):
            ids = [int(part) for part in listed.split(",")[: position + 1] if part.strip().isdigit()]
            if not entry.isdigit() or int(entry) >= self.devices or ids != sorted(set(ids)):
                break
            seen += 1
        return seen
