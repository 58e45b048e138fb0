"""One cheap walk over a module's statements: where each stands, which scope it is in, what it binds.

Expressions are not visited here: on real trees that walk would cost more than everything else the engine does before
LibCST. Names bound inside expressions (lambda, comprehension, walrus) are looked up when a rule asks.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Union

from npu_migrate.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

TRY = (ast.Try, getattr(ast, "TryStar", ast.Try))
MATCH = getattr(ast, "Match", ())
NAMELESS = frozenset({ast.Expr, ast.Return, ast.If, ast.Raise, ast.Assert, ast.Pass, ast.While, *TRY})
LOADERS = frozenset({"importlib.import_module", "import_module", "__import__"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Block = Union[ast.stmt, ast.ExceptHandler]


class Binding(NamedTuple):
    """One way a scope gives a name its meaning.

    ``kind`` is ``import`` (``target`` is a dotted name, leading dots for a relative one), ``value`` (``node`` is the
    expression assigned), ``def``, ``class``, ``param`` or ``other`` (loop variable, unpacking, ``del``, ...).
    """

    kind: str
    line: int
    target: str = ""
    node: ast.AST | None = None


@dataclass(eq=False)
class Scope:
    """A module, class or function body."""

    node: ast.AST
    parent: Scope | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    elsewhere: dict[str, str] = field(default_factory=dict)

    @property
    def outermost(self) -> Scope:
        """The module's own scope."""
        return self if self.parent is None else self.parent.outermost

    @property
    def is_class(self) -> bool:
        """Class bodies are invisible from the functions inside them."""
        return isinstance(self.node, ast.ClassDef)

    def bind(self, name: str, binding: Binding) -> None:
        """Record that ``name`` gets a meaning here; one that is declared ``global`` gets it for the module as well."""
        if self.elsewhere.get(name) == "global":
            self.outermost.bindings.setdefault(name, []).append(binding)
        self.bindings.setdefault(name, []).append(binding)


@dataclass(eq=False)
class Statement:
    """One statement of the source.

    ``first`` and ``last`` are its lines (1-based, inclusive); a compound statement with its body on lines of its own
    ends with its header. ``shape`` is ``simple``, ``head`` or ``whole`` (compound, but not to be split).
    """

    first: int
    last: int
    shape: str
    node: Block
    scope: Scope
    parent: Statement | None = None
    index: int = 0


class StatementTable:
    """All statements of a module in source order, and its scopes."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.module = Scope(tree)
        self.statements: list[Statement] = []
        self.scopes: dict[ast.AST, Scope] = {tree: self.module}
        self._block(tree.body, self.module, None)
        self.statements.sort(key=lambda s: (s.first, -s.last))
        for index, statement in enumerate(self.statements):
            statement.index = index

    def _block(self, body: list[ast.stmt], scope: Scope, parent: Statement | None) -> None:
        for node in body:
            decorators = getattr(node, "decorator_list", None)
            first = min(d.lineno for d in decorators) if decorators else node.lineno
            bind(node, scope)
            nested = getattr(node, "body", None)
            if not nested:
                shape = "whole" if MATCH and isinstance(node, MATCH) else "simple"
                statement = Statement(first, node.end_lineno or first, shape, node, scope, parent)
                self.statements.append(statement)
                if shape == "whole":
                    self._match(node, scope, statement)
                continue
            self._compound(node, nested, first, scope, parent)

    def _compound(
        self, node: ast.stmt, nested: list[ast.stmt], first: int, scope: Scope, parent: Statement | None
    ) -> None:
        inside = min(getattr(nested[0], "decorator_list", None) or [nested[0]], key=lambda n: n.lineno).lineno
        one_line = inside <= (node.lineno if isinstance(node, TRY) else _header_end(node))
        if one_line:
            statement = Statement(first, node.end_lineno or first, "whole", node, scope, parent)
        else:
            statement = Statement(first, inside - 1, "head", node, scope, parent)
        if one_line or not isinstance(node, TRY):
            self.statements.append(statement)
        inner = scope
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            inner = self.scopes[node] = Scope(node, scope)
            if isinstance(node, FUNCTIONS):
                bind_parameters(node.args, inner)
        self._block(nested, inner, statement)
        for handler in getattr(node, "handlers", ()):
            self._handler(handler, scope, statement, split=not one_line)
        for part in ("orelse", "finalbody"):
            self._block(getattr(node, part, []), scope, statement)

    def _handler(self, handler: ast.ExceptHandler, scope: Scope, parent: Statement, *, split: bool) -> None:
        if handler.name:
            scope.bind(handler.name, Binding("other", handler.lineno))
        first_in_body = handler.body[0].lineno
        if split and handler.type is not None:
            alone = first_in_body > handler.lineno
            last = first_in_body - 1 if alone else (handler.end_lineno or first_in_body)
            shape = "head" if alone else "whole"
            statement = Statement(handler.lineno, last, shape, handler, scope, parent)
            self.statements.append(statement)
            parent = statement
        self._block(handler.body, scope, parent)

    def _match(self, node: ast.stmt, scope: Scope, parent: Statement) -> None:
        for case in node.cases:  # type: ignore[attr-defined]
            for pattern in walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    scope.bind(name, Binding("other", node.lineno))
            self._block(case.body, scope, parent)


def _header_end(node: ast.stmt) -> int:
    """Last line of the header's own expressions; the colon cannot stand before it."""
    last = node.lineno
    for field_name in ("test", "iter", "target", "returns"):
        last = max(last, getattr(getattr(node, field_name, None), "end_lineno", 0) or 0)
    for item in getattr(node, "items", ()):
        last = max(last, (item.optional_vars or item.context_expr).end_lineno or 0)
    for base in [*getattr(node, "bases", ()), *getattr(node, "keywords", ())]:
        last = max(last, base.end_lineno or 0)
    if isinstance(node, FUNCTIONS):
        last = max([last, *(getattr(child, "end_lineno", 0) or 0 for child in walk(node.args))])
    return last


