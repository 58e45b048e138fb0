"""Comments that keep the tool away: ``# npu-migrate: ignore[NPU101]``, ``off``/``on``, ``skip-file``."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass

MARK = "npu-migrate:"
COMMENT = re.compile(r"#\s*npu-migrate:\s*(?P<verb>ignore|off|on|skip-file)\s*(?:\[(?P<codes>[^\]]*)\])?")


@dataclass
class _Comment:
    first: int
    last: int
    codes: tuple[str, ...]
    text: str
    column: int
    used: bool = False

    def covers(self, rule: str, first: int, last: int) -> bool:
        return first <= self.last and last >= self.first and (not self.codes or rule.startswith(self.codes))


class Suppressions:
    """The suppression comments of one file."""

    def __init__(self, text: str) -> None:
        self.comments: list[_Comment] = []
        if MARK in text:
            self._read(text)

    def _read(self, text: str) -> None:
        opened: list[_Comment] = []
        last_line = text.count("\n") + 1
        for line, column, comment in _comments(text):
            match = COMMENT.match(comment)
            if match is None:
                continue
            codes = tuple(c.strip().upper() for c in (match["codes"] or "").split(",") if c.strip())
            verb = match["verb"]
            if verb == "on":
                for entry in opened:
                    entry.last = line
                opened = []
                continue
            first = 1 if verb == "skip-file" else line
            entry = _Comment(first, line if verb == "ignore" else last_line, codes, match[0], column)
            self.comments.append(entry)
            if verb == "off":
                opened.append(entry)

    def covering(self, rule: str, first: int, last: int) -> str | None:
        """The comment that keeps ``rule`` away from these lines, if there is one."""
        for comment in self.comments:
            if comment.covers(rule, first, last):
                comment.used = True
                return comment.text
        return None

    def unused(self) -> list[tuple[int, int, str]]:
        """Line, column and text of each comment that kept nothing away."""
        return [(c.first, c.column, c.text) for c in self.comments if not c.used]


def _comments(text: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    try:
        found.extend(
            (token.start[0], token.start[1] + 1, token.string)
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT and MARK in token.string
        )
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return found
    return found
