"""What happened in one process of a rehearsal, and its file beside those of the other processes."""

from __future__ import annotations

import json
import multiprocessing.util
import os
import time
from collections import Counter
from pathlib import Path

from npu_migrate.frames import innermost, prefix

_SAVE_EVERY = 2.0


class Journal:
    """Counts operators and collects notes, each with the first line of the user's code that led there."""

    def __init__(self, root: str | None = None, folder: str | None = None) -> None:
        """Begin, for the code below a folder; written into another folder, if there is one."""
        self.root = prefix(Path(root) if root else Path.cwd())
        self.folder = folder
        self.operators: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.states: dict[str, str] = {}
        self.notes: Counter[tuple[str, str, str]] = Counter()
        self.steps = 0
        self.stopped = ""
        self._saved = 0.0
        if folder:
            multiprocessing.util.Finalize(None, self.save, exitpriority=100)
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self.operators.clear()
        self.notes.clear()
        self.steps = 0
        multiprocessing.util.Finalize(None, self.save, exitpriority=100)

    def where(self) -> str:
        """The innermost line of the user's code, as ``path:line``; empty where none is on the stack."""
        return innermost(self.root)

    def operator(self, name: str, state: str) -> None:
        """Count one call of an operator."""
        if name not in self.first:
            self.first[name] = self.where()
            self.states[name] = state
        self.operators[name] += 1

    def note(self, kind: str, detail: str) -> None:
        """Count one remark of a kind at the current line of the user's code."""
        self.notes[(kind, detail, self.where())] += 1

    def step(self) -> int:
        """Count one optimizer step; returns how many there were."""
        self.steps += 1
        now = time.monotonic()
        if self.folder and now - self._saved > _SAVE_EVERY:
            self._saved = now
            self.save()
        return self.steps

    def data(self) -> dict[str, object]:
        """The journal as plain data."""
        operators = [
            {"name": name, "count": count, "state": self.states[name], "where": self.first[name]}
            for name, count in sorted(self.operators.items())
        ]
        notes = [
            {"kind": kind, "detail": detail, "where": where, "count": count}
            for (kind, detail, where), count in sorted(self.notes.items())
        ]
        return {"operators": operators, "notes": notes, "steps": self.steps, "stopped": self.stopped}

    def save(self) -> None:
        """Write the file of this process, whole or not at all."""
        if not self.folder or not (self.operators or self.notes):
            return
        final = Path(self.folder) / f"{os.getpid()}.json"
        draft = final.with_suffix(".part")
        draft.write_text(json.dumps(self.data()), encoding="utf-8")
        draft.replace(final)
