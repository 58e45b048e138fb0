"""One torch_npu release: what it has, and what it does with an operator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from npu_migrate.target import calls, releases, store
from npu_migrate.target.model import LETTERS, CudaName, CustomOp, Operator, PythonApi
from npu_migrate.target.series import ABSENT, Column, at
from npu_migrate.target.support import support

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

# Where torch keeps the functions of these of its own modules: torch.linalg.inv is aten::linalg_inv.
_PREFIXED = ("linalg", "fft", "special", "nested", "sparse")
_FUNCTIONAL = "torch.nn.functional."
# Modules that no trace covers, and the function that each calls.
CALLED = {"torch.nn.EmbeddingBag": "torch.nn.functional.embedding_bag"}


@dataclass(frozen=True)
class Target:
    """The facts about one release. Names are dotted; ``torch.npu`` and ``torch_npu.npu`` are one module."""

    torch_npu: str
    torch: str
    cann: str
    python: tuple[str, ...]
    listed: bool
    legacy: bool
    column: int

    def has(self, name: str) -> bool:
        """Whether ``torch_npu.*`` or ``torch.npu.*`` has this name; a member of a class counts too."""
        return self.kind(name) != ""

    def kind(self, name: str) -> str:
        """What a name is: ``function``, ``class``, ``module``, ``data``, ``operator`` or ``member``; empty for none."""
        dotted = _canonical(name)
        if dotted == "torch_npu":
            return "module"
        owner, _, last = dotted.rpartition(".")
        letter = _names(self.column, owner).get(last, "") or self._hidden(dotted)
        if letter:
            return _KINDS[letter]
        module, _, cls = owner.rpartition(".")
        owned = _names(self.column, module).get(cls, "")
        # A class whose bases lie outside the package: nothing proves that a member is not there.
        known = owned == "b" or (owned == "c" and last in self.members(owner))
        return "member" if known else ""

    def _hidden(self, dotted: str) -> str:
        """Submodules and operators, which no statement of their parent binds."""
        if at(store.table("names").get("modules", {}).get(dotted, ABSENT), self.column) != ABSENT:
            return "m"
        return "o" if dotted.startswith("torch_npu.") and dotted[len("torch_npu.") :] in _custom(self.column) else ""

    def members(self, owner: str) -> tuple[str, ...]:
        """The members of a class, where its source tells them."""
        table = store.table("names").get("members", {}).get(_canonical(owner), {})
        return tuple(Column(table, self.column))

    def names(self, module: str = "") -> tuple[str, ...]:
        """All names of a module and of what is below it (all names at all without one), dotted and sorted."""
        prefix = _canonical(module) + "." if module else ""
        found = [
            f"{owner}.{name}"
            for owner in store.table("names").get("names", {})
            if (owner + ".").startswith(prefix)
            for name in _names(self.column, owner)
        ]
        if not module or prefix == "torch_npu.":
            found += [f"torch_npu.{name}" for name in _custom(self.column)]
        return tuple(sorted(set(found)))

    def operator(self, name: str) -> Operator | None:
        """One aten overload, ``aten::add.Tensor`` or ``add.Tensor``; ``None`` where this torch has no such overload."""
        return _operator(self.column, name.removeprefix("aten::"))

    def operators(self, base: str = "") -> tuple[Operator, ...]:
        """All overloads of an operator, or all operators."""
        base = base.removeprefix("aten::")
        chosen = _overloads(self.column).get(base, ()) if base else _letters(self.column)
        return tuple(one for one in (self.operator(name) for name in chosen) if one)

    def python_api(self, name: str) -> PythonApi | None:
        """The operators behind ``torch.X``, ``torch.Tensor.X``, ``torch.linalg.X``, ``torch.nn.functional.X``, ..."""
        found = self._api(CALLED.get(name, name))
        if found is None and name.startswith(_FUNCTIONAL):
            plain = name.removeprefix(_FUNCTIONAL)
            if plain.endswith("_") or support(self.torch, name):  # F.softmax and F.celu_ are those of torch
                found = self._api(f"torch.{plain}")
        return replace(found, name=name) if found is not None else None

    def _api(self, name: str) -> PythonApi | None:
        table = store.table("calls")
        base = python_base(name)
        overloads = self._reachable(base, "m" if name.startswith("torch.Tensor.") else "f") if base else ()
        traced = name.replace("torch.Tensor.", "torch.", 1)
        forward, backward = table.get("forward", {}).get(traced, []), table.get("backward", {}).get(traced, [])
        if not overloads and not forward:
            return None
        roots = self._known(calls.always(forward))
        # A kernel that replaces a composite has a backward of its own, which a trace on the CPU says nothing about.
        replaced = any(_letters(self.column)[one.name] == "O" for one in (*roots, *overloads))
        return PythonApi(
            name,
            overloads,
            roots,
            self._known(calls.sometimes(forward)),
            () if replaced else self._known(calls.always(backward)),
        )

    def _reachable(self, base: str, variant: str) -> tuple[Operator, ...]:
        """The overloads that a function ("f") or a method ("m") may choose; ``out=`` is for functions."""
        only = store.table("operators").get("only", {})
        return tuple(
            one
            for one in self.operators(base)
            if variant in only.get(one.name, variant) and (variant == "f" or not one.name.endswith("out"))
        )

    def _known(self, names: tuple[str, ...]) -> tuple[Operator, ...]:
        return tuple(one for one in (self.operator(name) for name in names) if one)

    def python_apis(self, bases: Container[str] | None = None) -> Iterator[str]:
        """The names that ``python_api`` knows by torch's own operator list; only those over some ``bases``."""
        for base, listed in store.table("operators").get("python", {}).items():
            if base in (_overloads(self.column) if bases is None else bases):
                yield from _spellings(base, listed)

    def spellings(self, base: str) -> tuple[str, ...]:
        """The Python names of an operator: ``torch.Tensor.mm`` and ``torch.mm`` for ``mm``; none for an inner one."""
        listed = store.table("operators").get("python", {})
        return tuple(_spellings(base, listed[base])) if base in listed else ()

    def replacements(self) -> tuple[str, ...]:
        """Composites that the release has a kernel for, which takes the place of all that the composite calls."""
        return tuple(name for name, letter in _letters(self.column).items() if letter == "O")

    def doubtful(self) -> Iterator[Operator]:
        """The operators that are missing or run on the CPU, by themselves or by what they call."""
        for name, letter in _letters(self.column).items():
            if letter in "NOn":
                continue
            one = self.operator(name)
            if one is not None and one.worst.rank:
                yield one

    def cuda_name(self, name: str) -> CudaName:
        """What a ``torch.cuda.*`` name becomes in this release."""
        table = store.table("cuda")
        dotted = _renamed(name, table.get("renamed", {}))
        instead = table.get("instead", {}).get(name, "")
        if instead.startswith(("torch.npu.", "torch_npu.")) and not self.has(instead):
            instead = ""
        names = table.get("names", {})
        known = any(at(names.get(head, ABSENT), self.column) != ABSENT for head in (name, name.rpartition(".")[0]))
        return CudaName(name, dotted or None, bool(dotted) and self.has(dotted), known, instead)

    def has_cuda(self, name: str) -> bool:
        """Whether the torch of this release lists a ``torch.cuda`` name itself; members of classes are not listed."""
        return at(store.table("cuda").get("names", {}).get(name, ABSENT), self.column) != ABSENT

    def custom_op(self, name: str) -> CustomOp | None:
        """An operator of torch_npu's own: ``torch_npu.npu_rms_norm``, ``npu::npu_rms_norm``, or the bare name."""
        bare = name.removeprefix("npu::").rpartition(".")[2] if name.startswith("torch") else name.removeprefix("npu::")
        schemas = _custom(self.column).get(bare.split(".")[0], ())
        return CustomOp(bare, schemas) if schemas else None

    def custom_ops(self) -> tuple[str, ...]:
        """The names of all of torch_npu's own operators."""
        return tuple(_custom(self.column))


