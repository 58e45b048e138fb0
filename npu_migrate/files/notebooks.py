"""Jupyter notebooks: cells are texts of their own, numbered from 1 over all cells."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from npu_migrate.files import environment, json_values, marks
from npu_migrate.files.embedded import python_text
from npu_migrate.files.pins import Pins
from npu_migrate.files.shell import Shell
from npu_migrate.files.sites import TIE, Sites

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPE = re.compile(r"\\.", re.DOTALL)
_PLAIN = {'\\"': ' "', "\\n": "  ", "\\t": "  "}
_PYTHON_MAGICS = {"time", "timeit", "capture", "prun", "memit", "mprun", "lprun"}
_SHELL_MAGICS = {"bash", "sh", "script", "cmd", "system", "!"}
_CELL_MAGIC = re.compile(r"\s*%%(\w+|!)[^\r\n]*")
_LINE_MAGIC = re.compile(r"^[ \t]*(?:[\w, ]+=[ \t]*)?([!%])(!?)([^\r\n]*)", re.MULTILINE)
_SHELL_LINE = re.compile(r"(?:pip3?|conda|mamba|sx|system|bash|sh|uv)\b")
_ENVIRONMENT = re.compile(r"(?:set_)?env\s+([A-Za-z_]\w*)(?:\s*=\s*|\s+)?")


class Cell(NamedTuple):
    """One cell of a notebook."""

    number: int
    source: str
    is_python: bool
    kind: str
    output: str


def cells(text: str) -> list[Cell]:
    """Read the cells of a notebook; none where the text is no notebook.

    ``is_python`` holds for code cells of a Python notebook whose source the engine may rewrite: cells under a cell
    magic of another language are not.
    """
    return _cells(_load(text))


def _load(text: str) -> Any:  # noqa: ANN401 -- whatever a broken notebook holds
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _cells(book: Any) -> list[Cell]:  # noqa: ANN401 -- whatever a broken notebook holds
    raw = book.get("cells") if isinstance(book, dict) else None
    if raw is None and isinstance(book, dict):
        sheets = book.get("worksheets")
        raw = [cell for sheet in _dicts(sheets) for cell in _dicts(sheet.get("cells"))]
    python = _language(book) in {"python", ""}
    return [_cell(number, cell, python=python) for number, cell in enumerate(_dicts(raw), 1)]


def code_cells(text: str) -> Iterator[tuple[int, str, bool]]:
    """Walk the code cells: number, source, and whether the source is Python."""
    for cell in cells(text):
        if cell.kind == "code":
            yield cell.number, cell.source, cell.is_python


def _dicts(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 -- whatever a broken notebook holds
    return [entry if isinstance(entry, dict) else {} for entry in value] if isinstance(value, list) else []


def _joined(value: Any) -> str:  # noqa: ANN401 -- whatever a broken notebook holds
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _language(book: Any) -> str:  # noqa: ANN401 -- whatever a broken notebook holds
    metadata = book.get("metadata") if isinstance(book, dict) else None
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        found = metadata.get(section) if isinstance(metadata, dict) else None
        if isinstance(found, dict) and isinstance(found.get(key), str):
            return str(found[key]).lower()
    return ""


def _cell(number: int, cell: dict[str, Any], *, python: bool) -> Cell:
    kind = str(cell.get("cell_type", ""))
    source = _joined(cell.get("source", cell.get("input")))
    magic = _CELL_MAGIC.match(source)
    is_python = kind == "code" and python and (magic is None or magic.group(1) in _PYTHON_MAGICS)
    output = _dump([cell.get("outputs"), cell.get("metadata"), cell.get("attachments")])
    return Cell(number, source, is_python, kind, output)


def _dump(value: Any) -> str:  # noqa: ANN401 -- whatever a broken notebook holds
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "cuda"  # too deep to be read: better one word too many than one overlooked


def scan(sites: Sites, kind: str) -> None:
    """Read a notebook cell by cell; a broken one as the lines it has."""
    del kind
    book = _load(sites.text)
    found = _cells(book)
    if not found:
        _broken(sites)
        return
    for cell in found:
        inner = sites.cell(cell.source, cell.number)
        whole = (0, len(cell.source))
        if cell.kind != "code":
            inner.stay(whole, marks.STAY_TEXT)
        else:
            _code(inner, cell)
        tie = TIE.search(cell.output)
        if tie:
            inner.add((0, 0), marks.STAY_OUTPUT, tie.group(), word=tie.group())
        sites.take(inner)
    if TIE.search(_dump(book.get("metadata"))):
        tie = TIE.search(sites.text, sites.text.rfind('"metadata"')) or TIE.search(sites.text)
        if tie:
            sites.add(tie.span(), marks.STAY_OUTPUT, tie.group(), word=tie.group())


def _broken(sites: Sites) -> None:
    """Take every JSON string for code; escapes become spaces, so that places stay what they are."""
    inner = sites.copy(_ESCAPE.sub(lambda escape: _PLAIN.get(escape.group(), escape.group()), sites.text))
    for string in json_values.STRING.finditer(sites.text):
        if TIE.search(string.group(1)):
            python_text(inner, string.span(1))
    sites.take(inner)
    sites.stay((0, len(sites.text)), marks.STAY_TEXT)


def _code(sites: Sites, cell: Cell) -> None:
    whole = (0, len(cell.source))
    shell = Shell(sites, Pins(sites))
    magic = _CELL_MAGIC.match(cell.source)
    if magic and magic.group(1) in _SHELL_MAGICS:
        shell.scan((magic.end(), whole[1]))
    elif cell.is_python:
        for line in _LINE_MAGIC.finditer(cell.source):
            _magic(sites, shell, line)
        if TIE.search(cell.source):
            python_text(sites, whole)
    else:
        sites.stay(whole, marks.STAY_TEXT)
    sites.stay(whole, marks.STAY_NAME)


def _magic(sites: Sites, shell: Shell, line: re.Match[str]) -> None:
    span = line.span(3)
    variable = _ENVIRONMENT.match(line.group(3)) if line.group(1) == "%" else None
    if variable:
        environment.assigned(sites, span, variable.group(1), line.group(3)[variable.end() :])
    elif line.group(1) == "!" or _SHELL_LINE.match(line.group(3)):
        shell.scan(span)
    elif re.split(r"\W", line.group(3), maxsplit=1)[0] in _PYTHON_MAGICS:
        python_text(sites, span)
    sites.stay(span, marks.STAY_NAME)
