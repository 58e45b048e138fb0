"""Reads a JSON report that somebody else may have written: every value is checked, every text is only text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from npu_migrate.bot.model import Audit, Site
from npu_migrate.errors import InputError
from npu_migrate.gate.hunks import parse, split
from npu_migrate.model import Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from npu_migrate.gate.hunks import Hunk

SCHEMA_VERSION = 1
MOST_BYTES = 256 * 1024 * 1024
_STATUSES = frozenset(status.value for status in Status)


def read(path: Path, prefix: str = "") -> Audit:
    """The report in a file; ``prefix`` is where its root lies in the repository.

    Raises:
        InputError: it is no report of a version that is known.
    """
    if path.stat().st_size > MOST_BYTES:
        raise InputError(says="bot-report", path=path)
    try:
        document = json.loads(path.read_bytes())
        if document["schema_version"] != SCHEMA_VERSION:
            raise InputError(says="bot-report-version", path=path, version=document["schema_version"])
        return _audit(document, prefix.strip("/") + "/" if prefix.strip("/.") else "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(says="bot-report", path=path) from None


def _audit(document: Any, prefix: str) -> Audit:  # noqa: ANN401 - JSON
    sites = tuple(_site(entry, prefix) for entry in _list(document["findings"]))
    return Audit(
        torch_npu=_text(document["target"]["torch_npu"]),
        counts={key: _number(count) for key, count in document["summary"].items()},
        sites=sites,
        changes=dict(_changes(document["files"], prefix, sites)),
    )


def _site(entry: Any, prefix: str) -> Site:  # noqa: ANN401 - JSON
    status = _text(entry["status"])
    if status not in _STATUSES:
        raise ValueError
    return Site(
        rule=_text(entry["rule"]),
        path=prefix + _path(entry["path"]),
        line=_number(entry["line"]),
        end_line=_number(entry["end_line"]),
        status=status,
        message=_text(entry["message"]),
        cell=None if entry["cell"] is None else _number(entry["cell"]),
    )


def _changes(files: Any, prefix: str, sites: tuple[Site, ...]) -> Iterator[tuple[str, list[Hunk]]]:  # noqa: ANN401 - JSON
    spans: dict[str, list[tuple[int, int]]] = {}
    for site in sites:
        if site.status == Status.REWRITTEN.value:
            spans.setdefault(site.path, []).append((site.line, site.end_line))
    for entry in _list(files):
        path = prefix + _path(entry["path"])
        hunks = split(parse(_text(entry["diff"])), spans.get(path, ()))
        if hunks:
            yield path, hunks


def _list(value: Any) -> list[Any]:  # noqa: ANN401 - JSON
    if not isinstance(value, list):
        raise TypeError
    return value


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> int:  # noqa: ANN401 - JSON
    if type(value) is not int or value < 0:
        raise TypeError
    return value


def _path(value: Any) -> str:  # noqa: ANN401 - JSON
    path = _text(value)
    if path.startswith("/") or ".." in path.split("/") or not path:
        raise ValueError
    return path
