"""Error codes of a release: the names of the ACL codes in its headers, and the scheme of its own codes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from npu_migrate.target.refresh.sources import parse

if TYPE_CHECKING:
    from pathlib import Path

_CONSTANT = re.compile(r"^\s*(?:static )?const\s+(?:u?int32_t|int)\s+(ACL_ERROR_\w+)\s*=\s*(\d+)U?\s*;", re.MULTILINE)
_SUBMODULES, _CODES = "_SubModuleID", "ErrCode"


def member(name: str) -> bool:
    """The files of the wheel that hold error codes."""
    return name.endswith(".h") and "/acl/" in name


def read(package: Path) -> dict[str, dict[str, str]]:
    """``acl``: number to constant; ``part`` and ``kind``: the two halves of ERR01007."""
    found: dict[str, dict[str, str]] = {"acl": {}, "part": {}, "kind": {}}
    for path in sorted((package / "include").rglob("acl/**/*.h")):
        text = path.read_text(encoding="utf-8", errors="replace")
        found["acl"].update({number: name for name, number in _CONSTANT.findall(text) if number != "0"})
    scheme = package / "utils" / "_error_code.py"
    if scheme.is_file():
        for node in parse(scheme.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and node.name in {_SUBMODULES, _CODES}:
                key, width = ("part", 2) if node.name == _SUBMODULES else ("kind", 3)
                found[key].update({f"{number:0{width}}": name for name, number in _numbers(node)})
    return {key: dict(sorted(codes.items())) for key, codes in found.items()}


def _numbers(node: ast.ClassDef) -> list[tuple[str, int]]:
    """The members of an enumeration whose values are numbers, or tuples that begin with one."""
    members = []
    for item in node.body:
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            value: Any = ast.literal_eval(item.value)
            members.append((item.targets[0].id, value[0] if isinstance(value, tuple) else value))
    return members
