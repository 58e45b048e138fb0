"""Environment variables that a release reads: in its Python sources, or by name in its libraries."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.target.refresh.sources import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

# A library holds its variables' names as plain strings, among many others. Known names are looked for as such; these
# beginnings find new ones.
_NEW = re.compile(r"(?:ASCEND|HCCL|HCOMM|PYTORCH_NPU|TORCH_HCCL|TORCH_NPU)_[A-Z0-9_]{3,}$")
_NO_VARIABLE = ("ASCEND_LOG_", "TORCH_NPU_SAFE_")
_IN_LIBRARY = re.compile(rb"([A-Z][A-Z0-9_]{3,60})\x00")
# Linkers let a string end inside a longer one.
_LONG_ENOUGH = 10
_NAME = re.compile(r"[A-Z][A-Z0-9_]{3,}$")
_READERS = ("getenv", "get", "setdefault", "pop")

IN_PYTHON, IN_LIBRARY, IN_BOTH = "p", "S", "B"


def variables(package: Path, known: Collection[str] = ()) -> dict[str, str]:
    """Variable to letter: ``p`` Python, ``S`` library, ``B`` both."""
    python = {name for path in sorted(package.rglob("*.py")) for name in _read_in(path)}
    strings = {
        match.decode() for path in sorted(package.rglob("*.so")) for match in _IN_LIBRARY.findall(path.read_bytes())
    }
    library = {name for name in strings if _NEW.match(name) and not name.startswith(_NO_VARIABLE)}
    library.update(strings.intersection({*known, *python}))
    library.update(
        name
        for name in {*known, *python}
        if len(name) >= _LONG_ENOUGH and any(string.endswith("_" + name) for string in strings)
    )
    found = dict.fromkeys(sorted(python | library), IN_BOTH)
    found.update(dict.fromkeys(python - library, IN_PYTHON))
    found.update(dict.fromkeys(library - python, IN_LIBRARY))
    return found


def _read_in(path: Path) -> Iterator[str]:
    source = path.read_bytes()
    if b"environ" not in source and b"getenv" not in source:
        return
    for node in ast.walk(parse(source)):
        name = _variable(node)
        if name and _NAME.match(name):
            yield name


def _variable(node: ast.AST) -> str:
    """The name in ``os.getenv("X")``, ``os.environ.get("X")``, ``os.environ["X"]`` and ``"X" in os.environ``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READERS and node.args:
        owner = ast.unparse(node.func.value)
        if owner == "os.environ" or (owner == "os" and node.func.attr == "getenv"):
            return _text(node.args[0])
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
        return _text(node.slice)
    if isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "os.environ":
        return _text(node.left)
    return ""


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
