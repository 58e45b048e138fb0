"""Reads the tables of ``rules/coverage``, each once and only when something asks for it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

# The wheel carries the rules inside the package; a checkout has them beside it.
_PLACES = (Path(__file__).parents[1] / "rules", Path(__file__).parents[2] / "rules")


def folder() -> Path:
    """Where the tables lie."""
    return next((place for place in _PLACES if (place / "coverage").is_dir()), _PLACES[-1]) / "coverage"


@cache
def table(name: str) -> dict[str, Any]:
    """One table; empty where there is none (yet)."""
    path = folder() / f"{name}.json"
    if not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found
