"""JSON: configs of DeepSpeed and others, editor settings, data.

Walks the strings only and keeps the places; depth and broken structure do not matter.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from npu_migrate.files import marks
from npu_migrate.files.pins import Pins
from npu_migrate.files.settings import Setting, prose, setting
from npu_migrate.files.sites import FILE_CROWD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.files.sites import Sites

STRING = re.compile(
    r'"([^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)(?:"|(?=[\r\n])|\\?\Z)(\s*:\s*(true|false|null|[-\d.eE+]+)?)?', re.DOTALL
)
"""A JSON string (group 1), with the colon after it (group 2) and a plain value (group 3) where it is a key."""

_WANTED = re.compile(r"cuda|nccl|cudnn|nvidia|nvcr\.io|pin_memory|hccl_|npu_|/cu1|ascend_rt|accelerator", re.IGNORECASE)
_OWNER = re.compile(r'"(?:offload_param|offload_optimizer|aio)"\s*:\s*\{[^{}]*$')
_NEAR = 400


def scan(sites: Sites, kind: str) -> None:
    """Read a JSON file."""
    del kind
    pins = Pins(sites)
    met: Counter[tuple[object, ...]] = Counter()
    last: dict[tuple[object, ...], Setting] = {}
    for it in _settings(sites.text):
        again = (it.key, it.value, it.item)
        met[again] += 1
        if met[again] > FILE_CROWD:
            last[again] = it
        else:
            _one(sites, pins, it)
    for it in last.values():
        _one(sites, pins, it)


def _one(sites: Sites, pins: Pins, it: Setting) -> None:
    setting(sites, pins, it)
    sites.stay(it.whole, marks.STAY_TEXT if prose(it) else marks.STAY_NAME)


def _settings(text: str) -> Iterator[Setting]:
    """The settings that hold a wanted word in key or value."""
    key, key_start, fresh = "", 0, False
    offload = "offload" in text or '"aio"' in text
    for found in STRING.finditer(text):
        value, colon, literal = found.groups()
        if colon is None:
            if _wanted(value) or (fresh and _wanted(key)):
                keys = (*_owner(text, key_start), key) if offload else (key,)
                yield Setting(keys, value, key_start if fresh else found.start(), found.span(1), not fresh)
            fresh = False
            continue
        key, key_start, fresh = value, found.start(), literal is None and text.startswith('"', found.end())
        if literal is not None and _wanted(key):
            yield Setting((*_owner(text, key_start), key), literal, key_start, found.span(3))


def _wanted(text: str) -> bool:
    """Whether a string holds a wanted word."""
    return _known(text) if len(text) < _NEAR else _WANTED.search(text) is not None


@lru_cache(maxsize=4096)
def _known(text: str) -> bool:
    """The same, remembered: keys and values of a config repeat."""
    return _WANTED.search(text) is not None


def _owner(text: str, at: int) -> tuple[str, ...]:
    """Name DeepSpeed's offload section around a key, where there is one."""
    found = _OWNER.search(text, max(at - _NEAR, 0), at)
    return (found.group().split('"')[1],) if found else ()
