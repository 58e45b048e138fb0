"""What a migration must leave alone: comments, docstrings, the words of messages, and lines that no finding names.

Shares nothing with ``npu_migrate``: its own reading of both texts, and the JSON report as users get it.

    npu-migrate TREE --output NEW --report REPORT.json
    python tests/untouched.py TREE NEW REPORT.json

prints what was touched and exits with 1 if there is anything.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from pathlib import Path
from typing import NamedTuple

SPEAKERS = {"print", "debug", "info", "warning", "warn", "error", "critical", "exception", "log"}
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
IMPORT = re.compile(r"[ \t]*import torch_npu\s*")
GUARD = ("try:", "import torch_npu", "except ImportError:", "pass")
# Rules that add a method of their own beside the lines that they name.
ADDS = {
    "NPU502": "the layer takes old checkpoints: `_load_from_state_dict` comes before `forward`",
    "NPU503": "`chained_pools`, which `forward` calls, comes before it",
}
# Rules that may change the order of comments, though not their words.
MOVES = {
    "NPU202": "names of one import that now come from two modules take their comments along",
    "NPU306": "comments in a `with amp.scale_loss` come before the line that takes its place",
}
# Rules, with `--safety numerics` only, that write a training step anew: their findings stand where it is asked for.
RESHAPES = {
    "NPU306": "apex.amp becomes native AMP from the import to the step of the optimizer",
    "NPU311": "training in half becomes AMP: a scaler, a `with` around the forward pass, scaled steps",
}


class Change(NamedTuple):
    """Neighbouring changed lines: the number of the first old one, the old and the new lines."""

    first: int
    old: list[str]
    new: list[str]


class Message(NamedTuple):
    """A string that people read when the program runs, with the lines and columns of the literal."""

    text: str
    start: tuple[int, int]
    end: tuple[int, int]


def touched(old: Path, new: Path, report: dict) -> list[str]:
    """What was changed in the Python files of a tree that should not have been; a line for each place."""
    found = []
    for file in report["files"]:
        if file["changed"] and file["kind"] == "python":
            rewrites = [f for f in report["findings"] if f["path"] == file["path"] and f["status"] == "rewritten"]
            before, after = ((root / file["path"]).read_bytes() for root in (old, new))
            found += [f"{file['path']}:{place}" for place in _touched(before, after, file["diff"], rewrites)]
    return found


def _touched(before: bytes, after: bytes, diff: str, rewrites: list[dict]) -> list[str]:
    changes, rules = _changes(diff), {f["rule"] for f in rewrites}
    old, new = _text(before), _text(after)
    if _applied(old, changes) != new:
        return ["0: the diff that is shown does not lead to what is written"]
    found = []
    order = list if rules.isdisjoint(MOVES) else sorted
    if order(_comments(old)) != order(_comments(new)):
        found.append("0: comments differ")
    if _docstrings(old, set()) != _docstrings(new, _added(changes)):
        found.append("0: docstrings differ")
    if rules.isdisjoint(RESHAPES):
        found += [f"{line}: not named by any finding" for line in _unnamed(changes, rewrites)]
        found += _reworded(_messages(old), _messages(new), rewrites)
    return found


def _text(data: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _changes(diff: str) -> list[Change]:
    found: list[Change] = []
    line, apart, last = 0, True, ""
    for row in _lines(diff)[2:]:
        mark, text = row[0], row[1:]
        if head := HUNK.match(row):
            # Where a hunk holds no old line, its number is that of the line before.
            line, apart = int(head[1]) + (head[2] == "0"), True
        elif mark == "\\":
            found[-1] = _bare(found[-1], last)
        elif mark == " ":
            line, apart = line + 1, True
        else:
            if apart:
                found.append(Change(line, [], []))
            (found[-1].old if mark == "-" else found[-1].new).append(text)
            line, apart = line + (mark == "-"), False
        last = mark
    return found


def _bare(change: Change, mark: str) -> Change:
    """The change whose last line, on one side, turned out to have no newline."""
    lines = {"-": change.old, "+": change.new}.get(mark)
    if lines:
        lines[-1] = lines[-1].removesuffix("\n")
    return change


def _applied(text: str, changes: list[Change]) -> str:
    lines, made, position = _lines(text), [], 0
    for change in changes:
        made += [*lines[position : change.first - 1], *change.new]
        position = change.first - 1 + len(change.old)
    return "".join([*made, *lines[position:]])


def _unnamed(changes: list[Change], rewrites: list[dict]) -> list[int]:
    spans = [(f["line"], f["end_line"]) for f in rewrites]
    found = []
    adds = not {f["rule"] for f in rewrites}.isdisjoint(ADDS)
    for change in changes:
        lines = range(change.first, change.first + len(change.old))
        found += [line for line in lines if not any(first <= line <= last for first, last in spans)]
        inserted = [] if change.old else _without_imports(change.new)
        method = bool(inserted) and inserted[0].lstrip().startswith(("def ", "@"))
        within = any(first < change.first <= last for first, last in spans)
        if inserted and not within and not (adds and method):
            found.append(change.first)
    return found


def _without_imports(lines: list[str]) -> list[str]:
    """Inserted lines but for the import of torch_npu, guarded or not, and empty lines beside it."""
    words = [line.strip() for line in lines]
    kept, at = [], 0
    while at < len(lines):
        if tuple(words[at : at + len(GUARD)]) == GUARD:
            at += len(GUARD)
        else:
            if not IMPORT.fullmatch(lines[at]):
                kept.append(lines[at])
            at += 1
    return kept if len(kept) == len(lines) else [line for line in kept if line.strip()]


def _added(changes: list[Change]) -> set[int]:
    """The numbers, in the new text, of lines that were put between old ones."""
    found, shift = set(), 0
    for change in changes:
        if not change.old:
            found.update(range(change.first + shift, change.first + shift + len(change.new)))
        shift += len(change.new) - len(change.old)
    return found


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def _docstrings(text: str, added: set[int]) -> list[str | None]:
    """The docstrings in order, without those of definitions that begin on added lines."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, owners)]
    return [ast.get_docstring(node, clean=False) for node in nodes if getattr(node, "lineno", 0) not in added]


