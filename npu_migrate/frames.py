"""Which line of the user's code is running."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_DEPTH = 60
_OWN = str(Path(__file__).parent) + os.sep


def prefix(root: Path) -> str:
    """How the paths of all code below a folder begin."""
    return str(root.resolve()) + os.sep


def innermost(root: str) -> str:
    """The innermost line of code below ``root`` (a ``prefix``), as ``path:line``; empty where none is on the stack."""
    frame = sys._getframe(1)  # noqa: SLF001  (the documented way to the calling frame is this one)
    for _ in range(_DEPTH):
        path = frame.f_code.co_filename
        if path.startswith(root) and "site-packages" not in path and not path.startswith(_OWN):
            return f"{path[len(root) :]}:{frame.f_lineno}".replace(os.sep, "/")
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""
