"""Views, in-place work, shapes, dtypes, and operators against the CPU."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional

from expectations.marks import raises


def _same(function, *tensors, places=5):
    ours = function(*[x.npu() for x in tensors])
    plain = function(*tensors)
    for mine, theirs in zip(_flat(ours), _flat(plain)):
        assert mine.device.type == "npu"
        assert mine.dtype == theirs.dtype
        torch.testing.assert_close(mine.cpu(), theirs, rtol=10**-places, atol=10**-places)


def _flat(value):
    return [value] if isinstance(value, torch.Tensor) else [x for part in value for x in _flat(part)]


def view_shares_memory():
    x = torch.zeros(2, 3).npu()
    x.view(6)[4] = 7.0
    assert x[1, 1].item() == 7.0
    assert x.view(6).data_ptr() == x.data_ptr()


def slice_writes_through():
    x = torch.zeros(4, 4).npu()
    x[1:3, ::2].fill_(1)
    assert x.sum().item() == 4


def transpose_is_a_view():
    x = torch.arange(6.0).reshape(2, 3).npu()
    x.t()[2, 0] = -1
    assert x[0, 2].item() == -1
    assert not x.t().is_contiguous()


def in_place_on_itself():
    x = torch.arange(4.0).npu()
    x[1:] += x[:-1].clone()
    assert x.tolist() == [0.0, 1.0, 3.0, 5.0]


def data_and_detach_share():
    x = torch.zeros(2).npu().requires_grad_()
    x.data.fill_(3)
    assert x.detach().tolist() == [3.0, 3.0]


def set_data_moves_a_parameter():
    p = nn.Parameter(torch.zeros(2))
    p.data = p.data.npu()
    assert p.device.type == "npu"


def resize_grows():
    x = torch.arange(2.0).npu()
    x.resize_(2, 2)
    assert x.shape == (2, 2)
    assert x[0].tolist() == [0.0, 1.0]


def out_argument_is_filled():
    out = torch.empty(2, device="npu")
    torch.add(torch.ones(2).npu(), 1, out=out)
    assert out.tolist() == [2.0, 2.0]


def empty_out_argument_grows():
    out = torch.empty(0, device="npu")
    torch.mul(torch.ones(2).npu(), 3, out=out)
    assert out.tolist() == [3.0, 3.0]


def deepcopy_of_a_module():
    model = nn.Linear(2, 2).npu()
    twin = copy.deepcopy(model)
    twin.weight.data.zero_()
    assert twin.weight.device.type == "npu"
    assert model.weight.abs().sum().item() > 0


def repr_shows_the_device():
    assert "device='npu:0'" in repr(torch.ones(2).npu())


def item_and_truth():
    x = torch.tensor(3).npu()
    assert x.item() == 3
    assert bool(x > 2)
    assert int(x) == 3
    assert float(x) == 3.0


def lists_and_lengths():
    assert torch.arange(3).npu().tolist() == [0, 1, 2]
    assert len(torch.arange(3).npu()) == 3
    assert [int(part) for part in torch.arange(2).npu()] == [0, 1]


def element_wise_equal_cpu():
    x = torch.randn(3, 4)
    for name in ("exp", "sin", "tanh", "sigmoid", "abs", "neg", "floor", "sqrt", "log1p", "erf", "sign", "relu"):
        _same(getattr(torch, name), x.abs())


def reductions_equal_cpu():
    x = torch.randn(3, 4, 5)
    for function in (
        lambda t: t.sum(),
        lambda t: t.mean(1),
        lambda t: t.std(),
        lambda t: t.var(2),
        lambda t: t.amax((0, 1)),
        lambda t: t.max(1),
        lambda t: t.argmax(2),
        lambda t: t.norm(),
        lambda t: t.logsumexp(0),
        lambda t: t.cumsum(1),
        lambda t: t.prod(0),
    ):
        _same(function, x)


def shapes_equal_cpu():
    x = torch.randn(2, 3, 4)
    for function in (
        lambda t: torch.cat([t, t], 1),
        lambda t: torch.stack([t, t]),
        lambda t: t.permute(2, 0, 1).contiguous(),
        lambda t: t.flip(0),
        lambda t: t.roll(1, 1),
        lambda t: t.repeat(2, 1, 1),
        lambda t: t.expand(5, 2, 3, 4),
        lambda t: t.unfold(2, 2, 1),
        lambda t: t.chunk(2, 2),
        lambda t: t.split(1, 0),
        lambda t: t.tril(),
        lambda t: functional.pad(t, (1, 2)),
        lambda t: t.reshape(6, 4).view(-1),
        lambda t: t.repeat_interleave(2, 0),
    ):
        _same(function, x)


def products_equal_cpu():
    a, b = torch.randn(2, 3, 4), torch.randn(2, 4, 5)
    _same(torch.bmm, a, b)
    _same(torch.matmul, a, b)
    _same(lambda x, y: torch.einsum("bij,bjk->bik", x, y), a, b)
    _same(lambda x, y: torch.addmm(torch.zeros(3, 5, device=x.device), x[0], y[0]), a, b)
    _same(lambda x, y: torch.outer(x[0, 0], y[0, :, 0]), a, b)


def indexing_equals_cpu():
    x, index = torch.randn(4, 5), torch.tensor([[0, 1], [2, 3]])
    _same(lambda t, i: t[i[:, 0], i[:, 1]], x, index)
    _same(lambda t, i: t.gather(1, i.repeat(2, 1)), x, index)
    _same(lambda t, i: t.index_select(0, i[0]), x, index)
    _same(lambda t, i: torch.zeros_like(t).scatter_add(0, i, t), x, index)
    _same(lambda t, _i: t.masked_fill(t > 0, 0), x, index)
    _same(lambda t, _i: torch.where(t > 0, t, 0.0), x, index)
    _same(lambda t, i: t.take(i), x, index)


def ordering_equals_cpu():
    x = torch.randperm(20).float().reshape(4, 5)
    _same(lambda t: t.sort(1), x)
    _same(lambda t: t.topk(2, 1), x)
    _same(lambda t: t.argsort(0), x)
    _same(torch.unique, x)
    _same(lambda t: t.nonzero(), x)
    _same(lambda t: t[t > 4], x)


def layers_equal_cpu():
    image = torch.randn(2, 4, 8, 8)
    layers = (
        nn.Conv2d(4, 6, 3, padding=1, groups=2),
        nn.ConvTranspose2d(4, 3, 2, stride=2),
        nn.BatchNorm2d(4),
        nn.GroupNorm(2, 4),
        nn.LayerNorm([8, 8]),
        nn.InstanceNorm2d(4),
        nn.MaxPool2d(2),
        nn.AvgPool2d(2),
        nn.AdaptiveAvgPool2d(1),
        nn.Upsample(scale_factor=2, mode="nearest"),
        nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.PixelShuffle(2),
        nn.Hardswish(),
        nn.SiLU(),
        nn.GELU(),
        nn.LeakyReLU(0.1),
        nn.Softmax(1),
        nn.PReLU(),
    )
    for layer in layers:
        _same(lambda x, layer=layer: copy.deepcopy(layer).to(x.device)(x), image)


def losses_equal_cpu():
    scores, target = torch.randn(5, 3), torch.tensor([0, 1, 2, 1, 0])
    _same(functional.cross_entropy, scores, target)
    _same(lambda x, t: functional.nll_loss(x.log_softmax(1), t), scores, target)
    _same(lambda x, _t: functional.mse_loss(x, torch.zeros_like(x)), scores, target)
    _same(lambda x, _t: functional.smooth_l1_loss(x, torch.zeros_like(x)), scores, target)
    _same(lambda x, _t: functional.binary_cross_entropy_with_logits(x, torch.ones_like(x)), scores, target)
    _same(lambda x, _t: functional.kl_div(x.log_softmax(1), x.softmax(1), reduction="batchmean"), scores, target)


def gradients_equal_cpu():
    def gradient(x, w):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        (functional.conv2d(x, w, padding=1).tanh() ** 2).sum().backward()
        return x.grad, w.grad

    _same(gradient, torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3), places=4)


def gradients_of_many_operators_equal_cpu():
    def of(function):
        def gradient(x):
            x = x.detach().requires_grad_()
            (function(x).square()).sum().backward()
            return x.grad

        return gradient

    index = torch.tensor([[0, 1, 2], [2, 1, 0], [1, 1, 1]])
    for function in (
        lambda x: x.gather(1, index.to(x.device)),
        lambda x: functional.binary_cross_entropy_with_logits(x, torch.ones_like(x), reduction="none"),
        lambda x: functional.binary_cross_entropy_with_logits(x, x.detach().sigmoid(), pos_weight=x.new_ones(3) * 2),
        lambda x: functional.l1_loss(x, torch.zeros_like(x)),
        lambda x: functional.kl_div(x.log_softmax(1), x.detach().softmax(1), reduction="sum"),
        functional.logsigmoid,
        lambda x: x.repeat_interleave(2, 0),
        lambda x: x.max(1)[0],
        lambda x: x.min(0, keepdim=True)[0],
        lambda x: x.sort(1)[0],
        lambda x: x.cumsum(1),
        lambda x: x.std(1),
        lambda x: x.norm(dim=1),
        lambda x: torch.cdist(x, x.detach() * 2),
        lambda x: torch.fft.rfft(x).abs(),
        lambda x: torch.where(x > 0, x, x * 2),
        lambda x: torch.linalg.inv(x @ x.t() + torch.eye(3, device=x.device)),
        lambda x: functional.embedding(index.to(x.device), x),
        lambda x: functional.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
        lambda x: functional.pad(x, (1, 1)),
        functional.normalize,
        lambda x: functional.adaptive_avg_pool2d(x[None, None], 2),
        lambda x: functional.softplus(x) * functional.hardswish(x),
        lambda x: torch.einsum("ij,kj->ik", x, x),
        lambda x: x.clone().index_put_((index[0].to(x.device),), x * 3),
        lambda x: x.masked_fill(x > 0, 0.5),
        lambda x: x.roll(1, 0) * x.flip(1),
    ):
        _same(of(function), torch.randn(3, 3, generator=torch.Generator().manual_seed(3)), places=4)


def second_gradient():
    x = torch.randn(3).npu().requires_grad_()
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    torch.testing.assert_close(second.cpu(), 6 * x.detach().cpu())


def hooks_see_npu_gradients():
    seen = []
    x = torch.randn(3).npu().requires_grad_()
    x.register_hook(lambda grad: seen.append(grad.device.type))
    x.sum().backward()
    assert seen == ["npu"]


def custom_function_runs():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert ctx.saved_tensors[0].device.type == "npu"
            return grad * 2

    x = torch.ones(2).npu().requires_grad_()
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def no_grad_and_inference_mode():
    x = torch.ones(2).npu().requires_grad_()
    with torch.no_grad():
        assert not (x * 2).requires_grad
    with torch.inference_mode():
        assert (x * 2).is_inference()


def vmap_runs():
    assert torch.vmap(lambda t: t.sin().sum())(torch.randn(3, 4).npu()).shape == (3,)


def float64_is_possible():
    assert (torch.ones(2, dtype=torch.float64, device="npu") * 2).dtype is torch.float64


def narrow_floats_are_kept():
    for kind in (torch.float16, torch.bfloat16):
        x = torch.ones(2, 2, dtype=kind, device="npu")
        assert (x @ x).dtype is kind


def integers_and_bools():
    x = torch.arange(4, device="npu")
    assert (x % 2 == 0).tolist() == [True, False, True, False]
    assert (x // 2).dtype is torch.int64
    assert (x > 1).any().item()


def complex_numbers():
    x = torch.view_as_complex(torch.tensor([[1.0, 2.0]]).npu())
    assert (x * x.conj()).real.tolist() == [5.0]
    assert torch.view_as_real(x).tolist() == [[1.0, 2.0]]


def fourier_transform_runs():
    x = torch.randn(8)
    torch.testing.assert_close(torch.fft.rfft(x.npu()).cpu(), torch.fft.rfft(x))


def foreach_operators():
    xs = [torch.ones(2).npu(), torch.ones(3).npu()]
    torch._foreach_add_(xs, 1.0)
    assert [x.sum().item() for x in xs] == [4.0, 6.0]


@raises(RuntimeError)
def wrong_shapes_still_fail():
    _ = torch.ones(2, 3).npu() @ torch.ones(2, 3).npu()


@raises(IndexError)
def index_too_large_still_fails():
    _ = torch.ones(2).npu()[5]


def compiled_aot_gradients_equal_plain():
    plain = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.GELU()).npu()
    x = torch.randn(3, 4).npu()
    torch.compile(plain, backend="aot_eager")(x).sum().backward()
    found = [parameter.grad.cpu() for parameter in plain.parameters()]
    plain.zero_grad()
    plain(x).sum().backward()
    torch.testing.assert_close(found, [parameter.grad.cpu() for parameter in plain.parameters()])
