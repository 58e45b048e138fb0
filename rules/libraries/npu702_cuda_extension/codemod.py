"""Extensions built from ``.cu`` files are named, with the operator and the files."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.files.tables import kernels
from npu_migrate.rule import Rule, Status, dotted
from npu_migrate.trees import walk
from npu_migrate.values.arguments import argument, text_of

if TYPE_CHECKING:
    import libcst as cst

HOME = "torch.utils.cpp_extension"
EXTENSION = f"{HOME}.CUDAExtension"
LOADERS = {f"{HOME}.load", f"{HOME}.load_inline"}
FOLDERS = {f"{HOME}.CUDA_HOME", f"{HOME}.CUDNN_HOME"}
SHOWN = 3


class CudaExtension(Rule):
    """Looks at what builds; ``BuildExtension`` and ``CppExtension`` are C++ and stay."""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        name = self.qualified_name(original.func) or ""
        twin = self.expression(original)
        if not isinstance(twin, ast.Call) or (name != EXTENSION and name not in LOADERS):
            return updated
        files = [text for node in walk(twin) if (text := text_of(node) or "").endswith((".cu", ".cuh"))]
        if argument(twin, "cuda_sources", 2) is not None and name.endswith("load_inline"):
            files.append("cuda_sources")
        if files or name == EXTENSION:
            self._report(original, twin, name, files)
        elif name.endswith("load") and not _is_literal(argument(twin, "sources", 1)):
            self.report(original.func, Status.MANUAL, "unknown", symbol=name, name=name.rpartition(".")[2])
        return updated

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        self._judge_value(original)
        return updated

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        self._judge_value(original)
        return updated

    def leave_ImportAlias(self, original: cst.ImportAlias, updated: cst.ImportAlias) -> cst.ImportAlias:
        module = ".".join(dotted(getattr(self.parent, "module", None)) or ())
        name = f"{module}.{original.evaluated_name}"
        if name == EXTENSION:
            self.report(original, Status.KEPT, "import", symbol=name, name=original.evaluated_name)
        elif name in FOLDERS:
            self.report(original, Status.MANUAL, "home", symbol=name, name=original.evaluated_name)
        return updated

    def _judge_value(self, original: cst.Attribute | cst.Name) -> None:
        """What is not called: the class as a value, and the folder of the toolkit."""
        if self.is_part_of_name(original):
            return
        meaning = self.meaning(original)
        name = meaning.name or ""
        code = self.work.code(original)
        if name in FOLDERS:
            imported = meaning.spelled <= 1 and "." not in code
            self.report(original, *((Status.KEPT, "home-use") if imported else (Status.MANUAL, "home")), name=code)
        elif name == EXTENSION and getattr(self.parent, "func", None) is not original:
            self.report(original, Status.UNSUPPORTED, "value", symbol=name, name=code)

    def _report(self, original: cst.Call, twin: ast.Call, symbol: str, files: list[str]) -> None:
        name = argument(twin, "name", 0)
        shown = text_of(name) or (ast.unparse(name) if name is not None else "…")
        listed = ", ".join([*files[:SHOWN], "…"] if len(files) > SHOWN or not files else files)
        stems = [text.rpartition("/")[2].partition(".")[0] for text in (shown, *files)]
        fitting = (op for pattern, op in kernels() if any(pattern.search(stem) for stem in stems))
        operator = next((op for op in fitting if self.target.has(op)), None)
        if operator is None:
            self.report(original.func, Status.UNSUPPORTED, "extension", symbol=symbol, name=shown, files=listed)
        else:
            status, key = Status.UNSUPPORTED, "nearest"
            self.report(original.func, status, key, symbol=symbol, name=shown, files=listed, operator=operator)


def _is_literal(sources: ast.expr | None) -> bool:
    """Whether every source is named right here."""
    elements = sources.elts if isinstance(sources, (ast.List, ast.Tuple)) else [sources]
    return all(text_of(element) is not None for element in elements)
