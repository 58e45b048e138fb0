"""Text of known width on a terminal, without loading rich: Chinese takes two cells a character."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPENING = "\u201c\u300a\u300c\uff08"
_CLOSING = "\u201d\u3001\u3002\u300b\u300d\uff01\uff09\uff0c\uff1a\uff1b\uff1f"
# What may not be torn apart: a Latin word, or a wide character with the punctuation that must not end or begin a line.
_PIECE = re.compile(rf"\s+|[{_OPENING}]*(?:[\x21-\u2e7f]+|.)[{_CLOSING}]*", re.DOTALL)


def cells(text: str) -> int:
    """How many columns a text fills."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def wrap(text: str, width: int) -> Iterator[str]:
    """Lines of at most ``width`` cells; a longer word keeps a line to itself, and the text its first indent."""
    line, begun = "", False
    for piece in _PIECE.findall(text):
        if line.strip() and cells(line + piece.rstrip()) > width:
            yield line.rstrip()
            line, begun = "", True
        line += piece.lstrip() if begun and not line else piece
    yield line.rstrip()


def columns(rows: list[tuple[str, str]], width: int, indent: int = 2, most: int = 28) -> Iterator[str]:
    """Two columns, as help pages have them; a long first cell gets a line of its own."""
    left = indent + min(most, max(cells(first) for first, _ in rows)) + 2
    for first, second in rows:
        head = " " * indent + first
        fits = cells(head) + 2 <= left
        if not fits:
            yield head
        for line in wrap(second, width - left):
            yield (head + " " * (left - cells(head)) if fits else " " * left) + line
            head, fits = "", True
