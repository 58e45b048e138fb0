"""JSON: configs of DeepSpeed and others, editor settings, data.

Walks the strings only and keeps the places; depth and broken structure do not matter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks
from npu_migrate.files.pins import Pins
from npu_migrate.files.settings import Setting, prose, setting
from npu_migrate.files.sites import TIE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.files.sites import Sites

_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:\s*(true|false|null|[-\d.eE+]+)?)?', re.DOTALL)
_WANTED = re.compile(r"cuda|nccl|cudnn|nvidia|nvcr\.io|pin_memory|hccl_|npu_|/cu1|ascend_rt|accelerator", re.IGNORECASE)
_OWNER = re.compile(r'"(?:offload_param|offload_optimizer|aio)"\s*:\s*\{[^{}]*$')
_NEAR = 400


def scan(sites: Sites, kind: str) -> None:
    """Read a JSON file."""
    del kind
    pins = Pins(sites)
    for it in _settings(sites.text):
        setting(sites, pins, it)
        sites.stay(it.whole, marks.STAY_TEXT if prose(it) else marks.STAY_NAME)
    if TIE.search(sites.text):
        sites.stay((0, len(sites.text)), marks.STAY_TEXT)


def _settings(text: str) -> Iterator[Setting]:
    """The settings that hold a wanted word in key or value."""
    key, key_start, fresh = "", 0, False
    for found in _STRING.finditer(text):
        if found.group(2) is None:
            wanted = _WANTED.search(found.group(1)) or (fresh and _WANTED.search(key))
            if wanted:
                keys = (*_owner(text, key_start), key)
                yield Setting(keys, found.group(1), key_start if fresh else found.start(), found.span(1), not fresh)
            fresh = False
            continue
        key, key_start, fresh = found.group(1), found.start(), found.group(3) is None
        if found.group(3) is not None and _WANTED.search(key):
            yield Setting((*_owner(text, key_start), key), found.group(3), key_start, found.span(3))


def _owner(text: str, at: int) -> tuple[str, ...]:
    """Name DeepSpeed's offload section around a key, where there is one."""
    found = _OWNER.search(text, max(at - _NEAR, 0), at)
    return (found.group().split('"')[1],) if found else ()
