"""The project rules' tables: environment variables, packages and kernels."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from npu_migrate import packs, tomlfile
from npu_migrate.model import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALWAYS = ("cuda", "nccl", "cudnn", "nvidia", "nvcr.io", "gpu", "torch", "pin_memory", "pin-memory", "hccl_", "npu_")
_COMPILED = (".cu", "nvcc", "nvinfer", "__global__", "<<<", "cublas", "curand", "cusparse", "nsys", "/cu1", "+cu1")
_BESIDE = ("cu1", "cu9", "--nv")


class Variable(NamedTuple):
    """An environment variable: its message in the environment rule and the Ascend name beside it."""

    message: str
    ascend: str


class Package(NamedTuple):
    """A package that only works with CUDA: its message in the packages rule and the status."""

    message: str
    status: Status


def _read(name: str) -> Mapping[str, Any]:
    return tomlfile.read(packs.builtin() / "project" / name)


@cache
def variables() -> dict[str, Variable]:
    """Every variable of ``environment.toml`` by name."""
    table = _read("environment.toml")["variable"]
    return {name: Variable(row["message"], row.get("ascend", "")) for name, row in table.items()}


def variable(name: str) -> Variable | None:
    """What is known of an environment variable; NCCL's are all known: HCCL reads none of them."""
    found = variables().get(name)
    if found is None and re.match(r"(?:TORCH_)?NCCL_\w", name):
        return Variable("none", "")
    return found


@cache
def _packages() -> tuple[dict[str, Package], list[tuple[re.Pattern[str], Package]]]:
    exact, patterns = {}, []
    for name, row in _read("packages.toml")["package"].items():
        package = Package(row["message"], Status(row["status"]))
        if "*" in name:
            patterns.append((re.compile(re.escape(name).replace(r"\*", ".*")), package))
        else:
            exact[name] = package
    return exact, patterns


def package(name: str) -> Package | None:
    """What is known of a package, by its normalised name."""
    exact, patterns = _packages()
    if name in exact:
        return exact[name]
    return next((package for pattern, package in patterns if pattern.fullmatch(name)), None)


@cache
def modules() -> dict[str, Package]:
    """The same packages by the modules that a program imports them as."""
    found = {}
    for name, row in _read("packages.toml")["package"].items():
        usual = [] if "*" in name else [name.replace("-", "_")]
        for module in row.get("imports", usual):
            found[module] = Package(row["message"], Status(row["status"]))
    return found


@cache
def kernels() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns over kernel and file names, each with the torch_npu operator that comes nearest."""
    rows = _read("kernels.toml")["kernel"]
    return tuple((re.compile(row["pattern"], re.IGNORECASE), row["operator"]) for row in rows)


@cache
def needles() -> tuple[str, ...]:
    """Lower-case literals, the usual ones first: a text without any of them has no finding."""
    exact, patterns = _packages()
    names = [*exact, *(max(pattern.pattern.replace("\\", "").split(".*"), key=len) for pattern, _ in patterns)]
    spelled = {part for name in names for part in (name, name.replace("-", "_"))}
    wanted = {*_ALWAYS, *_COMPILED, *spelled, *(name.lower() for name in variables())}
    shortest = [n for n in wanted if not any(o != n and o in n for o in wanted)]
    return tuple(sorted(shortest, key=lambda needle: (needle not in _ALWAYS, needle)))


@cache
def marks_of_a_line() -> tuple[str, ...]:
    """Lower-case literals: a line without any of them, under keys without any, has no finding."""
    return (*needles(), *_BESIDE)


@cache
def concerns(word: str) -> bool:
    """Whether a word holds one of those literals."""
    low = word.lower()
    return any(literal in low for literal in marks_of_a_line())
