"""The only place that knows a terminal: colours, widths, progress, and what a file name may do to them."""

from __future__ import annotations

import re
import sys
import time
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from npu_migrate.cli.wide import wrap
from npu_migrate.model import Status
from npu_migrate.patch.diff import display
from npu_migrate.plain import printed
from npu_migrate.report import summary
from npu_migrate.report.model import diff, place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Self

    from npu_migrate.cli.messages import Messages
    from npu_migrate.packs import Registry, RuleInfo
    from npu_migrate.report.model import Report

STYLES = {
    Status.REWRITTEN: "green",
    Status.MANUAL: "yellow",
    Status.UNSUPPORTED: "red",
    Status.ADVICE: "cyan",
    Status.KEPT: "dim",
    Status.SUPPRESSED: "dim",
    Status.UNREADABLE: "bold red",
}
OPEN = (Status.MANUAL, Status.UNSUPPORTED, Status.UNREADABLE)
QUIETER = (Status.ADVICE, Status.KEPT, Status.SUPPRESSED)
# Characters; on a terminal a line is cut to the width anyway.
LONGEST_LINE = 300

PIPED_WIDTH = 100
MOST_FILES = 15
LONG_RUN = 1.0  # seconds until progress is worth the flicker


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line: rich would end the process with the code for "something found"."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console on standard output or error that takes nothing in a text for markup."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPED_WIDTH
    return _Console(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def screen(say: Messages, *, stderr: bool = False) -> Screen:
    """The screen of a real run; ``stderr`` sends the result there as well: standard output carries something else."""
    return Screen(say, console(stderr=stderr), console(stderr=True))


class Screen:
    """What a person sees; ``out`` carries the result, ``err`` everything beside it."""

    def __init__(self, say: Messages, out: Console, err: Console) -> None:
        """The consoles are passed in: tests bring their own."""
        self.say = say
        self.out = out
        self.err = err

    def note(self, sentence: str, style: str = "") -> None:
        """A line beside the result."""
        self.err.print(Text(printed(sentence), style), soft_wrap=True)

    def line(self, sentence: str, style: str = "") -> None:
        """A line of the result."""
        self._text(sentence, style)

    def report(self, report: Report, rules: Registry, why: Sequence[str] = (), *, verbose: bool) -> None:
        """Head, numbers, by rule, by file, and every site that is left to the user."""
        aim, say = report.aim, self.say
        head = "summary.head" if aim.cann else "summary.head-no-cann"
        self.line(say(head, root=report.name, **vars(aim)), "bold")
        for reason in why:
            self.line(reason, "dim")
        if not report.files:
            self.line(say("summary.none", scanned=report.scanned))
            self._told_by_runs(report)
            return
        self._numbers(report)
        shown = [status for status in Status if verbose or status not in {Status.KEPT, Status.SUPPRESSED}]
        titled = [((code, rules.title(code, say.lang)), counts) for code, counts in summary.by_rule(report)]
        self._table(say("summary.rules"), titled, shown)
        self._files(report, shown, verbose=verbose)
        for status in (*OPEN, *(QUIETER if verbose else ())):
            self._sites(report, rules, status)
        self._told_by_runs(report)
        self.out.print()

    def _told_by_runs(self, report: Report) -> None:
        if report.rehearsal:
            from npu_migrate.rehearse.telling import brief  # noqa: PLC0415 - only runs with a rehearsal pay

            self.line("")
            self.line(brief(report.rehearsal, self.say.lang))
        if report.trace:
            from npu_migrate.tracing.telling import brief as short  # noqa: PLC0415 - only runs with a trace pay

            self.line("")
            self.line(short(report.trace, self.say.lang))

    def document(self, data: bytes) -> None:
        """A report that goes to standard output as it is, whatever the terminal's encoding."""
        sys.stdout.flush()
        sys.stdout.buffer.write(data)

    def failure(self, head: str, problem: str = "") -> None:
        """A test that failed, and how."""
        self.line(head, "bold red")
        for line in problem.splitlines():
            self.line("    " + line)

    def diff(self, report: Report) -> None:
        """Unified diffs: coloured for a person, byte for byte for a pipe."""
        stream = sys.stderr if self.out.stderr else sys.stdout
        stream.flush()
        for file in report.changed:
            if self.out.is_terminal:
                self.out.print(_coloured(display(diff(file), file.encoding)), soft_wrap=True)
            else:
                stream.buffer.write(diff(file))
        stream.flush()

    def rules(self, rules: Sequence[RuleInfo]) -> None:
        """A table of rules."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("code", "name", "status", "safety", "title"):
            table.add_column(self.say(f"rules.{column}"), overflow="fold")
        for rule in rules:
            cells = (rule.code, rule.name, rule.status, rule.safety.value, rule.title[self.say.lang])
            table.add_row(*(Text(printed(cell)) for cell in cells))
        self.out.print(table)

    def rule(self, rule: RuleInfo, page: str) -> None:
        """One rule: its facts, then its page."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold")
        facts = {
            "title": rule.title[self.say.lang],
            "safety": rule.safety.value,
            "review": rule.review,
            "status": rule.status,
            "since": rule.since,
            "region": rule.region,
            "keywords": ", ".join(rule.keywords),
            "files": ", ".join(rule.files),
        }
        for name, fact in facts.items():
            grid.add_row(Text(self.say(f"rules.{name}")), Text(printed(fact)))
        self.out.print(grid)
        self.out.print()
        for line in page.splitlines():
            self.line(line, "bold" if line.startswith("#") else "")

    def _numbers(self, report: Report) -> None:
        counts = summary.by_status(report)
        parts = [(f"{self.say(f'status.{one.value}')} {counts[one]}", STYLES[one]) for one in Status if counts[one]]
        self.out.print(Text("  ").join(Text(words, style) for words, style in parts))
        facts = {"scanned": report.scanned, "found": len(report.files), "changed": len(report.changed)}
        self.line(self.say("summary.files", **facts))

    def _files(self, report: Report, shown: Sequence[Status], *, verbose: bool) -> None:
        rows = [row for row in summary.by_file(report) if any(row[1][status] for status in shown)]
        if not verbose:
            rows.sort(key=lambda row: (-sum(row[1][status] for status in OPEN), -sum(row[1].values()), row[0]))
        most = len(rows) if verbose else MOST_FILES
        self._table(self.say("summary.by-file"), [((path,), counts) for path, counts in rows[:most]], shown)
        if rows[most:]:
            self.line("  " + self.say("summary.more-files", count=len(rows) - most), "dim")

    def _table(
        self, head: str, rows: Sequence[tuple[tuple[str, ...], summary.Counts]], shown: Sequence[Status]
    ) -> None:
        used = [status for status in shown if any(counts[status] for _, counts in rows)]
        if not used:
            return
        table = Table(box=None, pad_edge=False, header_style="bold", expand=False)
        for title in (head, *[""] * (len(rows[0][0]) - 1)):
            table.add_column(title, overflow="fold")
        for status in used:
            table.add_column(self.say(f"status.{status.value}"), justify="right", no_wrap=True, style=STYLES[status])
        for names, counts in rows:
            if any(counts[status] for status in used):
                table.add_row(
                    *(Text(printed(name)) for name in names), *(str(counts[status] or "-") for status in used)
                )
        self.out.print()
        self.out.print(table)

    def _sites(self, report: Report, rules: Registry, status: Status) -> None:
        found = [finding for finding in report.findings if finding.status is status]
        if not found:
            return
        self.out.print()
        self.line(f"{self.say(f'sites.{status.value}')} ({len(found)})", f"bold {STYLES[status]}")
        # Sites that stand on one line and say the same are one entry with several columns.
        for _, same in groupby(found, lambda one: (one.path, one.cell, one.span.line, one.rule, one.text)):
            sites = list(same)
            columns = ",".join(dict.fromkeys(str(one.span.column) for one in sites))
            head = f"{printed(place(sites[0]))}:{columns}"
            self.out.print(Text.assemble(head, ("  " + sites[0].rule, "bold")), soft_wrap=True)
            self._text(rules.message(sites[0].text, self.say.lang), indent="    ")
            line = excerpt(report.line_of(sites[0]), sites[0].span.column)
            if line:
                self._source(line)

    def _text(self, text: str, style: str = "", indent: str = "") -> None:
        """Words, wrapped for a terminal by cells (Chinese breaks anywhere); in a pipe a line stays a line."""
        lines = [printed(text)]
        if self.out.is_terminal:
            lines = list(wrap(lines[0], self.out.width - len(indent)))
        for line in lines:
            self.out.print(Text(indent + line, style, overflow="fold"), soft_wrap=not self.out.is_terminal)

    def _source(self, line: str) -> None:
        text = Text(f"    | {printed(line)}", "dim", no_wrap=True, overflow="ellipsis")
        self.out.print(text, soft_wrap=not self.out.is_terminal)


