"""Reads and writes checkpoints without importing, and so without running, anything that they name.

Checkpoints are pickles, and a pickle may call any function it can import. Here only containers and tensors are made for
what they are; every other class or function becomes a :class:`Foreign` stand-in that remembers what it was given, and
is written back under its own name. ``torch.load`` and ``torch.save`` take this module as their ``pickle_module``.
"""

from __future__ import annotations

import collections
import copyreg
import pickle
from typing import IO, Any, ClassVar

import torch

HIGHEST_PROTOCOL = DEFAULT_PROTOCOL = 2
_BUILTINS = frozenset(["set", "frozenset", "list", "dict", "tuple", "int", "float", "complex", "bytearray", "slice"])
_KNOWN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("torch", "Size"): torch.Size,
    ("torch", "device"): torch.device,
    ("torch._utils", "_rebuild_tensor"): torch._utils._rebuild_tensor,  # noqa: SLF001  # what checkpoints name
    ("torch._utils", "_rebuild_tensor_v2"): torch._utils._rebuild_tensor_v2,  # noqa: SLF001  # likewise
    ("torch._utils", "_rebuild_parameter"): torch._utils._rebuild_parameter,  # noqa: SLF001  # likewise
}


class _Kind(type):
    """Tells a call of a stand-in, as of a function, from the bare making of an instance."""

    def __call__(cls, *args: Any) -> Any:  # noqa: ANN401  # whatever a pickle holds
        made: Foreign = cls.__new__(cls, *args)  # type: ignore[arg-type]  # cls is a class of stand-ins
        made.called = True
        return made


class Foreign(metaclass=_Kind):
    """An object whose class is not imported; ``origin`` is the module and name of that class (or function)."""

    origin: ClassVar[tuple[str, str]]

    def __new__(cls, *args: Any) -> Foreign:  # noqa: ANN401, PYI034  # whatever a pickle holds; a class of its own each
        """Keep the arguments."""
        made = super().__new__(cls)
        made.args = args
        made.called = False
        made.state = None
        made.items_set = []
        made.items_added = []
        return made

    args: tuple[Any, ...]
    called: bool
    state: Any
    items_set: list[tuple[Any, Any]]
    items_added: list[Any]

    def __setstate__(self, state: Any) -> None:  # noqa: ANN401  # likewise
        """Keep the state."""
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:  # noqa: ANN401  # likewise
        """Keep an entry of what is some dict."""
        self.items_set.append((key, value))

    def append(self, value: Any) -> None:  # noqa: ANN401  # likewise
        """Keep an entry of what is some list."""
        self.items_added.append(value)

    def extend(self, values: list[Any]) -> None:
        """Keep entries of what is some list."""
        self.items_added.extend(values)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:  # noqa: ANN401  # object's signature
        """What makes the same pickle again."""
        rest = (self.state, iter(self.items_added) if self.items_added else None)
        entries = iter(self.items_set) if self.items_set else None
        if self.called:
            return (type(self), self.args, *rest, entries)
        return (copyreg.__newobj__, (type(self), *self.args), *rest, entries)  # type: ignore[attr-defined]  # not in typeshed


# The ones written in Python, which can be told what to do with a class; typeshed knows too little of them.
_Pickler: Any = pickle._Pickler  # noqa: SLF001  # likewise
_Unpickler: Any = pickle._Unpickler  # noqa: SLF001  # likewise
_made: dict[tuple[str, str], type[Foreign]] = {}


def foreign(module: str, name: str) -> type[Foreign]:
    """The stand-in for a class or function."""
    origin = (module, name)
    if origin not in _made:
        made: Any = _Kind(name.rpartition(".")[2], (Foreign,), {"origin": origin})
        _made[origin] = made
    return _made[origin]


class Unpickler(_Unpickler):  # type: ignore[misc]  # its base is Any, see above
    """Finds no class but those of containers and tensors."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401  # classes and functions
        """The real thing for the few that are known to be harmless, else a stand-in."""
        known = _KNOWN.get((module, name))
        if known is not None:
            return known
        if module in ("builtins", "__builtin__") and name in _BUILTINS:
            return super().find_class("builtins", name)
        if module == "torch" and isinstance(getattr(torch, name, None), torch.dtype):
            return getattr(torch, name)
        return foreign(module, name)


class Pickler(_Pickler):  # type: ignore[misc]  # its base is Any, see above
    """Writes stand-ins under the names they stand for."""

    def save_global(self, obj: Any, name: str | None = None) -> None:  # noqa: ANN401  # classes and functions
        """Write a class by name, without looking whether it can be imported."""
        if isinstance(obj, _Kind):
            module, own = obj.origin  # type: ignore[attr-defined]  # every stand-in has one
            self.write(pickle.GLOBAL + f"{module}\n{own}\n".encode())
            self.memoize(obj)
        else:
            super().save_global(obj, name)


def load(file: IO[bytes], **options: Any) -> Any:  # noqa: ANN401  # what pickle.load takes and gives
    """``pickle.load`` of this module: for checkpoints from before PyTorch 1.6."""
    return Unpickler(file, **options).load()


def dump(obj: Any, file: IO[bytes], protocol: int = DEFAULT_PROTOCOL) -> None:  # noqa: ANN401  # what pickle.dump takes
    """``pickle.dump`` of this module: for the old format."""
    Pickler(file, protocol).dump(obj)
