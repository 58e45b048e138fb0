"""The patterns of a ``.gitignore``, matched as git matches them in a walk that asks folder by folder.

pathspec answers another question (is this file below anything ignored?) and so hides all folders of a tree with the
usual white list ``*``, ``!*/``, ``!*.py``; it also rejects a whole file for one bad range.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPECIAL = "*?[\\"
_NOTHING = "(?!)"
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class Pattern(NamedTuple):
    """One line: what it matches (a path, or just its last part) and whether it takes back an earlier line."""

    regex: str
    whole_path: bool
    only_folders: bool
    negated: bool


class Patterns:
    """All lines of one ignore file; the last line that matches decides."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        """Use :func:`patterns`, which reads lines."""
        self._patterns = list(patterns)
        self._matchers: dict[tuple[bool, bool], _Matcher] = {}

    def __bool__(self) -> bool:
        """Whether there is any pattern."""
        return bool(self._patterns)

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """True: ignored, False: expressly not, None: nothing said about this very path (its parents do not count)."""
        if not self._patterns:
            return None
        name = path.rpartition("/")[2]
        last = max(self._last(name, whole_path=False, folder=folder), self._last(path, whole_path=True, folder=folder))
        return None if last < 0 else not self._patterns[last].negated

    def _last(self, text: str, *, whole_path: bool, folder: bool) -> int:
        key = (whole_path, folder)
        if key not in self._matchers:
            chosen = [
                (number, pattern.regex)
                for number, pattern in enumerate(self._patterns)
                if pattern.whole_path is whole_path and (folder or not pattern.only_folders)
            ]
            self._matchers[key] = _Matcher(chosen)
        return self._matchers[key].last(text)


class _Matcher:
    """One alternation of several patterns, the last one first."""

    def __init__(self, numbered: list[tuple[int, str]]) -> None:
        self.numbers = [number for number, _ in reversed(numbered)]
        joined = "|".join(f"({regex})" for _, regex in reversed(numbered))
        self.fullmatch = re.compile(joined, re.DOTALL).fullmatch

    def last(self, text: str) -> int:
        """Number of the last pattern that matches; -1 if none does."""
        match = self.fullmatch(text) if self.numbers else None
        return self.numbers[match.lastindex - 1] if match and match.lastindex else -1


def patterns(lines: Iterable[str]) -> Patterns:
    """Read the lines of an ignore file; comments, blank lines and lines that match nothing are left out."""
    return Patterns(pattern for line in lines for pattern in [_pattern(line)] if pattern)


def _pattern(line: str) -> Pattern | None:
    line = line.removesuffix("\r")
    if line.startswith("#"):
        return None
    glob = _without_trailing_spaces(line)
    negated = glob.startswith("!")
    glob = glob[negated:]
    only_folders = glob.endswith("/")
    glob = glob.removesuffix("/")
    whole_path = "/" in glob
    regex = _Translation(glob.removeprefix("/"), whole_path=whole_path).regex if glob else _NOTHING
    return None if _NOTHING in regex else Pattern(regex, whole_path, only_folders, negated)


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if backslashes % 2 and stripped != line else stripped


class _Translation:
    """A glob as a regular expression."""

    def __init__(self, glob: str, *, whole_path: bool) -> None:
        self.glob = glob
        self.whole_path = whole_path
        self.at = 0
        parts = []
        while self.at < len(glob):
            parts.append(self._next())
        self.regex = "".join(parts)

    def _next(self) -> str:
        char = self.glob[self.at]
        if char == "*":
            return self._stars()
        if char == "[":
            return self._set()
        self.at += 1
        if char == "?":
            return "[^/]"
        if char == "\\":
            char = self.glob[self.at : self.at + 1]
            self.at += 1
        return re.escape(char) if char else _NOTHING

    def _stars(self) -> str:
        before = self.glob[: self.at]
        while self.glob[self.at : self.at + 1] == "*":
            self.at += 1
        rest = self.glob[self.at :]
        # git compares the plain start of a pattern first and then takes the stars for the start of the rest.
        starts = not before or before.endswith("/") or not any(char in _SPECIAL for char in before)
        if (
            self.at - len(before) == 1
            or not self.whole_path
            or not starts
            or (rest and not rest.startswith(("/", "\\/")))
        ):
            return "[^/]*"
        if rest.startswith("/"):
            self.at += 1
            return "(?:.*/)?"
        return ".*"

    def _set(self) -> str:
        """A bracket expression; one without an end matches nothing."""
        self.at += 1
        negated = self.glob[self.at : self.at + 1] in {"!", "^"}
        self.at += negated
        items: list[str] = []
        first = True
        while first or self.glob[self.at : self.at + 1] != "]":
            if self.at >= len(self.glob):
                return _NOTHING
            item = self._set_item()
            if item is None:
                return _NOTHING
            items.append(item)
            first = False
        self.at += 1
        body = "".join(items)
        if negated:
            return f"[^/{body}]"
        return f"(?!/)[{body}]" if body else _NOTHING

    def _set_item(self) -> str | None:
        if self.glob.startswith("[:", self.at):
            end = self.glob.find("]", self.at + 2)
            name = self.glob[self.at + 2 : end - 1] if end > 0 and self.glob[end - 1] == ":" else None
            if name is not None:
                self.at = end + 1
                return _CLASSES.get(name)
        low = self._set_char()
        if self.glob[self.at : self.at + 1] == "-" and self.glob[self.at + 1 : self.at + 2] not in {"", "]"}:
            self.at += 1
            high = self._set_char()
            return f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        return re.escape(low)

    def _set_char(self) -> str:
        if self.glob[self.at] == "\\":
            self.at += 1
        self.at += 1
        return self.glob[self.at - 1 : self.at]
