"""YAML: configs, conda environments, CI workflows and compose files.

Read line by line with a stack of keys; no document is ever built, so a broken one is read as well as a whole one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.files import marks
from npu_migrate.files.embedded import python_text
from npu_migrate.files.flow import Flow, closing
from npu_migrate.files.pins import Pins
from npu_migrate.files.settings import SCRIPT_KEYS, Setting, prose, setting
from npu_migrate.files.shell import Shell
from npu_migrate.files.tables import concerns

if TYPE_CHECKING:
    from npu_migrate.files.sites import Sites

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\n|\r|\Z)")
_KEY = re.compile(
    r"""(?:"(?P<double>[^"\\\r\n]*)"|'(?P<single>[^'\r\n]*)'
    |(?P<plain>[^\s#"'\[\]{},&*!|>%@`-][^\r\n#:]*(?::[^\s:#]+)*|-[^\s:]+))\s*:(?=\s|$)""",
    re.VERBOSE,
)
_BLOCK = re.compile(r"(?:[&!]\S+\s+)*[|>][-+0-9]*\s*(?:\#.*)?$")
_COMMENT = re.compile(r"\s#|^#")
_DASH = re.compile(r"-(?=\s|$)[ \t]*")
# The arguments of a program, under whatever key.
_OPTIONS = re.compile(r"(?:^|[\s\"'])--[A-Za-z][\w-]*(?:\s+|=)[\"']?(?:cuda\b|nccl\b)")
_LONGEST_KEY = 500
_SPACE = re.compile(r"[ \t]*")
_PROPERTY = re.compile(r"(?:[&!]\S+\s+)*")


class _Place(NamedTuple):
    """Where a value stands: its key's offset (or its own), and its own first and last offset."""

    key: int
    start: int
    end: int
    item: bool


def scan(sites: Sites, kind: str) -> None:
    """Read a YAML file."""
    del kind
    _Yaml(sites).scan()


class _Yaml:
    """One walk over the lines."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._text = sites.text
        self._pins = Pins(sites)
        self._shell = Shell(sites, Pins(sites))
        self._flow = Flow(sites, self._pins, self._shell)
        self._stack: list[tuple[int, str]] = []
        self._block: tuple[int, int] | None = None
        self._torn = False

    def scan(self) -> None:
        """Read every line."""
        at = 0
        while at < len(self._text):
            found = _LINE.match(self._text, at)
            if not found:
                break
            start, end = found.span(1)
            at = max(found.end(), at + 1)
            if self._block and self._inside(start, end):
                continue
            if found.group(1).strip():
                at = self._line(start, end, at)
        self._close(len(self._text))
        self._pins.finish()

    def _inside(self, start: int, end: int) -> bool:
        """Whether a line belongs to the open block scalar; closes it otherwise."""
        line = self._text[start:end]
        if not line.strip() or (self._block and len(line) - len(line.lstrip(" ")) > self._block[0]):
            return True
        self._close(start)
        return False

    def _close(self, end: int) -> None:
        if not self._block:
            return
        span, self._block = (self._block[1], end), None
        keys = {key.lower() for key in self._keys()[-2:]}
        if keys & SCRIPT_KEYS:
            self._shell.scan(span)
        elif keys & {"python", "code"}:
            python_text(self._sites, span)
        elif _OPTIONS.search(self._text, *span):
            self._shell.scan(span)
        self._sites.stay(span, marks.STAY_TEXT)

    def _keys(self) -> tuple[str, ...]:
        return tuple(key for _, key in self._stack)

    def _line(self, start: int, end: int, after: int) -> int:
        """Read one line; the answer is the offset of the next one."""
        at = self._skip(start, end)
        indent = at - start
        while True:
            dash = _DASH.match(self._text, at, end)
            if not dash:
                break
            indent = at - start
            while self._stack and self._stack[-1][0] > indent:
                self._stack.pop()
            at = dash.end()
        if self._text.startswith("#", at):
            self._sites.stay((at, end), marks.STAY_COMMENT)
            return after
        key = _KEY.match(self._text, at, min(end, at + _LONGEST_KEY))
        if not key:
            return self._value(_Place(at, at, end, item=True), after, indent)
        depth = at - start
        while self._stack and self._stack[-1][0] >= depth:
            self._stack.pop()
        self._stack.append((depth, next(name for name in key.groups() if name is not None).strip()))
        return self._value(_Place(at, self._skip(key.end(), end), end, item=False), after, depth)

    def _skip(self, at: int, end: int) -> int:
        found = _SPACE.match(self._text, at, end)
        return found.end() if found else at

    def _value(self, place: _Place, after: int, depth: int) -> int:
        text, sites = self._text, self._sites
        found = _PROPERTY.match(text, place.start, place.end)
        start = found.end() if found else place.start
        if _BLOCK.match(text, start, place.end):
            self._block = (depth, after)
        elif text[start : start + 1] in {"[", "{"}:
            after = self._collection(start, place.end, after)
        elif text[start : start + 1] in {'"', "'"}:
            after = self._quoted(place._replace(start=start), after)
        elif start < place.end:
            comment = _COMMENT.search(text, start, place.end)
            if comment:
                sites.stay((comment.start(), place.end), marks.STAY_COMMENT)
            self._scalar(place._replace(start=start, end=comment.start() if comment else place.end))
        if place.key < place.start:
            sites.stay((place.key, place.start), marks.STAY_NAME)
        return after

    def _collection(self, start: int, end: int, after: int) -> int:
        close = -1 if self._torn else closing(self._text, start)
        if close < 0:
            self._torn, close = True, end
        self._flow.scan(self._keys(), (start, max(close, start)))
        self._sites.stay((start, max(close, end)), marks.STAY_TEXT)
        if close <= end:
            return after
        line = _LINE.match(self._text, close)
        return line.end() if line else close

    def _quoted(self, place: _Place, after: int) -> int:
        quote = self._text[place.start]
        pattern = r'"[^"\\]*(?:\\.[^"\\]*)*"' if quote == '"' else r"'[^']*(?:''[^']*)*'"
        found = None if self._torn else re.compile(pattern, re.DOTALL).match(self._text, place.start)
        if not found:
            self._torn = True
            self._scalar(place)
            return after
        self._scalar(place._replace(end=found.end()))
        line = _LINE.match(self._text, found.end())
        stop = line.end() if line else len(self._text)
        self._sites.stay((found.end(), stop), marks.STAY_COMMENT)
        return max(after, stop)

    def _scalar(self, place: _Place) -> None:
        if not (self._sites.concern(place.key, place.end) or any(map(concerns, self._keys()))):
            return
        sites, keys = self._sites, self._keys()
        raw = self._text[place.start : place.end].rstrip()
        span = (place.start, place.start + len(raw))
        low = [key.lower() for key in keys[-2:]]
        if SCRIPT_KEYS.intersection(low[-1:] if not place.item else low) or _OPTIONS.search(raw):
            self._shell.scan(span)
            return
        if place.item and "channels" in low:
            self._pins.channel(*span)
        elif place.item and "dependencies" in low:
            (self._pins.requirement if low[-1] == "pip" else self._pins.conda)(*span)
        it = Setting(keys, raw.strip("\"'"), place.key, span, place.item)
        if not sites.covered(*span):
            setting(sites, self._pins, it)
        sites.stay(span, marks.STAY_TEXT if prose(it) else marks.STAY_NAME)
