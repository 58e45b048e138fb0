"""How an emulation says which operator it stands for."""

from __future__ import annotations

from typing import Callable, TypeVar

from npu_migrate.rehearse.interface import Value

Body = TypeVar("Body", bound=Callable[..., Value])
emulations: dict[str, Callable[..., Value]] = {}
"""Operator schema to its emulation in plain torch."""


def emulates(schema: str) -> Callable[[Body], Body]:
    """Mark a function as the emulation of ``npu::`` + schema."""

    def mark(body: Body) -> Body:
        emulations[schema] = body
        return body

    return mark
