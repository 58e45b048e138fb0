"""Reads the JSON report of a rehearsal back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from npu_migrate.errors import InputError
from npu_migrate.rehearse.report import ENDS, SCHEMA_VERSION, TIERS, Note, Report, Use

if TYPE_CHECKING:
    from pathlib import Path


class _Other(Exception):  # noqa: N818  (never leaves this file)
    """The document is no report of a rehearsal."""


def read(path: Path) -> Report:
    """The report that ``rehearse --report FILE.json`` wrote.

    Raises:
        InputError: the file holds something else.
        OSError: it cannot be read.
    """
    try:
        return _report(json.loads(path.read_bytes()))
    except (ValueError, RecursionError, _Other) as error:
        raise InputError(says="rehearsal-unreadable", path=path) from error


def _report(data: object) -> Report:
    if _get(data, "schema_version", int) != SCHEMA_VERSION:
        raise _Other
    target = _get(data, "target", dict)
    report = Report(
        _get(target, "torch_npu", str),
        _get(target, "torch", str),
        _get(target, "cann", str),
        _one_of(TIERS, _get(data, "tier", str)),
        _all(str, _get(data, "command", list)),
        _get(data, "exit_code", int),
        _one_of(ENDS, _get(data, "ended", str)),
        steps=_get(data, "steps", int),
        processes=_get(data, "processes", int),
    )
    report.operators = [
        Use(_get(one, "name", str), _get(one, "count", int), _get(one, "state", str), _get(one, "where", str))
        for one in _get(data, "operators", list)
    ]
    report.notes = [
        Note(_get(one, "kind", str), _get(one, "detail", str), _get(one, "where", str), _get(one, "count", int))
        for one in _get(data, "notes", list)
    ]
    return report


def _get(data: object, key: str, kind: type) -> Any:  # noqa: ANN401 - JSON
    value = data.get(key) if isinstance(data, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _Other
    return value


def _all(kind: type, values: list[object]) -> Any:  # noqa: ANN401 - JSON
    if not all(isinstance(value, kind) for value in values):
        raise _Other
    return values


def _one_of(known: tuple[str, ...], value: str) -> str:
    if value not in known:
        raise _Other
    return value
