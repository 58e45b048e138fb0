"""``torch.version.cuda``, ``torch.backends.cuda.is_built()``, ``torch._C._cuda_...``: what PyTorch was built with."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate.rule import Rule, Status, dotted

PRIVATE = "torch._C._cuda"
TESTS = (ast.If, ast.IfExp, ast.While, ast.Assert)
SHOWN = (ast.JoinedStr, ast.FormattedValue)
PRINTERS = frozenset(["print", "str", "log", "debug", "info", "warning", "error", "append", "format", "write"])


class TorchVersion(Rule):
    """Says what the answer is on Ascend, by what the program does with it."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> cst.ImportFrom:
        """The import of a private function fails on a build without CUDA; that of a value does no harm."""
        base = ".".join(dotted(original.module) or [])
        if not original.relative and not isinstance(original.names, cst.ImportStar):
            for alias in original.names:
                self._import(alias, f"{base}.{alias.evaluated_name}")
        return updated

    def _import(self, alias: cst.ImportAlias, name: str) -> None:
        if name.startswith(PRIVATE):
            key = self.nearest_message(name, PRIVATE)
            self.report(alias, Status.UNSUPPORTED, key, symbol=name, name=name)
        elif name in self.table["names"]:
            self.report(alias, Status.KEPT, "import", symbol=name, name=name)

    def _judge(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        if self.is_part_of_name(original):
            return updated
        name = self.qualified_name(original) or ""
        key = next((known for known in self.table["names"] if f"{name}.".startswith(f"{known}.")), "")
        if name.startswith(PRIVATE):
            key = self.nearest_message(name, PRIVATE)
        if not key:
            return updated
        context = self._context(original)
        row = self.table["names"].get(key, self.table["names"][PRIVATE])
        said = f"{key}, {context}" if f"{key}, {context}" in self.info.messages else key
        self.report(
            original,
            Status(row[context]),
            said,
            symbol=name,
            name=key if key in self.table["names"] and key != PRIVATE else name,
        )
        return updated

    def _context(self, original: cst.BaseExpression) -> str:
        """Whether the answer is tested, only shown to people, or used for something else."""
        tested = False
        node: ast.AST | None = self.expression(original)
        above = self.work.module.parent(node) if node is not None else None
        while isinstance(above, (ast.BoolOp, ast.UnaryOp, ast.Compare)) or (
            isinstance(above, ast.Call) and above.func is node
        ):
            if isinstance(above, ast.Compare) and not isinstance(above.ops[0], (ast.Is, ast.IsNot)):
                return "used"
            tested = tested or not isinstance(above, ast.Call)
            node, above = above, self.work.module.parent(above)
        if tested or (isinstance(above, TESTS) and above.test is node):
            return "tested"
        return "shown" if isinstance(above, SHOWN) or _prints(above) else "used"


def _prints(node: ast.AST | None) -> bool:
    name = getattr(getattr(node, "func", None), "attr", None) or getattr(getattr(node, "func", None), "id", None)
    return isinstance(node, ast.Call) and name in PRINTERS
