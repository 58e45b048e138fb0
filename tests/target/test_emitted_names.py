"""Whatever a rule writes, and whatever it tells the reader to use, is there in the release that the tree goes to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from npu_migrate import target

sys.path.insert(0, str(Path(__file__).parent))
from emitted import emitted, is_there

EVERY = target.known(legacy=True)
OLDEST = EVERY[0]
AT_ONCE = {*EVERY[:3], "2.4.0.post2", EVERY[-1]}
# No statement of a public module binds them; the real import (test_dispatcher.py) has both.
NO_BINDING = {"torch_npu.__version__", "torch_npu.profiler._ExperimentalConfig"}


@pytest.mark.parametrize(
    "release", [pytest.param(one, marks=() if one in AT_ONCE else pytest.mark.slow) for one in EVERY]
)
def test_names_that_are_written_or_told_exist_in_the_release(release):
    one = target.load(f"=={release}")
    written, said = emitted(release)
    assert len(written | said) > 60  # the fixtures have lost nothing
    assert {pair for pair in written if not is_there(one, pair[1])} == set()
    # Sentences for the 1.8.1 branch name what came with 1.11: it had nothing else for the same.
    if release != OLDEST:
        assert {pair for pair in said if pair[1] not in NO_BINDING and not is_there(one, pair[1])} == set()
