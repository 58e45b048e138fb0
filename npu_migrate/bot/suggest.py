"""Finds the rewrites that can be suggested: those of lines that the pull request adds and shows unchanged."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

from npu_migrate.bot.model import Line, Suggestion, Touched
from npu_migrate.gate import hunks
from npu_migrate.model import Status
from npu_migrate.packs import REVIEWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from npu_migrate.bot.model import Audit
    from npu_migrate.gate.hunks import Hunk
    from npu_migrate.packs import Registry


MOST_LINES = 80


def touched(path: str, patch: str, old_path: str = "") -> Touched:
    """The lines of one file's patch that stand on its new side."""
    lines: dict[int, Line] = {}
    # The first line below the first head of a hunk is position 1; further heads count as well.
    for position, line in enumerate(hunks.lines(patch)):
        if line.mark in (hunks.COME, hunks.KEPT):
            lines[line.new] = Line(line.text, line.mark == hunks.COME, position, line.old)
    return Touched(path, old_path or path, lines)


def suggestions(audit: Audit, files: Mapping[str, Touched], rules: Registry) -> list[Suggestion]:
    """What can be suggested, the most trustworthy first."""
    reviews = {rule.code: rule.review for rule in rules.all()}
    seen: Counter[str] = Counter()
    found = []
    for path, changes in sorted(audit.changes.items()):
        if path not in files:
            continue
        sites = [site for site in audit.sites if site.path == path and site.status == Status.REWRITTEN.value]
        for hunk in changes:
            here = files[path]
            fits = _anchored(hunk, here)
            if fits is None:
                continue
            mine = tuple(site for site in sites if hunk.touches(site.line, site.end_line))
            key = _key(path, fits, seen)
            review = max((reviews.get(site.rule, REVIEWS[-1]) for site in mine), key=REVIEWS.index, default=REVIEWS[0])
            found.append(Suggestion(key, here, fits.first, fits.last, fits.old, fits.new, mine, review))
    return sorted(found, key=lambda one: (REVIEWS.index(one.review), one.touched.path, one.first))


def beside(audit: Audit, files: Mapping[str, Touched], found: Sequence[Suggestion]) -> list[tuple[str, int, str]]:
    """The lines (imports, above all) that the suggestions need and that cannot be suggested: path, line, text."""
    paths = sorted({one.touched.path for one in found})
    return [
        (path, hunk.first, text)
        for path in paths
        for hunk in audit.changes[path]
        if not hunk.old and _anchored(hunk, files[path]) is None
        for text in hunk.new
    ]


def _anchored(hunk: Hunk, here: Touched) -> Hunk | None:
    """The change, if all that it replaces is added by the pull request and reads there as it did for us."""
    return next((fits for fits in _spellings(hunk, here) if _applies(fits, here)), None)


def _applies(hunk: Hunk, here: Touched) -> bool:
    if not here.adds(hunk.first, hunk.last) or len(hunk.old) + len(hunk.new) > MOST_LINES:
        return False
    if any("\r" in text for text in (*hunk.old, *hunk.new)):
        return False  # what becomes of such line ends differs from place to place
    return all(here.lines[number].text == text for number, text in enumerate(hunk.old, hunk.first))


def _spellings(hunk: Hunk, here: Touched) -> Iterator[Hunk]:
    """A suggestion replaces lines: one that only adds some takes a neighbour along."""
    if hunk.old:
        yield hunk
        return
    above, below = here.lines.get(hunk.first - 1), here.lines.get(hunk.first)
    if above:
        yield hunk._replace(first=hunk.first - 1, old=(above.text,), new=(above.text, *hunk.new))
    if below:
        yield hunk._replace(old=(below.text,), new=(*hunk.new, below.text))


def _key(path: str, hunk: Hunk, seen: Counter[str]) -> str:
    content = json.dumps([path, hunk.old, hunk.new])
    seen[content] += 1
    return hashlib.sha256(f"{content}{seen[content]}".encode("ascii")).hexdigest()[:24]
