"""Runs what is to be traced: a script, or what a callable builds or does."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from npu_migrate.tracing.recorder import tensors
from npu_migrate.tracing.settings import SCRIPT

if TYPE_CHECKING:
    from npu_migrate.tracing.recorder import Recorder
    from npu_migrate.tracing.settings import Settings


class Unfit(Exception):  # noqa: N818 - told as a sentence, by its key
    """The subject cannot be traced; ``key`` and ``fact`` say why."""

    def __init__(self, fact: str, *, key: str) -> None:
        """Keep what the sentence needs."""
        super().__init__(fact)
        self.key, self.fact = key, fact


def run(settings: Settings, recorder: Recorder) -> None:
    """Run it under the recorder.

    Raises:
        Unfit: there is no such thing, or it cannot be run with what was given.
        BaseException: whatever the program raises.
    """
    if settings.what.endswith(SCRIPT):
        _script(settings, recorder)
        return
    place, _, name = settings.what.rpartition(":")
    with recorder.quiet():
        found = _found(place, name)
        inputs = [_input(text) for text in settings.inputs]
    with recorder:
        _call(found, inputs, settings, recorder)


def _script(settings: Settings, recorder: Recorder) -> None:
    path = Path(settings.what)
    sys.argv = [settings.what, *settings.arguments]
    sys.path.insert(0, str(path.resolve().parent))
    with recorder:
        runpy.run_path(str(path.resolve()), run_name="__main__")


def _found(place: str, name: str) -> Any:  # noqa: ANN401 - whatever the user names
    sys.path.insert(0, str(Path.cwd()))
    module = _from_file(Path(place)) if place.endswith(SCRIPT) else importlib.import_module(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise Unfit(name, key="no-name")
        found = getattr(found, part)
    return found


def _from_file(path: Path) -> Any:  # noqa: ANN401 - a module
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Unfit(path.name, key="no-name")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _call(found: Any, inputs: list[torch.Tensor], settings: Settings, recorder: Recorder) -> None:  # noqa: ANN401
    if not isinstance(found, torch.nn.Module):
        if not callable(found):
            raise Unfit(settings.what, key="not-callable")
        if inputs and not isinstance(found, type) and _wants_arguments(found):
            _backward(found(*inputs), settings, recorder)
            return
        found = _built(found, settings)
    module, given = (found[0], found[1:]) if isinstance(found, tuple) and found else (found, ())
    if not isinstance(module, torch.nn.Module):
        _backward(found, settings, recorder)
        return
    recorder.forget()  # what was run to build it belongs to the host
    if not (inputs or given):
        raise Unfit(settings.what, key="no-inputs")
    module.train(settings.backward)
    with torch.set_grad_enabled(settings.backward):
        result = module(*(inputs or given))
    _backward(result, settings, recorder)


def _built(maker: Any, settings: Settings) -> Any:  # noqa: ANN401 - whatever it returns
    """What the callable makes; where it has to look at values to do so, on the CPU, and moved."""
    if not settings.meta:
        return maker()
    try:
        return maker()
    except (RuntimeError, NotImplementedError):
        with torch.device("cpu"):
            return _moved(maker())


def _moved(value: Any) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, (torch.Tensor, torch.nn.Module)):
        return value.to("meta")
    if isinstance(value, (tuple, list)):
        return type(value)(map(_moved, value))
    return value


def _wants_arguments(found: Any) -> bool:  # noqa: ANN401 - a callable
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(
        one.default is one.empty and one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD} for one in parameters
    )


def _backward(result: object, settings: Settings, recorder: Recorder) -> None:
    """The gradients of all that came out, as if each value counted once in a loss."""
    ends = [one for one in tensors(result) if one.requires_grad] if settings.backward else []
    if not ends:
        return
    with recorder.quiet():
        ones = [torch.ones_like(one) for one in ends]
    torch.autograd.backward(ends, ones)


def _input(text: str) -> torch.Tensor:
    """A tensor of the shape and type: random numbers, zeros where they are whole (any of them is an index)."""
    shape_text, _, dtype_text = text.partition(":")
    dtype = getattr(torch, dtype_text or "float32", None)
    if not isinstance(dtype, torch.dtype):
        _refuse(text)
    try:
        shape = [int(part) for part in shape_text.lower().split("x")] if shape_text else []
    except ValueError:
        _refuse(text)
    if any(size < 0 for size in shape):
        _refuse(text)
    torch.manual_seed(0)
    return (
        torch.rand(shape).to(dtype) if dtype.is_floating_point or dtype.is_complex else torch.zeros(shape, dtype=dtype)
    )


def _refuse(text: str) -> NoReturn:
    raise Unfit(text, key="input")
