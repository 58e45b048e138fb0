"""A gradient scaler for the CPU that insists on its order of calls."""

from __future__ import annotations


class Scaler:
    """What torch_npu's GradScaler does when nothing overflows."""

    def __init__(self, init_scale=1024.0, *, dynamic=True, enabled=True):
        self.factor = init_scale if enabled else 1.0
        self.dynamic = dynamic
        self.enabled = enabled
        self.unscaled = False

    def is_enabled(self):
        return self.enabled

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        if not self.enabled:
            return
        assert not self.unscaled, "unscale_() has already been called since the last update()"
        self.unscaled = True
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad /= self.factor

    def step(self, optimizer):
        if not self.unscaled:
            self.unscale_(optimizer)
        optimizer.step()

    def update(self):
        self.unscaled = False

    def state_dict(self):
        return {"scale": self.factor}
