"""Shell scripts and Makefiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.files.pins import Pins
from npu_migrate.files.shell import Shell

if TYPE_CHECKING:
    from npu_migrate.files.sites import Sites


def scan(sites: Sites, kind: str) -> None:
    """Read a whole script."""
    Shell(sites, Pins(sites), make=kind == "make").scan((0, len(sites.text)))
