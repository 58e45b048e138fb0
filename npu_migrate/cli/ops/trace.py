"""``npu-migrate ops trace``."""

from __future__ import annotations

from pathlib import Path

import click

from npu_migrate import __version__
from npu_migrate.cli.base import Command, option, speak
from npu_migrate.cli.ops import common
from npu_migrate.cli.trouble import reasons, told
from npu_migrate.plain import plain
from npu_migrate.target import load
from npu_migrate.target.choice import choose
from npu_migrate.tracing import Settings, run
from npu_migrate.tracing.branches import branches
from npu_migrate.tracing.coverage import judge
from npu_migrate.tracing.telling import text

SCHEMA_VERSION = 1


@click.command(cls=Command, key="ops-trace", context_settings={"allow_interspersed_args": False})
@click.argument("what", metavar="SCRIPT|MODULE:CALLABLE")
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT]...", type=click.UNPROCESSED)
@option("--input", "inputs", metavar="SHAPE[:DTYPE]", multiple=True, words="trace_input")
@option("--meta", is_flag=True, words="trace_meta")
@option("--forward-only", is_flag=True, words="trace_forward")
@option("--max-steps", metavar="N", type=click.IntRange(min=1))
@option("--max-seconds", metavar="S", type=click.FloatRange(min=0, min_open=True))
@option("--verbose", "-v", is_flag=True, words="trace_verbose")
@common.release
@common.form
@common.lang
@click.pass_context
def trace(  # noqa: PLR0913 - an option each
    ctx: click.Context,
    /,
    what: str,
    arguments: tuple[str, ...],
    *,
    inputs: tuple[str, ...],
    meta: bool,
    forward_only: bool,
    max_steps: int | None,
    max_seconds: float | None,
    verbose: bool,
    torch_npu: str | None,
    form: str,
    lang: str | None,
) -> int:
    """Run a program, or what a callable builds, and print the operators it really runs; leave with its exit code."""
    say = speak(ctx, lang)
    with told(say.lang):
        choice = choose(Path.cwd(), torch_npu)
        target = load(choice.torch_npu)
    settings = Settings(what, arguments, inputs, meta, not forward_only, max_steps, branches(target))
    found = judge(run(settings, max_seconds=max_seconds), target)
    if form == "json":
        head = {"schema_version": SCHEMA_VERSION, "tool": {"name": "npu-migrate", "version": __version__}}
        common.answer({**head, **found.data(), "trace": found.trace.data()})
    else:
        for line in [*reasons(choice, say.lang), *text(found, say.lang, modules=verbose).splitlines()]:
            click.echo(plain(line))
    return found.trace.exit_code
