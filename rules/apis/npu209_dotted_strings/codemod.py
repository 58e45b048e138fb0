"""``mock.patch("torch.cuda.is_available")``, ``hasattr(torch, "cuda")``: strings that name a part of ``torch.cuda``."""

from __future__ import annotations

import ast
import re

import libcst as cst

from npu_migrate import renames
from npu_migrate.names import dotted
from npu_migrate.rule import Rule, Status
from npu_migrate.trees import walk
from npu_migrate.values.arguments import is_message
from npu_migrate.values.vocabulary import ATTRIBUTES, LOGGERS

PATH = re.compile(r"torch\.cuda(\.[A-Za-z_]\w*)*")
TYPE = re.compile(r"torch\.cuda|torch\.cuda\.(\w+\.)?\w*Tensor")  # NPU106 speaks of these, where they are compared
PATCHES = frozenset(["patch", "setattr", "delattr", "resolve_name", "locate", "spy", "derive_importpath"])
IMPORTS = frozenset(["import_module", "importorskip", "find_spec", "__import__", "reload"])
HOLDERS = re.compile(
    r"(^|_)(args?|opts?|options|cfg|conf|config|params|hparams|flags|settings|namespace)$", re.IGNORECASE
)


class DottedStrings(Rule):
    """Rewrites names in strings where a call looks them up; code in strings stays and is named."""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        text = original.raw_value
        twin = self.expression(original) if "\\" not in text and "b" not in original.prefix.lower() else None
        above = self.work.module.parent(twin) if twin is not None else None
        if isinstance(above, ast.keyword) and above.arg in ("target", "name"):
            above = self.work.module.parent(above)
        if above is None or isinstance(self.parent, cst.Expr):
            return updated
        if isinstance(above, ast.Call) and _is_attribute_of(above, twin):
            return self._attribute(original, updated, above, text)
        if PATH.fullmatch(text):
            return self._path(original, updated, above, text)
        if "torch.cuda" in text and _is_code(text) and twin is not None and not is_message(self.module, twin):
            self.report(original, Status.MANUAL, "code", symbol="torch.cuda")
        return updated

    def _attribute(
        self, original: cst.SimpleString, updated: cst.SimpleString, call: ast.Call, text: str
    ) -> cst.BaseExpression:
        """``hasattr(torch, "cuda")`` and its siblings."""
        owner = self._meaning(call.args[0])
        name = f"{owner}.{text}"
        if not renames.is_cuda(name):
            if text == "cuda":
                self._method(original, call.args[0])
            return updated
        new = renames.npu_name(self.target, name)
        if new is None:
            guarded = call.func.id == "hasattr" or len(call.args) > 2  # type: ignore[attr-defined]  # noqa: PLR2004
            status, key = (Status.KEPT, "guarded") if guarded else (Status.UNSUPPORTED, "absent")
            self.report(original, status, key, symbol=name, name=name, release=self.target.torch_npu)
            return updated
        last = new.rpartition(".")[2]
        if last == text:
            return updated
        self.need_import("torch_npu", original)
        return self._exchange(original, updated, name, last, new)

    def _method(self, original: cst.SimpleString, owner: ast.expr) -> None:
        last = (dotted(owner) or [""])[-1]
        key = "option" if HOLDERS.search(last) else "method"
        self.report(original, Status.KEPT if key == "option" else Status.MANUAL, key)

    def _path(
        self, original: cst.SimpleString, updated: cst.SimpleString, above: ast.AST, text: str
    ) -> cst.BaseExpression:
        function = (dotted(above.func) or [""])[-1] if isinstance(above, ast.Call) else ""
        if function not in PATCHES and function not in IMPORTS:
            if TYPE.fullmatch(text) is None and function not in LOGGERS and not function.endswith("Error"):
                self.report(original, Status.MANUAL, "path", symbol=text, name=text)
            return updated
        new = renames.npu_name(self.target, text)
        if new is None or (function in IMPORTS and self.target.kind(new) != "module"):
            self.report(original, Status.UNSUPPORTED, "absent", symbol=text, name=text, release=self.target.torch_npu)
            return updated
        if function in IMPORTS:
            new = renames.spelled(new)
        else:
            self.need_import("torch_npu", original)
        return self._exchange(original, updated, text, new, new)

    def _exchange(
        self, original: cst.SimpleString, updated: cst.SimpleString, name: str, text: str, new: str
    ) -> cst.BaseExpression:
        quote = original.quote
        exchanged = updated.with_changes(value=f"{original.prefix}{quote}{text}{quote}")
        return self.rewrite(original, updated, exchanged, "renamed", symbol=name, name=name, new=new)

    def _meaning(self, node: ast.expr) -> str | None:
        parts = dotted(node)
        module = self.work.module
        return module.names.meaning(parts, module.scope_at(module.range_of(node)[0])).name if parts else None


def _is_attribute_of(call: ast.Call, node: ast.AST | None) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ATTRIBUTES and call.args[1:2] == [node]


def _is_code(text: str) -> bool:
    """Whether a text is a program that uses ``torch.cuda``, or holds one for ``python -c``."""
    if re.search(r"python\S* +-c ", text):
        return True
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(isinstance(node, (ast.Call, ast.Import, ast.ImportFrom, ast.Assign)) for node in walk(tree))
