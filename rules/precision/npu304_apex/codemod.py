"""NVIDIA's apex: mixed precision, fused optimizers and layers, its own DistributedDataParallel."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate import tomlfile
from npu_migrate.engine.mentions import mentions
from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.structure import apex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule

FOLDER = Path(__file__).parent


class Apex(Rule):
    """Names each thing taken from apex once: at its import, or where a wider import leaves that open."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return mentions(module, _names(), ("apex",), imported=False)

    def leave_Import(self, original: cst.Import, updated: cst.Import) -> cst.Import:
        for alias in original.names:
            self._imported(alias, ".".join(dotted(alias.name) or []))
        return updated

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> cst.ImportFrom:
        base = ".".join(dotted(original.module) or [])
        if original.relative or isinstance(original.names, cst.ImportStar):
            if not original.relative:
                self._imported(original, base)
            return updated
        for alias in original.names:
            self._imported(alias, f"{base}.{alias.evaluated_name}")
        return updated

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        return self._used(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._used(original, updated)

    def _imported(self, at: cst.CSTNode, name: str) -> None:
        module = self.work.module
        if name.split(".", maxsplit=1)[0] in self.table["extensions"]:
            self.report(at, Status.UNSUPPORTED, "extension", symbol=name, name=name)
        elif f"{name}.".startswith("apex.") and (
            module.names.follow is None or not module.names.follow(name, module.path)
        ):
            self._say(at, name)

    def _used(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        if self.is_part_of_name(original):
            return updated
        meaning = self.meaning(original)
        name = meaning.name or ""
        if not name.startswith("apex.") or meaning.via or meaning.kind == "value":
            return updated
        parts = name.split(".")
        imported = ".".join(parts[: len(parts) - meaning.spelled]) or "apex"
        if self.nearest_message(name, "apex") != self.nearest_message(imported, "apex"):
            self._say(original, name)
        return updated

    def _say(self, at: cst.CSTNode, name: str) -> None:
        if self.work.range_of(at) in apex.answered(self.work.module):
            return  # NPU306 does, or says why it cannot
        parts = name.split(".")
        prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        known = next((prefix for prefix in prefixes if prefix in self.table["status"]), "apex")
        key = self.nearest_message(name, "apex")
        self.report(at, Status(self.table["status"][known]), key, symbol=name, name=name)


@cache
def _names() -> list[str]:
    """What has a message of its own, and the extensions."""
    messages = tomlfile.read(FOLDER / "rule.toml")["messages"]
    return [*(key for key in messages if key.startswith("apex")), *tomlfile.table(FOLDER)["extensions"]]
