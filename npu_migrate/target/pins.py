"""The torch version that a tree asks for, read from the usual files; none of them is executed."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from npu_migrate.target import versions
from npu_migrate.trees import walk

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_REQUIREMENT = re.compile(
    r"""(?<![\w./-])(?:torch|pytorch)\s*(?:\[[\w,\s-]*\])?\s*\(?\s*
    (?P<spec>(?:~=|===?|>=|<=|!=|>|<|=)\s*v?[\w.*+]+(?:\s*,\s*(?:~=|===?|>=|<=|!=|>|<)\s*v?[\w.*+]+)*)""",
    re.VERBOSE,
)
_CLAUSE = re.compile(r"(~=|===?|>=|<=|!=|>|<|=)\s*v?([\w.*+]+)")
_IMAGE = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*\S*pytorch/pytorch:v?(\d+\.\d+(?:\.\d+)?)", re.IGNORECASE)


@dataclass(frozen=True)
class Pin:
    """One statement about torch's version: ``torch>=1.8,<2.1`` in ``requirements.txt``, line 12."""

    spec: str
    file: str
    line: int

    def allows(self, version: str) -> bool:
        """Whether a torch version satisfies every clause."""
        return all(_allows(operator, wanted, version) for operator, wanted in _CLAUSE.findall(self.spec))

    @property
    def series(self) -> str:
        """``2.1`` of ``==2.1.2``; empty where the pin names no single version."""
        exact = [wanted for operator, wanted in _CLAUSE.findall(self.spec) if operator in ("==", "===", "=", "~=")]
        numbers = exact[0].partition("+")[0].split(".") if len(exact) == 1 else []
        return ".".join(numbers[:2]) if len(numbers) > 1 and all(n.isdecimal() for n in numbers[:2]) else ""


def _allows(operator: str, wanted: str, version: str) -> bool:
    text = wanted.partition("+")[0]
    numbers = text.rstrip("*").rstrip(".")
    if not versions.is_version(numbers):
        return True  # a clause that says nothing which can be checked rules nothing out
    if operator == "~=":
        return versions.key(version) >= versions.key(numbers) and _begins(version, numbers.rpartition(".")[0])
    if operator == "=" or text.endswith("*"):
        return _begins(version, numbers) != (operator == "!=")
    have, want = versions.key(version), versions.key(numbers)
    return {
        "==": have == want,
        "===": have == want,
        "!=": have != want,
        ">=": have >= want,
        "<=": have <= want,
        ">": have > want,
        "<": have < want,
    }[operator]


def _begins(version: str, numbers: str) -> bool:
    return (version + ".").startswith(numbers + ".")


def pins(root: Path) -> list[Pin]:
    """Every pin of a tree, the most deliberate files first; for a single file, those beside it."""
    folder = root if root.is_dir() else root.parent
    found: list[Pin] = []
    for pattern, read in _READERS:
        if folder != root and "/" in pattern:
            continue
        for path in sorted(folder.glob(pattern)):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                found += [Pin(spec, name, line) for spec, line in _safely(read, path)]
    return found


def _safely(read: Callable[[str], Iterator[tuple[str, int]]], path: Path) -> list[tuple[str, int]]:
    try:
        return list(read(path.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError, SyntaxError, configparser.Error, RecursionError):
        return []  # a file that cannot be read says nothing about torch; it is reported where it is migrated


def _spec(text: str) -> str:
    """``>=1.8,<2.1`` of ``torch >= 1.8, < 2.1 ; python_version < "3.9"``."""
    match = _REQUIREMENT.match(text.partition("#")[0].strip().strip("'\""))
    return re.sub(r"\s+", "", match["spec"]) if match else ""


def _lines(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        spec = _spec(line.strip().removeprefix("- "))
        if spec:
            yield spec, number


def _docker(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        image = _IMAGE.match(line)
        if image:
            yield "==" + image[1] + ("" if image[1].count(".") == len("..") else ".*"), number
        elif not line.lstrip().startswith("#"):
            yield from ((re.sub(r"\s+", "", match["spec"]), number) for match in _REQUIREMENT.finditer(line))


def _strings(text: str) -> Iterator[tuple[str, int]]:
    for node in walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            spec = _spec(node.value)
            if spec:
                yield spec, node.lineno


def _ini(text: str) -> Iterator[tuple[str, int]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    required = parser.get("options", "install_requires", fallback="")
    required += "\n".join(parser["options.extras_require"].values() if "options.extras_require" in parser else ())
    for spec, _ in _lines(required):
        yield spec, next((n for n, line in enumerate(text.splitlines(), 1) if _spec(line) == spec), 1)


def _toml(text: str) -> Iterator[tuple[str, int]]:
    parsed = tomllib.loads(text)
    poetry = parsed.get("tool", {}).get("poetry", {}).get("dependencies", {})
    specs = [_poetry(poetry.get("torch"))] if isinstance(poetry, dict) else []
    specs += [_spec(one) for one in _texts([parsed.get("project", {}), parsed.get("dependency-groups", {})])]
    for spec in specs:
        if spec:
            yield spec, next((n for n, line in enumerate(text.splitlines(), 1) if "torch" in line), 1)


def _poetry(value: Any) -> str:  # noqa: ANN401 - a string or a table, as the user wrote it
    """Poetry's ``^2.1`` and ``2.1.0`` in the words of everybody else."""
    text = value.get("version", "") if isinstance(value, dict) else value
    if not isinstance(text, str):
        return ""
    if text.startswith("^"):
        return f">={text[1:]},<{int(text[1:].partition('.')[0]) + 1}"
    return text.replace("~", "~=") if text.startswith("~") and "=" not in text else _bare(text)


def _bare(text: str) -> str:
    return "==" + text if versions.is_version(text) else re.sub(r"\s+", "", text) if _CLAUSE.match(text) else ""


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any TOML value
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


_READERS: tuple[tuple[str, Callable[[str], Iterator[tuple[str, int]]]], ...] = (
    ("pyproject.toml", _toml),
    ("requirements*.txt", _lines),
    ("requirements/*.txt", _lines),
    ("setup.cfg", _ini),
    ("setup.py", _strings),
    ("environment*.y*ml", _lines),
    ("Dockerfile*", _docker),
    ("docker/Dockerfile*", _docker),
    ("*/Dockerfile", _docker),
)
