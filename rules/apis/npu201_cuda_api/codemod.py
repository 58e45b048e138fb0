"""``torch.cuda.X`` -> ``torch.npu.X``, where the target release has it."""

from __future__ import annotations

import ast

import libcst as cst

from npu_migrate import renames
from npu_migrate.rule import Meaning, Rule, Status, dotted
from npu_migrate.values.guards import guarded
from npu_migrate.values.kernels import is_build_script

AVAILABLE = "torch.cuda.is_available"
RANGE, ANNOTATE = "torch.cuda.nvtx.range", "torch_npu.npu.mstx.annotate"


class CudaApi(Rule):
    """Judges each dotted expression once, at its outermost attribute."""

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        return self._judge(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._judge(original, updated)

    def _judge(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        if self.is_part_of_name(original):
            return updated
        meaning = self.meaning(original)
        name = meaning.name
        if name is None or not renames.is_cuda(name):
            return updated
        new = renames.npu_name(self.target, name)
        if new is None:
            if not self._is_bound_here(original):  # the name that the statement gives it is no second site
                self._report_missing(original, name)
            return updated
        if is_build_script(self.module):
            self.report(original, Status.KEPT, "build", symbol=name)
            return updated
        if name == AVAILABLE and self._guards(original):
            return updated
        if len(name.split(".")) - meaning.spelled > 1:
            return self._through_import(original, updated, meaning, new)
        head = (dotted(original) or ["torch"])[0]
        exchanged = self.spelled_out(updated, name, new, head)
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, exchanged, "renamed", symbol=name, name=name, new=new)

    def _guards(self, original: cst.BaseExpression) -> bool:
        """Report a test for CUDA on which nothing depends but kernels that are CUDA's."""
        twin = self.expression(original)
        call = self.module.parent(twin) if twin is not None else None
        found = guarded(self.module, call, alone=True) if isinstance(call, ast.Call) else None
        if found is not None:
            status, key = (Status.KEPT, "kernel") if found.otherwise else (Status.MANUAL, "kernel-only")
            self.report(original, status, key, symbol=AVAILABLE, kernel=found.kernel)
        return found is not None

    def _report_missing(self, original: cst.BaseExpression, name: str) -> None:
        key, status = self.nearest_message(name, "missing"), Status.UNSUPPORTED
        if name == RANGE and self.target.has(ANNOTATE):
            key, status = "annotate", Status.MANUAL
        self.report(original, status, key, symbol=name, name=name, release=self.target.torch_npu)

    def _through_import(
        self, original: cst.BaseExpression, updated: cst.BaseExpression, meaning: Meaning, new: str
    ) -> cst.BaseExpression:
        """The name starts in an import or assignment elsewhere, which is rewritten too: only what it misses is left."""
        if self._is_bound_here(original):
            return updated
        name = meaning.name or ""
        parts = name.split(".")
        bound = ".".join(parts[: len(parts) - meaning.spelled])
        find = renames.npu_name if meaning.kind == "value" else renames.importable
        reached, wanted = renames.spelled(find(self.target, bound) or "?"), renames.spelled(new)
        origin = renames.star_origin(self.work.module, (dotted(original) or [""])[0], self.work.scope_of(original))
        if origin and renames.lost_by_star(self.work.module, self.target, origin):
            self.report(original, Status.MANUAL, "star", symbol=name, name=name, new=wanted)
            return updated
        if wanted == reached + name[len(bound) :]:
            if not self._is_renamed_with_import(original, bound):
                self.report(original, Status.KEPT, "follows", symbol=name, name=self.work.code(original), full=name)
            return updated
        if wanted.startswith("torch.") and not self._has_torch(original):
            self.report(original, Status.MANUAL, "elsewhere", symbol=name, name=name, new=new)
            return updated
        head = (dotted(updated) or ["?"])[0]
        text = head + wanted[len(reached) :] if wanted.startswith(f"{reached}.") else wanted
        self.need_import("torch_npu", original)
        return self.rewrite(original, updated, cst.parse_expression(text), "renamed", symbol=name, name=name, new=new)

    def _is_renamed_with_import(self, original: cst.BaseExpression, bound: str) -> bool:
        """``cuda.x`` after ``from torch import cuda``: the import's rule has renamed it and said so."""
        return (
            bound == renames.ROOT
            and (dotted(original) or [""])[0] == "cuda"
            and renames.frees_name(self.work.module, self.target)
        )

    def _is_bound_here(self, original: cst.BaseExpression) -> bool:
        twin = self.expression(original)
        return isinstance(twin, ast.Name) and not isinstance(twin.ctx, ast.Load)

    def _has_torch(self, original: cst.BaseExpression) -> bool:
        module = self.work.module
        return module.names.head("torch", self.work.scope_of(original)).name == "torch"