def excerpt(line: str, column: int) -> str:
    """What is read of a line: of one that nobody wrote by hand, a stretch round the column."""
    if len(line) <= LONGEST_LINE:
        return line.strip()
    start = min(max(0, column - 1 - LONGEST_LINE // 3), len(line) - LONGEST_LINE)
    stretch = line[start : start + LONGEST_LINE].strip()
    return ("…" if start else "") + stretch + ("…" if start + LONGEST_LINE < len(line) else "")


def _coloured(diff: str) -> Text:
    text, in_hunks = Text(), False
    for line in re.split(r"(?<=\n)", diff):
        in_hunks = in_hunks or line.startswith("@@")
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "") if in_hunks else "bold"
        text.append(printed(line.rstrip("\r\n")), style)
        text.append("\n" if line.endswith("\n") else "")
    text.rstrip()
    return text


class Meter:
    """Progress on standard error, on a terminal only, and only once a run turns out to be long."""

    def __init__(self, err: Console, label: str, *, silent: bool) -> None:
        """Show nothing yet."""
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            console=err,
            transient=True,
            disable=silent or not err.is_terminal,
        )
        self._task = self._progress.add_task(printed(label))
        self._start = time.monotonic()

    def __call__(self, done: int, total: int, path: str) -> None:  # noqa: ARG002 - the engine tells every caller the path
        """Take in how far the run is."""
        if time.monotonic() - self._start >= LONG_RUN:
            self._progress.start()
        self._progress.update(self._task, completed=done, total=total)

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        """Wipe the bar, whatever happened."""
        self._progress.stop()
