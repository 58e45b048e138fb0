"""INI files: ``setup.cfg``, ``tox.ini`` and configs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks
from npu_migrate.files.pins import Pins
from npu_migrate.files.requirements import requirement_line
from npu_migrate.files.settings import SCRIPT_KEYS, Setting, prose, setting
from npu_migrate.files.shell import Shell

if TYPE_CHECKING:
    from npu_migrate.files.sites import Sites

_LINE = re.compile(r"[^\r\n]+")
_SECTION = re.compile(r"\[([^\]\r\n]*)\]")
_PAIR = re.compile(r"([^\s=:#;\[][^=:\r\n]*)[=:][ \t]*")
_COMMENT = re.compile(r"^\s*[#;]|\s[#;]\s")
_REQUIREMENTS = {"deps", "install_requires", "requires", "setup_requires", "tests_require"}


def scan(sites: Sites, kind: str) -> None:
    """Read an INI file line by line; an indented line goes on with the last key."""
    del kind
    pins = Pins(sites)
    shell = Shell(sites, pins)
    section = key = ""
    for line in _LINE.finditer(sites.text):
        start, end = line.span()
        comment = _COMMENT.search(sites.text[start:end])
        if comment:
            sites.stay((start + comment.start(), end), marks.STAY_COMMENT)
            end = start + comment.start()
        head = _SECTION.match(sites.text, start, end)
        pair = _PAIR.match(sites.text, start, end)
        if head:
            section, key = head.group(1), ""
        elif pair:
            key = pair.group(1).rstrip()
            _value(sites, (pins, shell), Setting((section, key), "", start, (pair.end(), end)))
        else:
            _value(sites, (pins, shell), Setting((section, key), "", start, (start, end), item=True))
        sites.stay((start, end), marks.STAY_NAME)
    pins.finish()


def _value(sites: Sites, readers: tuple[Pins, Shell], it: Setting) -> None:
    pins, shell = readers
    raw = sites.text[slice(*it.span)]
    start = it.span[0] + len(raw) - len(raw.lstrip())
    end = max(it.span[1] - len(raw) + len(raw.rstrip()), start)
    if it.key.lower() in _REQUIREMENTS or it.keys[0].startswith("options.extras_require"):
        requirement_line(sites, pins, start, end)
    elif it.key.lower() in SCRIPT_KEYS:
        shell.scan((start, end))
    else:
        it = it._replace(value=sites.text[start:end].strip("\"'"), span=(start, end))
        setting(sites, pins, it)
        sites.stay(it.span, marks.STAY_TEXT if prose(it) else marks.STAY_NAME)
