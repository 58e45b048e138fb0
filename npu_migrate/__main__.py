"""``python -m npu_migrate``, and the console script."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Run the command line."""
    _leave_the_working_folder()
    for stream in (sys.stdout, sys.stderr):
        # A file name or a Chinese word that this terminal cannot show must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    from npu_migrate.cli.main import cli  # noqa: PLC0415 - nothing may be imported before the line above has run

    cli()


def _leave_the_working_folder() -> None:
    """Import nothing from the tree being migrated: ``-m`` puts the working folder first on the path."""
    home = str(Path(__file__).resolve().parent.parent)
    if sys.path and sys.path[0] in ("", str(Path.cwd())):
        del sys.path[0]
    if home not in sys.path:
        sys.path.append(home)


if __name__ == "__main__":
    main()
