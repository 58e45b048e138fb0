"""Notes calls that still ask for CUDA, steps of the optimizer, and the end after so many steps."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Callable

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from npu_migrate.rehearse.interface import BACKEND

if TYPE_CHECKING:
    from npu_migrate.rehearse.executor import Session
    from npu_migrate.rehearse.interface import Value

_INERT = "cuda"
_MEANINGLESS = frozenset({"is_available", "device_count", "is_initialized", "manual_seed", "manual_seed_all"})


def register(session: Session) -> None:
    """Put the watchers in place."""
    _watch_module(session)
    _watch_methods(session)
    _watch_inert(session)
    _watch_steps(session)
    _watch_printing(session)


def _watch_printing(session: Session) -> None:
    """A printed tensor is one wait for the device, not the dozen operators that lay its numbers out."""
    plain = torch.Tensor.__repr__

    def __repr__(self: Value, **given: Value) -> str:  # noqa: N807  (goes into a class)
        if self.device.type != BACKEND:
            return str(plain(self, **given))
        session.note("sync", "printing a tensor")
        session.quiet += 1
        try:
            return str(plain(self, **given))
        finally:
            session.quiet -= 1

    torch.Tensor.__repr__ = __repr__


def _watch_module(session: Session) -> None:
    for name, plain in list(vars(torch.cuda).items()):
        if callable(plain) and not isinstance(plain, type) and not name.startswith("_"):
            setattr(torch.cuda, name, _noting(session, f"torch.cuda.{name}", plain))


def _noting(session: Session, name: str, plain: Callable[..., Value]) -> Callable[..., Value]:
    @functools.wraps(plain)
    def call(*args: Value, **kwargs: Value) -> Value:
        asker = sys._getframe(1).f_code.co_filename  # noqa: SLF001  (who asked?)
        if asker.startswith(session.journal.root) and "site-packages" not in asker:
            session.note("cuda", name)
        return plain(*args, **kwargs)

    return call


def _watch_methods(session: Session) -> None:
    for owner, name in ((torch.Tensor, "cuda"), (torch.nn.Module, "cuda")):
        setattr(owner, name, _noting(session, f"{owner.__name__}.{name}()", getattr(owner, name)))
    plain = torch.cuda._lazy_init  # noqa: SLF001

    def initialise() -> Value:
        session.note("cuda", "a device string or call that starts CUDA")
        return plain()

    torch.cuda._lazy_init = initialise  # noqa: SLF001


def _watch_inert(session: Session) -> None:
    """``autocast("cuda")`` and ``GradScaler("cuda")`` do nothing on an NPU, without an error."""
    for owner, default in ((torch.autocast, None), (torch.amp.GradScaler, _INERT)):
        plain = owner.__init__

        @functools.wraps(plain)
        def __init__(  # noqa: N807  (goes into a class)
            self: Value, *args: Value, _plain: Value = plain, _default: Value = default, **kwargs: Value
        ) -> None:
            kind = args[0] if args else kwargs.get("device_type", kwargs.get("device", _default))
            if kind == _INERT:
                session.note("cuda", f"{type(self).__name__} for cuda does nothing on an NPU")
            _plain(self, *args, **kwargs)

        owner.__init__ = __init__


def _watch_steps(session: Session) -> None:
    steps: dict[int, int] = {}

    def count(optimizer: Value, _args: Value, _kwargs: Value) -> None:
        steps[id(optimizer)] = steps.get(id(optimizer), 0) + 1
        if steps[id(optimizer)] > session.journal.steps:
            session.journal.step()
        limit = session.settings.max_steps
        if limit is not None and steps[id(optimizer)] >= limit:
            session.journal.stopped = f"after {limit} steps, as asked"
            session.journal.save()
            raise SystemExit(0)

    register_optimizer_step_post_hook(count)
