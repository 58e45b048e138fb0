"""Commands whose words come from the message table, and groups whose commands are loaded when called."""

from __future__ import annotations

import importlib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Callable

import click

from npu_migrate.cli.messages import Messages, language, table
from npu_migrate.cli.wide import columns, wrap
from npu_migrate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

WIDTH = 80
HELP = ("-h", "--help")
_LANG = "npu_migrate.lang"


def messages(ctx: click.Context) -> Messages:
    """The table in the language of this call."""
    return Messages(ctx.find_root().meta.get(_LANG, "en"))


def speak(ctx: click.Context, lang: str | None) -> Messages:
    """Settle the language, once options (and settings) are read; None keeps the locale's."""
    if lang:
        ctx.find_root().meta[_LANG] = lang
    return messages(ctx)


class Option(click.Option):
    """An option that stands in one section of the help page; ``words`` is its key under ``[option]``, else its name."""

    def __init__(self, *args: Any, section: str = "more", words: str = "", known: str = "", **attrs: Any) -> None:  # noqa: ANN401 - click's own arguments
        """Take click's arguments, the section, and what ``{known}`` stands for in the help."""
        super().__init__(*args, **attrs)
        self.section = section
        self.words = words or self.name
        self.known = known


def option(*names: str, **attrs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # noqa: ANN401 - click's own arguments
    """``click.option`` for :class:`Option`."""
    return click.option(*names, cls=Option, **attrs)


def _helped(attrs: dict[str, Any]) -> dict[str, Any]:
    """What a command is made of, with the names of its help option."""
    return {**attrs, "context_settings": {"help_option_names": HELP, **(attrs.get("context_settings") or {})}}


class Command(click.Command):
    """A command that looks its words up under ``key`` when it shows its help page."""

    def __init__(self, *args: Any, key: str, **attrs: Any) -> None:  # noqa: ANN401 - click's own arguments
        """Take click's arguments and the name under ``[command]`` of the message table."""
        super().__init__(*args, **_helped(attrs))
        self.key = key

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note the language first: the help page and usage errors are shown while options are still read."""
        ctx.find_root().meta.setdefault(_LANG, language(args))
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        """The whole help page."""
        return "\n".join(help_page(self, self.key, ctx))

    def get_short_help_str(self, limit: int = WIDTH) -> str:  # noqa: ARG002 - click's signature
        """Nothing: a list of commands has its words from the table, without loading the commands."""
        return ""


class LazyGroup(click.Group):
    """A group that knows its commands by the name of their module, and runs one of them when none is named."""

    def __init__(self, *args: Any, key: str, lazy: Mapping[str, str], default: str, **attrs: Any) -> None:  # noqa: ANN401 - click's own arguments
        """``lazy`` maps a command's name to ``module:attribute``."""
        super().__init__(*args, **_helped(attrs))
        self.key = key
        self.lazy = lazy
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note the language, and name the default command where none is named."""
        ctx.find_root().meta.setdefault(_LANG, language(args))
        named = args and not args[0].startswith("-")
        if not named and not any(arg in self.lazy or arg in ctx.help_option_names for arg in args):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, without loading anything."""
        return list(self.lazy)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names.

        Raises:
            InputError: there is none.
        """
        if args[0] not in self.lazy:
            near = ", ".join(get_close_matches(args[0], self.lazy, 1))
            says = "no-command-near" if near else "no-command"
            raise InputError(says=says, name=f"{ctx.info_name} {args[0]}", near=near)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Load one command."""
        place = self.lazy.get(cmd_name)
        command: click.Command | None = load(place) if place else None
        return command

    def get_help(self, ctx: click.Context) -> str:
        """The whole help page."""
        return "\n".join(help_page(self, self.key, ctx, self.lazy))


def load(place: str) -> Any:  # noqa: ANN401 - whatever stands there
    """The object at ``module:attribute``."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def help_page(command: click.Command, key: str, ctx: click.Context, commands: Iterable[str] = ()) -> Iterator[str]:
    """Usage, what it does, options by section, commands."""
    say = messages(ctx)
    usage = [ctx.command_path, *command.collect_usage_pieces(ctx)]
    yield f"{say('help.usage')} {' '.join(usage)}"
    for paragraph in say(f"command.{key}").split("\n\n"):
        yield ""
        yield from (f"  {line}" for line in wrap(paragraph.strip(), WIDTH - 2))
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        if isinstance(parameter, click.Option) and not parameter.hidden:
            section, words = "more", say("option.help")
            if isinstance(parameter, Option):
                section, words = parameter.section, say(f"option.{parameter.words}", known=parameter.known)
            sections.setdefault(section, []).append((_names(parameter), words))
    described = table()["brief"]
    names = [(name, f"{key}-{name}") for name in commands if f"{key}-{name}" in described]
    if names:
        sections[f"{key}-commands"] = [(name, say(f"brief.{brief}")) for name, brief in names]
    for section, rows in sections.items():
        yield from ["", say(f"section.{section}"), *columns(rows, WIDTH)]


def _names(option: click.Option) -> str:
    """``-o, --output DIR``."""
    names = ", ".join(sorted(option.opts, key=len))
    if option.is_flag or option.count:
        return names
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    return f"{names} {option.metavar or '|'.join(map(str, choices))}"
