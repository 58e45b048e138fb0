"""What ``npu-migrate ops`` asks: one name, a list, or the difference between two releases. Plain data, no words."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from npu_migrate.target import store
from npu_migrate.target.model import Operator, OpStatus
from npu_migrate.target.support import UNSUPPORTED, Support, support
from npu_migrate.target.target import Target, load

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEAR = 5
_ENOUGH = 0.6


class UnknownName(LookupError):  # noqa: N818 - named by what it says; callers read `name` and `near`
    """Neither an operator nor a Python name; ``near`` holds those that may be meant, best first."""

    def __init__(self, name: str, near: tuple[str, ...]) -> None:
        """Keep the facts for whoever words the message."""
        super().__init__(name)
        self.name = name
        self.near = near


@dataclass(frozen=True)
class Shown:
    """The answer about one name.

    ``kind`` is ``operator`` (one overload), ``operators`` (all of a name), ``python``, ``cuda``, or ``npu`` for a name
    of torch_npu, with ``what`` it is there. ``kernel`` is what the dispatcher does where the documents are worse.
    """

    kind: str
    name: str
    torch_npu: str
    status: str
    via: str = ""
    because: str = ""
    kernel: str = ""
    operators: tuple[Operator, ...] = ()
    backward: tuple[Operator, ...] = ()
    documented: Support | None = None
    schemas: tuple[str, ...] = ()
    what: str = ""
    npu: str = ""
    instead: str = ""

    def facts(self) -> dict[str, Any]:
        """The JSON form: the name under what it is, and only the fields that say something."""
        key = _KEYS.get(self.kind, "name")
        found: dict[str, Any] = {key: self.name, "torch_npu": self.torch_npu, "status": self.status}
        texts = ("what", "via", "because", "kernel", "npu", "instead")
        found.update({name: value for name in texts for value in (getattr(self, name),) if value})
        if self.kind == "operator":
            found.update(_operator_facts(self.operators[0]))
        elif self.operators:
            found["overloads"] = [operator_facts(one) for one in self.operators]
        if self.backward:
            found["backward"] = [operator_facts(one) for one in self.backward]
        if self.documented:
            found["documented"] = self.documented.facts()
        if self.schemas:
            found["schemas"] = list(self.schemas)
        return found


_KEYS = {"operator": "operator", "operators": "operator", "python": "api"}


def operator_facts(one: Operator) -> dict[str, Any]:
    """One overload in the JSON form."""
    found: dict[str, Any] = {"operator": f"aten::{one.name}", "status": one.status.value}
    if one.via:
        found["via"] = one.via
    if one.worst is not one.status:
        found["worst"] = one.worst.value
        found["because"] = one.because
    return found | _operator_facts(one)


def _operator_facts(one: Operator) -> dict[str, Any]:
    found: dict[str, Any] = {"cuda": one.cuda}
    if one.worst is not one.status:
        found["worst"] = one.worst.value
    if one.calls:
        found["calls"] = list(one.calls)
    if one.sometimes:
        found["sometimes"] = list(one.sometimes)
    return found


def show(name: str, torch_npu: str | None = None) -> Shown:
    """Everything about one name: ``aten::lgamma``, ``torch.linalg.inv``, ``torch.npu.Event``, ``torch.cuda.nvtx``."""
    target = load(torch_npu)
    return (
        _cuda(target, name)
        or _python(target, name)
        or _npu(target, name)
        or _operator(target, name)
        or _fail(target, name)
    )


def _operator(target: Target, name: str) -> Shown | None:
    one = target.operator(name)
    if one is not None:
        return Shown(
            "operator", f"aten::{one.name}", target.torch_npu, one.status.value, one.via, one.because, operators=(one,)
        )
    every = target.operators(name)
    if not every:
        return None
    worst = max(every, key=lambda other: other.worst.rank)
    name = f"aten::{name.removeprefix('aten::')}"
    return Shown("operators", name, target.torch_npu, worst.worst.value, because=worst.name, operators=every)


def _python(target: Target, name: str) -> Shown | None:
    api, documented = target.python_api(name), support(target.torch, name)
    if api is None:
        if documented is None or not name.startswith("torch.") or name.startswith("torch.cuda."):
            return None
        return Shown("python", name, target.torch_npu, documented.status, documented=documented)
    decisive, kernel = api.decisive, api.worst.value
    status = worse(api.worst, documented)
    return Shown(
        "python",
        name,
        target.torch_npu,
        status,
        because=(decisive.because or decisive.name) if decisive and decisive.worst.rank else "",
        kernel=kernel if kernel != status else "",
        operators=tuple(dict.fromkeys((*api.overloads, *api.calls, *api.sometimes))),
        backward=api.backward,
        documented=documented,
    )


def worse(kernel: OpStatus, documented: Support | None) -> str:
    """Where documents and dispatcher disagree, the worse of the two counts."""
    if documented and documented.status == UNSUPPORTED:
        return UNSUPPORTED
    if documented and documented.fallback and not kernel.rank:
        return OpStatus.CPU_FALLBACK.value
    return kernel.value


def _npu(target: Target, name: str) -> Shown | None:
    kind, custom = target.kind(name), target.custom_op(name)
    if not kind and custom is None:
        return None
    schemas = custom.schemas if custom else ()
    return Shown("npu", name, target.torch_npu, "exists", schemas=schemas, what=kind or "operator")


def _cuda(target: Target, name: str) -> Shown | None:
    if not name.startswith("torch.cuda."):
        return None
    one = target.cuda_name(name)
    if not one.known:
        return None
    return Shown(
        "cuda",
        name,
        target.torch_npu,
        "exists" if one.exists else "missing",
        documented=support(target.torch, name),
        npu=one.npu or "",
        instead=one.instead,
    )


def _fail(target: Target, name: str) -> Shown:
    raise UnknownName(name, near(name, target))


def near(name: str, target: Target) -> tuple[str, ...]:
    """Names that look like this one, of the same family first."""
    if not name.startswith(("torch.", "torch_npu.")):
        bare = name.removeprefix("aten::")
        found = difflib.get_close_matches(bare, [one.name for one in target.operators()], _NEAR, _ENOUGH)
        return tuple(f"aten::{one}" for one in found)
    every = dict.fromkeys(_names(target, name))
    head = name.rpartition(".")[0]
    siblings = [one for one in every if one.rpartition(".")[0] == head]
    found = difflib.get_close_matches(name, siblings, _NEAR, _ENOUGH)
    return tuple(found or difflib.get_close_matches(name, list(every), _NEAR, _ENOUGH))


def _names(target: Target, name: str) -> Iterator[str]:
    """The names of the family that a name seems to be of, spelled as the question spells them."""
    if name.startswith("torch.cuda."):
        yield from store.table("cuda").get("names", {})
    elif name.startswith("torch_npu."):
        yield from target.names()
    elif name.startswith("torch.npu."):
        yield from (one.replace("torch_npu.", "torch.", 1) for one in target.names("torch_npu.npu"))
    else:
        yield from target.python_apis()
        yield from (one for one in store.table("calls").get("forward", {}) if ":" not in one)
        yield from store.table("support").get("apis", {})


def listed(status: OpStatus | None = None, torch_npu: str | None = None, *, cuda: bool = False) -> tuple[Operator, ...]:
    """All operators of a release, or those with one status; with ``cuda``, only those that CUDA has a kernel for."""
    every = load(torch_npu).operators()
    return tuple(one for one in every if (status is None or one.status is status) and (one.cuda or not cuda))


@dataclass(frozen=True)
class Change:
    """An operator that two releases treat differently; empty where one of them has no such overload."""

    operator: str
    before: str
    after: str

    @property
    def worse(self) -> bool:
        """Whether the newer one is worse off."""
        ranks = [OpStatus(text).rank if text else OpStatus.MISSING.rank for text in (self.before, self.after)]
        return ranks[1] > ranks[0]


@dataclass(frozen=True)
class Diff:
    """What two releases do not share."""

    before: str
    after: str
    operators: tuple[Change, ...] = ()
    names_gone: tuple[str, ...] = ()
    names_new: tuple[str, ...] = ()
    custom_gone: tuple[str, ...] = ()
    custom_new: tuple[str, ...] = ()


def diff(before: str, after: str) -> Diff:
    """The difference between two releases, as what an upgrade from the first to the second meets."""
    old, new = load(before), load(after)
    return Diff(
        old.torch_npu,
        new.torch_npu,
        tuple(_changes(old, new)),
        tuple(sorted(set(old.names()) - set(new.names()))),
        tuple(sorted(set(new.names()) - set(old.names()))),
        tuple(sorted(set(old.custom_ops()) - set(new.custom_ops()))),
        tuple(sorted(set(new.custom_ops()) - set(old.custom_ops()))),
    )


def _changes(old: Target, new: Target) -> Iterator[Change]:
    before = {one.name: one.status.value for one in old.operators()}
    after = {one.name: one.status.value for one in new.operators()}
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield Change(f"aten::{name}", before.get(name, ""), after.get(name, ""))
