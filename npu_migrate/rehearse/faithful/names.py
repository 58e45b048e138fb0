"""Notes which names of ``torch.npu`` the user's code asks for, and which are not there."""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session
    from npu_migrate.rehearse.interface import Value


def watch(session: Session) -> None:
    """Make ``torch.npu`` tell."""
    plain = types.ModuleType.__getattribute__

    class Told(types.ModuleType):
        """A module that notes who asks for what."""

        def __getattribute__(self, name: str) -> Value:
            asker = sys._getframe(1).f_code.co_filename  # noqa: SLF001  (who asked?)
            if not asker.startswith(session.journal.root) or name.startswith("_"):
                return plain(self, name)
            try:
                value = plain(self, name)
            except AttributeError:
                session.journal.note("missing-name", f"torch_npu.npu.{name}")
                raise
            session.journal.note("npu-name", f"torch_npu.npu.{name}")
            return value

    torch.npu.__class__ = Told
