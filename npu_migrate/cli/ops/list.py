"""``npu-migrate ops list``."""

from __future__ import annotations

import click

from npu_migrate.cli.base import Command, option, speak
from npu_migrate.cli.ops import common
from npu_migrate.cli.trouble import told
from npu_migrate.target import OpStatus, load, query

STATUSES = [one.value for one in OpStatus]


@click.command(cls=Command, key="ops-list")
@option("--status", type=click.Choice(STATUSES), metavar="STATUS", words="ops_status", known=", ".join(STATUSES))
@option("--cuda", is_flag=True, words="ops_cuda")
@common.release
@common.form
@common.lang
@click.pass_context
def list_operators(  # noqa: PLR0913  # an option each
    ctx: click.Context, status: str | None, torch_npu: str | None, form: str, lang: str | None, *, cuda: bool
) -> None:
    """Print the operators of a release."""
    say = speak(ctx, lang)
    with told(say.lang):
        target = load(torch_npu)
        found = query.listed(OpStatus(status) if status else None, target.torch_npu, cuda=cuda)
    if form == "json":
        operators = [query.operator_facts(one) for one in found]
        common.answer({"torch_npu": target.torch_npu, "count": len(found), "operators": operators})
        return
    click.echo(say("ops.listed", torch_npu=target.torch_npu, count=len(found)))
    common.table((f"aten::{one.name}", f"{one.status.value} {one.via}".strip()) for one in found)
