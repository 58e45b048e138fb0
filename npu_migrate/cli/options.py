"""The main job's options, merged and checked: the command line first, then the tree's settings, then defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from click.core import ParameterSource

from npu_migrate import config
from npu_migrate.engine.scan import MAX_BYTES, reads, root_of
from npu_migrate.errors import InputError
from npu_migrate.report.writers import for_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import click


EXCLUSIVE = (
    ("apply", "output"),
    ("quiet", "verbose"),
    # A rewrite is of a whole file, a baseline of a whole tree.
    ("diff_base", "apply"),
    ("diff_base", "output"),
    ("diff_base", "write_baseline"),
)


@dataclass(frozen=True)
class Options:
    """What the user wants, by the names of the options."""

    apply: bool
    output: Path | None
    force: bool
    torch_npu: str | None
    style: str
    imports: str
    safety: str
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    rules: tuple[Path, ...]
    diff: bool
    report: tuple[Path, ...]
    rehearsal: Path | None
    trace: Path | None
    format: str
    check: bool
    baseline: Path | None
    write_baseline: bool
    diff_base: str | None
    lang: str | None
    quiet: bool
    verbose: bool
    jobs: int | None
    exclude: tuple[str, ...] = ()
    max_bytes: int = MAX_BYTES
    pin_memory: str = "auto"

    @property
    def mode(self) -> str:
        """What the report calls this run."""
        return "apply" if self.apply else "output" if self.output else "dry-run"


def merge(ctx: click.Context, given: Mapping[str, Any], root: Path) -> Options:
    """Put the tree's settings under what was typed.

    Raises:
        InputError: the settings are wrong, options exclude each other, or a report cannot be written.
    """
    typed = {name for name in given if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT}
    settings = {name: value for name, value in config.load(root).items() if name not in typed}
    options = Options(**{**given, **settings})
    for one, other in EXCLUSIVE:
        if getattr(options, one) and getattr(options, other):
            raise InputError(says="exclusive", one=_flag(one), other=_flag(other))
    for path in options.report:
        for_file(path)
        if not path.parent.is_dir():
            raise InputError(says="report-folder", path=path)
    return options


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def check_kinds(paths: Sequence[Path]) -> None:
    """Say so where nothing of what was named would be read: "no CUDA found" is another answer.

    Raises:
        InputError: there are only files of kinds that are not read.
    """
    if not any(path.is_dir() or reads(path) for path in paths):
        raise InputError(says="not-read", path=paths[0])


def tree(paths: Sequence[Path], commands: Sequence[str]) -> tuple[Path, tuple[str, ...]]:
    """The root that paths of findings count from, and which paths below it were asked for (none: all of it).

    Raises:
        InputError: a path does not exist, or is neither file nor folder.
    """
    for path in paths:
        if not path.exists():
            raise InputError(says="no-path-command" if str(path) in commands else "no-path", path=path)
        if not (path.is_dir() or path.is_file()):
            raise InputError(says="not-a-tree", path=path)
        if path.is_dir():
            next(path.iterdir(), None)  # a folder that may not be read is the user's to mend, not an empty tree
    root = root_of(paths).resolve()
    inside = (path.resolve() if path.is_dir() else path.parent.resolve() / path.name for path in paths)
    only = tuple(path.relative_to(root).as_posix() for path in inside)
    return root, () if "." in only else only
