"""What the process of a traced program does; ``__main__`` starts it."""

from __future__ import annotations

import functools
import json
import signal
import sys
import traceback
from pathlib import Path
from typing import Any, Callable

import torch
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers
from torch.utils.data import dataloader

from npu_migrate.frames import prefix
from npu_migrate.tracing import replaced, subject
from npu_migrate.tracing.places import Place
from npu_migrate.tracing.recorder import Recorder, sequence
from npu_migrate.tracing.settings import Settings
from npu_migrate.tracing.trace import Trace


class _EnoughSteps(SystemExit):
    """As many optimizer steps as were asked for."""


def main(path: str) -> int:
    """Trace what the settings name and write the trace; the exit code is the program's."""
    settings = Settings.load(Path(path))
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as for a shell's background jobs: the trace would be lost
        signal.signal(signal.SIGINT, signal.default_int_handler)
    trace = Trace([settings.what, *settings.arguments], torch.__version__, "meta" if settings.meta else "cpu")
    recorder = Recorder(prefix(Path.cwd()), settings.branches)
    _like_an_accelerator()
    kept = [replaced.register(recorder, settings.branches)]
    _watch_modules(recorder)
    _watch_steps(recorder, trace, settings.max_steps)
    _ignore_loaders(recorder)
    if settings.meta:
        torch.set_default_device("meta")
    try:
        _run(settings, recorder, trace)
    finally:
        trace.uses = recorder.uses()
        _write({"trace": trace.data()}, Path(settings.into))
        kept.clear()
    return trace.exit_code


def _run(settings: Settings, recorder: Recorder, trace: Trace) -> None:
    try:
        subject.run(settings, recorder)
    except subject.Unfit as unfit:
        _write({"unfit": unfit.key, "fact": unfit.fact}, Path(settings.into).with_suffix(".unfit"))
        trace.exit_code = 2
    except _EnoughSteps:
        trace.ended = "steps"
    except SystemExit as left:
        trace.ended = "finished"
        trace.exit_code = left.code if isinstance(left.code, int) else int(left.code is not None)
        if isinstance(left.code, str):
            sys.stderr.write(f"{left.code}\n")
    except KeyboardInterrupt:
        trace.ended, trace.exit_code = "interrupted", 130
    except BaseException as error:  # noqa: BLE001 - whatever the program raises
        traceback.print_exc()
        trace.ended, trace.exit_code, trace.error = "failed", 1, f"{type(error).__name__}: {error}"
    else:
        trace.ended = "finished"


def _write(data: dict[str, Any], into: Path) -> None:
    draft = into.with_suffix(".part")
    draft.write_text(json.dumps(data), encoding="utf-8")
    draft.replace(into)


def _like_an_accelerator() -> None:
    """Without what only a CPU does: other kernels for convolutions and attention, one parameter at a time."""
    torch.backends.mkldnn.set_flags(_enabled=False)
    torch.backends.cuda.enable_flash_sdp(enabled=False)
    torch.backends.cuda.enable_mem_efficient_sdp(enabled=False)
    name = "_get_foreach_kernels_supported_devices"
    if hasattr(optimizers, name):
        setattr(optimizers, name, lambda: ["cpu", "meta"])


def _watch_modules(recorder: Recorder) -> None:
    places = recorder.places

    def before(module: torch.nn.Module, _given: object) -> None:
        places.enter(Place(places.name(module), type(module).__name__), sequence())

    def after(_module: torch.nn.Module, _given: object, _result: object) -> None:
        places.leave(sequence())

    modules.register_module_forward_pre_hook(before)
    modules.register_module_forward_hook(after, always_call=True)


def _watch_steps(recorder: Recorder, trace: Trace, limit: int | None) -> None:
    steps: dict[int, int] = {}

    def before(_optimizer: object, _args: object, _kwargs: object) -> None:
        recorder.stepping = True

    def after(optimizer: object, _args: object, _kwargs: object) -> None:
        recorder.stepping = False
        steps[id(optimizer)] = steps.get(id(optimizer), 0) + 1
        trace.steps = max(steps.values())
        if limit is not None and trace.steps >= limit:
            raise _EnoughSteps(0)

    optimizers.register_optimizer_step_pre_hook(before)
    optimizers.register_optimizer_step_post_hook(after)


def _ignore_loaders(recorder: Recorder) -> None:
    """What data loaders compute, they compute on the host, on whatever the model runs."""
    for owner, name in ((dataloader.DataLoader, "__iter__"), (dataloader._BaseDataLoaderIter, "__next__")):  # noqa: SLF001
        setattr(owner, name, _quietly(recorder, getattr(owner, name)))


def _quietly(recorder: Recorder, plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def call(self: Any) -> Any:  # noqa: ANN401 - a batch, or an iterator
        with recorder.quiet():
            return plain(self)

    return call
