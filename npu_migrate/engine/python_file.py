"""Everything that happens to one Python file."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import libcst as cst

from npu_migrate.alignment import Alignment
from npu_migrate.engine import regions
from npu_migrate.engine.driver import Driver
from npu_migrate.engine.entry import needs_import
from npu_migrate.engine.imports import insertions
from npu_migrate.engine.leftovers import leftovers
from npu_migrate.engine.unread import failed, told, unparsable
from npu_migrate.engine.work import ENGINE, Work
from npu_migrate.model import FileResult, Finding, Status, Text
from npu_migrate.suppressions import Suppressions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.project import Project
    from npu_migrate.engine.rules import ActiveRules
    from npu_migrate.engine.settings import Settings
    from npu_migrate.engine.statements import Statement
    from npu_migrate.engine.text import SourceText
    from npu_migrate.packs import RuleInfo

PACKAGE = "torch_npu"
# Characters of one statement; LibCST needs a kilobyte and more for each of its nodes, so data in code costs gigabytes.
LONGEST = 200_000
Edit = tuple[int, int, str]


class RuleError(Exception):
    """A rule raised, or made text that is not Python: nothing of this file is changed."""

    def __init__(self, rule: str, error: str) -> None:
        super().__init__(rule, error)
        self.rule = rule
        self.error = error


@dataclass
class Outcome:
    """What became of a module's text."""

    text: str
    findings: list[Finding] = field(default_factory=list)


