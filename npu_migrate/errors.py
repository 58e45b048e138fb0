"""Trouble that the user can mend: always one line, never a traceback."""

from __future__ import annotations


class InputError(Exception):
    """Input that cannot be used.

    ``says`` names a sentence under ``[problem]`` of the command line's message table and ``facts`` fill it in, so that
    whoever shows the error chooses the language.
    """

    def __init__(self, says: str, **facts: object) -> None:
        """Keep the sentence's name and, as text, its facts."""
        super().__init__(says)
        self.says = says
        self.facts = {name: str(value) for name, value in facts.items()}

    def __str__(self) -> str:
        """Name and facts, for logs and test failures."""
        return f"{self.says}: " + ", ".join(f"{name}={value}" for name, value in self.facts.items())
