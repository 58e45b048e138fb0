"""Commands of NVIDIA's driver and toolkit that the program runs are named."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.rule import Rule, Status
from npu_migrate.values.arguments import callers, name_of

if TYPE_CHECKING:
    import libcst as cst

TOOLS = {"nvidia-smi": "smi", "nvcc": "compiler", "nsys": "profiler", "nvprof": "profiler", "ncu": "profiler"}
NAMES = "|".join(TOOLS)
PROGRAM = re.compile(rf"\s*(?:sudo\s+)?(?:\S*/)?({NAMES})(?=\s|$)")
WHOLE_COMMAND = re.compile(rf"\s*(?:sudo\s+)?(?:\S*/)?({NAMES})\s+-")
RUNNERS = ("subprocess.", "os.system", "os.popen", "os.exec", "os.spawn", "shutil.which", "asyncio.create_subprocess")


class NvidiaCommands(Rule):
    """Judges a string that starts with a command: is it run, or is it a whole command line?"""

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        self._judge(original, original.raw_value)
        return updated

    def leave_FormattedString(self, original: cst.FormattedString, updated: cst.FormattedString) -> cst.BaseExpression:
        self._judge(original, getattr(original.parts[0], "value", "") if original.parts else "")
        return updated

    def _judge(self, original: cst.BaseExpression, text: object) -> None:
        found = PROGRAM.match(text) if isinstance(text, str) else None
        if found is None or not isinstance(text, str):
            return
        twin = self.expression(original)
        if twin is None or not (self._is_run(twin) or (WHOLE_COMMAND.match(text) and self._is_value(twin))):
            return
        tool = found[1]
        key = "query" if "--query" in text else TOOLS[tool]
        self.report(original, Status.UNSUPPORTED, key, symbol=tool, tool=tool)

    def _is_run(self, twin: ast.expr) -> bool:
        names = [name_of(self.work.module, call.func) or "" for call in callers(self.work.module, twin)]
        called = self.work.module.parent(twin)  # "…".split() has the string as its owner, not as an argument
        while isinstance(called, (ast.Attribute, ast.Call)) and not names:
            names = [name_of(self.work.module, call.func) or "" for call in callers(self.work.module, called)]
            called = self.work.module.parent(called)
        return any(name.startswith(RUNNERS) for name in names)

    def _is_value(self, twin: ast.expr) -> bool:
        """Given a name, or put into a list; not logged, raised, or a text by itself."""
        return isinstance(self.work.module.parent(twin), (ast.Assign, ast.AnnAssign, ast.List, ast.Tuple))
