"""Runs a program of the user's in a process of its own, for some time at most, and leaves nothing of it behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess  # running the user's program is what this is for
from typing import TYPE_CHECKING

from npu_migrate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TIME_OVER = 124
INTERRUPTED = 130
_PATIENCE = 10.0


def supervise(
    words: Sequence[str], folder: Path, environment: dict[str, str], seconds: float | None, output: int | None = None
) -> tuple[int, str]:
    """Run a program; its exit code, and how it ended: ``finished``, ``time`` or ``interrupted``.

    ``output`` is the descriptor for its standard output, where that is not to be ours.

    Raises:
        InputError: there is no such program.
    """
    program = shutil.which(words[0], path=environment["PATH"]) or str(folder / words[0])
    try:
        process = subprocess.Popen(  # noqa: S603  (the command is the user's own)
            [program, *words[1:]], cwd=folder, env=environment, start_new_session=True, stdout=output
        )
    except OSError as error:
        raise InputError(says="no-program", path=words[0], reason=error.strerror or error) from error
    with _forwarding(process):
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return TIME_OVER, "time"
        except KeyboardInterrupt:
            _end(process)
            return INTERRUPTED, "interrupted"
    return (code if code >= 0 else 128 - code), "finished"


@contextlib.contextmanager
def _forwarding(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave nothing behind, whatever happens: the program has a session of its own, with all its children."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask politely first, so that every process can write its journal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            continue
        return
