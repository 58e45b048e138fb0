"""Which operators a program really runs, forward and backward, watched on the CPU or on meta tensors.

Only ``child``, ``recorder``, ``replaced`` and ``subject`` import torch; they live in the process of the traced program.
"""

from npu_migrate.tracing.runner import run
from npu_migrate.tracing.settings import Settings
from npu_migrate.tracing.trace import Trace, Use

__all__ = ["Settings", "Trace", "Use", "run"]
