"""What the patch stage is given, and the one error it raises."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True)
class Change:
    """One file's bytes before and after. ``path`` is relative to the root, with ``/``."""

    path: str
    old: bytes = field(repr=False)
    new: bytes = field(repr=False)


class Code(str, Enum):
    """Why nothing was done; ``messages.toml`` has the sentence for each."""

    BAD_PATH = "bad-path"
    MISSING = "missing"
    CHANGED = "changed"
    SYMLINK = "symlink"
    HARD_LINK = "hard-link"
    NOT_A_FILE = "not-a-file"
    READ_ONLY = "read-only"
    READ_ONLY_FOLDER = "read-only-folder"
    WRITE_FAILED = "write-failed"
    HALF_DONE = "half-done"
    BUSY = "busy"
    STATE_UNUSABLE = "state-unusable"
    INTERRUPTED = "interrupted"
    UNCOMMITTED = "uncommitted"
    GIT_FAILED = "git-failed"
    NOTHING_TO_UNDO = "nothing-to-undo"
    WIDER_RUN = "wider-run"
    CHANGED_SINCE = "changed-since"
    OUTPUT_NOT_EMPTY = "output-not-empty"
    OUTPUT_NOT_A_FOLDER = "output-not-a-folder"
    OUTPUT_INSIDE = "output-inside"
    OUTPUT_AROUND = "output-around"


class PatchError(Exception):
    """The tree is as it was before the call (with ``HALF_DONE``: will be, after the next ``undo``).

    ``path`` is the first path concerned, ``others`` all further ones, ``reason`` what the system or git said.
    """

    def __init__(self, path: str, code: Code, *, others: tuple[str, ...] = (), reason: str = "") -> None:
        """Keep the facts; :func:`npu_migrate.patch.messages.sentence` makes words of them."""
        super().__init__(path, code.value, *others, reason)
        self.path = path
        self.code = code
        self.others = others
        self.reason = reason
