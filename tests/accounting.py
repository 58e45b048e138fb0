"""Total accounting, independent of the engine: every name and string about CUDA must lie inside some finding.

Shares nothing with ``npu_migrate``: its own walk, its own tokens, and the JSON report as users get it.

    python tests/accounting.py TREE REPORT.json

prints what is unaccounted for and exits with 1 if there is anything.
"""

from __future__ import annotations

import io
import json
import re
import sys
import tokenize
from pathlib import Path

WORDS = re.compile("cuda|nccl|cudnn", re.IGNORECASE)
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
LINE_KINDS = {
    ".yaml",
    ".yml",
    ".json",
    ".toml",
    ".ini",
    ".cfg",
    ".sh",
    ".bash",
    ".cu",
    ".cuh",
    ".cpp",
    ".cc",
    ".h",
    ".hpp",
}

Place = "tuple[str, int, int, str]"


def tokens(path: str, data: bytes) -> list[Place]:
    """Names and strings of a Python file with such a word: path, line, column (1-based), the word."""
    found = []
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = data.decode(encoding)
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type != tokenize.NAME and token.type not in STRINGS:
            continue
        for match in WORDS.finditer(token.string):
            before = token.string[: match.start()]
            line = token.start[0] + before.count("\n")
            column = match.start() - before.rfind("\n") if "\n" in before else token.start[1] + match.start() + 1
            found.append((path, line, column, match[0]))
    return found


def lines(path: str, data: bytes) -> list[Place]:
    """Lines with such a word, for what is not (valid) Python; a comment's line is nobody's site."""
    text = data.decode("utf-8", "replace")
    numbered = enumerate(re.split(r"\r\n|\r|\n", text), 1)
    return [
        (path, n, 0, line.strip()) for n, line in numbered if WORDS.search(line) and not line.lstrip().startswith("#")
    ]


def sites(tree: Path) -> list[Place]:
    """All sites of a tree, by the file's name alone."""
    found = []
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_symlink() or not path.is_file() or ".git/" in name or "node_modules/" in name:
            continue
        if path.suffix == ".py":
            data = path.read_bytes()
            try:
                found += tokens(name, data)
            except (SyntaxError, tokenize.TokenError, UnicodeDecodeError):
                found += lines(name, data)
        elif path.suffix in LINE_KINDS or path.name.startswith(("Dockerfile", "requirements")):
            found += lines(name, path.read_bytes())
    return found


def unaccounted(tree: Path, report: dict) -> list[Place]:
    """The sites that no finding covers; a site without a column is covered by any finding on its line."""
    spans: dict[str, list[tuple[int, int, int, int]]] = {}
    for f in report["findings"]:
        spans.setdefault(f["path"], []).append((f["line"], f["column"], f["end_line"], f["end_column"]))
    return [site for site in sites(tree) if not any(_covers(span, site) for span in spans.get(site[0], ()))]


def _covers(span: tuple[int, int, int, int], site: Place) -> bool:
    _, line, column, word = site
    if not column:
        return span[0] <= line <= span[2]
    return span[:2] <= (line, column) and (line, column + len(word)) <= span[2:]


def main() -> int:
    tree, report = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    left = unaccounted(tree, report)
    for path, line, column, word in left:
        print(f"{path}:{line}:{column} {word}")
    print(f"{len(sites(tree))} sites, {len(left)} unaccounted for")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