def migrate(path: str, source: SourceText, rules: ActiveRules, settings: Settings, project: Project) -> FileResult:
    """Rewrite one file; every problem becomes a finding."""
    old = source.encode(source.text)
    try:
        module = project.open(path, source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return FileResult(path, "python", tuple(unparsable(path, source, error)))
    suppressions = Suppressions.of_python(source.text)
    try:
        outcome = rewrite(module, rules, settings, suppressions, project)
    except RuleError as failure:
        return FileResult(path, "python", tuple(failed(path, source, failure.rule, failure.error)))
    except Exception as error:  # noqa: BLE001 - one of ours, which must not cost the rest of the tree
        return FileResult(path, "python", tuple(failed(path, source, ENGINE, told(error))))
    finally:
        module.forget()
    findings = _once([*outcome.findings, *suppressions.unused(path)])
    if outcome.text == source.text:
        return FileResult(path, "python", tuple(findings))
    return FileResult(path, "python", tuple(findings), old, source.encode(outcome.text), source.encoding)


def rewrite(
    module: PythonModule, rules: ActiveRules, settings: Settings, suppressions: Suppressions, project: Project
) -> Outcome:
    """Run the rules over a module's regions; over all of it where the regions cannot stand alone.

    Raises:
        RuleError: see there.
    """
    active = rules.for_module(module)
    try:
        work, edits = by_region(module, active, rules, settings, suppressions)
    except regions.RegionError:
        work, edits = whole(module, active, rules, settings, suppressions)
    _inspect(module, rules, work)
    work.findings.extend(leftovers(module, work))
    if settings.imports == "files" and edits:
        edits = _with_imports(module, work.imports, edits)
    elif settings.imports == "entry" and needs_import(module, project):
        edits = _with_imports(module, {PACKAGE: []}, edits, guarded=True)
    elif settings.imports == "entry" and _names(PACKAGE, edits):
        edits = _with_imports(module, work.imports, edits)
    return Outcome(splice(module.text, edits), work.findings)


def _areas(module: PythonModule, active: Sequence[RuleInfo], rules: ActiveRules) -> list[regions.Region]:
    """The regions to visit.

    Raises:
        RegionError: a rule wants to see the whole module.
    """
    narrow: dict[int, Statement] = {}
    wide: dict[int, Statement] = {}
    for region in sorted({info.region for info in active}):
        sites = _sites(module, [i for i in active if i.region == region], rules)
        for statement in module.statements_with(sites):
            if region == "module":
                raise regions.RegionError
            outer = None if region in ("statement", "import") else regions.widen(statement, region)
            (wide if outer else narrow)[(outer or statement).index] = outer or statement
    return regions.cut(module, [s for s in narrow.values() if not _is_docstring(s)], list(wide.values()))


def _sites(module: PythonModule, infos: Sequence[RuleInfo], rules: ActiveRules) -> list[int]:
    try:
        return rules.hits(module, infos)
    except Exception as error:
        raise RuleError(_culprit(error), told(error)) from error


def _is_docstring(statement: Statement) -> bool:
    node = statement.node
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def by_region(
    module: PythonModule,
    active: Sequence[RuleInfo],
    rules: ActiveRules,
    settings: Settings,
    suppressions: Suppressions,
) -> tuple[Work, list[Edit]]:
    """Run the rules over the regions that concern them.

    Raises:
        RegionError: the regions cannot be parsed by themselves.
    """
    found = _areas(module, active, rules)
    areas = [area for area in found if area.end - area.start <= LONGEST]
    tree = regions.parse(module, areas)
    work = Work(module, tree, settings, suppressions)
    for area in found:
        if area.end - area.start > LONGEST:
            _leave(work, (area.start, area.end))
    driver = Driver(work, [rules.make(info, work) for info in active])
    edits: list[Edit] = []
    for area, node in zip(areas, tree.body):
        work.enter(area, node)
        new = _guarded(driver, node)
        if new is not node:
            code = "".join(map(tree.code_for_node, new if isinstance(new, cst.FlattenSentinel) else [new]))
            _prove(code)
            edits.append((area.start, area.end, area.undressed(code)))
    return work, edits


def _leave(work: Work, span: tuple[int, int]) -> None:
    """Name a statement that is too long to take apart."""
    work.claim(span)
    text = Text(ENGINE, "long-statement", (("limit", str(LONGEST // 1000)),))
    work.findings.append(Finding(ENGINE, work.module.path, work.span(*span), Status.MANUAL, text))


def _inspect(module: PythonModule, rules: ActiveRules, work: Work) -> None:
    try:
        rules.inspectors.look(module, work)
    except Exception as error:
        raise RuleError(_culprit(error), told(error)) from error


def _prove(code: str) -> None:
    """A rule can build a tree that is no Python; nothing of that may reach the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except (SyntaxError, ValueError) as error:
        raise RuleError(ENGINE, told(error)) from error


def whole(
    module: PythonModule,
    active: Sequence[RuleInfo],
    rules: ActiveRules,
    settings: Settings,
    suppressions: Suppressions,
) -> tuple[Work, list[Edit]]:
    """Run the rules over the whole module at once: the fallback, and what tests compare regions with."""
    try:
        tree = cst.parse_module(module.text)
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise RuleError(ENGINE, type(error).__name__) from error
    work = Work(module, tree, settings, suppressions)
    new = _guarded(Driver(work, [rules.make(info, work) for info in active]), tree)
    if new is tree:
        return work, []
    text = cst.ensure_type(new, cst.Module).code
    _prove(text)
    return work, _line_edits(module.text, text)


def _line_edits(old: str, new: str) -> list[Edit]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, before))]
    changed = [codes for tag, *codes in Alignment(before, after).get_opcodes() if tag != "equal"]
    return [(starts[a], starts[b], "".join(after[c:d])) for a, b, c, d in changed]


def _guarded(driver: Driver, node: cst.CSTNode) -> Any:  # noqa: ANN401  # a node, or several in its place
    try:
        new = driver.run(node)
    except RecursionError as error:
        raise RuleError(ENGINE, "RecursionError") from error
    except Exception as error:
        raise RuleError(_culprit(error), told(error)) from error
    return new


def _culprit(error: BaseException) -> str:
    """The code of the rule in whose codemod an exception arose."""
    trace = error.__traceback__
    culprit = ENGINE
    while trace is not None:
        names = trace.tb_frame.f_locals
        info = names.get("info") or getattr(names.get("self"), "info", None)
        culprit = getattr(info, "code", culprit)
        trace = trace.tb_next
    return culprit


def splice(text: str, edits: Sequence[Edit]) -> str:
    """Replace ranges of a text; the ranges are in order and disjoint."""
    parts, position = [], 0
    for start, end, new in edits:
        parts += [text[position:start], new]
        position = end
    return "".join([*parts, text[position:]])


def _with_imports(
    module: PythonModule, imports: dict[str, list[int]], edits: Sequence[Edit], *, guarded: bool = False
) -> list[Edit]:
    """Put the imports that the new text needs between the edits; one that would fall inside an edit goes behind it."""
    added: list[Edit] = []
    for name, uses in imports.items():
        named = _names(name, edits)
        if not named and _provided(name, edits):
            continue
        for offset, text in insertions(module, name, uses, guarded=guarded, named=named):
            place = next((end for start, end, _ in edits if start < offset < end), offset)
            added.append((place, place, text))
    return sorted([*edits, *added], key=lambda edit: (edit[0], edit[1]))


def _provided(name: str, edits: Sequence[Edit]) -> bool:
    """Whether a rewritten import of the module level already loads the package."""
    pattern = re.compile(rf"^(?:import|from) {re.escape(name)}\b", re.MULTILINE)
    return any(pattern.search(text) for _, _, text in edits)


def _names(name: str, edits: Sequence[Edit]) -> bool:
    """Whether the new text speaks of the package by its name outside of imports."""
    pattern = re.compile(rf"^(?!\s*(?:from|import)\b).*?(?<![\w.]){re.escape(name)}\.", re.MULTILINE)
    return any(pattern.search(text) for _, _, text in edits)


def _once(findings: list[Finding]) -> list[Finding]:
    """In order, and without a second word on what stays: two rules may both know why."""
    findings.sort(key=lambda f: f.order)
    spoken = {f.span for f in findings if f.status is not Status.KEPT}
    chosen: list[Finding] = []
    for finding in findings:
        if finding.status is not Status.KEPT or finding.span not in spoken:
            chosen.append(finding)
            spoken.add(finding.span)
    return chosen
