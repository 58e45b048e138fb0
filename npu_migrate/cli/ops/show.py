"""``npu-migrate ops show``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from npu_migrate.cli.base import Command, speak
from npu_migrate.cli.ops import common
from npu_migrate.cli.trouble import told
from npu_migrate.errors import InputError
from npu_migrate.target import query
from npu_migrate.target.support import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.cli.messages import Messages
    from npu_migrate.target.support import Support


@click.command(cls=Command, key="ops-show")
@click.argument("name")
@common.release
@common.form
@common.lang
@click.pass_context
def show(ctx: click.Context, name: str, torch_npu: str | None, form: str, lang: str | None) -> None:
    """Print what is known about one name."""
    say = speak(ctx, lang)
    with told(say.lang):
        try:
            found = query.show(name, torch_npu)
        except query.UnknownName as error:
            near = ", ".join(error.near)
            raise InputError(says="ops-name-near" if near else "ops-name", name=name, near=near) from error
    if form == "json":
        common.answer(found.facts())
        return
    click.echo(say("ops.head", name=found.name, torch_npu=found.torch_npu, status=found.status))
    common.table(_facts(found, say))
    common.table((f"aten::{one.name}", _status(one.status.value, one.because)) for one in found.operators)


def _facts(found: query.Shown, say: Messages) -> Iterator[tuple[str, str]]:
    for name in ("what", "via", "because", "kernel", "npu", "instead"):
        value = getattr(found, name)
        if value:
            yield say(f"ops.{name}"), value
    for one in found.backward:
        yield say("ops.backward"), _status(f"aten::{one.name}", one.worst.value)
    for schema in found.schemas:
        yield say("ops.schema"), schema
    if found.documented is not None:
        yield from _documented(found.documented, say)


def _documented(said: Support, say: Messages) -> Iterator[tuple[str, str]]:
    devices = ", ".join(f"{family}: {status}" for family, status in said.devices)
    yield say("ops.documents", documents=said.documents), devices
    if said.dtypes:
        yield say("ops.types"), ", ".join(said.dtypes)
    for family, text in said.families:
        yield say("ops.types"), f"{family}: {text}"
    for word in said.words:
        yield say("ops.condition"), words()[word][say.lang]


def _status(status: str, because: str) -> str:
    return f"{status} ({because})" if because else status