def bind(node: ast.stmt, scope: Scope) -> None:
    """Record the names that one statement binds in ``scope``."""
    if node.__class__ in NAMELESS:
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        _bind_imports(node, scope)
    elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        kind = "class" if isinstance(node, ast.ClassDef) else "def"
        scope.bind(node.name, Binding(kind, node.lineno, node=node))
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        scope.elsewhere.update(dict.fromkeys(node.names, "global" if isinstance(node, ast.Global) else "nonlocal"))
    else:
        for target, value in _targets(node):
            bind_target(target, scope, value)


def _bind_imports(node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            head = alias.name.split(".")[0]
            target = alias.name if alias.asname else head
            scope.bind(alias.asname or head, Binding("import", node.lineno, target))
        return
    base = "." * node.level + (node.module or "")
    dot = "" if base.endswith(".") else "."
    for alias in node.names:
        if alias.name == "*":
            scope.stars.append(base)
        else:
            scope.bind(alias.asname or alias.name, Binding("import", node.lineno, base + dot + alias.name))


def _targets(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What a statement assigns to, and the value where one is written there."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign):
        yield node.target, node.value
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.AugAssign)):
        yield node.target, None
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from ((item.optional_vars, None) for item in node.items if item.optional_vars is not None)
    elif isinstance(node, ast.Delete):
        yield from ((target, None) for target in node.targets)


def bind_target(target: ast.expr, scope: Scope, value: ast.expr | None) -> None:
    """Bind the names in an assignment target; pairs up ``a, b = x, y``."""
    if isinstance(target, ast.Name):
        module = loaded_module(value)
        kind = "import" if module else "value" if value else "other"
        scope.bind(target.id, Binding(kind, target.lineno, module, value))
    elif isinstance(target, (ast.Tuple, ast.List)):
        pairs = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        starred = any(isinstance(e, ast.Starred) for e in target.elts)
        for index, element in enumerate(target.elts):
            paired = value.elts[index] if pairs and not starred else None  # type: ignore[union-attr]
            bind_target(element, scope, paired)
    elif isinstance(target, ast.Starred):
        bind_target(target.value, scope, None)


def loaded_module(value: ast.expr | None) -> str:
    """The module that ``importlib.import_module("a.b")`` or ``__import__("a.b")`` gives; empty for all else."""
    if not isinstance(value, ast.Call) or len(value.args) != 1:
        return ""
    given = value.args[0]
    if not isinstance(value.func, (ast.Name, ast.Attribute)) or ast.unparse(value.func) not in LOADERS:
        return ""
    if not isinstance(given, ast.Constant) or not isinstance(given.value, str):
        return ""
    if value.keywords or given.value.startswith("."):
        return ""
    return (
        given.value.partition(".")[0]
        if isinstance(value.func, ast.Name) and value.func.id == "__import__"
        else given.value
    )


def bind_parameters(arguments: ast.arguments, scope: Scope) -> None:
    """Bind a function's parameters; ``node`` is the default, where there is one."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    for parameter, default in [*zip(positional, defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]:
        scope.bind(parameter.arg, Binding("param", parameter.lineno, node=default))
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            scope.bind(rest.arg, Binding("param", rest.lineno))
