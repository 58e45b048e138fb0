"""The report formats that exist; a format's module is loaded when it is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from npu_migrate.packs import Registry
    from npu_migrate.report.model import Report


class Writer(NamedTuple):
    """One format.

    Its module has ``render(report, rules, lang) -> str``. ``suffix`` chooses it for ``--report`` (None: it is no file
    format); ``stdout`` says whether ``--format`` offers it, ``operators`` whether it tells which the tree uses.
    """

    module: str
    suffix: str | None = None
    stdout: bool = False
    operators: bool = False

    def render(self, report: Report, rules: Registry, lang: str) -> str:
        """The report in this format."""
        text: str = importlib.import_module(self.module).render(report, rules, lang)
        return text


WRITERS = {
    "json": Writer("npu_migrate.report.json_report", ".json", stdout=True, operators=True),
    "md": Writer("npu_migrate.report.markdown", ".md", stdout=True, operators=True),
    "html": Writer("npu_migrate.report.html", ".html", operators=True),
    "sarif": Writer("npu_migrate.report.sarif", ".sarif", stdout=True),
    "csv": Writer("npu_migrate.report.csv_report", ".csv"),
    "github": Writer("npu_migrate.report.github", stdout=True),
    "gitlab": Writer("npu_migrate.gate.gitlab", ".gitlab.json", stdout=True),
}
FORMATS = tuple(name for name, writer in WRITERS.items() if writer.stdout)
SUFFIXES = tuple(writer.suffix for writer in WRITERS.values() if writer.suffix)


def for_file(path: Path) -> Writer:
    """The format that a report's suffix asks for.

    Raises:
        InputError: no format that exists has this suffix.
    """
    name = path.name.lower()
    fits = [writer for writer in WRITERS.values() if writer.suffix and name.endswith(writer.suffix)]
    if fits:
        return max(fits, key=lambda writer: len(writer.suffix or ""))
    raise InputError(says="report-suffix", path=path, known=", ".join(SUFFIXES))


def tells_operators(paths: Iterable[Path], chosen: str) -> bool:
    """Whether one of the reports asked for tells which operators the tree uses; finding them out takes time."""
    writers = [for_file(path) for path in paths]
    return any(writer.operators for writer in [*writers, *(WRITERS[name] for name in (chosen,) if name in WRITERS)])


def encode(text: str) -> bytes:
    """A report's bytes; file names that are no text keep a readable stand-in, which is valid JSON too."""
    return text.encode("utf-8", "backslashreplace")
