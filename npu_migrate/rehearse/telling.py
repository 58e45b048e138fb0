"""The report of a rehearsal in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.rehearse.report import ADVICE, NAMES, PROBLEMS, STATES
from npu_migrate.wording import Words

if TYPE_CHECKING:
    from npu_migrate.rehearse.report import Report

_SHOWN = 12
_MESSAGES = Path(__file__).with_name("messages.toml")


def words(lang: str) -> Words:
    """The sentences of a report in one language."""
    return Words(lang, _MESSAGES)


class Row(NamedTuple):
    """What was met, first where, how often; ``pace`` is how often in a step, where that is worth telling."""

    what: str
    where: str
    times: int
    pace: float | None = None


class Group(NamedTuple):
    """Rows of one kind: ``key`` names its heading in the table of texts."""

    key: str
    rows: list[Row]

    def title(self, say: Words) -> str:
        """The heading."""
        return say(self.key, count=len(self.rows))


def groups(report: Report) -> list[Group]:
    """What there is to tell, most important first."""
    found = [
        Group(f"state.{state}", [Row(use.name, use.where, use.count) for use in report.in_state(state)])
        for state in STATES
    ]
    for kind in (*PROBLEMS, *ADVICE, NAMES):
        rows = [Row(note.detail, note.where, note.count, report.pace(note)) for note in report.remarks(kind)]
        found.append(Group(f"kind.{kind}", rows))
    return [group for group in found if group.rows]


def about(report: Report, say: Words) -> list[str]:
    """What ran, on what, and how it ended; a sentence each."""
    lines = [say("limits", torch_npu=report.torch_npu, tier=say(f"tier.{report.tier}"))]
    if report.why[0]:
        lines.append(say(f"why.{report.why[0]}", fact=report.why[1]))
    lines.append(_ended(report, say))
    calls = sum(use.count for use in report.operators)
    lines.append(say("operators", kinds=len(report.operators), calls=calls) if report.used else say("unused"))
    return lines


def merged(report: Report, torch_npu: str, say: Words) -> list[str]:
    """:func:`about`, inside the report of a migration to a release."""
    lines = [*about(report, say), say("places")]
    if report.torch_npu != torch_npu:
        lines.append(say("other-release", rehearsed=report.torch_npu, torch_npu=torch_npu))
    return lines


def text(report: Report, lang: str) -> str:
    """The whole report, without what is in order."""
    say = words(lang)
    lines = about(report, say)
    lines.insert(-2, "")
    for group in groups(report):
        rows = [_line(row, say) for row in group.rows[:_SHOWN]]
        rest = len(group.rows) - _SHOWN
        lines += ["", group.title(say), *rows, *([say("more", count=rest)] if rest > 0 else [])]
    return "\n".join(lines) + "\n"


def brief(report: Report, lang: str) -> str:
    """The whole report in one line."""
    say = words(lang)
    return say(
        "brief",
        tier=report.tier,
        ended=_ended(report, say),
        kinds=len(report.operators),
        fallback=len(report.in_state("cpu-fallback")),
        unsupported=len(report.in_state("unsupported")),
        cuda=len(report.of("cuda")),
        mixes=len(report.of("device-mix")),
        missing=len(report.of("missing-name")),
        dtypes=len(report.of("dtype")),
        syncs=len(report.of("sync")),
    )


def _ended(report: Report, say: Words) -> str:
    return say(f"ended.{report.ended}", code=report.exit_code, steps=report.steps, processes=report.processes)


def _line(row: Row, say: Words) -> str:
    pace = "" if row.pace is None else say("pace", count=f"{row.pace:g}")
    return say("row", detail=row.what, where=row.where or "-", count=row.times) + pace
