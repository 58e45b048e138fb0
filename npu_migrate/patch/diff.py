r"""Unified diffs that a person can read and ``git apply`` can use.

moreorless lays out the hunks, and says ``\ No newline at end of file`` where it must. It splits where
``str.splitlines`` does, though, which takes form feeds and lone carriage returns for line ends (git ends lines at
``\n`` only), and compares as ``difflib`` does. So lines are aligned here, and it is handed their numbers: a line that
stays has the same one in both texts.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import moreorless

from npu_migrate.alignment import Alignment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_ESCAPES = {
    **{chr(code): f"\\{code:03o}" for code in (*range(ord(" ")), 0x7F)},
    **dict(zip('\t\n\r"\\', ("\\t", "\\n", "\\r", '\\"', "\\\\"))),
}


def unified_diff(path: str, old: bytes, new: bytes, *, context: int = 3) -> bytes:
    """What ``git diff`` would say about one file (``path`` from the root, with ``/``); empty if nothing changed."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    numbers = list(range(len(before), len(before) + len(after)))
    for first, second, size in Alignment(before, after).get_matching_blocks():
        numbers[second : second + size] = range(first, first + size)
    body = moreorless.unified_diff(_numbered(range(len(before)), before), _numbered(numbers, after), "x", n=context)
    if not body:
        return b""
    lines = before + after
    hunks = b"".join(_line(row, lines) for row in body.splitlines(keepends=True)[2:])
    return b"--- " + _name(f"a/{path}") + b"\n+++ " + _name(f"b/{path}") + b"\n" + hunks


def display(diff: bytes, encoding: str = "utf-8") -> str:
    """The diff as text to show or to put into a report, for a file in ``encoding``; bad bytes become U+FFFD."""
    head, plus, body = diff.partition(b"\n+++ ")
    name, newline, hunks = body.partition(b"\n")
    return (head + plus + name + newline).decode("utf-8", "replace") + hunks.decode(encoding, "replace")


def _numbered(numbers: Iterable[int], lines: Iterable[bytes]) -> str:
    return "".join(f"{number}\n" if line.endswith(b"\n") else str(number) for number, line in zip(numbers, lines))


def _line(row: str, lines: Sequence[bytes]) -> bytes:
    """A row of the diff over numbers, with the line that the number stands for."""
    if row[0] not in "+- ":
        return row.encode()
    line = lines[int(row[1:])]
    return row[0].encode() + line + (b"" if line.endswith(b"\n") else b"\n")


def _name(name: str) -> bytes:
    """A file name as git writes it: quoted if it must be, and with a tab after it where it holds a space."""
    quoted = "".join(_ESCAPES.get(char, char) for char in name)
    if quoted != name:
        return b'"' + os.fsencode(quoted) + b'"'
    return os.fsencode(name) + (b"\t" if " " in name else b"")
