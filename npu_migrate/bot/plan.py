"""What to post, edit and delete, worked out from what is there; nothing is sent from here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.bot import body

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from npu_migrate.bot.model import Comment, Forge, Pull, Suggestion
    from npu_migrate.bot.words import Words

_MARK = re.compile(r"<!-- npu-migrate:suggestion:([0-9a-f]{24}) -->\s*$")


class Plan(NamedTuple):
    """Every request that would change something; ``kept`` counts what is there and right."""

    add_note: str | None
    edit_note: tuple[Comment, str] | None
    drop_notes: tuple[Comment, ...]
    add_remarks: tuple[tuple[Suggestion, str], ...]
    edit_remarks: tuple[tuple[Comment, str], ...]
    drop_remarks: tuple[Comment, ...]
    kept: int

    @property
    def counts(self) -> dict[str, int]:
        """How much of what."""
        return {
            "added": bool(self.add_note) + len(self.add_remarks),
            "edited": bool(self.edit_note) + len(self.edit_remarks),
            "dropped": len(self.drop_notes) + len(self.drop_remarks),
            "kept": self.kept,
        }


class Present(NamedTuple):
    """The bot's own comments: only what its own account wrote is ever changed, whatever marks others use."""

    notes: tuple[Comment, ...]
    remarks: Mapping[str, tuple[Comment, ...]]


def present(forge: Forge, pull: Pull) -> Present:
    """Read what the bot has posted so far."""
    me = forge.me()
    notes = tuple(note for note in forge.notes(pull) if note.author == me and body.SUMMARY in note.body)
    remarks: dict[str, tuple[Comment, ...]] = {}
    for remark in forge.remarks(pull):
        found = _MARK.search(remark.body) if remark.author == me else None
        if found:
            remarks[found[1]] = (*remarks.get(found[1], ()), remark)
    return Present(notes, remarks)


def make(there: Present, summary: str | None, wanted: Sequence[tuple[Suggestion, str]], words: Words) -> Plan:
    """Compare what is there with what should be; ``summary`` is None where a first one is not worth it."""
    current = there.notes[0] if there.notes else None
    add_note = summary if summary is not None and current is None else None
    edit_note = (current, summary) if current and summary is not None and not _same(current.body, summary) else None
    standing: dict[str, Comment] = {}
    gone: list[tuple[str, Comment]] = []
    keys = {suggestion.key for suggestion, _ in wanted}
    for key, remarks in there.remarks.items():
        for remark in remarks:
            if key in keys and key not in standing and not remark.outdated and not _is_settled(remark, words, key):
                standing[key] = remark
            else:
                gone.append((key, remark))
    return Plan(
        add_note=add_note,
        edit_note=edit_note,
        drop_notes=there.notes[1:],
        add_remarks=tuple((suggestion, text) for suggestion, text in wanted if suggestion.key not in standing),
        edit_remarks=tuple(
            (remark, body.settled(words, key))
            for key, remark in gone
            if remark.answered and not _is_settled(remark, words, key)
        ),
        drop_remarks=tuple(remark for _, remark in gone if not remark.answered),
        kept=len(standing) + (current is not None and edit_note is None),
    )


def perform(plan: Plan, forge: Forge, pull: Pull, words: Words) -> None:
    """Send it: what is settled goes first, the summary last, so that a run that breaks off is made good by the next."""
    for remark in plan.drop_remarks:
        forge.drop_remark(pull, remark)
    for remark, text in plan.edit_remarks:
        forge.edit_remark(pull, remark, text)
    if plan.add_remarks:
        forge.add_remarks(pull, words("review"), plan.add_remarks)
    for note in plan.drop_notes:
        forge.drop_note(pull, note)
    if plan.add_note is not None:
        forge.add_note(pull, plan.add_note)
    if plan.edit_note:
        forge.edit_note(pull, *plan.edit_note)


def _same(there: str, wanted: str) -> bool:
    """Places differ in what they do to line ends and to the end of a text."""
    return there.replace("\r\n", "\n").strip() == wanted.strip()


def _is_settled(remark: Comment, words: Words, key: str) -> bool:
    return _same(remark.body, body.settled(words, key))
