"""Everything that one release's files say, before it is laid into the tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from npu_migrate.target.refresh import aten, environment, errors
from npu_migrate.target.refresh.surface import DATA, FUNCTION, MODULE, OPERATOR, PACKAGE, Surface, assigned_lists

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

_BY_CODEGEN = "csrc/aten/npu_native_functions_by_codegen.yaml"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Modules that programs reach into; what else the package holds is its own business.
_PUBLIC = re.compile(
    r"torch_npu(\.(npu|contrib|profiler|distributed|utils|optim|jit|onnx|multiprocessing|asd|hif8_tensor)(\.[a-z]\w*)*)?$|torch_npu\.npu\._(sanitizer|memory_viz)$"
)
_INNER = re.compile(r"torch_npu\.profiler\.analysis")
# torch.cuda's private names that programs use nevertheless have their counterparts here.
_WITH_PRIVATE = ("torch_npu.npu", "torch_npu.npu.memory")
_CUDA_PRIVATE = ("_lazy_init", "_lazy_call", "_sleep", "_is_in_bad_fork", "_get_device", "_CudaDeviceProperties")

_ATB = "torch_npu.op_plugin.atb._atb_ops"
_EXPORTS = "torch_npu._init.core._exports"
# The enumeration is compiled code; its members were read from a real import (see tests/target/dump_dispatcher.py).
# fmt: off
_DTYPES = (
    "bfloat16", "bool", "complex128", "complex32", "complex64", "float16", "float32", "float4_e1m2fn_x2",
    "float4_e2m1fn_x2", "float64", "float6_e2m3", "float6_e3m2", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu",
    "hifloat8", "int16", "int32", "int4", "int64", "int8", "string", "uint1", "uint16", "uint32", "uint64", "uint8",
)
# fmt: on


@dataclass
class Facts:
    """One release: a mapping for each table, in that table's letters."""

    operators: dict[str, str] = field(default_factory=dict)
    cuda: set[str] = field(default_factory=set)
    via: dict[str, str] = field(default_factory=dict)
    python: dict[str, str] = field(default_factory=dict)
    only: dict[str, str] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    custom: dict[str, str] = field(default_factory=dict)
    cuda_names: set[str] = field(default_factory=set)
    environment: dict[str, str] = field(default_factory=dict)
    errors: dict[str, dict[str, str]] = field(default_factory=dict)


def read_yaml(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """A YAML file, by the fast loader where there is one."""
    return yaml.load(path.read_bytes(), _LOADER)  # noqa: S506 - both loaders are safe ones


def derive(npu: Path, torch: Path, variables: Collection[str] = ()) -> Facts:
    """The facts in an unpacked torch_npu wheel and an unpacked torch wheel; ``variables`` are the known ones."""
    kernels = read_yaml(npu / PACKAGE / _BY_CODEGEN)
    found = Facts()
    add_operators(found, read_yaml(next(torch.rglob("native_functions.yaml"))), kernels["supported"])
    add_custom(found, kernels["custom"])
    add_names(found, Surface(npu))
    found.cuda_names = cuda_names(Surface(torch, "torch.cuda"))
    found.environment = environment.variables(npu / PACKAGE, variables)
    found.errors = errors.read(npu / PACKAGE)
    return found


def add_operators(
    found: Facts, listed: Iterable[Mapping[str, Any]], kernels: Iterable[str | Mapping[str, Any]]
) -> None:
    """Status, delegate and Python spelling of every aten overload."""
    every = aten.definitions(listed)
    found.operators = aten.statuses(every, {aten.overload(entry) for entry in kernels})
    found.cuda = aten.cuda_kernels(every)
    found.via = {name: one.via for name, one in every.items() if one.via}
    add_python(found, every)


def add_python(found: Facts, every: Mapping[str, aten.Definition]) -> None:
    """In which module of torch an operator's functions stand, and whether it is a function, a method, or both."""
    spelled: dict[str, tuple[str, set[str]]] = {}
    for name, one in every.items():
        if one.variants:
            spelled.setdefault(name.split(".")[0], (one.module, set()))[1].update(one.variants)
    found.python = {base: f"{module}:{''.join(sorted(variants))}" for base, (module, variants) in spelled.items()}
    found.only = {
        name: one.variants
        for name, one in every.items()
        if one.variants and not name.endswith("out") and set(one.variants) != spelled[name.split(".")[0]][1]
    }


def add_custom(found: Facts, kernels: Iterable[str | Mapping[str, Any]]) -> None:
    """torch_npu's own operators, each with what follows its name in the schema."""
    for entry in kernels:
        text = entry if isinstance(entry, str) else str(entry["func"])
        found.custom[aten.overload(entry)] = text[text.index("(") :].strip() if "(" in text else ""


def add_names(found: Facts, surface: Surface) -> None:
    """The names of the public modules, the members of their classes, and what is added at import."""
    for name in surface.files:
        if not _PUBLIC.match(name) or _INNER.match(name):
            continue
        module = surface.module(name)
        kept = {key: kind for key, kind in module.names.items() if _kept(name, key)} if module else {}
        found.names[name] = kept
        for owner, members in module.members.items() if module else ():
            if owner in kept and kept[owner] == "c":
                found.members[f"{name}.{owner}"] = {member for member in members if not member.startswith("_")}
    for target in surface.grafts():
        module_name, _, key = target.rpartition(".")
        if module_name in found.names:
            found.names[module_name].setdefault(key, FUNCTION)
    add_hidden_names(found, surface)


def add_hidden_names(found: Facts, surface: Surface) -> None:
    """Names that no module binds by a statement: operators of the ATB library, and data types of the C extension."""
    atb = surface.files.get(_ATB)
    lists = assigned_lists(atb) if atb else {}
    own = found.names.setdefault(PACKAGE, {})
    own.update(dict.fromkeys(lists.get("API_LIST", ()), OPERATOR))
    if "ATB_API_LIST" in lists:
        own["atb"] = MODULE
        found.names[f"{PACKAGE}.atb"] = dict.fromkeys(lists["ATB_API_LIST"], OPERATOR)
    exports = surface.files.get(_EXPORTS, surface.files[PACKAGE])
    if b"_cd.DType" in exports.read_bytes():
        own.update(dict.fromkeys(_DTYPES, DATA))


def _kept(module: str, name: str) -> bool:
    if name.startswith("__"):
        return False
    return not name.startswith("_") or module in _WITH_PRIVATE


def cuda_names(surface: Surface) -> set[str]:
    """The public names of ``torch.cuda`` and its modules, and the private ones that are in use."""
    found: set[str] = set()
    for name in surface.files:
        module = surface.module(name)
        if module is None or ("._" in name and not name.endswith(("._sanitizer", "._memory_viz"))):
            continue
        offered = module.exported or [key for key, kind in module.names.items() if kind in {"f", "c", "b"}]
        found.update(f"{name}.{key}" for key in offered if not key.startswith("_"))
        found.update(f"{name}.{key}" for key in _CUDA_PRIVATE if key in module.names)
        if name != surface.package:
            found.add(name)
    return found
