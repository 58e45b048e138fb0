"""The report of a rehearsal: the journals of its processes, joined."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from npu_migrate import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SCHEMA_VERSION = 1
PROBLEMS = ("cuda", "device-mix", "missing-name", "not-carried-out", "unsupported", "dtype")
ADVICE = ("sync", "advice")
NAMES = "npu-name"
STATES = ("cpu-fallback", "unsupported", "emulated", "unknown")
"""The states worth telling of, worst first."""
TIERS = ("portable", "faithful")
ENDS = ("finished", "steps", "time", "interrupted")


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

    def remarks(self, kind: str) -> list[Note]:
        """The notes of a kind, in the order to show them: what makes the host wait most comes first."""
        found = self.of(kind)
        return sorted(found, key=lambda note: -note.count) if kind == "sync" else found

    def pace(self, note: Note) -> float | None:
        """How often the host waits there in one step of one process, on average; None where no step was taken."""
        steps = self.steps * max(self.processes, 1)
        return round(note.count / steps, 2) if steps and note.kind == "sync" else None

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
            "notes": [self._note_data(note) for note in self.notes],
        }

    def _note_data(self, note: Note) -> dict[str, Any]:
        extra = {"per_step": self.pace(note)} if note.kind == "sync" else {}
        return {**vars(note), **extra}

    def json(self) -> str:
        """The report as JSON text."""
        return json.dumps(self.data(), indent=1, ensure_ascii=False) + "\n"

    def text(self, lang: str = "en") -> str:
        """The report for people."""
        from npu_migrate.rehearse.telling import text  # noqa: PLC0415  (which reads this file)

        return text(self, lang)
