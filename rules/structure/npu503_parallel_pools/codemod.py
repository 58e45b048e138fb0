"""Max pools of growing size side by side -> each computed from the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from npu_migrate.rule import Rule, Status
from npu_migrate.structure import pools, spelling
from npu_migrate.structure.spelling import beginning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.pools import Pyramid, Use

NAME = "chained_pools"
METHOD = '''\
@staticmethod
def {name}(x, pools):
    """Outputs of stride-1 max pools, each taken from the one before: the same values with fewer comparisons."""
    done, size, outputs = x, 1, []
    for pool in pools:
        step = pool.kernel_size - size + 1
        if step > 0 and step % 2:
            done, size = {max_pool2d}(done, step, 1, step // 2), pool.kernel_size
            outputs.append(done)
        else:
            outputs.append(pool(x))
    return outputs
'''


class ParallelPools(Rule):
    """The pools stay as they are made, so that pickled modules work; only where they are applied changes."""

    @classmethod
    def sites(cls, module: PythonModule) -> Iterable[int]:
        return [module.range_of(found.made)[0] for found in pools.find(module)]

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        span = self.work.range_of(original)
        found = next((p for p in self._pyramids() if self.work.module.range_of(p.made) == span), None)
        if found is None:
            return updated
        if self._spelled(found) is None or self._taken(found):
            self.report(original, Status.MANUAL, "by-hand", symbol="torch.nn.MaxPool2d")
            return updated
        text = self._call(found.uses[0])
        return self.rewrite(original, updated, updated, "chained", symbol="torch.nn.MaxPool2d", after=text)

    def leave_ListComp(self, original: cst.ListComp, updated: cst.ListComp) -> cst.BaseExpression:
        return self._replace(original, updated)

    def leave_GeneratorExp(self, original: cst.GeneratorExp, updated: cst.GeneratorExp) -> cst.BaseExpression:
        return self._replace(original, updated)

    def leave_List(self, original: cst.List, updated: cst.List) -> cst.BaseExpression:
        return self._splice(original, updated)

    def leave_Tuple(self, original: cst.Tuple, updated: cst.Tuple) -> cst.BaseExpression:
        return self._splice(original, updated)

    def leave_ClassDef(self, original: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:
        start, end = self.work.range_of(original)
        inside = [p for p in self._chosen() if start <= self.work.module.range_of(p.made)[0] < end]
        own = [p for p in inside if p.owner.name == original.name.value]
        spelled = self._spelled(own[0]) if own else None
        if spelled is None:
            return updated
        text = METHOD.format(name=NAME, max_pool2d=spelled)
        helper = cst.ensure_type(cst.parse_statement(text, config=self.work.tree.config_for_parsing), cst.FunctionDef)
        helper = helper.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        body = list(updated.body.body)
        index = next(i for i, s in enumerate(body) if isinstance(s, cst.FunctionDef) and s.name.value == own[0].method)
        body.insert(index, helper)
        return updated.with_changes(body=updated.body.with_changes(body=body))

    def _replace(
        self, original: cst.ListComp | cst.GeneratorExp, updated: cst.ListComp | cst.GeneratorExp
    ) -> cst.BaseExpression:
        use = self._use_at(original.elt)
        return updated if use is None else self._applied(original, updated, cst.parse_expression(self._call(use)))

    def _splice(self, original: cst.List | cst.Tuple, updated: cst.List | cst.Tuple) -> cst.BaseExpression:
        use = self._use_at(original)
        if use is None:
            return updated
        elements = list(updated.elements)
        last = elements[use.last]
        call = self._call(use) if not use.backwards else f"reversed({self._call(use)})"
        run = cst.StarredElement(cst.parse_expression(call), comma=last.comma)
        new = updated.with_changes(elements=[*elements[: use.first], run, *elements[use.last + 1 :]])
        return self._applied(original, updated, new)

    def _applied(
        self, original: cst.BaseExpression, updated: cst.BaseExpression, new: cst.BaseExpression
    ) -> cst.BaseExpression:
        return self.rewrite(original, updated, new, "applied", symbol="torch.nn.MaxPool2d")

    def _use_at(self, original: cst.CSTNode) -> Use | None:
        start = self.work.range_of(original)[0]
        uses = (use for found in self._chosen() for use in found.uses)
        same = (use for use in uses if type(use.node).__name__ == type(original).__name__)
        return next((use for use in same if beginning(self.module, use.node) == start), None)

    def _call(self, use: Use) -> str:
        start, end = self.work.module.range_of(use.operand)
        return f"self.{NAME}({self.work.module.text[start:end]}, {use.pools})"

    def _pyramids(self) -> list[Pyramid]:
        return pools.find(self.work.module)

    def _chosen(self) -> list[Pyramid]:
        """The pyramids that are rewritten in this run."""
        module, code = self.work.module, self.info.code
        return [
            found
            for found in (self._pyramids() if self.work.allows(self.info.safety) else ())
            if self.work.barred(code, module.range_of(found.made)) is None
            and self._spelled(found) is not None
            and not self._taken(found)
        ]

    def _spelled(self, found: Pyramid) -> str | None:
        module = self.work.module
        scope = module.scope_at(module.range_of(found.uses[0].node)[0])
        return spelling.functional(module, scope, "max_pool2d")

    def _taken(self, found: Pyramid) -> bool:
        """Whether the class has the method's name already, for something of its own."""
        start, end = self.work.module.range_of(found.owner)
        return NAME in self.work.module.text[start:end]
