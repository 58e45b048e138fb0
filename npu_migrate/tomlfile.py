"""Reads one TOML file; what is wrong with it becomes one line."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from npu_migrate.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises:
        InputError: the file cannot be read, or is no TOML.
    """
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        tables: dict[str, Any] = toml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(says="unreadable", path=path, reason=error.strerror or error) from error
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError
        raise InputError(says="toml", path=path, reason=error) from error
    return tables


@cache
def once(path: Path) -> dict[str, Any]:
    """What ``read`` returns, read once."""
    return read(path)


def table(folder: Path) -> dict[str, Any]:
    """The data of a rule: ``table.toml`` in its folder, read once."""
    return once(folder / "table.toml")
