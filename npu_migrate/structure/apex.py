"""Follows training under ``apex.amp``: what is set up where, and whether PyTorch's own mixed precision can do it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.engine.mentions import mentions
from npu_migrate.names import dotted
from npu_migrate.structure import apex_setup, apex_step
from npu_migrate.structure.apex_setup import INITIALIZE, WRAPPERS
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.engine.module import PythonModule, Range
    from npu_migrate.structure.apex_setup import Setup
    from npu_migrate.structure.apex_step import Step

TEXT = re.compile(r"\bapex\b")
SET_UPS = (INITIALIZE, *sorted(WRAPPERS))
STATES = ("apex.amp.state_dict", "apex.amp.load_state_dict")


class Use(NamedTuple):
    """A mention of apex's mixed precision: the node that names it, and its absolute name."""

    node: ast.AST
    name: str


class Training(NamedTuple):
    """A file that sets up apex's mixed precision; ``reason`` says why it cannot be followed (then nothing else is)."""

    starts: tuple[Use, ...]
    uses: tuple[Use, ...]
    reason: str = ""
    setup: Setup | None = None
    steps: tuple[Step, ...] = ()

    @property
    def followed(self) -> bool:
        """Whether every use in the file has its counterpart."""
        return not self.reason


def find(module: PythonModule) -> Training | None:
    """What a file does with apex's mixed precision; None where it sets up none."""
    return module.fact("apex training", lambda: _find(module))


def answered(module: PythonModule) -> frozenset[Range]:
    """The mentions that have their answer here, by range."""
    training = find(module)
    if training is None:
        return frozenset()
    uses = training.uses if training.followed else training.starts
    return frozenset(module.range_of(use.node) for use in uses)


def _find(module: PythonModule) -> Training | None:
    if not TEXT.search(module.text) or not mentions(module, SET_UPS, ("amp", "FP16_Optimizer")):
        return None
    uses = tuple(_uses(module))
    starts = tuple(u for u in uses if u.name in {INITIALIZE, *WRAPPERS} and isinstance(u.node, ast.expr))
    if not starts:
        return None
    setup = apex_setup.read(module, starts[0].node, starts[0].name) if len(starts) == 1 else "several"
    if isinstance(setup, str):
        return Training(starts, uses, setup)
    steps = apex_step.follow(module, setup)
    if isinstance(steps, str):
        return Training(starts, uses, steps)
    if any(not _known(module, use, setup, steps) for use in uses):
        return Training(starts, uses, "other-use")
    return Training(starts, uses, "", setup, steps)


def _uses(module: PythonModule) -> Iterator[Use]:
    """Mentions of ``apex.amp`` and of ``FP16_Optimizer``, imports that serve nothing else among them."""
    module.index(module.tree)
    plain: list[Use] = []
    heads: list[ast.AST] = []
    for node in walk(module.tree):
        if isinstance(node, ast.Import):
            plain += [Use(a, a.name) for a in node.names if a.name.partition(".")[0] == "apex"]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            named = ((alias, f"{node.module}.{alias.name}") for alias in node.names)
            yield from (Use(alias, name) for alias, name in named if _is_amp(name))
        elif isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(module.parent(node), ast.Attribute):
            name = _meant(module, node) if isinstance(node.ctx, ast.Load) else None
            if name is not None and _is_amp(name):
                heads += [n for n in walk(node) if isinstance(n, ast.Name)]
                yield Use(node, name)
    others = {n.id for n in walk(module.tree) if isinstance(n, ast.Name) and n not in heads}
    for use in plain:
        bound = use.node.asname or "apex"  # type: ignore[attr-defined]  # an alias
        serves = _is_amp(use.name) and use.node.asname is not None  # type: ignore[attr-defined]  # an alias
        if serves or (bound not in others and (_is_amp(use.name) or use.name == "apex")):
            yield use


def _meant(module: PythonModule, node: ast.expr) -> str | None:
    parts = dotted(node)
    if parts is None:
        return None
    meaning = module.names.meaning(parts, module.scope_at(module.range_of(node)[0]))
    return meaning.name if not meaning.via else None


def _is_amp(name: str) -> bool:
    return f"{name}.".startswith("apex.amp.") or name in WRAPPERS


def _known(module: PythonModule, use: Use, setup: Setup, steps: tuple[Step, ...]) -> bool:
    """Whether a mention is one that the rewritten program can do without."""
    if isinstance(use.node, ast.alias):
        return True
    call = module.parent(use.node)
    if not isinstance(call, ast.Call) or call.func is not use.node:
        return False
    if use.name in STATES:
        return setup.level != "O0" and len(call.args) == (use.name == STATES[1]) and not call.keywords
    return call is setup.call or any(call in (*step.scaled, *step.masters) for step in steps)
