"""Splits shell text into commands and words with their places; broken text splits somehow, never fails."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Union

if TYPE_CHECKING:
    from collections.abc import Iterator

_SYNTAX = r"""(?P<skip>(?:[^\S\r\n]|\\\r?\n)+)
    |(?P<newline>[\r\n])
    |(?P<comment>\#[^\r\n]*)
    |(?P<heredoc><<-?(?!<)[ \t]*(?P<quote>['"]?)(?P<tag>[A-Za-z_]\w*)(?P=quote))
    |(?P<redirect><<<|&>>?|[0-9]?[<>]+&?[0-9-]?)
    |(?P<stop>[;&|()`]|\$\((?!MAKE))
    |(?P<word>(?:\\(?!\r?\n).?
        |'[^']*'
        |"[^"\\]*(?:\\.[^"\\]*)*"
        |\$\{[^}\r\n]*\}
        |\$\(MAKE\)
        |\$(?!\()
        |[^\s;&|()<>`'"\\$]+
        |['"\\])+)
    |(?P<other>.)"""
_SHELL = re.compile(_SYNTAX.replace("(?!MAKE)", "").replace(r"|\$\(MAKE\)", ""), re.VERBOSE | re.DOTALL)
_MAKE = re.compile(
    _SYNTAX.replace("(?!MAKE)", r"(?![\w.@<^]+\))").replace(r"\$\(MAKE\)", r"\$\([\w.@<^]+\)"), re.VERBOSE | re.DOTALL
)
_QUOTED = re.compile(r"""\\.|'([^']*)'|"([^"\\]*(?:\\.[^"\\]*)*)\"""", re.DOTALL)
_QUOTES = re.compile(r"[\"']")


class Word(NamedTuple):
    """One word as written."""

    start: int
    end: int
    raw: str

    @property
    def span(self) -> tuple[int, int]:
        """Where it stands."""
        return self.start, self.end

    @property
    def value(self) -> str:
        """The word without its quotes."""
        return _QUOTES.sub("", self.raw)

    @property
    def name(self) -> str:
        """The last part of a path."""
        return self.value.rpartition("/")[2]

    def quoted(self) -> Iterator[tuple[int, int]]:
        """The insides of its quoted parts."""
        for part in _QUOTED.finditer(self.raw):
            first, last = part.span(part.lastindex or 0)
            if part.lastindex:
                yield self.start + first, self.start + last


class Command(NamedTuple):
    """The words of one simple command."""

    words: tuple[Word, ...]

    @property
    def span(self) -> tuple[int, int]:
        """From its first word to its last."""
        return self.words[0].start, self.words[-1].end


class Comment(NamedTuple):
    """A comment with its ``#``."""

    start: int
    end: int


class Heredoc(NamedTuple):
    """The body of a here-document and the command that reads it."""

    start: int
    end: int
    reader: Command | None


Event = Union[Command, Comment, Heredoc]


def split(text: str, span: tuple[int, int], *, make: bool = False) -> Iterator[Event]:
    """Walk the commands, comments and here-documents of a stretch of shell (or of a Makefile)."""
    words: list[Word] = []
    tags: list[str] = []
    reader: Command | None = None
    token, at, end = (_MAKE if make else _SHELL), span[0], span[1]
    while at < end:
        found = token.match(text, at, end)
        kind = found.lastgroup if found else None
        if found is None:
            break
        at = found.end()
        if kind == "word":
            words.append(Word(*found.span(), found.group()))
        elif kind == "comment":
            yield Comment(*found.span())
        elif found.group("tag"):
            tags.append(found.group("tag"))
        elif kind in {"newline", "stop"}:
            if words:
                reader = Command(tuple(words))
                yield reader
                words = []
            if kind == "newline" and tags:
                body, at = _body(text, (at, end), tags.pop(0))
                yield Heredoc(*body, reader)
    if words:
        yield Command(tuple(words))


def _body(text: str, span: tuple[int, int], tag: str) -> tuple[tuple[int, int], int]:
    if text[span[0] - 1] == "\r" and text.startswith("\n", span[0]):
        span = (span[0] + 1, span[1])
    close = re.compile(rf"^[ \t]*{tag}[ \t]*\r?$", re.MULTILINE).search(text, *span)
    return ((span[0], close.start()), close.end()) if close else (span, span[1])
