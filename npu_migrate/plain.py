"""Makes text from elsewhere harmless for a terminal or a report."""

from __future__ import annotations

import unicodedata

# Control characters and escapes, characters that reorder or hide text, line ends that are none, halves of characters.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def plain(text: str, *, tab: str = "    ") -> str:
    """The text on one line, with everything that a terminal or a browser could obey written out as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_one(char, tab) for char in text)


def _one(char: str, tab: str) -> str:
    if char == "\t":
        return tab
    if unicodedata.category(char) not in _UNSAFE:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - the three widths of Python's own escapes
