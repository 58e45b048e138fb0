"""What every ``rules`` command takes."""

from __future__ import annotations

from pathlib import Path

import click

from npu_migrate.cli.base import option
from npu_migrate.wording import LANGUAGES

pack = option("--rules", "extra", metavar="DIR", multiple=True, type=click.Path(path_type=Path), words="rules")
lang = option("--lang", type=click.Choice(LANGUAGES))
