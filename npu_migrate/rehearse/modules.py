"""The ``torch_npu`` package of the portable tier, made of what the target release has.

A name the release lacks raises `AttributeError`, as it would there. A name it has but the rehearsal does not carry
out can be imported and mentioned; calling it raises `NotImplementedError`.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_migrate.rehearse.executor import Session
    from npu_migrate.rehearse.interface import Value

PACKAGE = "torch_npu"
_ALIASES = {"torch.npu": "torch_npu.npu"}


class TargetModule(types.ModuleType):
    """A module whose names are those of the target release."""

    def __init__(self, name: str, session: Session, parts: dict[str, Value]) -> None:
        """Make the module."""
        super().__init__(name, f"{name} of the simulated NPU.")
        self.__path__: list[str] = []
        self.__all__ = [part for part in parts if not part.startswith("_")]
        self.__dict__["_session"] = session
        self.__dict__["_parts"] = parts

    def __getattr__(self, name: str) -> Value:
        """An implementation, a submodule or a stand-in; `AttributeError` for what the release lacks."""
        session: Session = self.__dict__["_session"]
        parts: dict[str, Value] = self.__dict__["_parts"]
        full = f"{self.__name__}.{name}"
        hidden = name.startswith("_")
        if not hidden and not session.facts.has(full):
            self._lacking(name, full)
        if not hidden:
            self._used(full)
        if name in parts:
            return parts[name]
        if full in sys.modules:
            return sys.modules[full]
        if hidden:
            self._lacking(name, full, note=False)
        made = parts[name] = stand_in(full, session)
        return made

    def _used(self, full: str) -> None:
        journal = self.__dict__["_session"].journal
        if sys._getframe(2).f_code.co_filename.startswith(journal.root):  # noqa: SLF001  (who asked?)
            journal.note("npu-name", full)

    def _lacking(self, name: str, full: str, *, note: bool = True) -> None:
        session: Session = self.__dict__["_session"]
        if note and session.journal.where():
            session.journal.note("missing-name", full)
        message = f"module '{self.__name__}' has no attribute '{name}'"
        raise AttributeError(message, name=name, obj=self) if sys.version_info >= (3, 10) else AttributeError(message)

    def __dir__(self) -> list[str]:
        """What the rehearsal carries out."""
        return sorted({*self.__dict__, *self.__dict__["_parts"]})


def stand_in(full: str, session: Session) -> type:
    """What the release has and the rehearsal does not: a class, to be subclassed and asked about, but never made."""

    def refuse(*_args: Value, **_kwargs: Value) -> Value:
        session.journal.note("not-carried-out", full)
        message = f"The rehearsal does not carry out {full}; torch_npu {session.facts.torch_npu} has it."
        raise NotImplementedError(message)

    module, _, name = full.rpartition(".")
    return type(name, (), {"__new__": refuse, "__module__": module})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports ``torch_npu`` and what lies below it; the first import puts the simulation in place."""

    def __init__(self, install: Callable[[], Session]) -> None:
        """Take what puts the simulation in place."""
        self._install = install
        self._session: Session | None = None
        self._tables: dict[str, dict[str, Value]] = {}

    def fill(self, session: Session, tables: dict[str, dict[str, Value]]) -> TargetModule:
        """Make the modules that have an implementation; returns ``torch_npu.npu``."""
        self._session, self._tables = session, tables
        for name in sorted(tables):
            sys.modules[name] = TargetModule(name, session, tables[name])
        for alias, name in _ALIASES.items():
            sys.modules[alias] = sys.modules[name]
        return sys.modules["torch_npu.npu"]  # type: ignore[return-value]

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Answer for ``torch_npu`` itself and for submodules that the release has."""
        real = _real_name(fullname)
        if real != PACKAGE and not real.startswith(PACKAGE + "."):
            return None
        if real != PACKAGE and self._session is not None and not self._exists(real):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True, origin="npu-migrate rehearse")

    def _exists(self, name: str) -> bool:
        return name in self._tables or (self._session is not None and self._session.facts.has(name))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """The module made before, or one without implementations."""
        if self._session is None:
            self._install()
        name = _real_name(spec.name)
        found = sys.modules.get(name)
        if found is None and self._session is not None:
            found = TargetModule(name, self._session, self._tables.get(name, {}))
        if found is None:
            raise ImportError(spec.name)
        return found

    def exec_module(self, module: types.ModuleType) -> None:
        """Run what an import of this module does on hardware, such as the patches of ``transfer_to_npu``."""
        start = self._tables.get(module.__name__, {}).get("_on_import")
        if start is not None:
            start()


def _real_name(name: str) -> str:
    for alias, real in _ALIASES.items():
        if name == alias or name.startswith(alias + "."):
            return real + name[len(alias) :]
    return name
