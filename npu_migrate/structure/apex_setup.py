"""Reads ``amp.initialize(...)`` and ``FP16_Optimizer(...)``: the level, its options, the condition it is under."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.structure.blocks import alone, block_of, blocks, source
from npu_migrate.trees import walk

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule

INITIALIZE = "apex.amp.initialize"
WRAPPERS = frozenset(
    [
        "apex.fp16_utils.FP16_Optimizer",
        "apex.fp16_utils.fp16_optimizer.FP16_Optimizer",
        "apex.optimizers.FP16_Optimizer",
        "apex.contrib.optimizers.FP16_Optimizer",
    ]
)
LEVELS = ("O0", "O1", "O2")
POSITIONAL = ("models", "optimizers", "enabled", "opt_level")
# Options that say how apex casts: mixed precision of PyTorch keeps weights in float32 whatever they are.
DROPPED = frozenset(["keep_batchnorm_fp32", "verbosity", "patch_torch_functions"])
DEFAULTS = {"num_losses": 1, "min_loss_scale": None, "master_weights": True, "cast_model_outputs": None}
WRAPPED = ("init_optimizer", "static_loss_scale", "dynamic_loss_scale")


class Setup(NamedTuple):
    """How mixed precision is set up.

    ``level`` is O0 to O2, the text of an expression, or "" for ``FP16_Optimizer``; ``flag`` is the test of the ``if``
    that it stands under; ``anchor`` is that ``if``, or the statement itself; ``scaler`` the name of the scaler to be,
    made with ``arguments``; ``put`` stays in the place of the statement.
    """

    call: ast.Call
    statement: ast.stmt
    anchor: ast.stmt
    owner: ast.AST
    level: str
    model: str
    optimizer: str
    flag: ast.expr | None
    scaler: str
    arguments: tuple[str, ...]
    put: str = ""


def read(module: PythonModule, node: ast.AST, name: str) -> Setup | str:
    """The set-up that a mention belongs to; else the reason why it is not understood."""
    call = module.parent(node)
    statement = module.parent(call) if call is not None else None
    owner = next((a for a in module.ancestors(node) if isinstance(a, FUNCTIONS)), module.tree)
    if not isinstance(call, ast.Call) or call.func is not node or not isinstance(statement, ast.Assign):
        return "form"
    if not alone(module, statement) or statement.value is not call or len(statement.targets) != 1:
        return "form"
    options = _options(call, POSITIONAL if name == INITIALIZE else WRAPPED)
    if options is None:
        return "options"
    return (
        _initialize(module, statement, owner, options)
        if name == INITIALIZE
        else _wrapper(module, statement, owner, options)
    )


def _options(call: ast.Call, positional: tuple[str, ...]) -> dict[str, ast.expr] | None:
    starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    if starred or len(call.args) > len(positional):
        return None
    return {**dict(zip(positional, call.args)), **{k.arg: k.value for k in call.keywords if k.arg}}


def _initialize(
    module: PythonModule, statement: ast.Assign, owner: ast.AST, options: dict[str, ast.expr]
) -> Setup | str:
    target = statement.targets[0]
    names = [_name(e) for e in target.elts] if isinstance(target, (ast.Tuple, ast.List)) else []
    given = [_name(options.pop(key, None)) for key in ("models", "optimizers")]
    if len(names) != len(given) or None in (*names, *given):
        return "form" if given[1] is not None or names else "inference"
    level_node = options.pop("opt_level", ast.Constant("O1"))
    level = str(level_node.value) if isinstance(level_node, ast.Constant) else source(module, level_node)
    if level == "O3":
        return "O3"
    enabled = options.pop("enabled", ast.Constant(value=True))
    scale = _scale(options.pop("loss_scale", ast.Constant("dynamic")))
    unknown = [k for k, v in options.items() if k not in DROPPED and not _is_default(k, v)]
    if unknown or scale is None or (isinstance(level_node, ast.Constant) and level not in LEVELS):
        return "options"
    placed = _placed(module, statement, owner)
    if isinstance(placed, str):
        return placed
    anchor, flag = placed
    constant = isinstance(level_node, ast.Constant)
    tests = _tests(module, flag, enabled, None if constant else level_node)
    arguments = (*scale, *((f"enabled={tests}",) if tests else ()))
    if level == "O0" and flag is not None:
        return "condition"
    model, optimizer = str(names[0]), str(names[1])
    put = "" if names == given else f"{model}, {optimizer} = {given[0]}, {given[1]}"
    made = _scaler(optimizer)
    return Setup(statement.value, statement, anchor, owner, level, model, optimizer, flag, made, arguments, put)  # type: ignore[arg-type]  # a call


def _wrapper(module: PythonModule, statement: ast.Assign, owner: ast.AST, options: dict[str, ast.expr]) -> Setup | str:
    name, given = _name(statement.targets[0]), _name(options.pop("init_optimizer", None))
    dynamic = options.pop("dynamic_loss_scale", ast.Constant(value=False))
    scale = _scale(options.pop("static_loss_scale", ast.Constant(1.0)))
    if not isinstance(dynamic, ast.Constant) or scale is None or set(options) - {"verbose"}:
        return "options"
    if name is None or given is None:
        return "form"
    placed = _placed(module, statement, owner)
    if isinstance(placed, str) or placed[1] is not None:
        return "condition"
    put = "" if name == given else f"{name} = {given}"
    arguments = () if dynamic.value else scale
    call = statement.value
    return Setup(call, statement, placed[0], owner, "", "", name, None, _scaler(name), arguments, put)  # type: ignore[arg-type]  # a call


def _name(node: ast.expr | None) -> str | None:
    parts = dotted(node)
    return ".".join(parts) if parts else None


def _scaler(optimizer: str) -> str:
    return "self.scaler" if optimizer.startswith("self.") else "scaler"


def _is_default(key: str, value: ast.expr) -> bool:
    if not isinstance(value, ast.Constant) or key not in DEFAULTS:
        return False
    return value.value is None or value.value == DEFAULTS[key]


def _scale(node: ast.expr) -> tuple[str, ...] | None:
    """Arguments of the scaler for a loss scale: none for ``"dynamic"``; None where the scale is not written there."""
    value = node.value if isinstance(node, ast.Constant) else node
    if value is None or value == "dynamic":
        return ()
    try:
        number = float(value)  # type: ignore[arg-type]  # what is no number is refused
    except (TypeError, ValueError):
        return None
    return (f"init_scale={number!r}", "dynamic=False")


def _placed(module: PythonModule, statement: ast.stmt, owner: ast.AST) -> tuple[ast.stmt, ast.expr | None] | str:
    """The statement before which the scaler is made, and the condition that the set-up is under."""
    above = module.parent(statement)
    body = next((block for block in blocks(owner) if statement in block), [])
    if not isinstance(above, ast.If) or is_main(above):
        return statement, None
    if above.orelse or body is not above.body or not _is_plain(above.test) or not block_of(owner, above):
        return "condition"
    return above, above.test


def goes(setup: Setup) -> bool:
    """Whether all of the ``if`` round a set-up goes with it."""
    body = getattr(setup.anchor, "body", [])
    return not setup.put and all(s is setup.statement or is_import(s) for s in body)


def is_import(statement: ast.stmt) -> bool:
    """Whether a statement only imports apex, or says that it is missing."""
    if isinstance(statement, ast.Try):
        raises = all(isinstance(s, (ast.Raise, ast.Pass)) for h in statement.handlers for s in h.body)
        return raises and not statement.orelse and not statement.finalbody and all(map(is_import, statement.body))
    if isinstance(statement, ast.Import):
        return all(alias.name.partition(".")[0] == "apex" for alias in statement.names)
    return isinstance(statement, ast.ImportFrom) and statement.module in ("apex", "apex.amp")


def is_main(statement: ast.If) -> bool:
    """Whether a statement is ``if __name__ == "__main__"``."""
    return "__name__" in {n.id for n in walk(statement.test) if isinstance(n, ast.Name)}


def _is_plain(test: ast.expr) -> bool:
    """Whether a test can be asked twice: it calls nothing."""
    return not any(isinstance(n, (ast.Call, ast.NamedExpr, ast.Await)) for n in walk(test))


def _tests(module: PythonModule, flag: ast.expr | None, enabled: ast.expr, level: ast.expr | None) -> str:
    """The condition of mixed precision as one expression that is a bool; empty where there is none."""
    parts = [node for node in (flag, enabled) if node is not None and not _is_true(node)]
    texts = [f"({t})" if isinstance(n, ast.BoolOp) else t for n in parts if (t := source(module, n))]
    asked = f'{source(module, level)} != "O0"' if level is not None else ""
    if asked and asked.replace('"', "'") not in [t.replace('"', "'") for t in texts]:
        texts.append(asked)
    sure = all(isinstance(n, ast.Compare) for n in parts)
    joined = " and ".join(texts)
    return joined if sure or not joined else f"bool({joined})"


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
