"""What a call, or another mention of a name, means to torch: which function, class or method of a tensor."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_migrate.names import dotted
from npu_migrate.operators.tables import words
from npu_migrate.operators.tensors import Belief, belief
from npu_migrate.values.arguments import last_name

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule

_ATEN = "torch.ops.aten."
_MODULES = "torch.nn.modules."
# They ask about a name, or allow it to be loaded; nothing runs.
_MENTIONS = ("isinstance", "issubclass", "hasattr", "getattr", "type", "wrap", "safe_globals", "add_safe_globals")


@dataclass(frozen=True)
class Use:
    """A name of torch's in use.

    ``name`` is dotted (``torch.linalg.inv``, ``torch.Tensor.lgamma``), or ``aten::x`` for ``torch.ops.aten.x``.
    ``call`` is None where it is mentioned and not called. ``sure`` is False where the object of a method is only likely
    to be a tensor.
    """

    name: str
    call: ast.Call | None
    sure: bool = True

    @property
    def is_method(self) -> bool:
        """Whether the first argument stands before the name."""
        return self.name.startswith("torch.Tensor.")


def use_of(module: PythonModule, node: ast.expr) -> Use | None:
    """What a node is a use of; None for everything that is not torch's, or not certainly enough."""
    call = node if isinstance(node, ast.Call) else None
    named = call.func if call is not None else node
    parts = dotted(named)
    meaning = module.names.meaning(parts, module.scope_at(module.range_of(named)[0])) if parts else None
    if meaning is not None and meaning.name is not None:
        name = meaning.name
        if name.startswith("torch."):
            return Use(_canonical(name), call) if call is not None or _is_value(module, node) else None
        if meaning.kind == "import":
            return None
    if call is None or not isinstance(named, ast.Attribute):
        return None
    found = belief(module, named.value)
    if found is Belief.NO or (found is Belief.LIKELY and named.attr in words("common_methods")):
        return None
    return Use(f"torch.Tensor.{named.attr}", call, sure=found is Belief.SURE)


def _canonical(name: str) -> str:
    """``aten::inverse`` for ``torch.ops.aten.inverse.default``, ``torch.nn.RNN`` for ``torch.nn.modules.rnn.RNN``."""
    if name.startswith(_ATEN):
        return f"aten::{name[len(_ATEN) :].removesuffix('.default')}"
    return f"torch.nn.{name.rpartition('.')[2]}" if name.startswith(_MODULES) else name


def _is_value(module: PythonModule, node: ast.expr) -> bool:
    """Whether a name that is not called is handed on or subclassed: not where it is only compared or annotates."""
    statement = module.statement_at(module.range_of(node)[0])
    if statement is None or isinstance(statement.node, (ast.Import, ast.ImportFrom, ast.ExceptHandler)):
        return False
    module.index(statement.node)
    below: ast.AST = node
    for above in module.ancestors(node):
        if isinstance(above, (ast.Compare, ast.Subscript, ast.Attribute, ast.arg, ast.If, ast.While, ast.Assert)):
            return False
        if isinstance(above, ast.AnnAssign) and above.annotation is below:
            return False
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return above.returns is not below
        if isinstance(above, ast.Call):
            return last_name(above.func) not in _MENTIONS
        if isinstance(above, ast.stmt):
            return True
        below = above
    return False
