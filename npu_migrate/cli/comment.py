"""``npu-migrate comment``: posts what a run found on its pull request, and keeps it current."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import click

from npu_migrate import packs
from npu_migrate.bot import audit as audits
from npu_migrate.bot import body, event, plan
from npu_migrate.bot.forges import HOSTS
from npu_migrate.bot.suggest import suggestions
from npu_migrate.bot.words import Words
from npu_migrate.cli.base import Command, load, option, speak
from npu_migrate.errors import InputError
from npu_migrate.plain import printed
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from npu_migrate.bot.model import Audit, Forge, Pull, Touched
MOST_REMARKS = 25


class Order(NamedTuple):
    """Where to comment: options first, then what the CI says."""

    forge: str
    url: str
    token: str
    repository: str
    number: int | None
    head: str
    source: event.Source | None


@click.command(cls=Command, key="comment")
@click.argument("path", metavar="[PATH]", default=".", type=click.Path(path_type=Path, exists=True))
@option("--provider", type=click.Choice(list(HOSTS)), section="where")
@option("--repo", metavar="OWNER/NAME", section="where")
@option("--pr", metavar="N", type=click.IntRange(min=1), section="where")
@option("--url", metavar="API", section="where", words="url")
@option("--head", metavar="SHA", section="where", words="head")
@option("--report", metavar="FILE", type=click.Path(path_type=Path), section="what", words="report_json")
@option("--prefix", metavar="DIR", default="", section="what")
@option("--most", metavar="N", type=click.IntRange(min=0), default=MOST_REMARKS, section="what")
@option("--dry-run", is_flag=True, section="what")
@option("--lang", type=click.Choice(LANGUAGES))
@click.pass_context
def comment(ctx: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - checked by click
    """Comment on a pull request."""
    say = speak(ctx, given["lang"])
    order = _order(given, os.environ)
    rules = packs.load()
    with _connected(order) as forge:
        pull = _pull(forge, order)
        if pull is None or (order.head and pull.head != order.head):
            click.echo(say("comment.moved-on" if pull else "comment.no-pull"), err=True)
            return
        files, there = _state(forge, pull, known=bool(order.token))
        audit = _audit(ctx, given)
        words = Words(say.lang)
        todo = _todo(forge, body.Content(audit, files, suggestions(audit, files, rules), given["most"]), there, words)
        if given["dry_run"]:
            _show(todo, words)
            return
        if not order.token:
            raise InputError(says="bot-token", names=", ".join(HOSTS[order.forge].tokens))
        plan.perform(todo, forge, pull, words)
    click.echo(words("done", number=pull.number, forge=forge.name, **todo.counts))


def _todo(forge: Forge, content: body.Content, there: plan.Present, words: Words) -> plan.Plan:
    posted = content.suggestions[: content.posted]
    wanted = [(one, body.remark(one, forge.suggestion(one), words)) for one in posted]
    summary = body.summary(content, words) if there.notes or body.concerns(content) else None
    return plan.make(there, summary, wanted, words)


def _order(given: Mapping[str, Any], environ: Mapping[str, str]) -> Order:
    """Put the options over what the CI says, and let no token go where nobody sent it.

    Raises:
        InputError: it is not known where to, or the host is not one that is known.
    """
    known = event.read(environ)
    name = given["provider"] or known.forge
    if not name:
        raise InputError(says="bot-provider", known=", ".join(HOSTS))
    if name != known.forge:
        known = event.Event()
    host = HOSTS[name]
    url = given["url"] or host.url
    expected = {"github": "GITHUB_API_URL", "gitlab": "CI_API_V4_URL"}.get(name, "")
    elsewhere = environ.get(expected, "") if known.forge else ""
    if elsewhere and not given["url"] and urlsplit(elsewhere).netloc != urlsplit(url).netloc:
        raise InputError(says="bot-host", url=elsewhere, name=name)
    number = given["pr"] or known.number
    repository = given["repo"] or known.repository
    if not repository:
        raise InputError(says="bot-repository", name=name)
    if number is None and known.source is None:
        raise InputError(says="bot-number")
    # A number that was typed is not the one that the event's commit belongs to.
    head = given["head"] or ("" if given["pr"] and given["pr"] != known.number else known.head)
    token = next(filter(None, map(environ.get, host.tokens)), "")
    return Order(name, url, token.strip(), repository, number, head, known.source)


@contextmanager
def _connected(order: Order) -> Iterator[Forge]:
    try:
        from npu_migrate.bot.transport import Access, Transport  # noqa: PLC0415 - brings httpx, which is an extra
    except ModuleNotFoundError as error:
        raise InputError(says="bot-extra") from error
    host = HOSTS[order.forge]
    open_transports: list[Transport] = []

    def make(access: Access, headers: Mapping[str, str] = {}) -> Transport:
        open_transports.append(Transport(access, headers))
        return open_transports[-1]

    try:
        yield host.forge(Access(order.url, order.token, host.header, host.scheme), order.repository, make)
    finally:
        for transport in open_transports:
            transport.close()


@contextmanager
def _as_promised(name: str) -> Iterator[None]:
    """An answer may lack what the documents of the API promise."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(says="bot-shape", name=name, reason=error) from error


def _pull(forge: Forge, order: Order) -> Pull | None:
    with _as_promised(forge.name):
        number = forge.find(*order.source) if order.number is None and order.source else order.number
        return None if number is None else forge.pull(number)


def _state(forge: Forge, pull: Pull, *, known: bool) -> tuple[dict[str, Touched], plan.Present]:
    """What the pull request changes, and what the bot has posted: nothing, if without a token it is nobody."""
    with _as_promised(forge.name):
        return forge.touched(pull), plan.present(forge, pull) if known else plan.Present((), {})


def _audit(ctx: click.Context, given: Mapping[str, Any]) -> Audit:
    """The report that was handed over, else that of a run of our own."""
    if given["report"]:
        return audits.read(given["report"], given["prefix"])
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command: click.Command = load("npu_migrate.cli.main:cli")
        args = [str(given["path"]), "--quiet", "--report", str(report)]
        args += ["--lang", given["lang"]] if given["lang"] else []
        with command.make_context("npu-migrate", args, ctx) as inner:
            command.invoke(inner)
        return audits.read(report, given["prefix"])


def _show(todo: plan.Plan, words: Words) -> None:
    """What would be sent, without sending it."""
    for remark in todo.drop_remarks:
        click.echo(words("do-drop-remark", id=remark.id))
    for remark, _ in todo.edit_remarks:
        click.echo(words("do-edit-remark", id=remark.id))
    for suggestion, text in todo.add_remarks:
        _block(words("do-add-remark", place=f"{suggestion.touched.path}:{suggestion.last}"), text)
    for note in todo.drop_notes:
        click.echo(words("do-drop-note", id=note.id))
    if todo.add_note is not None:
        _block(words("do-add-note"), todo.add_note)
    if todo.edit_note:
        _block(words("do-edit-note", id=todo.edit_note[0].id), todo.edit_note[1])
    if not any(count for what, count in todo.counts.items() if what != "kept"):
        click.echo(words("do-nothing"))


def _block(head: str, text: str) -> None:
    click.echo(printed(head))
    for line in text.split("\n"):
        click.echo(f"    {printed(line)}".rstrip())
