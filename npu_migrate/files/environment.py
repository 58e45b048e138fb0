"""Environment variables, wherever a file sets or reads them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks
from npu_migrate.files.tables import variable, variables

if TYPE_CHECKING:
    from npu_migrate.files.sites import Mark, Sites

NAME = re.compile(r"[A-Za-z_]\w*")
ASSIGNMENT = re.compile(r"(?:-e|-x|--env=|-D)?([A-Za-z_]\w*)\s*[:+?]?=")

_REFERENCE = re.compile(r"\$\(?(?:ENV)?\{?([A-Za-z_]\w*)")
_IDS = re.compile(r"\d+(?:,\d+)*$")
_UNIQUE = re.compile(r"(?:GPU|MIG)-", re.IGNORECASE)
_MOST_MEGABYTES = 4096
_MARKS = {
    "same": marks.VARIABLE_SAME,
    "near": marks.VARIABLE_NEAR,
    "log": marks.VARIABLE_LOG,
    "none": marks.VARIABLE_NONE,
    "toolkit": marks.TOOLKIT_VARIABLE,
    "architecture": marks.TOOLKIT_ARCHITECTURE,
    "release": marks.TOOLKIT_RELEASE,
    "container": marks.CONTAINER_VARIABLE,
}


def assigned(sites: Sites, span: tuple[int, int], name: str, value: str) -> bool:
    """Report ``name=value``; False where the variable is none of CUDA's."""
    known = variable(name)
    if known is None:
        return False
    value = value.strip().strip("\"'").strip()
    if known.message in {"visible", "ascend"}:
        _visible(sites, span, name, value)
    elif known.message == "buffsize":
        if value.isdecimal() and int(value[:9]) > _MOST_MEGABYTES:
            sites.add(span, marks.VARIABLE_BUFFSIZE, name, value=value)
    else:
        sites.add(span, _mark(known.message, known.ascend), name, name=name, ascend=known.ascend)
    return True


def _mark(message: str, ascend: str) -> Mark:
    if message == "invented":
        return marks.VARIABLE_INSTEAD if ascend else marks.VARIABLE_INVENTED
    return _MARKS[message]


def _visible(sites: Sites, span: tuple[int, int], name: str, value: str) -> None:
    ids = value.replace(" ", "")
    if _IDS.match(ids):
        numbers = [int(number[:9]) for number in ids.split(",")]
        if any(left >= right for left, right in zip(numbers, numbers[1:])):
            sites.add(span, marks.VISIBLE_DESCENDING, name, value=value)
            return
    if variables()[name].message == "ascend":
        return
    if value in {"", "-1"}:
        sites.add(span, marks.VISIBLE_HIDDEN, name, value=value)
    elif _UNIQUE.match(value):
        sites.add(span, marks.VISIBLE_NAMED, name, value=value)
    else:
        sites.add(span, marks.VISIBLE, name, value=value)


def read(sites: Sites, span: tuple[int, int], name: str) -> bool:
    """Report a place that reads a variable; False where it is none of CUDA's."""
    known = variable(name)
    if known is None or known.message in {"ascend", "buffsize"}:
        return False
    if known.message == "visible":
        sites.add(span, marks.VISIBLE_READ, name)
    else:
        sites.add(span, _mark(known.message, known.ascend), name, name=name, ascend=known.ascend)
    return True


def references(sites: Sites, start: int, end: int) -> None:
    """Report every ``$NAME`` of a stretch that names one of CUDA's variables."""
    for found in _REFERENCE.finditer(sites.text, start, end):
        read(sites, found.span(1), found.group(1))
