"""Works a list off in one process or several; the results come in its order."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Below this many files a second process costs more than it saves.
WORTH_A_POOL = 60
CHUNK = 8
Given = TypeVar("Given")
Made = TypeVar("Made")


def cpus() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def worked_off(todo: Sequence[Given], worker: Callable[[Given], Made], jobs: int) -> Iterator[Iterator[Made]]:
    """What ``worker`` makes of each; without the garbage collector, which finds nothing in what is done here.

    With several processes the worker is sent to each of them once.
    """
    if jobs <= 1 or len(todo) < WORTH_A_POOL:
        with _no_gc():
            yield map(worker, todo)
        return
    with multiprocessing.Pool(jobs, _start, (worker,)) as pool:
        yield pool.imap(_handle, todo, CHUNK)


_mine: list[Callable[[Any], Any]] = []


def _start(worker: Callable[[Any], Any]) -> None:
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    _mine[:] = [worker]


def _handle(one: Any) -> Any:  # noqa: ANN401 - whatever the worker takes and makes
    return _mine[0](one)


@contextmanager
def _no_gc() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
