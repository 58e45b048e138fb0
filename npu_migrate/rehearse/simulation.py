"""The simulated NPU in this process, for a test suite or a notebook."""

from __future__ import annotations

import contextlib
import importlib
from dataclasses import replace
from typing import TYPE_CHECKING

from npu_migrate.rehearse import portable
from npu_migrate.rehearse.facts import Facts
from npu_migrate.rehearse.journal import Journal
from npu_migrate.rehearse.report import Report
from npu_migrate.rehearse.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.rehearse.executor import Session


@contextlib.contextmanager
def simulate(
    torch_npu: str | None = None,
    *,
    devices: int = 8,
    on_unsupported: str = "raise",
    on_cpu_fallback: str = "warn",
    root: str | None = None,
) -> Iterator[Report]:
    """Give this process a simulated NPU; the report is filled when the block ends.

    Torch cannot forget a backend: after the block, ``torch.npu`` is still there, and a later block must ask for the
    same release.
    """
    settings = Settings("portable", torch_npu, devices, on_unsupported, on_cpu_fallback, root=root)
    session = _session(settings)
    facts = session.facts
    report = Report(facts.torch_npu, facts.torch, facts.cann, "portable")
    try:
        yield report
    finally:
        report.take([session.journal.data()])


def _session(settings: Settings) -> Session:
    session = portable.session_in_place()
    if session is None:
        portable.arm(settings)
        importlib.import_module("torch_npu")
        session = portable.session_in_place()
    if session is None:
        message = "torch_npu is already loaded in this process; a simulation must come first"
        raise RuntimeError(message)
    wanted = Facts(settings.torch_npu or session.facts.torch_npu).torch_npu
    if wanted != session.facts.torch_npu:
        message = f"this process simulates torch_npu {session.facts.torch_npu}; for {wanted} start another"
        raise RuntimeError(message)
    session.settings = replace(settings, torch_npu=wanted)
    session.journal = Journal(settings.root)
    return session
