"""The main job: scan, report, and write where told to."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_migrate import packs
from npu_migrate.cli import gate
from npu_migrate.cli.base import speak
from npu_migrate.cli.main import COMMANDS
from npu_migrate.cli.options import Options, check_kinds, merge, tree
from npu_migrate.cli.render import Meter, Screen, screen
from npu_migrate.cli.trouble import reasons, told
from npu_migrate.cli.written import replace
from npu_migrate.engine.pool import cpus
from npu_migrate.engine.run import migrate
from npu_migrate.engine.settings import Settings
from npu_migrate.model import Safety
from npu_migrate.patch.apply import apply
from npu_migrate.patch.journal import interrupted, recover
from npu_migrate.patch.model import Change
from npu_migrate.patch.output import write_copy
from npu_migrate.report import model, writers
from npu_migrate.target import load
from npu_migrate.target.choice import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    import click

    from npu_migrate.operators.survey import Survey
    from npu_migrate.rehearse.report import Report as Rehearsal
    from npu_migrate.report.model import Report
    from npu_migrate.target import Choice
    from npu_migrate.tracing.coverage import Coverage

FOUND, INCOMPLETE = 1, 3


def run(ctx: click.Context, given: dict[str, Any]) -> int:
    """Do what the options say; the exit code of the contract.

    Raises:
        InputError: something the user can mend.
    """
    paths: tuple[Path, ...] = given.pop("paths")
    root, only = tree(paths, tuple(COMMANDS))
    options = merge(ctx, given, root)
    say = speak(ctx, options.lang)
    gate.check_options(options)
    if not options.check:  # a hook is handed whatever is staged
        check_kinds(paths)
    with told(say.lang):
        rules = packs.load(options.rules)
        rules.select(options.select, options.ignore)  # an unknown code is an error before the work, not in it
        shown = screen(say, stderr=options.format != "text")
        if options.apply:
            recover(root, force=options.force)
        elif interrupted(root):
            shown.note(say("summary.interrupted"))
        choice = choose(root, options.torch_npu)
        rehearsal, trace = _rehearsal(options.rehearsal), _trace(options.trace, choice)
        used = _used(paths, options, choice) if writers.tells_operators(options.report, options.format) else None
        report = gate.narrowed(_audit(shown, root, paths, options, choice, rules), options)
        report = changed(report, rehearsal=rehearsal, trace=trace, operators=used)
        changes = [Change(file.path, file.old, file.new) for file in report.changed]
        if options.apply:
            apply(root, changes, force=options.force)
        elif options.output:
            write_copy(root, options.output, changes, only=only)
    _show(shown, report, rules, options, reasons(choice, say.lang))
    _publish(shown, report, rules, options)
    found = gate.verdict(shown, report, rules, options)
    return FOUND if found else INCOMPLETE if report.incomplete else 0


def _audit(  # noqa: PLR0913, PLR0917  # a run is all of these
    shown: Screen, root: Path, paths: Sequence[Path], options: Options, choice: Choice, rules: packs.Registry
) -> Report:
    target = load(choice.torch_npu)
    settings = Settings(
        target=target,
        style=options.style,
        imports=options.imports,
        pin_memory=options.pin_memory,
        safety=Safety(options.safety),
        select=options.select,
        ignore=options.ignore,
        registry=rules,
        exclude=options.exclude,
        max_bytes=options.max_bytes,
        jobs=options.jobs or cpus(),
    )
    with Meter(shown.err, shown.say("summary.scanning", root=root.name), silent=options.quiet) as meter:
        results = list(migrate(paths, settings, meter))
    aim = model.Aim(target.torch_npu, target.torch, target.cann, options.style, options.safety)
    return model.build(results, aim, root, options.mode)


def _rehearsal(path: Path | None) -> Rehearsal | None:
    if path is None:
        return None
    from npu_migrate.rehearse.reading import read  # noqa: PLC0415 - only runs with a rehearsal pay

    return read(path)


def _trace(path: Path | None, choice: Choice) -> Coverage | None:
    if path is None:
        return None
    from npu_migrate.tracing.coverage import judge  # noqa: PLC0415 - only runs with a trace pay
    from npu_migrate.tracing.trace import read  # noqa: PLC0415

    return judge(read(path), load(choice.torch_npu))


def _used(paths: Sequence[Path], options: Options, choice: Choice) -> Survey:
    from npu_migrate.operators.survey import survey  # noqa: PLC0415 - only runs with such a report pay

    jobs = options.jobs or cpus()
    return survey(paths, load(choice.torch_npu), exclude=options.exclude, max_bytes=options.max_bytes, jobs=jobs)


def _show(shown: Screen, report: Report, rules: packs.Registry, options: Options, why: list[str]) -> None:
    if options.diff:
        shown.diff(report)
    if options.quiet or options.format != "text":
        return
    shown.report(report, rules, why, verbose=options.verbose)
    facts = {"count": len(report.changed), "undo": _undo(report.root), "path": options.output}
    sentence = options.mode if report.changed or options.output else "nothing"
    shown.line(shown.say(f"summary.{sentence}", **facts))


def _undo(root: Path) -> str:
    """The command that takes a run back, from here."""
    here = Path.cwd().resolve()
    return "npu-migrate undo" if root == here else f"npu-migrate undo {shlex.quote(os.path.relpath(root, here))}"


def _publish(shown: Screen, report: Report, rules: packs.Registry, options: Options) -> None:
    """Write the reports, each whole or not at all, and the one that goes to standard output."""
    for path in options.report:
        replace(path, writers.encode(writers.for_file(path).render(report, rules, shown.say.lang)))
        if not options.quiet:
            shown.note(shown.say("summary.report", path=path))
    if options.format != "text":
        shown.document(writers.encode(writers.WRITERS[options.format].render(report, rules, shown.say.lang)))
