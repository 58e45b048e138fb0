"""Large and twisted files end in time that grows with their size."""

from __future__ import annotations

import time

import pytest

from npu_migrate.files import KINDS, find
from npu_migrate.files.sites import FILE_CROWD, LINE_CROWD

MEGABYTES = 5_000_000


def repeated(piece, size=MEGABYTES):
    return piece * (size // len(piece))


ONE_LINE = {
    "values": "[" + repeated('{"device": "cuda"},') + "]",
    "strings": '["cuda"' + repeated(',""') + "]",
    "long-string": '{"x": "cuda' + repeated("a") + '"}',
    "open-string": '{"x": "cuda' + repeated('\\"'),
    "depth": '{"cuda":' + repeated("["),
    "numbers": '{"pin_memory": true, "a": [' + repeated("1.5,") + "]}",
    "no-json": repeated("cuda "),
}
TWISTED = {
    "spaces": "cuda" + " " * 40_000 + "x",
    "quotes": "cuda " + "\"'" * 20_000,
    "escapes": 'cuda "' + '\\"' * 20_000,
    "brackets": "cuda: " + "[{" * 20_000,
    "word": "cuda" + "a.b/c:d-" * 5_000,
    "dashes": "- " * 20_000 + "cuda",
    "dollars": "cuda $(" * 8_000,
    "heredocs": "cuda <<A\n" * 5_000,
    "lines": 'x: [\n"cuda\n' * 4_000,
    "colons": "cuda" + ":=" * 20_000,
    "slashes": "/cuda" * 8_000,
}


@pytest.mark.parametrize("name", ONE_LINE)
def test_five_megabytes_of_json_on_one_line(name):
    begin = time.process_time()
    findings = find("json", "f.json", ONE_LINE[name])
    assert time.process_time() - begin < 2
    assert 0 < len(findings) <= LINE_CROWD


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("name", TWISTED)
def test_time_does_not_explode(kind, name):
    begin = time.process_time()
    assert find(kind, "f", TWISTED[name])
    assert time.process_time() - begin < 2


def test_depth_does_not_matter():
    deep = '{"cells": ' + "[" * 200_000 + '"cuda"' + "]" * 200_000 + "}"
    assert [finding.symbol for finding in find("notebook", "f.ipynb", deep)] == ["cuda"]
    assert [finding.symbol for finding in find("json", "f.json", deep)] == ["cuda"]


def test_the_same_finding_over_and_over_is_listed_up_to_a_point():
    lines = FILE_CROWD + 500
    findings = find("yaml", "f.yaml", "device: cuda\n" * lines)
    devices = [finding for finding in findings if finding.rule == "NPU901"]
    assert len(devices) == FILE_CROWD
    assert devices[-1].span.end_line == lines
