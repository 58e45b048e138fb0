"""Changed code side by side: aligned lines with their colours, ready for the page's script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from npu_migrate.alignment import Alignment
from npu_migrate.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pygments.lexer import Lexer

    from npu_migrate.model import FileResult

CONTEXT = 3
# Lexing is what a big report spends its time on; what comes after this many characters stays black.
BUDGET = 400_000
_LETTERS = (
    ("Token.Comment", "c"),
    ("Token.Literal.String", "s"),
    ("Token.Literal.Number", "n"),
    ("Token.Keyword", "k"),
    ("Token.Name.Function", "f"),
    ("Token.Name.Class", "f"),
    ("Token.Name.Decorator", "d"),
    ("Token.Name.Builtin", "b"),
    ("Token.Name.Tag", "k"),
)
# Enough of Python to know whether a hunk begins inside a string of several lines.
_STRINGS = re.compile(
    r'#[^\n]*|("""|\'\'\')(?:\\.|(?!\1).)*(?:\1|$)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_ALIKE = 40  # changed lines that are worth comparing with each other
Line = list[str]


class Colours:
    """Colours lines of code until the budget is spent."""

    def __init__(self, budget: int = BUDGET) -> None:
        """Start with all of it."""
        self._left = budget
        self._lexers: dict[str, Lexer | None] = {}

    def hunks(self, file: FileResult) -> list[dict[str, Any]]:
        """A file's changes: where each hunk begins in both texts, and its rows.

        A row is ``[line, colours]`` for an unchanged line, else ``[old, colours, new, colours]`` with None for a side
        that has no such line.
        """
        old, new = (_lines(data, file.encoding) for data in (file.old, file.new))
        lexer = self._lexer(file)
        strings = _spans(old) if file.kind == "python" and lexer else []
        found = []
        for group in Alignment(old, new).get_grouped_opcodes(CONTEXT):
            start, end = group[0][1], group[-1][2]
            quote = next((mark for first, last, mark in strings if first < start <= last), "")
            colours = self._colour(old[start:end], lexer, quote)
            rows: list[Any] = []
            for kind, low, high, low_new, high_new in group:
                before = [[old[number], colours[number - start]] for number in range(low, high)]
                if kind == "equal":
                    rows += before
                    continue
                changed = new[low_new:high_new]
                after = [list(pair) for pair in zip(changed, self._colour(changed, lexer, quote))]
                rows += [[*(a or (None, None)), *(b or (None, None))] for a, b in _aligned(before, after)]
            found.append({"old": start + 1, "new": group[0][3] + 1, "rows": rows})
        return found

    def _lexer(self, file: FileResult) -> Lexer | None:
        """The lexer of a kind of file; loading them takes longer than most reports."""
        suffix = file.path.rpartition("/")[2].rpartition(".")[2].lower()
        key = "py" if file.kind == "python" else suffix
        if key not in self._lexers:
            from pygments.lexers import find_lexer_class_for_filename  # noqa: PLC0415 - only reports with diffs pay

            found = find_lexer_class_for_filename(f"x.{key}" if key != "dockerfile" else "Dockerfile")
            self._lexers[key] = found(stripnl=False) if found else None
        return self._lexers[key]

    def _colour(self, lines: Sequence[str], lexer: Lexer | None, quote: str) -> list[str]:
        size = sum(map(len, lines))
        if lexer is None or size > self._left:
            return [""] * len(lines)
        self._left -= size
        text = "\n".join([quote, *lines] if quote else lines) + "\n"
        found = ["".join(runs) for runs in _runs(lexer, text)]
        return found[1:] if quote else found


def _lines(data: bytes, encoding: str) -> list[str]:
    text = data.decode(encoding, "replace")
    lines = [plain(line.rstrip("\r"), tab="\t") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def _spans(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """First line, last line (from 0) and quotes of each string of several lines."""
    text, found, line, end = "\n".join(lines), [], 0, 0
    for match in _STRINGS.finditer(text):
        if match[1]:
            line += text.count("\n", end, match.start())
            end = match.start()
            found.append((line, line + match[0].count("\n"), match[1]))
    return found


def _runs(lexer: Lexer, text: str) -> Iterator[list[str]]:
    """For each line its colours: a letter and a length, again and again; ``_`` is no colour."""
    line: list[str] = []
    for _, token, value in lexer.get_tokens_unprocessed(text):
        letter = _letter(str(token))
        for number, piece in enumerate(value.split("\n")):
            if number:
                yield line
                line = []
            if piece:
                line.append(f"{letter}{len(piece)}")


def _letter(token: str) -> str:
    return next((letter for begin, letter in _LETTERS if token.startswith(begin)), "_")


def _aligned(before: list[Line], after: list[Line]) -> list[tuple[Line | None, Line | None]]:
    """Old and new lines of one change in pairs, the likest beside each other."""
    width = len(after)
    if len(before) == width or not before or not after or len(before) * width > _ALIKE**2:
        longest = max(len(before), width)
        return [(_at(before, number), _at(after, number)) for number in range(longest)]
    best = [[0.0] * (width + 1) for _ in range(len(before) + 1)]
    like = [[_likeness(one[0], other[0]) for other in after] for one in before]
    for row in reversed(range(len(before))):
        for column in reversed(range(width)):
            pair = like[row][column] + best[row + 1][column + 1]
            best[row][column] = max(pair, best[row + 1][column], best[row][column + 1])
    return list(_pairs(before, after, best, like))


def _pairs(
    before: list[Line], after: list[Line], best: list[list[float]], like: list[list[float]]
) -> Iterator[tuple[Line | None, Line | None]]:
    row = column = 0
    while row < len(before) or column < len(after):
        inside = row < len(before) and column < len(after)
        if inside and like[row][column] and best[row][column] == like[row][column] + best[row + 1][column + 1]:
            yield before[row], after[column]
            row, column = row + 1, column + 1
        elif column < len(after) and (not inside or best[row][column] == best[row][column + 1]):
            yield None, after[column]
            column += 1
        else:
            yield before[row], None
            row += 1


def _at(lines: list[Line], number: int) -> Line | None:
    return lines[number] if number < len(lines) else None


def _likeness(one: str, other: str) -> float:
    """The share of words that two lines have in common; nothing below a third."""
    mine, theirs = set(re.findall(r"\w+", one)), set(re.findall(r"\w+", other))
    share = 2 * len(mine & theirs) / (len(mine) + len(theirs) or 1)
    return share if share > 1 / 3 else 0.0
