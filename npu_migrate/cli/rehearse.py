"""``npu-migrate rehearse``: runs a migrated program on a simulated NPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from npu_migrate.cli.base import Command, option, speak
from npu_migrate.cli.trouble import told
from npu_migrate.errors import InputError
from npu_migrate.plain import printed
from npu_migrate.rehearse import Settings, run
from npu_migrate.rehearse.tiers import TIERS
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from npu_migrate.rehearse import Report

SUFFIXES = (".json", ".txt", ".html")


@click.command(cls=Command, key="rehearse", context_settings={"allow_interspersed_args": False})
@click.argument("tree", metavar="TREE", type=click.Path(path_type=Path))
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@option("--tier", type=click.Choice(TIERS), default=TIERS[0])
@option("--torch-npu", metavar="VERSION", words="rehearse_torch_npu")
@option("--devices", metavar="N", type=click.IntRange(min=1, max=64), default=8)
@option("--on-unsupported", type=click.Choice(["raise", "record"]), default="raise")
@option("--on-cpu-fallback", type=click.Choice(["warn", "raise"]), default="warn")
@option("--max-steps", metavar="N", type=click.IntRange(min=1))
@option("--max-seconds", metavar="S", type=click.FloatRange(min=0, min_open=True))
@option("--report", metavar="FILE", multiple=True, type=click.Path(path_type=Path), words="rehearse_report")
@option("--lang", type=click.Choice(LANGUAGES))
@click.pass_context
def rehearse(  # noqa: PLR0913 - one argument an option
    ctx: click.Context,
    /,
    tree: Path,
    command: tuple[str, ...],
    *,
    tier: str,
    torch_npu: str | None,
    devices: int,
    on_unsupported: str,
    on_cpu_fallback: str,
    max_steps: int | None,
    max_seconds: float | None,
    report: tuple[Path, ...],
    lang: str | None,
) -> int:
    """Run the command in a scratch copy of the tree; leave with its exit code."""
    say = speak(ctx, lang)
    for path in report:
        if path.suffix not in SUFFIXES:
            raise InputError(says="report-suffix", path=path, known=" ".join(SUFFIXES))
    settings = Settings(tier, torch_npu, devices, on_unsupported, on_cpu_fallback, max_steps)
    click.echo(say("rehearse.limits"), err=True)
    words = command[1:] if command[0] == "--" else command
    if not words:
        raise InputError(says="missing", name="COMMAND")
    with told(say.lang):
        done = run(tree, words, settings, max_seconds=max_seconds)
    for line in done.text(say.lang).splitlines():
        click.echo(printed(line), err=True)
    for path in report:
        _write(done, path, say.lang)
    return done.exit_code


def _write(done: Report, path: Path, lang: str) -> None:
    path.write_text(_in_format(done, path.suffix, lang), encoding="utf-8")


def _in_format(done: Report, suffix: str, lang: str) -> str:
    if suffix == ".html":
        from npu_migrate.report.html import render_rehearsal  # noqa: PLC0415 - only this format pays

        return render_rehearsal(done, lang)
    return done.json() if suffix == ".json" else done.text(lang)
