"""Overlaps of boxes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from npu_migrate.rehearse.emulate.registry import emulates

if TYPE_CHECKING:
    from npu_migrate.rehearse.interface import Value

_TINY = 1e-9
_NONE = 0


def _corners(boxes: Value, *, centred: bool) -> tuple[Value, Value, Value, Value]:
    """Left, top, right, bottom of boxes given coordinate first, by corners or by centre and size."""
    first, second, third, fourth = boxes.unbind(0)
    if not centred:
        return first, second, third, fourth
    return first - third / 2, second - fourth / 2, first + third / 2, second + fourth / 2


class _Pairs:
    """What all the overlaps of pairs of boxes are made of."""

    def __init__(self, boxes: Value, others: Value, *, centred: bool) -> None:
        self.a = _corners(boxes, centred=centred)
        self.b = _corners(others, centred=centred)
        left, top, right, bottom = self._meet(torch.maximum, torch.minimum)
        self.inside = (right - left).clamp(min=0) * (bottom - top).clamp(min=0)
        self.first = (self.a[2] - self.a[0]) * (self.a[3] - self.a[1])
        self.union = self.first + (self.b[2] - self.b[0]) * (self.b[3] - self.b[1]) - self.inside

    def _meet(self, near: Value, far: Value) -> tuple[Value, Value, Value, Value]:
        (a, b) = (self.a, self.b)
        return near(a[0], b[0]), near(a[1], b[1]), far(a[2], b[2]), far(a[3], b[3])

    def ratio(self, mode: int) -> Value:
        """Intersection over union, or over the second box's area where the mode says so."""
        whole = self.union if mode == _NONE else self.union + self.inside - self.first
        return self.inside / (whole + _TINY)

    def hull(self) -> tuple[Value, Value]:
        """Width and height of the smallest box round both."""
        left, top, right, bottom = self._meet(torch.minimum, torch.maximum)
        return right - left, bottom - top

    def distance(self) -> Value:
        """The squared distance of the centres over that of the hull's corners."""
        width, height = self.hull()
        across = (self.a[0] + self.a[2] - self.b[0] - self.b[2]) / 2
        down = (self.a[1] + self.a[3] - self.b[1] - self.b[3]) / 2
        return (across**2 + down**2) / (width**2 + height**2 + _TINY)


@emulates("npu_iou(Tensor bboxes, Tensor gtboxes, int mode=0) -> Tensor")
def iou(boxes: Value, targets: Value, mode: int = 0) -> Value:
    """Overlap of every target (rows) with every box (columns)."""
    pairs = _Pairs(boxes.t().unsqueeze(1), targets.t().unsqueeze(2), centred=False)
    return pairs.ratio(mode)


@emulates("npu_ptiou(Tensor bboxes, Tensor gtboxes, int mode=0) -> Tensor")
def ptiou(boxes: Value, targets: Value, mode: int = 0) -> Value:
    """The same as `iou`."""
    return iou(boxes, targets, mode)


@emulates("npu_giou(Tensor self, Tensor gtboxes, bool trans=False, bool is_cross=False, int mode=0) -> Tensor")
def giou(boxes: Value, targets: Value, trans: Value = None, is_cross: Value = None, mode: int = 0) -> Value:
    """Generalised overlap of boxes given coordinate first, pair by pair."""
    del is_cross
    pairs = _Pairs(boxes, targets, centred=bool(trans))
    width, height = pairs.hull()
    hull = width * height + _TINY
    return (pairs.ratio(mode) - (hull - pairs.union) / hull).unsqueeze(0)


@emulates("npu_diou(Tensor self, Tensor gtboxes, bool trans=False, bool is_cross=False, int mode=0) -> Tensor")
def diou(boxes: Value, targets: Value, trans: Value = None, is_cross: Value = None, mode: int = 0) -> Value:
    """Overlap less the distance of the centres."""
    del is_cross
    pairs = _Pairs(boxes, targets, centred=bool(trans))
    return (pairs.ratio(mode) - pairs.distance()).unsqueeze(0)


@emulates(
    "npu_ciou(Tensor self, Tensor gtboxes, bool trans=False, bool is_cross=True, int mode=0, "
    "bool atan_sub_flag=False) -> Tensor"
)
def ciou(  # noqa: PLR0913, PLR0917  (the operator's signature)
    boxes: Value,
    targets: Value,
    trans: Value = None,
    is_cross: Value = None,
    mode: int = 0,
    atan_sub_flag: Value = None,
) -> Value:
    """`diou` less a penalty for different proportions."""
    del is_cross, atan_sub_flag
    pairs = _Pairs(boxes, targets, centred=bool(trans))
    angles = [torch.atan((c[2] - c[0]) / (c[3] - c[1] + _TINY)) for c in (pairs.a, pairs.b)]
    unlike = (angles[1] - angles[0]) ** 2 * (4 / math.pi**2)
    ratio = pairs.ratio(mode)
    weight = (unlike / (1 - ratio + unlike + _TINY)).detach()
    return (ratio - pairs.distance() - weight * unlike).unsqueeze(0)
