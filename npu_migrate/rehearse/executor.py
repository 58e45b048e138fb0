"""Runs an operator of npu tensors on host memory, below autograd, and checks it against the target.

Both tiers use it: each gives its own way to make an npu tensor of a CPU result, and to rebind one.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

import torch

from npu_migrate.rehearse import device, memory
from npu_migrate.rehearse.facts import Facts, State
from npu_migrate.rehearse.interface import BACKEND, CPU, Value
from npu_migrate.rehearse.words import words

if TYPE_CHECKING:
    from npu_migrate.rehearse.journal import Journal
    from npu_migrate.rehearse.settings import Settings

_MAY_MIX = frozenset(
    "aten::" + name
    for name in words(
        "copy_ _copy_from _copy_from_and_resize _to_copy _foreach_copy_ index.Tensor index.Tensor_out index_put "
        "index_put_ index_put.out _index_put_impl_ set_.source_Storage set_.source_Storage_storage_offset "
        "_amp_foreach_non_finite_check_and_unscale_"
    )
)
_NUMBERS = (int, float, complex)
_INDEXING = ("aten::index.", "aten::index_put", "aten::_index_put")
_VALUES = 2  # the place of what is written, in index_put
_MASKS = (torch.bool, torch.uint8)
_SYNCHRONISES = frozenset(
    "aten::" + name for name in ["nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "equal"]
)
_RARE_DTYPES = frozenset(
    kind
    for kind in (
        torch.float64,
        torch.complex128,
        getattr(torch, "uint16", None),
        getattr(torch, "uint32", None),
        getattr(torch, "uint64", None),
    )
    if kind is not None
)


@dataclass
class Session:
    """What the executor of this process works with."""

    settings: Settings
    facts: Facts
    journal: Journal
    wrap: Callable[[Value, int], Value] = memory.wrap
    rebind: Callable[[Value, Value], Value] = memory.rebind
    source: Callable[[int, Value], Value] = lambda _index, given: given or torch.default_generator
    quiet: int = 0

    def count(self, name: str, state: State = State.NATIVE) -> None:
        """Count an operator, unless an emulation is running its own pieces."""
        if not self.quiet:
            self.journal.operator(name, state.value)

    def note(self, kind: str, detail: str) -> None:
        """Make a remark at the current line of the user's code."""
        if not self.quiet:
            self.journal.note(kind, detail)


