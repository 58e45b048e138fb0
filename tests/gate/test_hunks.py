"""Changes read back from a diff are the changes that made it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from npu_migrate.gate.hunks import Hunk, parse, split
from npu_migrate.patch.diff import display, unified_diff

LINES = st.lists(st.sampled_from(["a", "b", "", "+++ b/x", "--- a/x", "@@ -1 +1 @@", "\\ No newline"]), max_size=8)


def applied(old, hunks):
    """The new lines, from the old ones and the hunks alone."""
    made, done = [], 0
    for hunk in hunks:
        assert tuple(old[hunk.first - 1 :][: len(hunk.old)]) == hunk.old
        made += old[done : hunk.first - 1]
        assert len(made) + 1 == hunk.new_first
        made += hunk.new
        done = hunk.first - 1 + len(hunk.old)
    return made + old[done:]


@given(LINES, LINES, st.integers(0, 3), st.booleans())
def test_hunks_rebuild_the_file(old, new, context, ends):
    end = "\n" if ends else ""
    before, after = ("\n".join(lines) + (end if lines else "") for lines in (old, new))
    diff = display(unified_diff("x.py", before.encode(), after.encode(), context=context))
    assert "\n".join(applied(before.split("\n"), parse(diff))).rstrip("\n") == after.rstrip("\n")


def test_lines_with_a_finding_each_come_apart():
    run = Hunk(3, ("a", "b"), 4, ("x", "y"))
    assert split([run], [(3, 3), (4, 4)]) == [Hunk(3, ("a",), 4, ("x",)), Hunk(4, ("b",), 5, ("y",))]
    assert split([run], [(3, 3)]) == [run]
    assert split([run], [(3, 3), (4, 4), (3, 4)]) == [run]
    longer = run._replace(new=("x", "y", "z"))
    assert split([longer], [(3, 3), (4, 4)]) == [longer]
