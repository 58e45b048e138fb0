"""Watches every operator of this process, below autograd, as the dispatcher of a backend would get it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from npu_migrate.frames import innermost
from npu_migrate.tracing.places import Place, Places
from npu_migrate.tracing.trace import Use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.tracing.settings import Branches

_SHAPES = 8
_TENSORS = 6
_STAYS = 1_000_000
_INNER = ("prim::", "profiler::", "prims::")
_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd  # noqa: SLF001
_node = getattr(torch._C, "_current_autograd_node", lambda: None)  # noqa: SLF001 - newer than the oldest torch here


class _Key(NamedTuple):
    operator: str
    phase: str
    module: str
    kind: str
    line: str


class _Seen:
    """The calls with one key."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.count = 0
        self.inputs: dict[str, None] = {}
        self.more = False

    def add(self, inputs: str) -> None:
        self.count += 1
        if inputs in self.inputs or len(self.inputs) < _SHAPES:
            self.inputs[inputs] = None
        else:
            self.more = True


class Recorder(TorchDispatchMode):  # type: ignore[misc]
    """Counts operators by module, phase and tensors; composites that the target replaces count as one."""

    def __init__(self, root: str, branches: Branches) -> None:
        """``root`` is the beginning of the paths of the program's own files."""
        super().__init__()
        self.places = Places()
        self.stepping = False
        self._root = root
        self._instead = {f"aten::{name}": forward for name, (forward, _) in branches.items()}
        self._quiet = 0
        self._process = os.getpid()
        self._seen: dict[_Key, _Seen] = {}
        self._stays: set[int] = set()

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - an operator of torch
        _types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the operator takes and gives
        """Count the call, then let it run; in inference mode composites arrive whole, and are opened here."""
        given = kwargs or {}
        name = func.name()
        if name not in self._instead and not self._quiet and is_composite(name):
            with self:
                return opened(func, args, given)
        for one in self._instead.get(name, (name,)):
            self.take(one, (args, given))
        return func(*args, **given)

    def take(self, name: str, given: object) -> None:
        """Count a call."""
        if self._quiet or os.getpid() != self._process or name.startswith(_INNER):
            return
        node = _node()
        if node is not None:
            self._gradient(name, given, node)
            return
        place = self.places.now
        if place.module:
            self._add(name, "forward", place, given)
        elif not self.stepping:
            self._add(name, "outside", place, given)
        elif any(one.dim() for one in tensors(given)):  # the others are its counters, which stay on the host
            self._add(name, "optimizer", place, given)

    def _gradient(self, name: str, given: object, node: Any) -> None:  # noqa: ANN401 - a node of autograd
        stay, place = self.places.at(node._sequence_nr())  # noqa: SLF001
        if self.places.now.module:  # a checkpoint runs its part of the model again
            place = self.places.now
        if not place.instead:
            self._add(name, "backward", place, given)
        elif stay not in self._stays:
            if len(self._stays) > _STAYS:
                self._stays.clear()
            self._stays.add(stay)
            for instead in place.instead:
                self._add(instead, "backward", place, ())

    def _add(self, name: str, phase: str, place: Place, given: object) -> None:
        line = innermost(self._root) if phase == "outside" else ""
        key = _Key(name, phase, place.module, place.kind, line)
        if key not in self._seen:
            self._seen[key] = _Seen(line or innermost(self._root))
        self._seen[key].add(_spelled(given))

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Do not count what runs in here."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    @contextmanager
    def instead(self, forward: Iterable[str], backward: tuple[str, ...], given: object) -> Iterator[None]:
        """Count these operators, and not what runs in their place here, nor its gradients."""
        for name in forward:
            self.take(name, given)
        place = self.places.now
        outermost = not self._quiet
        if outermost:
            self.places.enter(place._replace(instead=backward), sequence())
        try:
            with self.quiet():
                yield
        finally:
            if outermost:
                self.places.leave(sequence())

    def forget(self) -> None:
        """Begin anew."""
        self._seen.clear()

    def uses(self) -> list[Use]:
        """Everything seen so far."""
        return [
            Use(
                key.operator, key.phase, key.module, key.kind, one.where, one.count, tuple(sorted(one.inputs)), one.more
            )
            for key, one in sorted(self._seen.items())
        ]


def is_composite(name: str) -> bool:
    """Whether torch composes an operator of others, under autograd."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, _COMPOSITE.name))  # noqa: SLF001


def opened(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    """Run the pieces of a composite: those of C++, whatever decompositions Python has for export."""
    return operator._op_dk(_COMPOSITE, *args, **kwargs)  # noqa: SLF001


def sequence() -> int:
    """The number that autograd will give to the next node."""
    return int(torch.autograd._get_sequence_nr())  # noqa: SLF001


def tensors(value: object) -> Iterator[torch.Tensor]:
    """The tensors in the arguments of an operator, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors(one)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


def _spelled(given: object) -> str:
    """The tensors of a call; of long lists the beginning."""
    found = list(islice(tensors(given), _TENSORS + 1))
    return ", ".join([*map(_tensor, found[:_TENSORS]), *(["..."] if found[_TENSORS:] else [])])


def _tensor(one: torch.Tensor) -> str:
    return f"{str(one.dtype).removeprefix('torch.')}[{','.join(map(str, one.shape))}]"
