"""What the tests of all forges share."""

from __future__ import annotations


def applied(project, takes):
    """The files after all suggestions were taken over, the last lines first."""
    files = {}
    for path, first, last, new in sorted(takes, key=lambda take: -take[2]):
        lines = files.setdefault(path, project.lines(path))
        lines[first - 1 : last] = new
    return {path: "\n".join(lines) for path, lines in files.items()}
