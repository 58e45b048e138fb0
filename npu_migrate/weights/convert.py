"""Rearranges the weights of a Focus layer for the strided convolution in its place (rule NPU502)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch.nn import functional

from npu_migrate.errors import InputError
from npu_migrate.weights import safe
from npu_migrate.weights.safe import Foreign

Order = Sequence[tuple[int, int]]
ORDER: Order = ((0, 0), (1, 0), (0, 1), (1, 1))
CONV = "Conv2d"
QUARTERS = 4
COLOURS = 3


@dataclass(frozen=True)
class Rearranged:
    """One weight: where it is, its shapes, and the greatest relative difference of outputs, if that was checked."""

    place: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    difference: float | None = None


def convert(
    source: Path, target: Path, *, keys: Sequence[str] = (), name: str = "Focus", check: bool = False
) -> list[Rearranged]:
    """Write ``target`` with the weights of ``source`` rearranged.

    Args:
        source: a checkpoint: state dicts, or whole modules as YOLOv5 saves them.
        target: where the converted one goes.
        keys: ends of the names of weights in state dicts (default: the first convolution, if it takes 12 channels).
        name: the class of pickled modules to convert.
        check: compare outputs before and after.

    Raises:
        InputError: the file cannot be read, or nothing in it is to be converted.
    """
    try:
        checkpoint = torch.load(source, map_location="cpu", pickle_module=safe, weights_only=False)
    except (
        OSError,
        RuntimeError,
        ValueError,
        EOFError,
        KeyError,
        AttributeError,
        UnpicklingError,
    ) as error:
        raise InputError(says="weights-unreadable", path=source, reason=str(error).partition("\n")[0]) from error
    found = list(_Converter(keys, name, check=check).visit(checkpoint, ""))
    if not found:
        raise InputError(says="weights-nothing", path=source, name=name)
    found += _optimizers(checkpoint, {done.before for done in found}, "")
    _write(checkpoint, target)
    return found


def rearranged(weight: torch.Tensor, order: Order = ORDER) -> torch.Tensor:
    """The weight of the strided convolution for one over the four slices."""
    out, channels, height, width = weight.shape
    new = weight.new_empty(out, channels // QUARTERS, 2 * height, 2 * width)
    for (row, column), part in zip(order, weight.chunk(QUARTERS, 1)):
        new[:, :, row::2, column::2] = part
    return new


def difference(old: torch.Tensor, new: torch.Tensor, order: Order = ORDER) -> float:
    """The greatest difference of the two layers' outputs on random pixels, relative to the greatest output."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, new.shape[1], 16, 16, generator=generator, dtype=torch.float64)
    slices = torch.cat([x[..., row::2, column::2] for row, column in order], 1)
    padding = old.shape[2] // 2
    before = functional.conv2d(slices, old.double(), padding=padding)
    after = functional.conv2d(x, new.double(), stride=2, padding=2 * padding)
    return float((before - after).abs().max() / before.abs().max().clamp(min=1e-300))


