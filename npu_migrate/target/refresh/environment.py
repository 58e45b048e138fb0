"""Environment variables that a release reads: in its Python sources, or by name in its libraries."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A library holds its variables' names as plain strings; these beginnings keep everything else out.
_BEGIN = (
    rb"ACL|ACLNN|ASCEND|BMMV2|COMBINED|CPU_AFFINITY|DISABLED?|ENABLE|HCCL|HCOMM|INF_NAN|KINETO|LCCL|LOCAL|MULTI|MSMONITOR|"
    rb"NPU|NSLB|OOM|PERF|PROF|PYTORCH|RANK|RESUME|SHUT|SLOW|STREAMS|TASK_QUEUE|TORCH|TORCHNPU|TORCH_NPU"
)
_IN_LIBRARY = re.compile(rb"\x00((?:" + _BEGIN + rb")_[A-Z0-9_]{2,60})(?=\x00)")
_NAME = re.compile(r"[A-Z][A-Z0-9_]{3,}$")
_READERS = ("getenv", "get", "setdefault", "pop")

IN_PYTHON, IN_LIBRARY, IN_BOTH = "p", "S", "B"


def variables(package: Path) -> dict[str, str]:
    """Variable to letter: ``p`` Python, ``S`` library, ``B`` both."""
    python = {name for path in sorted(package.rglob("*.py")) for name in _read_in(path)}
    library = {
        match.decode()
        for path in sorted(package.rglob("*.so"))
        for match in _IN_LIBRARY.findall(path.read_bytes())
        if not match.startswith((b"ACL_ERROR", b"ACL_FORMAT", b"ACL_MEM", b"ASCEND_LOG_"))
    }
    found = dict.fromkeys(sorted(python | library), IN_BOTH)
    found.update(dict.fromkeys(python - library, IN_PYTHON))
    found.update(dict.fromkeys(library - python, IN_LIBRARY))
    return found


def _read_in(path: Path) -> Iterator[str]:
    source = path.read_bytes()
    if b"environ" not in source and b"getenv" not in source:
        return
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
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
