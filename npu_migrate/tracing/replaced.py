"""Composites that the target has kernels of its own for: they run whole there, so they count whole here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.tracing.recorder import Recorder

_KEYS = ("AutogradCPU", "AutogradMeta")


def register(recorder: Recorder, names: Iterable[str]) -> torch.library.Library:
    """Have each composite tell the recorder before it opens; in force as long as the answer lives."""
    library = torch.library.Library("aten", "IMPL")
    for name in names:
        operator = _operator(name)
        if operator is None or not torch._C._dispatch_has_kernel_for_dispatch_key(  # noqa: SLF001
            operator.name(), "CompositeImplicitAutograd"
        ):
            continue
        for key in _KEYS:
            library.impl(name, _kernel(recorder, operator), key)
    return library


def _kernel(recorder: Recorder, operator: Any) -> Callable[..., Any]:  # noqa: ANN401 - an operator of torch
    def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever it takes and gives
        with recorder.whole(operator.name(), (args, kwargs)):
            return operator.decompose(*args, **kwargs)

    return run


def _operator(name: str) -> Any:  # noqa: ANN401 - an operator of torch, or None where this torch has no such overload
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
