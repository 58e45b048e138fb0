r"""Unified diffs that a person can read and ``git apply`` can use.

moreorless does the comparing, and says ``\ No newline at end of file`` where it must. It splits where
``str.splitlines`` does, though, which takes form feeds and lone carriage returns for line ends; git ends lines at
``\n`` only. So it is handed a text in which every byte is one character and those are others for the time being.
"""

from __future__ import annotations

import os

import moreorless

_BYTES = "latin-1"
_SPLITTERS = "\x0b\x0c\r\x1c\x1d\x1e\x85"
_STAND_INS = {ord(char): 0xE000 + ord(char) for char in _SPLITTERS}
_BACK = {stand_in: char for char, stand_in in _STAND_INS.items()}
_ESCAPES = {
    **{chr(code): f"\\{code:03o}" for code in (*range(ord(" ")), 0x7F)},
    **dict(zip('\t\n\r"\\', ("\\t", "\\n", "\\r", '\\"', "\\\\"))),
}


def unified_diff(path: str, old: bytes, new: bytes, *, context: int = 3) -> bytes:
    """What ``git diff`` would say about one file (``path`` from the root, with ``/``); empty if nothing changed."""
    body = moreorless.unified_diff(_text(old), _text(new), "x", n=context)
    if not body:
        return b""
    hunks = body.split("\n", 2)[2].translate(_BACK).encode(_BYTES)
    return b"--- " + _name(f"a/{path}") + b"\n+++ " + _name(f"b/{path}") + b"\n" + hunks


def display(diff: bytes, encoding: str = "utf-8") -> str:
    """The diff as text to show or to put into a report, for a file in ``encoding``; bad bytes become U+FFFD."""
    head, plus, body = diff.partition(b"\n+++ ")
    name, newline, hunks = body.partition(b"\n")
    return (head + plus + name + newline).decode("utf-8", "replace") + hunks.decode(encoding, "replace")


def _text(data: bytes) -> str:
    return data.decode(_BYTES).translate(_STAND_INS)


def _name(name: str) -> bytes:
    """A file name as git writes it: quoted if it must be, and with a tab after it where it holds a space."""
    quoted = "".join(_ESCAPES.get(char, char) for char in name)
    if quoted != name:
        return b'"' + os.fsencode(quoted) + b'"'
    return os.fsencode(name) + (b"\t" if " " in name else b"")
