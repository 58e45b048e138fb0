"""TOML: ``pyproject.toml``, Pipfiles and configs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks
from npu_migrate.files.pins import Pins
from npu_migrate.files.settings import SCRIPT_KEYS, Setting, prose, setting
from npu_migrate.files.shell import Shell

if TYPE_CHECKING:
    from npu_migrate.files.sites import Sites

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\r\n]*)
    |(?P<string>\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*(?:"|(?=[\r\n])|\\?\Z)|'[^'\r\n]*')
    |(?P<table>(?<![^\r\n])[ \t]*\[{1,2}(?P<path>[^\[\]\r\n=]+)\]{1,2}[ \t]*(?=[\r\n#]|\Z))
    |(?P<mark>[=,\[\]{}])
    |(?P<newline>[\r\n]+)
    |(?P<space>[ \t]+)
    |(?P<plain>[^\s=,\[\]{}"'#]+)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_DEPENDENCIES = re.compile(
    r"^(?:project\.dependencies|project\.optional-dependencies\..*|dependency-groups\..*|build-system\.requires"
    r"|tool\.(?:uv|pdm|hatch|flit)\..*dependencies.*|tool\.pdm\.dev-dependencies\..*)$"
)
_POETRY = re.compile(
    r"^(?:tool\.poetry\.(?:.*\.)?dependencies|tool\.poetry\.dev-dependencies|packages|dev-packages)\.([\w.-]+)(?:\.version)?$"
)


def scan(sites: Sites, kind: str) -> None:
    """Read a TOML file."""
    del kind
    _Toml(sites).scan()


class _Toml:
    """One walk over the tokens."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._pins = Pins(sites)
        self._shell = Shell(sites, Pins(sites))
        self._table = ""
        self._keys: list[tuple[str, int]] = []
        self._depth = 0
        self._held: re.Match[str] | None = None

    def scan(self) -> None:
        """Read every token."""
        for token in _TOKEN.finditer(self._sites.text):
            if token.group("comment"):
                self._sites.stay(token.span(), marks.STAY_COMMENT)
            elif token.group("table") and self._depth <= 0:
                self._table, self._keys, self._depth = token.group("path").strip(), [], 0
                self._sites.stay(token.span(), marks.STAY_NAME)
            elif token.group("string") or token.group("plain"):
                self._flush()
                self._held = token
            elif token.group("mark"):
                self._mark(token.group())
            elif token.group("newline"):
                self._flush()
                if self._depth <= 0:
                    self._keys, self._depth = [], 0
        self._flush()
        self._pins.finish()

    def _mark(self, mark: str) -> None:
        if mark == "=" and self._held:
            self._keys.append((self._held.group().strip("\"' "), self._held.start()))
            self._held = None
            return
        self._flush()
        if mark in {"[", "{"}:
            self._depth += 1
        elif mark in {"]", "}"}:
            self._depth -= 1
        if mark in {",", "}"} and len(self._keys) > 1:
            self._keys.pop()

    def _flush(self) -> None:
        token, self._held = self._held, None
        if token is None or not self._keys:
            return
        quotes = 3 if token.group()[:3] in {'"""', "'''"} else int(token.group()[0] in {'"', "'"})
        start, end = token.start() + quotes, max(token.end() - quotes, token.start() + quotes)
        keys = (*self._table.split("."), *(key for key, _ in self._keys))
        path = ".".join(part for part in keys if part)
        poetry = _POETRY.match(path)
        it = Setting(keys, self._sites.text[start:end], self._keys[-1][1], (start, end), self._depth > 0)
        if _DEPENDENCIES.match(path):
            self._pins.requirement(start, end)
        elif poetry:
            self._pins.pinned((it.start, end), poetry.group(1), it.value)
        elif it.key.lower() in SCRIPT_KEYS:
            self._shell.scan((start, end))
        else:
            setting(self._sites, self._pins, it)
        self._sites.stay((start, end), marks.STAY_TEXT if prose(it) else marks.STAY_NAME)
