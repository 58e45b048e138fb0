"""Comments that keep the tool away: ``# npu-migrate: ignore[NPU101]``, ``off``/``on``, ``skip-file``."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_migrate.model import Finding, Span, Status, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

ENGINE = "NPU000"
MARK = "npu-migrate:"
_SAYS = r"[ \t]*npu-migrate:[ \t]*(?P<verb>ignore|off|on|skip-file)\b(?:[ \t]*\[(?P<codes>[^\]\r\n]*)\])?"
COMMENT = re.compile("#" + _SAYS)
# How a comment begins, over all kinds of files that are not Python; none of them is code in front of these words.
OTHER_COMMENT = re.compile(r"(?<!\S)(?:#|//|/\*|;|(?i:rem)\b)" + _SAYS)


NEWLINE = re.compile(r"\r\n|\r|\n")
Place = tuple[int, int, "re.Match[str]"]


@dataclass
class _Comment:
    line: int
    column: int
    text: str
    codes: tuple[str, ...]
    first: int
    last: int
    used: bool = False

    def covers(self, rule: str, first: int, last: int) -> bool:
        return first <= self.last and last >= self.first and (not self.codes or rule.startswith(self.codes))


class Suppressions:
    """The suppression comments of one text: a file, or a cell of a notebook."""

    def __init__(self, places: Iterable[Place] = (), last_line: int = 1) -> None:
        """Take the comments in their order, each with its 1-based line and column."""
        self.comments: list[_Comment] = []
        opened: list[_Comment] = []
        for line, column, match in places:
            codes = tuple(c.strip().upper() for c in (match["codes"] or "").split(",") if c.strip())
            verb = match["verb"]
            if verb == "on":
                for entry in opened:
                    entry.last = line
                opened = []
                continue
            first = 1 if verb == "skip-file" else line
            last = line if verb == "ignore" else last_line
            entry = _Comment(line, column, match[0], codes, first, last)
            self.comments.append(entry)
            if verb == "off":
                opened.append(entry)

    @classmethod
    def of_python(cls, text: str) -> Suppressions:
        """Read the comments of a Python source."""
        return cls(_python(text), text.count("\n") + 1) if MARK in text else cls()

    @classmethod
    def of_other(cls, text: str) -> Suppressions:
        """Read the comments of a configuration, a script, a build file or a C++ source."""
        return cls(_other(text), len(NEWLINE.findall(text)) + 1) if MARK in text else cls()

    def covering(self, rule: str, first: int, last: int) -> str | None:
        """The comment that keeps ``rule`` away from these lines, if there is one."""
        for comment in self.comments:
            if comment.covers(rule, first, last):
                comment.used = True
                return comment.text
        return None

    def unused(self, path: str, cell: int | None = None) -> list[Finding]:
        """A finding for each comment that kept nothing away."""
        found = []
        for comment in self.comments:
            if not comment.used:
                span = Span(comment.line, comment.column, comment.line, comment.column + len(comment.text))
                text = Text(ENGINE, "unused-suppression", (("comment", comment.text),))
                found.append(Finding(ENGINE, path, span, Status.ADVICE, text, before=comment.text, cell=cell))
        return found


def _python(text: str) -> list[Place]:
    found: list[Place] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            match = COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if match is not None:
                found.append((token.start[0], token.start[1] + match.start() + 1, match))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return found
    return found


def _other(text: str) -> list[Place]:
    starts = [0, *(end.end() for end in NEWLINE.finditer(text))]
    found: list[Place] = []
    for match in OTHER_COMMENT.finditer(text):
        line = bisect_right(starts, match.start())
        found.append((line, match.start() - starts[line - 1] + 1, match))
    return found
