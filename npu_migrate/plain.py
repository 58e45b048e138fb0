"""Makes text from elsewhere harmless for a terminal or a report."""

from __future__ import annotations

import json
import re
import unicodedata

# Control characters and escapes, characters that reorder or hide text, line ends that are none, halves of characters.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def plain(text: str, *, tab: str = "    ") -> str:
    """The text on one line, with everything that a terminal or a browser could obey written out as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_one(char, tab) for char in text)


# What the log of a GitHub Actions job obeys: a command at the start of a line, one of the old kind anywhere.
_COMMAND = re.compile(r"^(\s*)(:)(?=:)|()(#)(?=#\[)")
# What reorders or hides text, and controls that JSON itself leaves as they are.
_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0001-\U000e007f]"
)


def printed(text: str) -> str:
    """``plain`` for a line of output, which must be no workflow command either when a CI job reads it."""
    return _COMMAND.sub(lambda found: f"{found[1] or ''}\\x{ord(found[2] or found[4]):02x}", plain(text))


def visible(text: str) -> str:
    """The text with its lines, but characters that reorder or hide text as escapes; what was JSON is the same JSON."""
    return text if text.isascii() else _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _one(char: str, tab: str) -> str:
    if char == "\t":
        return tab
    if unicodedata.category(char) not in _UNSAFE:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - the three widths of Python's own escapes
