"""``python -m npu_migrate.target.refresh.legacy 1.11.0.post15 TREE [OP_PLUGIN]``: a 1.x release from its sources.

The registry has no wheel of them. TREE is a checkout of torch_npu's branch (``v1.8.1``, ``v1.11.0``), which carries
torch's operator list of its time; OP_PLUGIN is the checkout that 1.11 names as its submodule.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_migrate.target import store, versions
from npu_migrate.target.refresh import aten, tables
from npu_migrate.target.refresh.facts import Facts, add_custom, add_names, add_python, read_yaml
from npu_migrate.target.refresh.surface import Surface

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_KERNEL = re.compile(r"NPUNativeFunctions::(\w+)\([^)]*\)\s*\{")
_LISTS = "torch_npu/csrc/aten/npu_native_functions.yaml"
_PLUGIN = "op_plugin/config/op_plugin_functions.yaml"
# Since 1.10 a structured operator has a default kernel that forwards to its out variant.
_FORWARDS_SINCE = (1, 10)


def derive(tree: Path, torch: str, plugin: Path | None = None) -> Facts:
    """The facts in a source tree."""
    lists = read_yaml(tree / _LISTS)
    every = aten.definitions(read_yaml(next(tree.glob("**/codegen/native_functions.yaml"))))
    if versions.key(torch)[0] < _FORWARDS_SINCE:
        every = {name: _not_forwarding(one) for name, one in every.items()}
    custom = [*lists["custom"], *lists.get("custom_autograd", [])]
    if plugin is None:
        native = _with_kernel(every, [*lists["supported"], *lists["autograd"]], tree / "torch_npu" / "csrc")
        fallback: Collection[str] | None = None
    else:
        functions, version = read_yaml(plugin / _PLUGIN), "v" + ".".join(torch.split(".")[:2])
        custom += _of_version(functions["custom"], version)
        chosen = [*lists["supported"], *lists["autograd"], *_of_version(functions["official"], version)]
        native = {aten.overload(entry) for entry in chosen}
        fallback = {aten.overload(entry) for entry in functions["tocpu"] if version in str(entry["version"])}
    found = Facts(operators=aten.statuses(every, native), cuda=aten.cuda_kernels(every))
    if fallback is not None:
        lost = {name for name, letter in found.operators.items() if letter in "Ff" and name not in fallback}
        found.operators.update({name: "X" if found.operators[name] == "F" else "x" for name in lost})
    found.via = {name: one.via for name, one in every.items() if one.via}
    add_python(found, every)
    add_custom(found, custom)
    add_names(found, Surface(tree))
    return found


def _not_forwarding(one: aten.Definition) -> aten.Definition:
    return replace(one, kind="kernel", via="") if one.via else one


def _with_kernel(every: Iterable[str], entries: Iterable[Any], sources: Path) -> set[str]:
    """Of the listed operators, those whose kernel is really in the sources: the list of 1.8 names nearly all."""
    kernels = {
        name
        for path in sorted(sources.rglob("*.cpp"))
        for name in _KERNEL.findall(path.read_text(encoding="utf-8", errors="replace"))
    }
    listed = {aten.overload(entry) for entry in entries}
    return {name for name in every if name in listed and _kernel(name) in kernels}


def _kernel(name: str) -> str:
    """``add_out`` for ``add.out`` and ``add.Tensor_out``; the base name otherwise."""
    base, _, overload = name.partition(".")
    return base + "_out" if overload == "out" or overload.endswith("_out") else base


def _of_version(entries: Iterable[Mapping[str, Any]], version: str) -> list[Mapping[str, Any]]:
    """The entries that a torch version has a kernel for."""
    chosen = []
    for entry in entries:
        said = " ".join(str(entry.get(key, "")) for key in ("acl_op", "op_api", "sparse"))
        if version in [one.strip() for one in re.split(r"[,\s\[\]']", said)] or "all_version" in said:
            chosen.append(entry)
    return chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """Read one source tree into the tables."""
    parser = argparse.ArgumentParser(prog="python -m npu_migrate.target.refresh.legacy", description=__doc__)
    parser.add_argument("release", help="the full version, as the tree's setup.py has it")
    parser.add_argument("tree", type=Path)
    parser.add_argument("plugin", type=Path, nargs="?")
    parser.add_argument("--source", default="", help="repository and commit, kept as the source")
    parser.add_argument("--into", type=Path, default=store.folder(), help="the folder of the tables")
    chosen = parser.parse_args(arguments)
    torch = versions.base(chosen.release)
    facts = derive(chosen.tree, torch, chosen.plugin)
    matrix = tables.read(chosen.into, "matrix")
    listed = matrix.get("rows", {}).get(chosen.release, {})
    row = {
        "torch": torch,
        "cann": listed.get("cann", ""),
        "listed": bool(listed),
        "python": matrix.get("python", {}).get(torch, []),
        "legacy": True,
        "source": chosen.source,
    }
    tables.lay_facts(chosen.into, chosen.release, row, facts)
    sys.stderr.write(f"{chosen.release}: {len(facts.operators)} operators, {len(facts.custom)} of its own\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
