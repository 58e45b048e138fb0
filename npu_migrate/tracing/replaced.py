"""Composites that run otherwise on the target than on the CPU: they are told as they run there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import torch

from npu_migrate.tracing.recorder import is_composite, opened

if TYPE_CHECKING:
    from npu_migrate.tracing.recorder import Recorder
    from npu_migrate.tracing.settings import Branches

Call = Callable[..., Any]
_KEYS = ("AutogradCPU", "AutogradMeta")


def register(recorder: Recorder, told: Branches) -> torch.library.Library:
    """Have these composites tell the recorder what counts in their place; in force as long as the answer lives."""
    library = torch.library.Library("aten", "IMPL")
    for name, (forward, backward) in told.items():
        operator = _operator(name)
        if operator is not None and is_composite(operator.name()):
            _put(library, name, _told(recorder, operator, forward, backward))
    if "dropout" not in told:
        _put(library, "dropout", _dropout)
    return library


def _put(library: torch.library.Library, name: str, call: Call) -> None:
    for key in _KEYS:
        library.impl(name, call, key)


def _told(recorder: Recorder, operator: Any, forward: tuple[str, ...], backward: tuple[str, ...]) -> Call:  # noqa: ANN401
    def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever it takes and gives
        with recorder.instead(forward, backward, (args, kwargs)):
            return opened(operator, args, kwargs)

    return run


def _dropout(given: torch.Tensor, share: float, train: bool) -> torch.Tensor:  # noqa: FBT001 - torch's own signature
    """Dropout as on an accelerator, where one kernel makes the mask and applies it (ATen/native/Dropout.cpp)."""
    if train and 0 < share < 1 and given.numel() > 0:
        return torch.native_dropout(given, share, train)[0]
    return opened(torch.ops.aten.dropout.default, (given, share, train), {})


def _operator(name: str) -> Any:  # noqa: ANN401 - an operator of torch, or None where this torch has no such overload
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
