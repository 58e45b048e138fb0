"""A name for each site by what stands there, so that it is known again after its line has moved."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npu_migrate.model import Finding
    from npu_migrate.report.model import Report

_LENGTH = 16


def fingerprints(report: Report) -> list[str]:
    """One for each finding, in the order of ``report.findings``.

    It holds the rule, what stands at the site, the line around it (white space apart), and a number where a file has
    the same several times; neither the path nor the place nor any wording.
    """
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for finding in report.findings:
        digest = _digest(finding, report.line_of(finding))
        number = seen[finding.path, digest]
        seen[finding.path, digest] += 1
        found.append(f"{digest}:{number}")
    return found


def _digest(finding: Finding, line: str) -> str:
    content = (finding.rule, finding.before or finding.symbol, line)
    data = "\0".join(" ".join(text.split()) for text in content)
    return hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
