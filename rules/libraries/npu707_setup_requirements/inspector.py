"""Requirements in the call of ``setup()`` that need CUDA: what the rule for requirements files says, said here."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.files.tables import package
from npu_migrate.inspector import Inspector
from npu_migrate.model import Text
from npu_migrate.trees import walk
from npu_migrate.values.arguments import argument, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.target import Target

LISTS = ("install_requires", "extras_require", "setup_requires", "tests_require")
REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
# Whose sentences these are.
PACKAGES = "NPU931"


class SetupRequirements(Inspector):
    """Looks up each requirement that stands in the file as a string."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # the same for every release
        """The call, under whatever module's name."""
        return frozenset({"setup("})

    def visit(self, node: ast.expr) -> None:
        """Name the packages that need CUDA."""
        if not isinstance(node, ast.Call):
            return
        for name in LISTS:
            for string in self._strings(argument(node, name)):
                self._judge(string)

    def _strings(self, value: ast.expr | None) -> Iterator[ast.expr]:
        """The requirements in a list, or in the lists of a dictionary, written here or as a variable."""
        if isinstance(value, ast.Name):
            scope = self.module.names.binding_scope(value.id, self.module.scope_at(self.module.range_of(value)[0]))
            bindings = scope.bindings.get(value.id, ()) if scope is not None else ()
            for binding in bindings:
                if binding.kind == "value" and isinstance(binding.node, (ast.List, ast.Tuple, ast.Dict)):
                    yield from self._strings(binding.node)
        elif isinstance(value, ast.Dict):
            for extra in value.values:
                yield from self._strings(extra)
        elif value is not None:
            yield from (node for node in walk(value) if isinstance(node, ast.Constant) and text_of(node))

    def _judge(self, string: ast.expr) -> None:
        found = REQUIREMENT.match(text_of(string) or "")
        known = package(re.sub(r"[-_.]+", "-", found[1].lower())) if found is not None else None
        if known is None or found is None:
            return
        text = Text(PACKAGES, known.message, (("package", found[1]),))
        self.work.file(self.info.code, self.module.range_of(string), known.status, text, symbol=found[1])
