"""A source file as text that turns back into exactly the bytes it came from.

A codec is accepted only if it gives back the very same bytes, so that an edit in one place leaves every other byte of
the file alone, whatever the file claims about itself.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from npu_migrate.model import Span

NEWLINE = re.compile(r"\r\n|\r|\n")
_BYTE_NEWLINE = re.compile(rb"\r\n|\r|\n")
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"[ \t\f]*(?:#|$)")
_LONG_NAMES = (("utf-8", "utf-8"), ("latin-1", "latin-1"), ("iso-8859-1", "latin-1"), ("iso-latin-1", "latin-1"))
# Chinese sources without a cookie are common. In gb2312 no byte of a pair is ASCII, so that a wrong guess can change
# how a comment is shown but never swallow a quote or a bracket; wider GBK could.
_GUESSES = ("utf-8", "gb2312")
_EVERY_BYTE = "latin-1"


@dataclass(frozen=True)
class SourceText:
    """The characters of one file, with its own line endings, and how they are encoded.

    ``encoding_guessed`` says that neither a BOM nor a cookie nor UTF-8 explains the bytes.
    """

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""
    encoding_guessed: bool = False

    @classmethod
    def decode(cls, data: bytes, *, python: bool = True) -> SourceText:
        """Read ``data`` without loss; only Python files are asked for a coding cookie."""
        bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        body = data[len(bom) :]
        declared = "utf-8" if bom or not python else cookie(body) or "utf-8"
        text = _exact(body, declared)
        if text is not None:
            return cls(text, declared, bom)
        for encoding in _GUESSES:
            text = _exact(body, encoding)
            if text is not None:
                return cls(text, encoding, bom, encoding_guessed=True)
        return cls(body.decode(_EVERY_BYTE), _EVERY_BYTE, bom, encoding_guessed=True)

    def encode(self, text: str | None = None) -> bytes:
        """Bytes of ``text`` (of this text itself if left out) in this file's encoding.

        Raises:
            UnicodeEncodeError: the file's encoding has no such character.
        """
        return self.bom + (self.text if text is None else text).encode(self.encoding)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        r"""Offset of each line's first character; lines end where Python ends them: ``\n``, ``\r\n``, lone ``\r``."""
        return (0, *(match.end() for match in NEWLINE.finditer(self.text)))

    @cached_property
    def newline(self) -> str:
        r"""The most frequent line ending (the first of equals), ``\n`` for a text without any."""
        found = NEWLINE.findall(self.text)
        return max(dict.fromkeys(found), key=found.count, default="\n")

    def newline_at(self, offset: int) -> str:
        """Line ending of the line that holds ``offset``; an unfinished last line has that of the line before."""
        line = bisect_right(self.line_starts, offset)
        if line == len(self.line_starts):
            line -= 1
        if line == 0:
            return self.newline
        end = self.line_starts[line]
        return "\r\n" if self.text.endswith("\r\n", 0, end) else self.text[end - 1]

    def line(self, lineno: int) -> str:
        """The characters of line ``lineno`` (1-based), its line ending included."""
        starts = self.line_starts
        return self.text[starts[lineno - 1] : starts[lineno] if lineno < len(starts) else None]

    def offset(self, lineno: int, col_offset: int) -> int:
        """Character offset of a position as ``ast`` gives it: 1-based line, 0-based column in UTF-8 bytes."""
        start = self.line_starts[lineno - 1]
        if self.text.isascii():
            return start + col_offset
        line = self.line(lineno)
        if line.isascii():
            return start + col_offset
        return start + len(line.encode()[:col_offset].decode())

    def position(self, offset: int) -> tuple[int, int]:
        """The reverse of :meth:`offset`: line and column in UTF-8 bytes, as ``ast`` counts them."""
        lineno = bisect_right(self.line_starts, offset)
        start = self.line_starts[lineno - 1]
        if self.text.isascii():
            return lineno, offset - start
        return lineno, len(self.text[start:offset].encode())

    def span(self, start: int, end: int) -> Span:
        """The stretch between two character offsets as people count: 1-based lines and character columns."""
        line = bisect_right(self.line_starts, start)
        end_line = bisect_right(self.line_starts, end)
        return Span(line, start - self.line_starts[line - 1] + 1, end_line, end - self.line_starts[end_line - 1] + 1)


def cookie(data: bytes) -> str | None:
    """The encoding that a PEP 263 cookie names, as Python reads it; None without one."""
    start = 0
    for _ in range(2):
        end = _BYTE_NEWLINE.search(data, start)
        line = data[start : end.start() if end else None]
        match = _COOKIE.match(line)
        if match:
            return _normal(match[1].decode("ascii", "replace"))
        if not end or not _BLANK_OR_COMMENT.match(line):
            return None
        start = end.end()
    return None


def _normal(name: str) -> str:
    folded = name[:12].lower().replace("_", "-")
    for prefix, normal in _LONG_NAMES:
        if folded == prefix or folded.startswith(f"{prefix}-"):
            return normal
    return name


def _exact(data: bytes, encoding: str) -> str | None:
    """The text if this codec can also give back ``data`` and the parser can take it; else None."""
    if "escape" in encoding:  # these decode an escaped newline to a real one, and warn on stderr
        return None
    try:
        text = data.decode(encoding)
        if encoding == "utf-8":
            return text
        text.encode()
        return text if text.encode(encoding) == data else None
    except (LookupError, ValueError):
        return None
