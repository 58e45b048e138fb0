"""``npu-migrate rules new``."""

from __future__ import annotations

import shlex
from pathlib import Path
from string import Template

import click

from npu_migrate import __version__, packs
from npu_migrate.cli.base import Command, option, speak
from npu_migrate.cli.render import screen
from npu_migrate.cli.rules import common
from npu_migrate.errors import InputError

FAMILIES = {
    "NPU1": "device",
    "NPU2": "apis",
    "NPU3": "precision",
    "NPU4": "data",
    "NPU5": "structure",
    "NPU6": "distributed",
    "NPU7": "libraries",
    "NPU8": "operators",
    "NPU9": "project",
}
_SCAFFOLD = Path(__file__).resolve().parent.parent / "scaffold"


@click.command(cls=Command, key="rules-new")
@click.argument("code")
@click.argument("name")
@option("--rules", "into", metavar="DIR", type=click.Path(path_type=Path, file_okay=False), words="rules_new")
@common.lang
@click.pass_context
def new(ctx: click.Context, code: str, name: str, into: Path | None, lang: str | None) -> None:
    """Write a rule folder and its first fixtures."""
    say = speak(ctx, lang)
    code = code.upper()
    _check(code, name, into)
    folder, fixtures = _places(code, f"{code}_{name}".lower().replace("-", "_"), into)
    class_name = name.title().replace("-", "")
    facts = {"code": code, "name": name, "class_name": class_name, "version": __version__}
    shown = screen(say)
    for source, target in (("rule", folder), ("fixtures", fixtures)):
        target.mkdir(parents=True)
        for template in sorted((_SCAFFOLD / source).iterdir()):
            path = target / template.name[: -len(".txt")]
            path.write_text(Template(template.read_text(encoding="utf-8")).substitute(facts), encoding="utf-8")
            shown.line(say("rules.created", path=path))
    command = f"npu-migrate rules test {code}" + (f" --rules {shlex.quote(str(into))}" if into else "")
    shown.line(say("rules.next"))
    shown.line(f"  {command}", "bold")


def _check(code: str, name: str, into: Path | None) -> None:
    if not packs.CODE.fullmatch(code):
        raise InputError(says="new-code", code=code)
    if not packs.NAME.fullmatch(name):
        raise InputError(says="new-name", name=name)
    known = packs.load([into] if into and packs.has_rules(into) else [])
    for rule in known.all():
        for value in {code, name} & {rule.code, rule.name}:
            raise InputError(says="new-taken", name=value, path=rule.folder)


def _places(code: str, folder: str, into: Path | None) -> tuple[Path, Path]:
    """Where the rule and its fixtures go."""
    if into:
        return into / folder, into / folder / "fixtures"
    rules = packs.builtin()
    checkout = rules.parent
    if not (checkout / "fixtures").is_dir():
        raise InputError(says="new-place")
    if code[:4] not in FAMILIES:
        raise InputError(says="new-family", code=code)
    return rules / FAMILIES[code[:4]] / folder, checkout / "fixtures" / folder
