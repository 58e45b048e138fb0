"""The outcome of judging a string."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Kind(str, Enum):
    """What a string turns out to be."""

    DEVICE = "device"
    TEST = "test"
    TEXT = "text"
    KEY = "key"
    ATTRIBUTE = "attribute"
    LIBRARY = "library"
    UNKNOWN = "unknown"


class Role(NamedTuple):
    """The outcome and what it rests on (a parameter, a function, a name), for the report."""

    kind: Kind
    because: str = ""

    @property
    def sure(self) -> bool:
        """Whether it is a device or a test for one."""
        return self.kind in (Kind.DEVICE, Kind.TEST)


UNKNOWN = Role(Kind.UNKNOWN)
