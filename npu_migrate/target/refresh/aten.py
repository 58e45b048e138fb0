"""What torch_npu does with each aten overload, from torch's operator list and torch_npu's list of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

# The second names are those of torch 1.8.
IMPLICIT = ("CompositeImplicitAutograd", "Math")
EXPLICIT = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "DefaultBackend")

# A default kernel that only forwards takes the fate of what it forwards to.
FORWARDED = {"N": "n", "O": "n", "F": "f", "X": "x"}


@dataclass(frozen=True)
class Definition:
    """One overload as torch defines it."""

    kind: str  # "implicit", "explicit", or "kernel": a kernel for each backend
    cpu: bool
    cuda: bool
    via: str = ""
    module: str = ""
    variants: str = ""


def overload(entry: str | Mapping[str, Any]) -> str:
    """``add.Tensor`` of ``add.Tensor(Tensor self, ...) -> Tensor``."""
    text = entry if isinstance(entry, str) else str(entry["func"])
    return text.split("(")[0].strip()


def definitions(entries: Iterable[Mapping[str, Any]]) -> dict[str, Definition]:
    """Every overload of ``native_functions.yaml``, the generated variants included."""
    found: dict[str, Definition] = {}
    for entry in entries:
        name = overload(entry)
        found[name] = _definition(entry)
        for variant in str(entry.get("autogen") or "").split(","):
            if variant.strip():
                found[variant.strip()] = Definition("explicit", cpu=False, cuda=False, via=name)
    return {name: _with_delegate(one, found) for name, one in found.items()}


def _definition(entry: Mapping[str, Any]) -> Definition:
    keys = {key.strip() for listed in entry.get("dispatch") or {} for key in listed.split(",")}
    delegate = str(entry.get("structured_delegate") or "")
    if delegate or keys.intersection(EXPLICIT):
        kind = "explicit"
    elif not keys or keys.intersection(IMPLICIT):
        kind = "implicit"
    else:
        kind = "kernel"
    return Definition(
        kind,
        cpu="CPU" in keys,
        cuda="CUDA" in keys,
        via=delegate,
        module=str(entry.get("python_module") or ""),
        variants="".join(sorted(word.strip()[0] for word in str(entry.get("variants", "function")).split(","))),
    )


def _with_delegate(one: Definition, every: Mapping[str, Definition]) -> Definition:
    """A structured overload runs its delegate's kernels."""
    target = every.get(one.via)
    if target is None or one.cpu:
        return one
    return Definition(one.kind, target.cpu, target.cuda, one.via, one.module, one.variants)


def statuses(every: Mapping[str, Definition], native: Collection[str]) -> dict[str, str]:
    """One status letter an overload; the letters are ``npu_migrate.target.model.LETTERS``."""
    direct = {name: _direct(name, one, native) for name, one in every.items()}
    return {
        name: FORWARDED.get(direct.get(every[name].via, ""), letter) if letter == "E" else letter
        for name, letter in direct.items()
    }


def _direct(name: str, one: Definition, native: Collection[str]) -> str:
    if name in native:
        return "O" if one.kind == "implicit" else "N"
    if one.kind == "implicit":
        return "C"
    if one.kind == "explicit":
        return "E"
    return "F" if one.cpu else "X"


def cuda_kernels(every: Mapping[str, Definition]) -> set[str]:
    """Overloads that run on CUDA: by a kernel of their own, or by a default kernel that forwards to nothing else."""
    return {
        name
        for name, one in every.items()
        if one.cuda or one.kind == "implicit" or (one.kind == "explicit" and not one.via)
    }
