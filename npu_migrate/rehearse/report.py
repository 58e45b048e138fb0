"""The report of a rehearsal: the journals of its processes, joined."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_migrate import __version__, tomlfile
from npu_migrate.wording import fill

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_VERSION = 1
PROBLEMS = ("cuda", "device-mix", "missing-name", "not-carried-out", "unsupported", "dtype")
ADVICE = ("sync", "advice")
_SHOWN = 12


@dataclass(frozen=True)
class Use:
    """One operator: how often, in which state, first from which line."""

    name: str
    count: int
    state: str
    where: str


@dataclass(frozen=True)
class Note:
    """One remark and the line it is about."""

    kind: str
    detail: str
    where: str
    count: int


@dataclass
class Report:
    """Everything a rehearsal can tell."""

    torch_npu: str
    torch: str
    cann: str
    tier: str
    command: list[str] = field(default_factory=list)
    exit_code: int = 0
    ended: str = "finished"
    why: tuple[str, str] = ("", "")
    steps: int = 0
    processes: int = 0
    operators: list[Use] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def take(self, journals: Iterable[dict[str, Any]]) -> None:
        """Add the journals of processes."""
        counts: Counter[str] = Counter()
        firsts: dict[str, tuple[str, str]] = {}
        notes: Counter[tuple[str, str, str]] = Counter()
        for journal in journals:
            self.processes += bool(journal["operators"])
            self.steps = max(self.steps, journal["steps"])
            self.ended = "steps" if journal["stopped"] and self.ended == "finished" else self.ended
            for use in journal["operators"]:
                counts[use["name"]] += use["count"]
                state, where = firsts.get(use["name"], (use["state"], ""))
                firsts[use["name"]] = (state, where or use["where"])
            for note in journal["notes"]:
                notes[note["kind"], note["detail"], note["where"]] += note["count"]
        self.operators = [Use(name, counts[name], *firsts[name]) for name in sorted(counts)]
        self.notes = [Note(*key, notes[key]) for key in sorted(notes)]

    def take_folder(self, folder: Path) -> None:
        """Add the journals that processes left in a folder."""
        self.take(json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json")))

    @property
    def used(self) -> bool:
        """Whether anything ran on the device at all."""
        return bool(self.operators)

    def of(self, *kinds: str) -> list[Note]:
        """The notes of some kinds."""
        return [note for kind in kinds for note in self.notes if note.kind == kind]

    def in_state(self, state: str) -> list[Use]:
        """The operators in a state."""
        return [use for use in self.operators if use.state == state]

    def data(self) -> dict[str, Any]:
        """The report as plain data, of ``schema_version`` 1."""
        states = Counter(use.state for use in self.operators)
        return {
            "schema_version": SCHEMA_VERSION,
            "tool": {"name": "npu-migrate", "version": __version__},
            "target": {"torch_npu": self.torch_npu, "torch": self.torch, "cann": self.cann},
            "tier": self.tier,
            "tier_reason": self.why[0],
            "command": self.command,
            "exit_code": self.exit_code,
            "ended": self.ended,
            "steps": self.steps,
            "processes": self.processes,
            "summary": {
                "operators": len(self.operators),
                "calls": sum(use.count for use in self.operators),
                "states": dict(sorted(states.items())),
                "notes": dict(sorted(Counter(note.kind for note in self.notes).items())),
            },
            "operators": [vars(use) for use in self.operators],
            "notes": [vars(note) for note in self.notes],
        }

    def json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.data(), indent=1, ensure_ascii=False) + "\n"

    def text(self, lang: str = "en") -> str:
        """The report for people."""
        say = Words(lang)
        lines = [say("limits", torch_npu=self.torch_npu, tier=say(f"tier.{self.tier}"))]
        if self.why[0]:
            lines.append(say(f"why.{self.why[0]}", fact=self.why[1]))
        lines.append("")
        lines.append(say(f"ended.{self.ended}", code=self.exit_code, steps=self.steps, processes=self.processes))
        calls = sum(use.count for use in self.operators)
        lines.append(say("operators", kinds=len(self.operators), calls=calls) if self.used else say("unused"))
        for state in ("cpu-fallback", "unsupported", "emulated", "unknown"):
            lines += self._uses(say, state)
        for kind in (*PROBLEMS, *ADVICE):
            lines += self._remarks(say, kind)
        return "\n".join(lines) + "\n"

    def _uses(self, say: Words, state: str) -> list[str]:
        uses = self.in_state(state)
        if not uses:
            return []
        rows = [say("row", detail=use.name, where=use.where or "-", count=use.count) for use in uses]
        return ["", say(f"state.{state}", count=len(uses)), *_head(say, rows)]

    def _remarks(self, say: Words, kind: str) -> list[str]:
        notes = sorted(self.of(kind), key=lambda note: -note.count) if kind == "sync" else self.of(kind)
        if not notes:
            return []
        rows = [say("row", detail=note.detail, where=note.where or "-", count=note.count) for note in notes]
        return ["", say(f"kind.{kind}", count=len(notes)), *_head(say, rows)]


def _head(say: Words, rows: list[str]) -> list[str]:
    rest = len(rows) - _SHOWN
    return [*rows[:_SHOWN], say("more", count=rest)] if rest > 0 else rows


class Words:
    """The sentences of a report in one language."""

    def __init__(self, lang: str) -> None:
        """Choose the language."""
        self._lang = lang

    def __call__(self, name: str, **facts: object) -> str:
        """One sentence."""
        entry = _table()
        for part in name.split("."):
            entry = entry[part]
        template: str = entry[self._lang]
        return fill(template, {fact: str(value) for fact, value in facts.items()})


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return tomlfile.read(Path(__file__).with_name("messages.toml"))