_KINDS = {"f": "function", "c": "class", "b": "class", "m": "module", "d": "data", "o": "operator"}


def load(version: str | None = None) -> Target:
    """The release that a version text means (the newest known one for ``None``); ``UnknownRelease`` where none fits."""
    one = releases.get(version)
    column = releases.column(one.torch_npu)
    return Target(one.torch_npu, one.torch, one.cann, one.python, one.listed, one.legacy, column)


def _canonical(name: str) -> str:
    if name == "torch.npu" or name.startswith("torch.npu."):
        return "torch_npu" + name[len("torch") :]
    if name.startswith("torch.ops.npu."):
        return "torch_npu." + name[len("torch.ops.npu.") :]
    return name


def _renamed(name: str, renamed: dict[str, str]) -> str:
    """The name on the NPU's side: by the longest beginning that has its own rule, else ``cuda`` becomes ``npu``."""
    parts = name.split(".")
    for cut in range(len(parts), 1, -1):
        head = ".".join(parts[:cut])
        if head in renamed:
            return ".".join([renamed[head], *parts[cut:]]) if renamed[head] else ""
    return "torch.npu" + name.removeprefix("torch.cuda")


def python_base(name: str) -> str:
    """``linalg_inv`` for ``torch.linalg.inv``: the operator that a Python name stands for, if torch's list says so."""
    listed = store.table("operators").get("python", {})
    head, _, last = name.rpartition(".")
    module = head.rpartition(".")[2]
    base = f"{module}_{last}" if module in _PREFIXED and f"{module}_{last}" in listed else last
    return base if name in _spellings(base, listed.get(base, "")) else ""


