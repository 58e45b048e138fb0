"""``--check`` and what goes with it: says what fails, and shows the fix."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from npu_migrate.cli.render import STYLES
from npu_migrate.cli.written import replace
from npu_migrate.errors import InputError
from npu_migrate.gate import baseline
from npu_migrate.gate.added import added
from npu_migrate.gate.fixes import Stop, stops
from npu_migrate.gate.narrow import narrow
from npu_migrate.model import Status
from npu_migrate.report import writers
from npu_migrate.report.model import place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from npu_migrate.cli.options import Options
    from npu_migrate.cli.render import Screen
    from npu_migrate.model import Finding
    from npu_migrate.packs import Registry
    from npu_migrate.report.model import Report

MOST_STOPS = 50
MOST_LINES = 8
MOST_FILES = 5


def check_options(options: Options) -> None:
    """Refuse before the work what would fail after it.

    Raises:
        InputError: there is no such baseline, or a file that is something else would be replaced.
    """
    path = options.baseline
    if options.write_baseline and path is None:
        raise InputError(says="baseline-needed")
    if path is None:
        return
    if not options.write_baseline:
        baseline.read(path)
    elif os.path.lexists(path):
        baseline.load(path)
    elif not path.parent.is_dir():
        raise InputError(says="report-folder", path=path)


def narrowed(report: Report, options: Options) -> Report:
    """The report, or with ``--diff-base`` that of the added lines."""
    return narrow(report, added(report.root, options.diff_base)) if options.diff_base else report


def verdict(shown: Screen, report: Report, rules: Registry, options: Options) -> bool:
    """Write the baseline if asked to; whether ``--check`` found something, which is then shown."""
    if options.baseline and options.write_baseline:
        replace(options.baseline, writers.encode(baseline.render(report)))
        if not options.quiet:
            shown.note(shown.say("gate.written", path=options.baseline))
    if not options.check:
        return False
    compared = baseline.compare(report, baseline.read(options.baseline) if options.baseline else {})
    if options.baseline and compared.gone and not (options.diff_base or options.quiet):
        shown.note(shown.say("gate.gone", count=compared.gone, path=options.baseline))
    if compared.new:
        _complain(shown, report, rules, compared, options)
    return bool(compared.new)


def _complain(shown: Screen, report: Report, rules: Registry, compared: baseline.Compared, options: Options) -> None:
    say = shown.say
    mended = [one for one in compared.new if one.status is Status.REWRITTEN]
    left = len(compared.new) - len(mended)
    done = report.mode != "dry-run" and not left
    head = "gate.done" if done else "gate.found-known" if options.baseline else "gate.found"
    shown.note(say(head, count=len(compared.new), known=compared.known, path=options.baseline), "bold red")
    found = stops(report, compared.new)
    for stop in found[:MOST_STOPS]:
        _stop(shown, rules, stop)
    if found[MOST_STOPS:]:
        shown.note(say("gate.more", count=len(found) - MOST_STOPS))
    if mended and report.mode == "dry-run":
        shown.note(say("gate.fix", count=len(mended), command=_command(report, mended)), "bold")
    if left:
        shown.note(say("gate.yours", count=left), "bold")
    if not done:
        shown.note(say("gate.accept", comment=f"# npu-migrate: ignore[{compared.new[0].rule}]"))


def _stop(shown: Screen, rules: Registry, stop: Stop) -> None:
    lang = shown.say.lang
    for one in dict.fromkeys(
        (place(one), one.rule, one.status, rules.message(one.text, lang)) for one in stop.findings
    ):
        where, rule, status, message = one
        # What is mended below has not been rewritten yet.
        verdict = "" if stop.new else f" {shown.say(f'status.{status.value}')}:"
        shown.note(f"{where}: {rule}{verdict} {message}", STYLES[status])
    if stop.new:
        _lines(shown, "-", stop.old)
        _lines(shown, "+", stop.new)
    else:
        _lines(shown, "|", [line for line in stop.old if line.strip()])


def _lines(shown: Screen, mark: str, lines: Sequence[str]) -> None:
    style = {"-": "red", "+": "green"}.get(mark, "dim")
    for line in lines[:MOST_LINES]:
        shown.note(f"    {mark} {line.rstrip()}", style)
    if lines[MOST_LINES:]:
        shown.note(f"    {mark} …", style)


def _command(report: Report, findings: Iterable[Finding]) -> str:
    """The command that makes the rewrites, from here."""
    paths = list(dict.fromkeys(one.path for one in findings))
    names = [report.root / path for path in paths] if len(paths) <= MOST_FILES else [report.root]
    return shlex.join(["npu-migrate", "--apply", *(os.path.relpath(name) for name in names)])
