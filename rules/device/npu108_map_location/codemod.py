"""``torch.load`` without ``map_location``, and the keys of a ``map_location`` dictionary."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import argument, name_of

if TYPE_CHECKING:
    import libcst as cst

DEVICE = re.compile(r"""[furbFURB]*["']cuda\b""")
LOAD = "torch.load"
OF_TESTS = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_|conftest)")


class MapLocation(Rule):
    """Speaks up where nothing says where the tensors go; tests read what they have just written."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        if self.qualified_name(original.func) != LOAD or OF_TESTS.search(self.work.module.path):
            return updated
        twin = self.expression(original)
        if not isinstance(twin, ast.Call) or any(keyword.arg is None for keyword in twin.keywords):
            return updated
        if argument(twin, "map_location", 1) is None and len(twin.args) == 1 and not self._is_buffer(twin.args[0]):
            self.report(original, Status.ADVICE, "missing", at=original.func, symbol=LOAD)
        return updated

    def leave_DictElement(self, original: cst.DictElement, updated: cst.DictElement) -> cst.DictElement:
        key = self.work.code(original.key)
        twin = self.expression(original.key) if DEVICE.match(key) else None
        if twin is not None and self._is_map(self.work.module.parent(twin)):
            saves = "torch.save(" in self.module.text
            status, message = (Status.MANUAL, "key-saved") if saves else (Status.KEPT, "key")
            self.report(original.key, status, message, key=key)
        return updated

    def _is_buffer(self, source: ast.expr) -> bool:
        """What the program wrote itself a moment ago."""
        if isinstance(source, ast.Call):
            return name_of(self.work.module, source.func) == "io.BytesIO"
        if not isinstance(source, ast.Name):
            return False
        module = self.work.module
        owner = module.names.binding_scope(source.id, module.scope_at(module.range_of(source)[0]))
        bindings = owner.bindings.get(source.id, []) if owner is not None else []
        return any(isinstance(b.node, ast.Call) and self._is_buffer(b.node) for b in bindings)

    def _is_map(self, node: ast.AST | None) -> bool:
        """Whether a dictionary is given as ``map_location``, or to a variable of that name."""
        above = self.work.module.parent(node) if isinstance(node, ast.Dict) else None
        if isinstance(above, ast.keyword):
            return above.arg == "map_location"
        if isinstance(above, ast.Call):
            return name_of(self.work.module, above.func) == LOAD and above.args[1:2] == [node]
        targets = above.targets if isinstance(above, ast.Assign) else []
        return any("map_location" in ast.unparse(target) for target in targets)
