"""Lines that stay are found, and no line is taken for changed that need not be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from npu_migrate.alignment import Alignment

FEW = st.lists(st.sampled_from("ab)"), max_size=12)


def most_that_can_stay(old: list[str], new: list[str]) -> int:
    """The length of the longest common subsequence, by the textbook's table."""
    row = [0] * (len(new) + 1)
    for line in old:
        below = [0]
        for at, other in enumerate(new):
            below.append(row[at] + 1 if line == other else max(row[at + 1], below[at]))
        row = below
    return row[-1]


@given(FEW, FEW)
def test_as_many_lines_stay_as_can(old, new):
    alignment = Alignment(old, new)
    assert sum(block.size for block in alignment.get_matching_blocks()) == most_that_can_stay(old, new)
    made = []
    for kind, start, end, low, high in alignment.get_opcodes():
        assert (kind == "equal") == (old[start:end] == new[low:high])
        made += new[low:high]
    assert made == new


def test_lines_that_repeat_stay_in_a_long_file():
    old = [line for number in range(200) for line in (f"f(device='cuda', n={number}\n", ")\n", "\n")]
    new = [line.replace("cuda", "npu") for line in old]
    changed = [codes for kind, *codes in Alignment(old, new).get_opcodes() if kind != "equal"]
    assert changed == [[at, at + 1, at, at + 1] for at in range(0, 600, 3)]


def test_a_text_with_nothing_left_of_the_old_one_takes_no_time():
    old, new = ([f"{prefix}{number}\n" for number in range(3000)] for prefix in "xy")
    assert Alignment(old, new).get_opcodes() == [("replace", 0, 3000, 0, 3000)]
