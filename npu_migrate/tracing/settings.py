"""What one trace was asked for; travels to the process of the traced program as a file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


Branches = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""For each composite, what counts in its place, forward and backward."""
SCRIPT = ".py"
"""How the name of a script ends; everything else is ``module:callable``."""


@dataclass(frozen=True)
class Settings:
    """The options of a trace.

    ``what`` is a script or ``module:callable``, ``arguments`` are the script's own. ``inputs`` are shapes with a type
    behind them (``1x3x224x224``, ``2x16:int64``). ``branches`` are composites that run otherwise on the target.
    """

    what: str
    arguments: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    meta: bool = False
    backward: bool = True
    max_steps: int | None = None
    branches: Branches = field(default_factory=dict)
    into: str = ""

    def save(self, path: Path) -> None:
        """Write the settings where the other process can read them."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Settings:
        """Read what ``save`` wrote."""
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        lists = {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
        branches = {name: (tuple(ahead), tuple(back)) for name, (ahead, back) in found["branches"].items()}
        return cls(**{**found, **lists, "branches": branches})
