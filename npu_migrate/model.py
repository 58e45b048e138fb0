"""What every stage hands to the next one: findings, texts, and the result for one file.

Nothing here knows a terminal, a report format or LibCST.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Status(str, Enum):
    """How one CUDA site ends; every site ends in exactly one of these."""

    REWRITTEN = "rewritten"
    MANUAL = "manual"
    UNSUPPORTED = "unsupported"
    ADVICE = "advice"
    KEPT = "kept"
    SUPPRESSED = "suppressed"
    UNREADABLE = "unreadable"


class Safety(str, Enum):
    """How far an edit may go, mildest first."""

    EXACT = "exact"
    BEHAVIOUR = "behaviour"
    NUMERICS = "numerics"

    @property
    def rank(self) -> int:
        """0 for ``exact``, 1 for ``behaviour``, 2 for ``numerics``."""
        return list(Safety).index(self)


@dataclass(frozen=True)
class Text:
    """A sentence that is not yet in any language: a message of a rule's ``rule.toml`` and the facts it mentions.

    Kept apart from the words so that one run can be reported in several languages. ``facts`` come from the migrated
    code: data wherever they are shown.
    """

    rule: str
    key: str
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Span:
    """A stretch of the original file; 1-based lines and columns, in characters; the end column is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Finding:
    """One CUDA site and what became of it.

    ``used`` is where a value that stands at ``span`` arrives and shows what it is, if that is elsewhere in the file.
    """

    rule: str
    path: str
    span: Span
    status: Status
    text: Text
    safety: Safety | None = None
    symbol: str = ""
    before: str = ""
    after: str = ""
    cell: int | None = None
    used: Span | None = None

    @property
    def order(self) -> tuple[str, int, int, int, str]:
        """Sort key of reports: path, (cell,) line, column, rule."""
        return (self.path, self.cell or 0, self.span.line, self.span.column, self.rule)


@dataclass(frozen=True)
class FileResult:
    """Everything one file yields. ``path`` is relative to the root, with ``/``.

    ``old`` and ``new`` are the file's bytes; equal (and both empty) where nothing was rewritten.
    """

    path: str
    kind: str
    findings: tuple[Finding, ...] = ()
    old: bytes = field(default=b"", repr=False)
    new: bytes = field(default=b"", repr=False)
    encoding: str = "utf-8"

    @property
    def changed(self) -> bool:
        """Whether the file was (or would be) rewritten."""
        return self.old != self.new
