"""The edits that put a file's training under PyTorch's own mixed precision in the place of apex's."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.structure import apex_imports
from npu_migrate.structure.apex_setup import goes
from npu_migrate.structure.apex_step import halved
from npu_migrate.structure.blocks import AUTOCAST, SCALER, Changes, source

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.structure.apex import Training
    from npu_migrate.structure.apex_setup import Setup
    from npu_migrate.structure.apex_step import Step


def plan(module: PythonModule, training: Training) -> Changes:
    """All edits of statements of a file that is followed."""
    changes = Changes()
    setup = training.setup
    if setup is None:
        return changes
    whole = setup.anchor is setup.statement or goes(setup)
    start, end = module.range_of(setup.anchor if whole else setup.statement)
    lines = [line for line in (setup.put, maker(setup)) if line]
    changes.instead[start] = lines if whole else lines[:-1]
    if not whole:
        changes.before[module.range_of(setup.anchor)[0]] = lines[-1:]
    owners = {setup.owner, *(step.owner for step in training.steps)} if not setup.model else ()
    for statement in (statement for owner in owners for _, statement in halved(owner)):
        changes.instead[module.range_of(statement)[0]] = []
    aliases = [use.node for use in training.uses if isinstance(use.node, ast.alias)]
    outside = [alias for alias in aliases if not start <= module.range_of(alias)[0] < end]
    changes.instead.update(apex_imports.edits(module, outside))
    for step in training.steps:
        _plan_step(module, changes, step, setup)
    return changes


def maker(setup: Setup) -> str:
    """The statement that makes the scaler; empty where training stays in float32."""
    return f"{setup.scaler} = {SCALER}({', '.join(setup.arguments)})" if setup.level != "O0" else ""


def backward(module: PythonModule, step: Step, setup: Setup) -> str:
    """The statement that computes the gradients."""
    loss = source(module, step.loss)
    if setup.level != "O0":
        return f"{setup.scaler}.scale({loss}).backward({step.keywords})"
    plain = loss if isinstance(step.loss, (ast.Name, ast.Attribute)) else f"({loss})"
    return f"{plain}.backward({step.keywords})"


def gradients(setup: Setup) -> str:
    """The parameters that the optimizer holds: what ``amp.master_params`` gives."""
    return f'(p for group in {setup.optimizer}.param_groups for p in group["params"])'


def _plan_step(module: PythonModule, changes: Changes, step: Step, setup: Setup) -> None:
    def at(node: ast.AST) -> int:
        return module.range_of(node)[0]

    changes.instead[at(step.backward)] = [backward(module, step, setup)]
    if setup.level == "O0":
        return
    asked = any(argument.startswith("enabled=") for argument in setup.arguments)
    header = f"{AUTOCAST[:-1]}, enabled={setup.scaler}.is_enabled())" if asked else AUTOCAST
    changes.under.append((at(step.forward[0]), at(step.forward[-1]), header))
    changes.instead[at(step.update)] = [f"{setup.scaler}.step({setup.optimizer})", f"{setup.scaler}.update()"]
    if step.unscale is not None:
        changes.before[at(step.unscale)] = [f"{setup.scaler}.unscale_({setup.optimizer})"]
