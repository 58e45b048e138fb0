"""The main job's options, and the way to the other commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from npu_migrate import __version__
from npu_migrate.cli.base import Command, help_page, load, option
from npu_migrate.cli.messages import Messages, language
from npu_migrate.engine.settings import IMPORTS, STYLES
from npu_migrate.errors import InputError
from npu_migrate.model import Safety
from npu_migrate.plain import plain
from npu_migrate.report.writers import FORMATS, SUFFIXES
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "comment": "npu_migrate.cli.comment:comment",
    "ops": "npu_migrate.cli.ops:ops",
    "rehearse": "npu_migrate.cli.rehearse:rehearse",
    "rules": "npu_migrate.cli.rules:rules",
    "undo": "npu_migrate.cli.undo:undo",
    "weights": "npu_migrate.cli.weights:weights",
}

# What a shell reports for a program that a signal ended.
INTERRUPTED, READER_GONE = 130, 141
UNUSABLE = 2


class Main(Command):
    """The main job, unless the first argument names another command."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's own arguments
    ) -> click.Context:
        """Hand the arguments to the command that they are for."""
        if args and args[0] in COMMANDS:
            command: click.Command = load(COMMANDS[args[0]])
            return command.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Run the command that the arguments were for."""
        try:
            code = ctx.command.invoke(ctx) if ctx.command is not self else super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python flushes stdout once more when it ends, and would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return READER_GONE
        return code

    def get_help(self, ctx: click.Context) -> str:
        """The main job's help page, with the other commands."""
        return "\n".join(help_page(self, self.key, ctx, COMMANDS))

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]  # noqa: ANN401 - click's overloads
        """Run, turn every error of the user's into one line, and leave with the contract's exit code."""
        args = sys.argv[1:] if args is None else list(args)
        say = Messages(language(args))
        try:
            code = super().main(args, prog_name or "npu-migrate", **{**extra, "standalone_mode": False})
        except click.Abort:
            code = _complain(say("problem.interrupted"), INTERRUPTED)
        except click.ClickException as error:
            code = _complain(_explain(say, error))
        except InputError as error:
            code = _complain(say(f"problem.{error.says}", **error.facts))
        except OSError as error:
            says = "problem.os" if error.filename else "problem.os-no-path"
            code = _complain(say(says, path=error.filename, reason=error.strerror or error))
        sys.exit(code or 0)


def _complain(sentence: str, code: int = UNUSABLE) -> int:
    click.echo(f"npu-migrate: {plain(sentence)}", err=True)
    return code


def _explain(say: Messages, error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        near = ", ".join(error.possibilities or ())
        return say("problem.no-option-near" if near else "problem.no-option", option=error.option_name, near=near)
    if isinstance(error, click.MissingParameter) and error.param:
        return say("problem.missing", name=error.param.human_readable_name)
    if isinstance(error, click.BadParameter) and error.param and isinstance(error.param.type, click.Choice):
        known = ", ".join(map(str, error.param.type.choices))
        return say("problem.choice", option=error.param.opts[-1], known=known)
    return error.format_message()


def _codes(_ctx: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Codes may be repeated and separated by commas; an option without one would be heard as no option at all."""
    codes = tuple(code.strip() for value in values for code in value.split(",") if code.strip())
    if values and not codes:
        raise InputError(says="no-codes", option=parameter.opts[-1])
    return codes


def _version(ctx: click.Context, _parameter: click.Parameter, asked: bool) -> None:  # noqa: FBT001 - click's signature
    if asked:
        click.echo(f"npu-migrate {__version__}")
        ctx.exit()


@click.command(cls=Main, key="migrate", name="npu-migrate")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@option("--apply", is_flag=True, section="write")
@option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), section="write")
@option("--force", is_flag=True, section="write")
@option("--torch-npu", metavar="VERSION", section="how")
@option("--style", type=click.Choice(STYLES), default=STYLES[0], section="how")
@option("--imports", type=click.Choice(IMPORTS), default=IMPORTS[0], section="how")
@option("--safety", type=click.Choice([safety.value for safety in Safety]), default=Safety.EXACT.value, section="how")
@option("--select", metavar="CODES", multiple=True, callback=_codes, section="how")
@option("--ignore", metavar="CODES", multiple=True, callback=_codes, section="how")
@option("--rules", metavar="DIR", multiple=True, type=click.Path(path_type=Path), section="how")
@option("--diff", is_flag=True, section="show")
@option(
    "--report", metavar="FILE", multiple=True, type=click.Path(path_type=Path), section="show", known=" ".join(SUFFIXES)
)
@option("--rehearsal", metavar="FILE", type=click.Path(path_type=Path), section="show")
@option("--trace", metavar="FILE", type=click.Path(path_type=Path), section="show")
@option("--format", type=click.Choice(["text", *FORMATS]), default="text", section="show")
@option("--lang", type=click.Choice(LANGUAGES), section="show")
@option("-q", "--quiet", is_flag=True, section="show")
@option("-v", "--verbose", is_flag=True, section="show")
@option("--check", is_flag=True, section="gate")
@option("--baseline", metavar="FILE", type=click.Path(path_type=Path), section="gate")
@option("--write-baseline", is_flag=True, section="gate")
@option("--diff-base", metavar="REV", section="gate")
@option("--jobs", metavar="N", type=click.IntRange(min=1))
@option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version)
@click.pass_context
def cli(ctx: click.Context, /, **options: Any) -> int:  # noqa: ANN401 - checked by click, typed in Options
    """Audit a tree, and migrate it when told to."""
    code: int = load("npu_migrate.cli.migrate:run")(ctx, options)
    return code
