"""Values in braces and brackets: YAML's flow style, JSON and TOML arrays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks
from npu_migrate.files.settings import Setting, prose, setting
from npu_migrate.files.shell_words import Command, Word

if TYPE_CHECKING:
    from npu_migrate.files.pins import Pins
    from npu_migrate.files.shell import Shell
    from npu_migrate.files.sites import Sites

_TOKEN = re.compile(
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|'[^']*')
    |(?P<comment>\#[^\r\n]*)
    |(?P<mark>[\[\]{},]|:(?=[\s"'\[{]|$))
    |(?P<plain>[^\s\[\]{},"'#:](?:[^\[\]{},\r\n:]|:(?!\s|$))*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_BRACKET = re.compile(r"\"[^\"\\]*(?:\\.[^\"\\]*)*(?:\"|\\?\Z)|'[^'\r\n]*'|[\[\]{}]", re.DOTALL)
_ARGUMENTS = {"args", "cmd", "command", "entrypoint"}


def closing(text: str, start: int) -> int:
    """The offset after the bracket that closes the one at ``start``, or -1."""
    depth = 0
    for found in _BRACKET.finditer(text, start):
        if found.group() in {"[", "{"}:
            depth += 1
        elif found.group() in {"]", "}"}:
            depth -= 1
            if depth == 0:
                return found.end()
    return -1


class Flow:
    """Reads flow collections of one text."""

    def __init__(self, sites: Sites, pins: Pins, shell: Shell) -> None:
        """Report into the text's own ``sites`` and ``pins``."""
        self._sites = sites
        self._pins = pins
        self._shell = shell

    def scan(self, keys: tuple[str, ...], span: tuple[int, int]) -> None:
        """Read one collection that stands under ``keys``."""
        if keys and keys[-1].lower() in _ARGUMENTS:
            self._arguments(span)
            return
        key, held = "", None
        for token in _TOKEN.finditer(self._sites.text, *span):
            if token.group("comment"):
                self._sites.stay(token.span(), marks.STAY_COMMENT)
            elif token.group("string") or token.group("plain"):
                if held:
                    self._scalar(keys, key, held)
                held = token
            elif token.group() == ":" and held:
                key, held = held.group().strip().strip("\"'"), None
            elif token.group("mark"):
                if held:
                    self._scalar(keys, key, held)
                held, key = None, "" if token.group() in {",", "}", "]"} else key
        if held:
            self._scalar(keys, key, held)

    def _scalar(self, keys: tuple[str, ...], key: str, token: re.Match[str]) -> None:
        raw = token.group().rstrip()
        span = (token.start(), token.start() + len(raw))
        it = Setting((*keys, key) if key else keys, raw.strip("\"'"), span[0], span, not key)
        setting(self._sites, self._pins, it)
        self._sites.stay(span, marks.STAY_TEXT if prose(it) else marks.STAY_NAME)

    def _arguments(self, span: tuple[int, int]) -> None:
        found = (
            token for token in _TOKEN.finditer(self._sites.text, *span) if token.group("string") or token.group("plain")
        )
        words = tuple(Word(token.start(), token.end(), token.group()) for token in found)
        if words:
            self._shell.command(Command(words))
