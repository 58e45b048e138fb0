"""Short ways to run the engine on text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.engine.run import migrate, migrate_text
from npu_migrate.engine.settings import Settings
from npu_migrate.target import load

if TYPE_CHECKING:
    from npu_migrate.model import FileResult


def settings(**options) -> Settings:
    return Settings(target=load(options.pop("torch_npu", "2.7.1")), **options)


def result(text: str | bytes, **options) -> FileResult:
    data = text.encode() if isinstance(text, str) else text
    return migrate_text("case.py", data, settings(**options))


def migrated(text: str | bytes, **options) -> str:
    found = result(text, **options)
    if not found.changed:
        return text if isinstance(text, str) else text.decode()
    return found.new.decode(found.encoding)


def tree(root, files: dict[str, str], **options) -> dict[str, FileResult]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return {found.path: found for found in migrate([root], settings(**options))}


def statuses(found: FileResult) -> list[tuple[int, str, str]]:
    return [(f.span.line, f.rule, f.status.value) for f in found.findings]