class Operator:
    """An aten operator and what the executor must know of it, worked out once."""

    def __init__(self, call: Value, session: Session) -> None:
        """Read the schema of an operator."""
        self.call = call
        self.session = session
        schema = call._schema  # noqa: SLF001  (torch's public schemas are under this name)
        self.name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        self.any_overload = call.overloadpacket
        self.tensors = tuple(
            position for position, argument in enumerate(schema.arguments) if str(argument.type) == "Tensor"
        )
        self.outs = tuple(argument.name for argument in schema.arguments if argument.is_out)
        self.state = session.facts.state(self.name)
        self.may_mix = self.name in _MAY_MIX
        self.seeded = torch.Tag.nondeterministic_seeded in call.tags
        self.takes_generator = any(argument.name == "generator" for argument in schema.arguments)
        self.indexes = self.name.startswith(_INDEXING)
        self.synchronises = self.name in _SYNCHRONISES
        self.warned = False
        self.remarks: dict[Value, str] = {}

    def check_type(self, args: tuple[Value, ...]) -> None:
        """Make a remark where the documents do not name the type of the first tensor."""
        first = args[0] if args else None
        first = first[0] if isinstance(first, (list, tuple)) and first else first
        if not isinstance(first, torch.Tensor) or first.device.type != BACKEND:
            return
        remark = self.remarks.get(first.dtype)
        if remark is None:
            remark = self.remarks[first.dtype] = self._remark(str(first.dtype).removeprefix("torch."))
        if remark:
            self.session.note("dtype", remark)

    def _remark(self, dtype: str) -> str:
        named, taken = self.session.facts.types(self.name)
        return (
            f"{self.name}: {dtype} is not among the documented types of {named}" if named and dtype not in taken else ""
        )

    def admit(self) -> None:
        """Count the call; warn or refuse where the target does not carry it out itself."""
        session = self.session
        session.count(self.name, self.state)
        if self.state is State.CPU_FALLBACK:
            self._fall_back()
        elif self.state is State.UNSUPPORTED and session.settings.on_unsupported == "raise" and not session.quiet:
            message = (
                f"Could not run '{self.name}' with arguments from the 'npu' backend: torch_npu "
                f"{session.facts.torch_npu} has no kernel for it and no CPU kernel to fall back to."
            )
            raise NotImplementedError(message)
        if self.synchronises:
            session.note("sync", self.name)

    def check_mask(self, args: tuple[Value, ...]) -> None:
        """Make a remark on a boolean index: how many elements it means is known when the device has counted them.

        One value for all of them is a masked fill, which needs no count.
        """
        if len(args) > _VALUES and args[_VALUES].numel() == 1:
            return
        indices = args[1] if len(args) > 1 else ()
        if any(index is not None and index.dtype in _MASKS and index.device.type == BACKEND for index in indices):
            self.session.note("sync", "boolean indexing")

    def _fall_back(self) -> None:
        settings = self.session.settings
        message = (
            f"CAUTION: The operator '{self.name}' is not currently supported on the NPU backend and will fall back "
            "to run on the CPU. This may have performance implications. (function npu_cpu_fallback)"
        )
        if settings.on_cpu_fallback == "raise":
            raise NotImplementedError(message)
        if not self.warned:
            self.warned = True
            warnings.warn(message, UserWarning, stacklevel=4)

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        """Carry the operator out."""
        device.start()
        self.admit()
        self.check_type(args)
        if self.indexes:
            self.check_mask(args)
        call = _Call(self)
        lowered = [call.lower(value) for value in args]
        named = {name: call.lower(value) for name, value in kwargs.items()}
        index = call.settle(args)
        outs = self._fresh_outs(kwargs, named)
        result = self._run_seeded(index, lowered, named) if self.seeded else self._run(lowered, named)
        if outs:
            return self._hand_back(outs, named, call)
        return call.lift(result, index)

    def _run(self, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """On the CPU; where torch has turned a number into a tensor and back, by the overload for numbers."""
        for position in self.tensors:
            if position < len(args) and isinstance(args[position], _NUMBERS):
                return self.any_overload(*args, **kwargs)
        return self.call(*args, **kwargs)

    def _fresh_outs(self, kwargs: dict[str, Value], named: dict[str, Value]) -> list[tuple[str, Value]]:
        outs = [
            (name, kwargs[name])
            for name in self.outs
            if isinstance(kwargs.get(name), torch.Tensor) and kwargs[name].device.type == BACKEND
        ]
        for name, out in outs:
            named[name] = torch.empty(0, dtype=out.dtype)
        return outs

    def _hand_back(self, outs: list[tuple[str, Value]], named: dict[str, Value], call: _Call) -> Value:
        for name, out in outs:
            result = named[name]
            if result.shape == out.shape:
                call.lower(out).copy_(result)
            else:
                self.session.rebind(out, result)
        return outs[0][1] if len(outs) == 1 else tuple(out for _, out in outs)

    def _run_seeded(self, index: int, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Draw from the device's own generator, as a device does, not from that of the CPU."""
        source = self.session.source(index, kwargs.get("generator"))
        if self.takes_generator:
            kwargs["generator"] = source
            return self._run(args, kwargs)
        kept = torch.default_generator.get_state()
        torch.default_generator.set_state(source.get_state())
        try:
            return self._run(args, kwargs)
        finally:
            source.set_state(torch.default_generator.get_state())
            torch.default_generator.set_state(kept)


class _Call:
    """One run: which npu tensor has which alias, and which devices were met."""

    __slots__ = ("cpu", "index", "operator", "pairs")

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.pairs: dict[int, tuple[Value, Value]] = {}
        self.index: int | None = None
        self.cpu: Value = None

    def lower(self, value: Value) -> Value:
        """An argument as the CPU kernel sees it."""
        if isinstance(value, torch.Tensor):
            return self._lower_tensor(value)
        kind = type(value)
        if kind is list or kind is tuple:
            return kind([self.lower(part) for part in value])
        if kind is torch.device and value.type == BACKEND:
            if self.index is None:
                self.index = value.index
            return CPU
        return value

    def _lower_tensor(self, value: Value) -> Value:
        found = self.pairs.get(id(value))
        if found is not None:
            return found[1]
        place = value.device
        if place.type != BACKEND:
            if place.type == "cpu" and value.dim() > 0:
                self.cpu = value
            return value
        if self.index is None:
            self.index = place.index
        elif self.index != place.index and not self.operator.may_mix:
            self._refuse(f"{BACKEND}:{self.index}", place)
        if value.dtype in _RARE_DTYPES and not self.operator.remarks.get(value.dtype):
            self.operator.session.note("dtype", f"{self.operator.name}: {str(value.dtype)[6:]}")
        if value.layout is not torch.strided:
            return self._remember(value, memory.sparse_alias(value))
        return self._remember(value, memory.alias(value))

    def _remember(self, value: Value, seen: Value) -> Value:
        self.pairs[id(value)] = (value, seen)
        return seen

    def _refuse(self, first: object, second: object) -> None:
        error = device.mixed(first, second)
        self.operator.session.note("device-mix", f"{self.operator.name}: {error}")
        raise error

    def settle(self, args: tuple[Value, ...]) -> int:
        """Check the devices that were met; returns the index the results belong to."""
        if self.cpu is not None and self.pairs:
            name = self.operator.name
            if not self.operator.may_mix:
                self._refuse(f"{BACKEND}:{self.index}", "cpu")
            if self.operator.indexes and args[0] is self.cpu:
                message = "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
                self.operator.session.note("device-mix", f"{name}: {message}")
                raise RuntimeError(message)
        return device.current() if self.index is None else device.check(self.index)

    def lift(self, result: Value, index: int) -> Value:
        """A result as the program sees it: the argument itself, a view of it, or a new npu tensor."""
        if isinstance(result, torch.Tensor):
            return self._lift_tensor(result, index)
        if isinstance(result, (list, tuple)):
            return type(result)([self.lift(part, index) for part in result])
        return result

    def _lift_tensor(self, result: Value, index: int) -> Value:
        if result.layout is not torch.strided:
            return memory.sparse_wrap(result, index)
        pointer = 0
        for value, seen in self.pairs.values():
            if seen is result:
                return value
            if seen.layout is torch.strided:
                pointer = pointer or result.untyped_storage().data_ptr()
                if pointer and seen.untyped_storage().data_ptr() == pointer:
                    return memory.view_of(value, result)
        return self.operator.session.wrap(result, index)


def catch_all(session: Session, *, sparse: bool = False) -> Callable[..., Value]:
    """The kernel for operators that the target does not register: looked up and run like the others.

    The database knows dense kernels only, so for sparse tensors it cannot say that an operator is missing.
    """

    @functools.cache
    def find(call: Value) -> Operator:
        made = Operator(call, session)
        if sparse and made.state is State.UNSUPPORTED:
            made.state = State.UNKNOWN
        return made

    def run(call: Value, *args: Value, **kwargs: Value) -> Value:
        return find(call)(*args, **kwargs)

    return run