def _messages(text: str) -> list[Message]:
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and _speaks(node.func):
            spoken = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            spoken = [*node.exc.args, *(keyword.value for keyword in node.exc.keywords)]
        else:
            continue
        found += [message for part in spoken for message in _strings(part)]
    return found


def _speaks(function: ast.expr) -> bool:
    return getattr(function, "attr", getattr(function, "id", "")) in SPEAKERS


def _strings(node: ast.expr) -> list[Message]:
    """The text of a message; a string within a call inside it is no text of its own."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        return [_message(part, node) for part in parts]
    if isinstance(node, ast.Constant):
        return [_message(node.value, node)] if isinstance(node.value, str) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _strings(node.func.value)
    inner = ast.BinOp, ast.IfExp, ast.Tuple, ast.List, ast.FormattedValue
    if isinstance(node, inner):
        return [text for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr) for text in _strings(child)]
    return []


def _message(text: str, node: ast.expr) -> Message:
    end = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return Message(text, (node.lineno, node.col_offset), end)


def _reworded(old: list[Message], new: list[Message], rewrites: list[dict]) -> list[str]:
    if len(old) != len(new):
        return [f"0: {len(old)} messages became {len(new)}"]
    # Columns of ``ast`` count bytes from 0, those of the report characters from 1: lines are enough for a cover.
    spans = [(f["line"], f["end_line"], f["before"]) for f in rewrites]
    return [
        f"{was.start[0]}: message {was.text!r} became {now.text!r}"
        for was, now in zip(old, new)
        if was.text != now.text and not any(_covers(span, was) for span in spans)
    ]


def _covers(span: tuple[int, int, str], message: Message) -> bool:
    first, last, before = span
    return first <= message.end[0] and message.start[0] <= last and before.strip("\"'") in message.text


def main() -> int:
    old, new = Path(sys.argv[1]), Path(sys.argv[2])
    report = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))
    found = touched(old, new, report)
    print(*found, sep="\n", end="\n" * bool(found))
    print(f"{sum(file['changed'] for file in report['files'])} files changed, {len(found)} places touched")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
