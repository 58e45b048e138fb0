"""Emulated overlaps of boxes against plain arithmetic."""

# ruff: noqa: FBT003  (flags of the operators have no names)

from __future__ import annotations

import math

import torch
import torch_npu


def _close(ours, reference, tolerance=1e-5):
    assert ours.device.type == "npu"
    torch.testing.assert_close(ours.cpu(), reference, rtol=tolerance, atol=tolerance)


BOXES = torch.tensor([[0.0, 0.0, 10.0, 10.0], [10.0, 10.0, 20.0, 20.0], [32.0, 32.0, 38.0, 42.0]])
TARGETS = torch.tensor([[0.0, 0.0, 10.0, 20.0], [0.0, 10.0, 10.0, 10.0], [10.0, 10.0, 20.0, 20.0]])


def overlap_of_boxes():
    ours = torch_npu.npu_iou(BOXES.npu(), TARGETS.npu())
    assert ours.shape == (3, 3)
    _close(ours, torch.tensor([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), 1e-3)


def _plain_overlap(a, b):
    inside = max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    union = sum(areas) - inside
    hull = max(a[2], b[2]) - min(a[0], b[0]), max(a[3], b[3]) - min(a[1], b[1])
    centres = [((c[0] + c[2]) / 2, (c[1] + c[3]) / 2) for c in (a, b)]
    distance = sum((p - q) ** 2 for p, q in zip(*centres)) / (hull[0] ** 2 + hull[1] ** 2)
    ratio = inside / union
    giou = ratio - (hull[0] * hull[1] - union) / (hull[0] * hull[1])
    angle = [math.atan((c[2] - c[0]) / (c[3] - c[1])) for c in (a, b)]
    unlike = 4 / math.pi**2 * (angle[1] - angle[0]) ** 2
    return giou, ratio - distance, ratio - distance - unlike * unlike / (1 - ratio + unlike + 1e-9)


A = torch.tensor([[0.0, 0.0, 10.0, 10.0], [2.0, 3.0, 9.0, 13.0]])
B = torch.tensor([[1.0, 2.0, 9.0, 14.0], [4.0, 4.0, 20.0, 20.0]])


def generalised_overlaps():
    giou, diou, ciou = zip(*[_plain_overlap(a, b) for a, b in zip(A.tolist(), B.tolist())])
    first, second = A.t().contiguous().npu(), B.t().contiguous().npu()
    _close(torch_npu.npu_giou(first, second).flatten(), torch.tensor(giou))
    _close(torch_npu.npu_diou(first, second).flatten(), torch.tensor(diou))
    _close(torch_npu.npu_ciou(first, second, False, False).flatten(), torch.tensor(ciou))


def overlap_by_centre_and_size():
    def centred(boxes):
        return torch.stack([(boxes[:, :2] + boxes[:, 2:]).t() / 2, (boxes[:, 2:] - boxes[:, :2]).t()]).flatten(0, 1)

    giou = [_plain_overlap(a, b)[0] for a, b in zip(A.tolist(), B.tolist())]
    _close(torch_npu.npu_giou(centred(A).npu(), centred(B).npu(), True).flatten(), torch.tensor(giou))