def _spellings(base: str, listed: str) -> Iterator[str]:
    """The Python names of an operator; ``listed`` is its module and its variants, as in ``linalg:f``."""
    module, _, variants = listed.partition(":")
    if "m" in variants:
        yield f"torch.Tensor.{base}"
    if "f" not in variants:
        return
    if module == "nn":
        yield f"torch.nn.functional.{base}"
        yield f"torch._C._nn.{base}"
    elif module:
        yield f"torch.{module}.{base.removeprefix(module + '_')}"
    else:
        yield f"torch.{base}"


@lru_cache(maxsize=4)
def _letters(column: int) -> Column:
    return Column(store.table("operators").get("operators", {}), column)


@lru_cache(maxsize=4)
def _overloads(column: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in _letters(column):
        found.setdefault(name.split(".")[0], []).append(name)
    return found


@lru_cache(maxsize=8192)
def _operator(column: int, name: str) -> Operator | None:
    letter = _letters(column).get(name)
    if letter is None:
        return None
    table = store.table("operators")
    status = LETTERS[letter]
    via = table.get("via", {}).get(name, "") if letter in "nfx" else ""
    traced = store.table("calls").get("operators", {})
    callees = [other for other in calls.callees(name, traced) if other.lstrip(calls.SOMETIMES) in _letters(column)]
    worst, because = calls.worst(name, _letters(column), traced)
    return Operator(
        name,
        status,
        via=via,
        hidden=letter in "fx",
        cuda=at(table.get("no_cuda", {}).get(name, ABSENT), column) == ABSENT,
        calls=calls.always(callees) if letter in "CE" else (),
        sometimes=calls.sometimes(callees) if letter in "CE" else (),
        worst=worst,
        because=because,
    )


def _names(column: int, module: str) -> Column:
    return Column(store.table("names").get("names", {}).get(module, {}), column)


@lru_cache(maxsize=4)
def _custom(column: int) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, schemas in store.table("custom").get("operators", {}).items():
        for schema, series in schemas.items():
            if at(series, column) != ABSENT:
                found.setdefault(name.split(".")[0], []).append(name + schema)
    return {name: tuple(schemas) for name, schemas in found.items()}
