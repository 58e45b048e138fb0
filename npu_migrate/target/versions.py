"""Version numbers as torch and torch_npu write them: 2.7.1, 2.7.1.post11, 2.1.0.rc1, 2.13.0+cpu."""

from __future__ import annotations

import re

_VERSION = re.compile(r"^(\d+(?:\.\d+)*)(?:\.?(post|rc)(\d+))?(?:\+[\w.]+)?$")
_RANK = {"rc": -1, None: 0, "post": 1}

Key = tuple[tuple[int, ...], int, int]


def is_version(text: str) -> bool:
    """Whether the text is a version number."""
    return _VERSION.match(text.strip()) is not None


def key(text: str) -> Key:
    """What versions are compared by; 2.7 and 2.7.0 are one."""
    match = _VERSION.match(text.strip())
    if match is None:
        raise ValueError(text)
    numbers = [int(number) for number in match[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), _RANK[match[2]], int(match[3] or 0)


def base(text: str) -> str:
    """``2.7.1`` of ``2.7.1.post11``."""
    match = _VERSION.match(text.strip())
    if match is None:
        raise ValueError(text)
    return match[1]
