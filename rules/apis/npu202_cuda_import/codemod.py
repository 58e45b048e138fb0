"""``from torch.cuda.amp import autocast`` -> ``from torch_npu.npu.amp import autocast``, in every form of import."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Union

import libcst as cst

from npu_migrate import renames
from npu_migrate.import_edits import Lines, Part, Small, from_import, path, regroup, renamed, spread, with_commas
from npu_migrate.rule import Rule, Status, dotted

if TYPE_CHECKING:
    from collections.abc import Sequence

Statement = Union[cst.Import, cst.ImportFrom]


class CudaImport(Rule):
    """Moves what the release has to ``torch_npu.npu``; names it lacks stay, in a statement of their own."""

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> Small:
        base = ".".join(dotted(original.module) or [])
        if original.relative or (base != "torch" and not renames.is_cuda(base)):
            return updated
        if isinstance(original.names, cst.ImportStar) or isinstance(updated.names, cst.ImportStar):
            return updated if base == "torch" else self._star(original, updated, base)
        parts = [self._part(before, after, base) for before, after in zip(original.names, updated.names)]
        if renames.is_cuda(base) and original.module is not None:
            self.work.claim(self.work.range_of(original.module))  # each name below it has its answer
        if not any(part.moved for part in parts):
            return updated
        return self._replace(original, updated, regroup(updated, parts), [part for part in parts if part.moved])

    def leave_Import(self, original: cst.Import, updated: cst.Import) -> Small:
        parts = [self._module_part(before, after) for before, after in zip(original.names, updated.names)]
        moved = [part for part in parts if part.moved]
        if not moved:
            return updated
        plain = [part.alias for part in parts if not part.module]
        unique = [alias for index, alias in enumerate(plain) if not _is_repeated(alias, plain[:index])]
        statements: list[cst.BaseSmallStatement] = []
        if unique:
            names = unique if len(unique) == len(parts) else with_commas(unique)
            statements.append(updated.with_changes(names=names))
        statements += [from_import(part.module, [part.alias]) for part in parts if part.module]
        return self._replace(original, updated, statements, moved)

    def leave_SimpleStatementLine(self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine) -> Lines:
        """An import that became several gets a line for each."""
        return spread(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        """A use of ``cuda`` after ``from torch import cuda``, where that name goes."""
        if original.value != "cuda" or self._is_word(original):
            return updated
        if self.qualified_name(original) != renames.ROOT or not renames.frees_name(self.work.module, self.target):
            return updated
        return self.rewrite(original, updated, updated.with_changes(value="npu"), "use", symbol=renames.ROOT)

    def _is_word(self, name: cst.Name) -> bool:
        """Whether a name is only a part of something's spelling, not a variable."""
        above = self.parent
        return (isinstance(above, cst.Attribute) and above.attr is name) or (
            not isinstance(above, cst.Attribute) and self.is_part_of_name(name)
        )

    def _part(self, original: cst.ImportAlias, updated: cst.ImportAlias, base: str) -> Part:
        name = f"{base}.{original.name.value}"
        stays = Part(original, updated, base, moved=False)
        if not renames.is_cuda(name):
            return stays
        found = renames.importable(self.target, name)
        if found is None:
            self._absent(original, name)
            return stays
        module, _, leaf = found.rpartition(".")
        keeps_name = leaf == original.name.value or self._frees(name)
        alias = updated.with_changes(name=cst.Name(leaf)) if keeps_name else renamed(updated, leaf)
        return Part(original, alias, module, moved=True)

    def _frees(self, name: str) -> bool:
        return name == renames.ROOT and renames.frees_name(self.work.module, self.target)

    def _module_part(self, original: cst.ImportAlias, updated: cst.ImportAlias) -> Part:
        name = ".".join(dotted(original.name) or [])
        stays = Part(original, updated, "", moved=False)
        if not renames.is_cuda(name):
            return stays
        found = renames.importable(self.target, name)
        if found is None or (original.asname is None and self.target.kind(found) != "module"):
            self._absent(original, name)
            return stays
        if original.asname is None:
            found = "torch_npu" if self._torch_is_imported_above(original) else "torch"
        if self.target.kind(found) == "module" or found == "torch":
            return Part(original, updated.with_changes(name=path(found)), "", moved=True)
        module, _, leaf = found.rpartition(".")
        return Part(original, cst.ImportAlias(cst.Name(leaf), asname=updated.asname), module, moved=True)

    def _torch_is_imported_above(self, original: cst.ImportAlias) -> bool:
        """Whether the name ``torch`` stays bound without this import."""
        module = self.work.module
        here = module.statement_at(self.work.range_of(original)[0])
        return here is not None and any(
            isinstance(above.node, ast.Import)
            and above.scope is here.scope
            and above.parent in (None, here.parent)
            and any(alias.name.split(".")[0] == "torch" and not alias.asname for alias in above.node.names)
            for above in module.table.statements[: here.index]
        )

    def _absent(self, alias: cst.ImportAlias, name: str) -> None:
        if renames.npu_name(self.target, name) is not None:
            self.report(alias, Status.KEPT, "written-out", symbol=name, name=name)
        else:
            self.report(alias, Status.UNSUPPORTED, "absent", symbol=name, name=name, release=self.target.torch_npu)

    def _star(self, original: cst.ImportFrom, updated: cst.ImportFrom, base: str) -> Small:
        """A star import moves if the new module has every name that the file may take from the old one."""
        found = renames.importable(self.target, base)
        missing = renames.lost_by_star(self.work.module, self.target, base)
        if found is None or missing:
            place = found or "torch_npu.npu"
            self.report(original, Status.MANUAL, "star", symbol=base, name=base, place=place, names=", ".join(missing))
            return updated
        new = updated.with_changes(module=path(found))
        return self.rewrite(original, updated, new, "moved", symbol=base, module=found)

    def _replace(
        self,
        original: Statement,
        updated: Statement,
        statements: Sequence[cst.BaseSmallStatement],
        moved: Sequence[Part],
    ) -> Small:
        """Put statements in the place of one, and point at what has moved."""
        after = "; ".join(self.work.code(statement).rstrip("; ") for statement in statements)
        new = statements[0] if len(statements) == 1 else cst.FlattenSentinel(statements)
        modules = list(dict.fromkeys(part.module or part.alias.evaluated_name for part in moved))
        key = "bare" if modules in (["torch"], ["torch_npu"]) and isinstance(original, cst.Import) else "moved"
        module = ", ".join(modules) or after
        names: Sequence[cst.ImportAlias] = () if isinstance(original.names, cst.ImportStar) else original.names
        claims: cst.CSTNode = original if len(moved) == len(names) else moved[0].original
        result: Small = self.rewrite(
            original, updated, new, key, claims=claims, after=after, symbol=_source(original), module=module
        )
        for part in moved:
            self.work.claim(self.work.range_of(part.original))
        return result


def _source(statement: Statement) -> str:
    """Where an import takes its names from."""
    if isinstance(statement, cst.ImportFrom):
        return ".".join(dotted(statement.module) or [])
    return next((a.evaluated_name for a in statement.names if renames.is_cuda(a.evaluated_name)), "")


def _is_repeated(alias: cst.ImportAlias, others: list[cst.ImportAlias]) -> bool:
    return alias.asname is None and any(o.asname is None and o.evaluated_name == alias.evaluated_name for o in others)
