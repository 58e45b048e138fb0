"""What other stages have to say, in the language of the user."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from npu_migrate.errors import InputError
from npu_migrate.patch.messages import sentence
from npu_migrate.patch.model import PatchError
from npu_migrate.target import UnknownRelease
from npu_migrate.target.choice import messages
from npu_migrate.wording import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.target import Choice


@contextmanager
def told(lang: str) -> Iterator[None]:
    """Turn the refusals of the patch and target stages into the command line's own."""
    try:
        yield
    except PatchError as error:
        raise click.UsageError(sentence(error, lang)) from error
    except UnknownRelease as error:
        near = ", ".join(error.near)
        raise InputError(says="unknown-release", version=error.version, near=near) from error


def reasons(choice: Choice, lang: str) -> list[str]:
    """Why this release is the target, and what to know about it."""
    texts = (choice.reason, choice.remark)
    return [fill(messages()[text.key][lang], dict(text.facts)) for text in texts if text]
