"""Editing imports: names that move to another module, with a statement for each module where one was."""

from __future__ import annotations

from typing import NamedTuple, Union

import libcst as cst

Small = Union[cst.BaseSmallStatement, cst.FlattenSentinel[cst.BaseSmallStatement]]
Lines = Union[cst.BaseStatement, cst.FlattenSentinel[cst.BaseStatement]]

_SPACE = cst.SimpleWhitespace(" ")


class Part(NamedTuple):
    """One name of an import as it was and as it will be; ``module`` is where it comes from then."""

    original: cst.ImportAlias
    alias: cst.ImportAlias
    module: str
    moved: bool


def regroup(statement: cst.ImportFrom, parts: list[Part]) -> list[cst.BaseSmallStatement]:
    """One statement for each module; with comments between the names, each keeps the form of the original."""
    groups = {part.module: [p.alias for p in parts if p.module == part.module] for part in parts}
    if len(groups) == 1:
        ((module, aliases),) = groups.items()
        return [statement.with_changes(module=path(module), names=aliases)]
    commented = statement.lpar is not None and any("#" in cst.Module([]).code_for_node(part.alias) for part in parts)
    if not commented:
        return [from_import(module, aliases) for module, aliases in groups.items()]
    opening = _bare(statement.lpar)
    return [
        statement.with_changes(
            module=path(module),
            names=[*aliases[:-1], _last(aliases[-1])],
            lpar=opening if number else statement.lpar,
        )
        for number, (module, aliases) in enumerate(groups.items())
    ]


def spread(original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine) -> Lines:
    """A line with one import that became several: a line for each."""
    imports = isinstance(original.body[0], (cst.Import, cst.ImportFrom))
    if not isinstance(updated, cst.SimpleStatementLine) or not imports or len(original.body) != 1:
        return updated
    first = updated.with_changes(body=updated.body[:1])
    rest = [cst.SimpleStatementLine([small]) for small in updated.body[1:]]
    return cst.FlattenSentinel([first, *rest]) if rest else updated


def from_import(module: str, aliases: list[cst.ImportAlias]) -> cst.ImportFrom:
    """``from module import ...`` on one line."""
    return cst.ImportFrom(path(module), with_commas(aliases))


def path(module: str) -> cst.Attribute | cst.Name:
    """A dotted name as a node."""
    node = cst.parse_expression(module)
    return node if isinstance(node, cst.Name) else cst.ensure_type(node, cst.Attribute)


def with_commas(aliases: list[cst.ImportAlias]) -> list[cst.ImportAlias]:
    """Names with a comma between them and none at the end."""
    *before, last = aliases
    comma = cst.Comma(whitespace_after=_SPACE)
    return [*(alias.with_changes(comma=comma) for alias in before), last.with_changes(comma=cst.MaybeSentinel.DEFAULT)]


def renamed(alias: cst.ImportAlias, name: str) -> cst.ImportAlias:
    """The same import under another name of the module's; what it binds in the program stays."""
    bound = alias.asname or cst.AsName(cst.Name(alias.evaluated_name), _SPACE, _SPACE)
    return alias.with_changes(name=cst.Name(name), asname=bound)


def _bare(opening: cst.LeftParen | None) -> cst.LeftParen | None:
    """The parenthesis without the comment behind it."""
    space = opening.whitespace_after if opening is not None else None
    if opening is None or not isinstance(space, cst.ParenthesizedWhitespace):
        return opening
    line = space.first_line.with_changes(whitespace=cst.SimpleWhitespace(""), comment=None)
    return opening.with_changes(whitespace_after=space.with_changes(first_line=line, empty_lines=[]))


def _last(alias: cst.ImportAlias) -> cst.ImportAlias:
    """The name before a closing parenthesis, which stands at the left again."""
    comma = alias.comma
    if not isinstance(comma, cst.Comma) or not isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
        return alias
    space = comma.whitespace_after.with_changes(last_line=cst.SimpleWhitespace(""))
    return alias.with_changes(comma=comma.with_changes(whitespace_after=space))
