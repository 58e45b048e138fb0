"""Where a tree lies in its repository: code hosts name files from there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from npu_migrate.report.model import Report


def prefix(report: Report) -> str:
    """What to put before a path of the report, ``""`` or ``"src/"``; a tree without a repository stands for itself."""
    for folder in (report.root, *report.root.parents):
        if (folder / ".git").exists():
            inside = report.root.relative_to(folder).as_posix()
            return "" if inside == "." else f"{inside}/"
    return ""


def uri(path: str) -> str:
    """A relative path as a URI; a name that is no text keeps its bytes."""
    return quote(os.fsencode(path))
