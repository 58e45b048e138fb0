"""What every ``ops`` command takes, and how it answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from npu_migrate.cli.base import option
from npu_migrate.cli.wide import cells
from npu_migrate.plain import printed, visible
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

release = option("--torch-npu", metavar="VERSION", words="ops_torch_npu")
form = option("--format", "form", type=click.Choice(["text", "json"]), default="text", words="ops_format")
lang = option("--lang", type=click.Choice(LANGUAGES))


def answer(facts: dict[str, Any]) -> None:
    """One JSON document."""
    click.echo(visible(json.dumps(facts, indent=2, ensure_ascii=False)))


def line(sentence: str) -> None:
    """A line that may quote the name of a file."""
    click.echo(printed(sentence))


def table(rows: Iterable[tuple[str, str]]) -> None:
    """Two columns, a row a line whatever its length: the answer is read by other programs too."""
    shown = [(printed(first), printed(second)) for first, second in rows]
    width = max((cells(first) for first, _ in shown), default=0)
    for first, second in shown:
        click.echo(f"  {first}{' ' * (width - cells(first))}  {second}".rstrip())
