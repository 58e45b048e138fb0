"""Reads ``[tool.npu-migrate]`` of a tree's ``pyproject.toml``."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Callable

from npu_migrate import tomlfile
from npu_migrate.engine.settings import IMPORTS, PIN_MEMORY, STYLES
from npu_migrate.errors import InputError
from npu_migrate.model import Safety
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

TABLE = "npu-migrate"


class ConfigError(InputError):
    """A setting that does not exist or has a value of the wrong kind."""


class _Kind:
    """What a setting may hold, and an example of it for the error line."""

    def __init__(self, fits: Callable[[Any], bool], example: str) -> None:
        self.fits = fits
        self.example = example


def _one_of(*choices: str) -> _Kind:
    return _Kind(lambda value: value in choices, " | ".join(f'"{choice}"' for choice in choices))


def _stays_inside(path: str) -> bool:
    parts = PurePosixPath(path.replace("\\", "/")).parts
    return ".." not in parts and not PurePosixPath(path).is_absolute() and not PureWindowsPath(path).drive


_FLAG = _Kind(lambda value: isinstance(value, bool), "true | false")
_TEXT = _Kind(lambda value: isinstance(value, str) and bool(value), '"…"')
_TEXTS = _Kind(lambda value: isinstance(value, list) and all(map(_TEXT.fits, value)), '["…", "…"]')
_INSIDE = _Kind(lambda value: _TEXT.fits(value) and _stays_inside(value), '"npu-baseline.json"')
_NUMBER = _Kind(lambda value: type(value) is int and value > 0, "1, 2, …")

SETTINGS: Mapping[str, _Kind] = {
    "baseline": _INSIDE,
    "check": _FLAG,
    "diff": _FLAG,
    "exclude": _TEXTS,
    "ignore": _TEXTS,
    "imports": _one_of(*IMPORTS),
    "jobs": _NUMBER,
    "lang": _one_of(*LANGUAGES),
    "max-bytes": _NUMBER,
    "pin-memory": _one_of(*PIN_MEMORY),
    "quiet": _FLAG,
    "safety": _one_of(*(safety.value for safety in Safety)),
    "select": _TEXTS,
    "style": _one_of(*STYLES),
    "torch-npu": _TEXT,
    "verbose": _FLAG,
}

# A tree is somebody else's: it may say how it wants to be read, not what is written or which code is run.
COMMAND_LINE_ONLY = (
    "apply",
    "diff-base",
    "force",
    "format",
    "output",
    "rehearsal",
    "trace",
    "report",
    "rules",
    "write-baseline",
)


def load(root: Path) -> dict[str, Any]:
    """Settings of the tree by the names of the options, with ``_``; none where it has no table.

    Raises:
        InputError: the file is no TOML, or a setting is unknown or of the wrong kind.
    """
    for path in _places(root):
        table = _table(path)
        if table is not None:
            settings = dict(_checked(path, table))
            if "baseline" in settings:
                settings["baseline"] = path.parent / settings["baseline"]
            return settings
    return {}


def _places(root: Path) -> Iterator[Path]:
    """The root's ``pyproject.toml``, then, inside a repository, those above it up to the repository's top."""
    folders: Sequence[Path] = (root, *root.parents)
    top = next((index for index, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    for folder in folders[: top + 1]:
        path = folder / "pyproject.toml"
        if path.is_file():
            yield path


def _table(path: Path) -> Mapping[str, Any] | None:
    tool = tomlfile.read(path).get("tool", {})
    table = tool.get(TABLE) if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(says="config-type", path=path, key="tool." + TABLE, example="[tool.npu-migrate]")
    return table


def _checked(path: Path, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = key.replace("_", "-")
        if name in COMMAND_LINE_ONLY:
            raise ConfigError(says="config-command-line", path=path, key=key)
        if name not in SETTINGS:
            near = get_close_matches(name, SETTINGS, 1)
            raise ConfigError(
                says="config-unknown-near" if near else "config-unknown", path=path, key=key, near=", ".join(near)
            )
        if not SETTINGS[name].fits(value):
            raise ConfigError(says="config-type", path=path, key=key, example=SETTINGS[name].example)
        yield name.replace("-", "_"), tuple(value) if isinstance(value, list) else value
