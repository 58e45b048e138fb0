"""The options of a run that the engine needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_migrate.model import Safety

if TYPE_CHECKING:
    from pathlib import Path

    from npu_migrate.target import Target

STYLES = ("npu",)
IMPORTS = ("files", "entry", "none")
MAX_BYTES = 4_000_000


@dataclass(frozen=True)
class Settings:
    """What to migrate to, how far, and with which rules.

    ``max_bytes`` is the size above which a file is named but not read.
    """

    target: Target
    style: str = "npu"
    imports: str = "files"
    safety: Safety = Safety.EXACT
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    rules: tuple[Path, ...] = ()
    exclude: tuple[str, ...] = ()
    max_bytes: int = MAX_BYTES
    jobs: int = 1
