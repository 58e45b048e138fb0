"""What a switch for pinned memory in a config file needs, by the target release and the setting ``pin-memory``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from npu_migrate.files.marks import CONFIG_PINNED
from npu_migrate.model import Status, Text

if TYPE_CHECKING:
    from npu_migrate.engine.settings import Settings
    from npu_migrate.model import Finding


def judged(finding: Finding, settings: Settings) -> Finding:
    """The finding with the word of the release; one about anything else comes back as it is."""
    if (finding.text.rule, finding.text.key) != (CONFIG_PINNED.rule, CONFIG_PINNED.key):
        return finding
    mode = settings.pinning
    if mode == "npu":
        return finding
    key, status = "off", Status.MANUAL
    if mode == "keep":
        key, status = ("by-itself" if settings.pin_memory == "auto" else "stays"), Status.KEPT
    facts = (*finding.text.facts, ("torch", settings.target.torch), ("release", settings.target.torch_npu))
    return replace(finding, status=status, text=Text(CONFIG_PINNED.rule, key, facts))
