"""The options of a run that the engine needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_migrate.engine.scan import MAX_BYTES
from npu_migrate.model import Safety

if TYPE_CHECKING:
    from npu_migrate.packs import Registry
    from npu_migrate.target import Target

STYLES = ("npu",)
IMPORTS = ("files", "entry", "none")
PIN_MEMORY = ("auto", "off", "npu", "keep")
PINS_BY_ITSELF = (2, 8)  # PyTorch pins for the accelerator it finds
PINS_BY_DEVICE = (2, 1)  # torch_npu pins where it is told the device


@dataclass(frozen=True)
class Settings:
    """What to migrate to, how far, and with which rules.

    ``pin_memory``: ``npu`` names the device, ``off`` turns pinning off, ``keep`` leaves it, ``auto`` asks the release.
    ``registry`` holds the rules to choose from (default: the built-in ones and those of installed packs); ``max_bytes``
    is the size above which a file is named but not read.
    """

    target: Target
    style: str = "npu"
    imports: str = "files"
    pin_memory: str = "auto"
    safety: Safety = Safety.EXACT
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    registry: Registry | None = None
    exclude: tuple[str, ...] = ()
    max_bytes: int = MAX_BYTES
    jobs: int = 1

    @property
    def pinning(self) -> str:
        """What is done about pinned memory: ``npu``, ``off`` or ``keep``."""
        if self.pin_memory != "auto":
            return self.pin_memory
        torch = tuple(int(part) for part in re.findall(r"\d+", self.target.torch)[:2])
        if torch >= PINS_BY_ITSELF:
            return "keep"
        return "npu" if torch >= PINS_BY_DEVICE else "off"
