"""Functions and classes without an operator of their own that Huawei's documents deny, with the nearest way out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status
from npu_migrate.operators import use_of
from npu_migrate.operators.tables import words
from npu_migrate.target.support import UNSUPPORTED, denied, support

if TYPE_CHECKING:
    import ast

    from npu_migrate.target import Target

STATUSES = {"phones": Status.KEPT, "export": Status.ADVICE}
# Members that programs call on objects; which class those are of cannot be told from the name.
METHODS_OF = ("torch.distributed.fsdp.FullyShardedDataParallel",)
# Names so common that they would let most files in.
COMMON = frozenset({"disable", "enable", "is_available", "is_enabled", "load", "mark", "module", "save", "type"})


class UnsupportedApi(Inspector):
    """NPU805."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:
        """The last names of what the documents deny."""
        return frozenset(name.rpartition(".")[2] for name in _denied(target)) - COMMON

    def visit(self, node: ast.expr) -> None:
        """Name it, and the way out."""
        use = use_of(self.module, node)
        if use is None or use.name not in _denied(self.target):
            return
        documented = support(self.target.torch, use.name)
        documents = documented.documents if documented is not None else ""
        key, instead = self.table["messages"].get(use.name, "listed"), self.table["instead"].get(use.name, "")
        other = support(self.target.torch, instead) if instead else None
        if other is not None and other.status != UNSUPPORTED:
            key = "instead"
        facts = {"name": use.name, "documents": documents, "instead": instead}
        self.report(node, STATUSES.get(key, Status.MANUAL), key, symbol=use.name, **facts)


@lru_cache(maxsize=4)
def _denied(target: Target) -> frozenset[str]:
    """Functions and classes without operators of which the database could tell more."""
    skipped = words("harmless") | words("elsewhere")
    found = (name for name in denied(target.torch) if name.startswith("torch.") and name not in skipped)
    return frozenset(name for name in found if _is_plain(name) and target.python_api(name) is None)


def _is_plain(name: str) -> bool:
    owner = name.rpartition(".")[0]
    return owner in METHODS_OF or owner.rpartition(".")[2].islower()
