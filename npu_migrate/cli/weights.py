"""``npu-migrate weights``: checkpoints for rewritten models."""

from __future__ import annotations

from pathlib import Path

import click

from npu_migrate.cli.base import Command, LazyGroup, Option, option, speak
from npu_migrate.errors import InputError
from npu_migrate.plain import printed
from npu_migrate.wording import LANGUAGES

weights = LazyGroup(
    name="weights",
    key="weights",
    default="convert",
    params=[Option(["--lang"], type=click.Choice(LANGUAGES), expose_value=False)],
    lazy={"convert": "npu_migrate.cli.weights:convert"},
)


@click.command(cls=Command, key="weights-convert")
@click.argument("checkpoint", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), words="weights_output")
@option("--key", "keys", metavar="NAME", multiple=True, words="weights_key")
@option("--class", "name", metavar="NAME", default="Focus", words="weights_class")
@option("--check", is_flag=True, words="weights_check")
@option("--lang", type=click.Choice(LANGUAGES))
@click.pass_context
def convert(  # noqa: PLR0913  # an option each
    ctx: click.Context,
    checkpoint: Path,
    output: Path | None,
    keys: tuple[str, ...],
    name: str,
    *,
    check: bool,
    lang: str | None,
) -> None:
    """Rearrange the weights of one checkpoint."""
    say = speak(ctx, lang)
    try:
        from npu_migrate.weights import convert as converter  # noqa: PLC0415  # brings PyTorch
    except ImportError as error:
        raise InputError(says="weights-torch") from error
    target = output or checkpoint.with_name(f"{checkpoint.stem}.npu{checkpoint.suffix}")
    for done in converter.convert(checkpoint, target, keys=keys, name=name, check=check):
        before, after = ("x".join(map(str, shape)) for shape in (done.before, done.after))
        click.echo(printed(say("weights.rearranged", place=done.place, before=before, after=after)))
        if done.difference is not None:
            click.echo(say("weights.checked", difference=f"{done.difference:.1e}"))
    click.echo(say("weights.written", path=target))