class _Converter:
    """Walks a checkpoint and changes it in place."""

    def __init__(self, keys: Sequence[str], name: str, *, check: bool) -> None:
        self.keys = tuple(keys)
        self.name = name
        self.check = check
        self.seen: set[int] = set()

    def visit(self, value: Any, place: str) -> Iterator[Rearranged]:  # noqa: ANN401  # whatever a checkpoint holds
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        if isinstance(value, Foreign):
            yield from self._foreign(value, place)
        elif isinstance(value, dict):
            yield from self._state_dict(value, place)
            for key, item in list(value.items()):
                yield from self.visit(item, f"{place}.{key}".lstrip("."))
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                yield from self.visit(item, f"{place}.{index}".lstrip("."))

    def _foreign(self, value: Foreign, place: str) -> Iterator[Rearranged]:
        state = value.state[0] if isinstance(value.state, tuple) and value.state else value.state
        if value.origin[1].rpartition(".")[2] == self.name and isinstance(state, dict):
            yield from self._module(state, place)
        yield from self.visit(value.state, place)
        for part in (value.args, value.items_added, [item for _, item in value.items_set]):
            yield from self.visit(part, place)

    def _module(self, state: dict[str, Any], place: str) -> Iterator[Rearranged]:
        """The first convolution inside a pickled Focus."""
        for path, conv in _convolutions(state, place):
            channels, kernel = conv.get("in_channels", 0), conv.get("kernel_size", (0, 0))
            weight = conv["_parameters"].get("weight")
            if channels % QUARTERS or kernel[0] % 2 == 0 or conv.get("groups", 1) != 1 or weight is None:
                continue
            conv["in_channels"] = channels // QUARTERS
            for name in ("kernel_size", "stride", "padding"):
                conv[name] = tuple(2 * size for size in conv[name])
            if "_reversed_padding_repeated_twice" in conv:
                conv["_reversed_padding_repeated_twice"] = [
                    2 * size for size in conv["_reversed_padding_repeated_twice"]
                ]
            new = rearranged(weight.detach())
            conv["_parameters"]["weight"] = torch.nn.Parameter(new, weight.requires_grad)
            yield self._done(f"{path}.weight", weight.detach(), new)
            return

    def _state_dict(self, values: dict[Any, Any], place: str) -> Iterator[Rearranged]:
        tensors = [(k, v) for k, v in values.items() if isinstance(k, str) and isinstance(v, torch.Tensor)]
        first = next(((k, v) for k, v in tensors if v.dim() == 4), None)  # noqa: PLR2004  # a convolution's weight
        for key, value in tensors:
            chosen = key.endswith(self.keys) if self.keys else first is not None and key == first[0]
            if chosen and value.dim() == 4 and self._fits(value):  # noqa: PLR2004  # likewise
                new = rearranged(value.detach())
                values[key] = (
                    torch.nn.Parameter(new, value.requires_grad) if isinstance(value, torch.nn.Parameter) else new
                )
                yield self._done(f"{place}.{key}".lstrip("."), value.detach(), new)

    def _fits(self, weight: torch.Tensor) -> bool:
        channels = weight.shape[1]
        wanted = channels % QUARTERS == 0 if self.keys else channels == QUARTERS * COLOURS
        return bool(wanted and weight.shape[2] % 2 == 1)

    def _done(self, place: str, old: torch.Tensor, new: torch.Tensor) -> Rearranged:
        apart = difference(old, new) if self.check else None
        return Rearranged(place, tuple(old.shape), tuple(new.shape), apart)


def _optimizers(value: Any, shapes: set[tuple[int, ...]], place: str) -> Iterator[Rearranged]:  # noqa: ANN401  # likewise
    """What optimizers keep for a rearranged weight, where only one of their weights has its shape."""
    if not isinstance(value, dict):
        return
    states = value.get("state") if "param_groups" in value else None
    if not isinstance(states, dict):
        for key, item in value.items():
            yield from _optimizers(item, shapes, f"{place}.{key}".lstrip("."))
        return
    for shape in sorted(shapes):
        fits = [k for k, s in states.items() if isinstance(s, dict) and any(_has(v, shape) for v in s.values())]
        for name, tensor in list(states[fits[0]].items()) if len(fits) == 1 else ():
            if _has(tensor, shape):
                states[fits[0]][name] = new = rearranged(tensor)
                yield Rearranged(f"{place}.state.{fits[0]}.{name}".lstrip("."), shape, tuple(new.shape))


def _has(value: Any, shape: tuple[int, ...]) -> bool:  # noqa: ANN401  # whatever an optimizer keeps
    return isinstance(value, torch.Tensor) and tuple(value.shape) == shape


def _convolutions(state: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The states of all convolutions below a module's state, in the order in which they were made."""
    for name, child in (state.get("_modules") or {}).items():
        inner = getattr(child, "state", None)
        if isinstance(child, Foreign) and isinstance(inner, dict):
            path = f"{place}.{name}".lstrip(".")
            if child.origin[1] == CONV:
                yield path, inner
            yield from _convolutions(inner, path)


def _write(checkpoint: Any, target: Path) -> None:  # noqa: ANN401  # whatever a checkpoint holds
    """All or nothing: a full disk must not leave half a checkpoint under the final name."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    part = Path(name)
    try:
        torch.save(checkpoint, part, pickle_module=safe, pickle_protocol=safe.DEFAULT_PROTOCOL)
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
