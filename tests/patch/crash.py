"""Ends a run with SIGKILL before its n-th change to the disk, for every n; test_crash.py runs this by itself.

Usage: crash.py SCENARIO ROOT. Prints one JSON object: how many kills, and how many of them left a mixed tree.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

from conftest import snapshot

from npu_migrate.patch.apply import apply
from npu_migrate.patch.journal import interrupted, recover
from npu_migrate.patch.model import Change, PatchError
from npu_migrate.patch.undo import undo

EVENTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.truncate", "os.link"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def killed(number, function, *arguments, **options):
    """Run in a child that dies before its change ``number``; False if it had fewer and ran to its end."""
    child = os.fork()
    if not child:
        die_before(number)
        function(*arguments, **options)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the child failed"
    return False


def die_before(number):
    left = number
    real_write = os.write

    def count():
        nonlocal left
        left -= 1
        return left < 0

    def hook(event, arguments):
        changes = event in EVENTS or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES)
        if changes and count():
            os.kill(os.getpid(), signal.SIGKILL)

    def write(handle, data):
        if count():
            real_write(handle, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return real_write(handle, data)

    def fsync(_):
        if count():
            os.kill(os.getpid(), signal.SIGKILL)

    os.write, os.fsync = write, fsync
    sys.addaudithook(hook)


class Scenario:
    def __init__(self, root):
        self.root = root
        self.old = snapshot(root)
        held = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.py"))}
        self.changes = [Change(name, data, data.replace(b"cuda", b"npu") + b"\xff") for name, data in held.items()]
        self.new = dict(self.old)
        for change in self.changes:
            self.new[change.path] = (self.old[change.path][0], change.new)
        self.kills = self.mixed = 0

    def tree(self):
        """What a user sees: our own folder and temporary files are judged at the end."""
        return {name: entry for name, entry in snapshot(self.root).items() if not name.startswith(".npu-migrate")}

    def note(self):
        self.kills += 1
        self.mixed += self.is_mixed()

    def is_mixed(self):
        held = [self.tree().get(change.path, (0, None))[1] for change in self.changes]
        assert all(data in {change.old, change.new} for data, change in zip(held, self.changes)), "a torn file"
        return len({data == change.new for data, change in zip(held, self.changes)}) == 2

    def undo(self):
        with suppress(PatchError):
            undo(self.root)
        assert snapshot(self.root) == self.old, "not byte for byte what it was"

    def apply_then_undo(self):
        while killed(self.kills, apply, self.root, self.changes, force=True):
            self.note()
            self.undo()
        self.undo()

    def apply_then_recover(self):
        while killed(self.kills, apply, self.root, self.changes, force=True):
            self.note()
            was_interrupted = interrupted(self.root)
            recover(self.root)
            assert self.tree() == self.old if was_interrupted else self.tree() in (self.old, self.new)
            self.undo()
        self.undo()

    def apply_then_apply(self):
        while killed(self.kills, apply, self.root, self.changes, force=True):
            self.note()
            complete = self.tree() == self.new and not interrupted(self.root)
            with suppress(PatchError) if complete else nullcontext():
                apply(self.root, self.changes, force=True)
            assert self.tree() == self.new
            self.undo()
        self.undo()

    def undo_then_undo(self):
        apply(self.root, self.changes, force=True)
        while killed(self.kills, undo, self.root):
            self.note()
            self.undo()
            apply(self.root, self.changes, force=True)
        assert snapshot(self.root) == self.old

    def forced_undo_then_undo(self):
        edited = self.root / self.changes[0].path
        apply(self.root, self.changes, force=True)
        edited.write_bytes(b"later work")
        while killed(self.kills, undo, self.root, force=True):
            self.kills += 1
            begun = interrupted(self.root)
            with suppress(PatchError):
                undo(self.root, force=not begun)
            assert snapshot(self.root) == self.old
            apply(self.root, self.changes, force=True)
            edited.write_bytes(b"later work")
        assert snapshot(self.root) == self.old

    def recovery_itself(self):
        """From every mixed tree that a kill can leave, kill the recovery at every step."""
        step = 0
        while killed(step, apply, self.root, self.changes, force=True):
            mixed, second = self.mixed, 0
            self.note()
            while self.mixed > mixed and killed(second, recover, self.root):
                self.note()
                self.undo()
                second += 1
                assert killed(step, apply, self.root, self.changes, force=True)
            self.undo()
            step += 1
        self.undo()

    def edit_then_recovery(self):
        """An edit in a file that the killed run had not got to yet survives, wherever the recovery is killed."""
        step = self.first_mixed_step()
        last = self.root / self.changes[-1].path
        while True:
            assert killed(step, apply, self.root, self.changes, force=True)
            last.write_bytes(b"later work")
            if not killed(self.kills, recover, self.root):
                break
            self.note_mixed_recovery(last)
        assert self.tree() == {**self.old, self.changes[-1].path: (self.old[self.changes[-1].path][0], b"later work")}

    def first_mixed_step(self):
        step = 0
        while killed(step, apply, self.root, self.changes, force=True) and not self.is_mixed():
            self.undo()
            step += 1
        self.undo()
        return step

    def note_mixed_recovery(self, edited):
        self.kills += 1
        self.mixed += 1
        recover(self.root)
        assert edited.read_bytes() == b"later work"
        edited.write_bytes(self.changes[-1].old)
        self.undo()


if __name__ == "__main__":
    os.fsync = lambda _: None  # nothing here outlives the machine, and it takes most of the time
    scenario = Scenario(Path(sys.argv[2]))
    getattr(scenario, sys.argv[1])()
    json.dump({"kills": scenario.kills, "mixed": scenario.mixed}, sys.stdout)
