"""Reports to write out: a real one, one from code that means harm, and one that is large."""

from __future__ import annotations

from pathlib import Path

from npu_migrate.engine.run import migrate
from npu_migrate.engine.settings import Settings
from npu_migrate.model import FileResult, Finding, Safety, Span, Status, Text
from npu_migrate.report import model
from npu_migrate.target import load

AIM = model.Aim("2.7.1.post11", "2.7.1", "8.3.RC1", "npu", "exact")
SAMPLE = Path(__file__).resolve().parents[2] / "fixtures" / "projects" / "yolo_mini"
HOSTILE = {
    "html": "</script><script>alert(1)</script>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "fence": "````\n```\nbreak",
    "mention": "@octocat",
    "reference": "#1 GH-1 owner/repo#2",
    "image": "![x](http://evil.example/x.png)",
    "link": "[click](http://evil.example)",
    "ansi": "\x1b[31mred\x1b[0m\x07",
    "formula": "=cmd|'/c calc'!A1",
    "command": "\n::error::gotcha",
    "bidi": "a\u202egnp\u2066",
    "newline": "one\r\ntwo\nthree",
    "undecodable": "bad\udcff",
    "table": "a|b\\|c",
    "brace": "{0} {name}",
    "percent": "50%25:a,b",
}


def real(tmp_path=None):
    target = load("2.7.1")
    results = migrate((tmp_path or SAMPLE,), Settings(target=target))
    aim = model.Aim(target.torch_npu, target.torch, target.cann, "npu", "exact")
    return model.build(results, aim, tmp_path or SAMPLE, "dry-run")


def finding(path, line, status, before="", after="", **facts):
    """One site of NPU101 whose message quotes what the code says."""
    key = "unbound" if facts else "renamed"
    return Finding(
        "NPU101",
        path,
        Span(line, 1, line, 1 + len(before)),
        status,
        Text("NPU101", key, tuple(facts.items())),
        safety=Safety.EXACT if status is Status.REWRITTEN else None,
        symbol=before,
        before=before,
        after=after,
    )


def of_one_file(*found, old=b"", new=b"", root=Path("/nowhere/t"), mode="dry-run"):
    """A report about these sites only."""
    path = found[0].path if found else "a.py"
    return model.build([FileResult(path, "python", found, old, new)], AIM, root, mode)


def hostile():
    """Each text as the name of a file, in its source, and as a fact of a message."""
    files = []
    for text in HOSTILE.values():
        path = f"d/{text}.py"
        one_line = text.strip().splitlines()[0]
        old = f'x = """{text}"""  # {one_line}\ny = x.cuda()\n'.encode("utf-8", "surrogateescape")
        found = [finding(path, 1, status, one_line, f"{one_line}!", name=text, new=text) for status in Status]
        files.append(FileResult(path, "python", tuple(found), old, old.replace(b"cuda", b"npu")))
    return model.build(files, AIM, Path("/nowhere/<b>@root`</b>"), "dry-run")


def large(sites=10_000, files=200):
    """Many sites in many changed files."""
    results = []
    numbers = range(sites // files)
    lines = [f"value_{number} = model.layer_{number}.cuda(non_blocking=True)  # {number}" for number in numbers]
    old = "\n".join(lines).encode()
    statuses = (Status.REWRITTEN, Status.MANUAL, Status.UNSUPPORTED, Status.KEPT)
    for file in range(files):
        path = f"package_{file % 20}/module_{file}.py"
        found = [
            finding(path, number + 1, statuses[number % 4], "cuda", "npu", name=f"v_{number}", new=f"n_{file}_{number}")
            for number in numbers
        ]
        results.append(FileResult(path, "python", tuple(found), old, old.replace(b"cuda", b"npu")))
    return model.build(results, AIM, Path("/nowhere/large"), "dry-run")
