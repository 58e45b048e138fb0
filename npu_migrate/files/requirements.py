"""``requirements.txt`` and constraint files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import environment, marks, yaml_values
from npu_migrate.files.pins import Pins

if TYPE_CHECKING:
    from npu_migrate.files.sites import Sites

_LINE = re.compile(r"[^\r\n]+")
_COMMENT = re.compile(r"(?:^|(?<=\s))#")
_OPTION = re.compile(r"(--?[\w-]+)[\s=]*(\S*)")
_INLINE_OPTION = re.compile(r"\s--[\w-]+")


def scan(sites: Sites, kind: str) -> None:
    """Read a requirements file line by line."""
    if sites.path.lower().endswith((".yml", ".yaml")):  # conda's environment.yml
        yaml_values.scan(sites, kind)
        return
    pins = Pins(sites)
    for line in _LINE.finditer(sites.text):
        start, end = line.span()
        comment = _COMMENT.search(sites.text, start, end)
        if comment:
            sites.stay((comment.start(), end), marks.STAY_COMMENT)
            end = comment.start()
        requirement_line(sites, pins, start, end)
    pins.finish()


def requirement_line(sites: Sites, pins: Pins, start: int, end: int) -> None:
    """Read one requirement or option without its comment."""
    text = sites.text
    while start < end and text[start].isspace():
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] == "\\"):
        end -= 1
    if text.startswith("-", start):
        _options(sites, pins, start, end)
    elif start < end:
        option = _INLINE_OPTION.search(text, start, end)
        stop = option.start() if option else end
        pins.requirement(start, stop)
        if option:
            _options(sites, pins, option.start() + 1, end)
    environment.references(sites, start, end)
    sites.stay((start, end), marks.STAY_NAME)


def _options(sites: Sites, pins: Pins, start: int, end: int) -> None:
    for option in _OPTION.finditer(sites.text, start, end):
        if option.group(1) in {"-e", "--editable"}:
            pins.requirement(*option.span(2))
        elif option.group(2):
            pins.index(*option.span(2))
