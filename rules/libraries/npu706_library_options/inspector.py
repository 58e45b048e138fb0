"""Options of transformers, diffusers and faiss that bring in a package made for CUDA."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from npu_migrate.inspector import Inspector, Status
from npu_migrate.values.arguments import argument, last_name, text_of

if TYPE_CHECKING:
    from npu_migrate.target import Target


class LibraryOptions(Inspector):
    """Looks at calls that load or set up a model, and at faiss's names for GPUs."""

    @classmethod
    def names(cls, target: Target) -> frozenset[str]:  # noqa: ARG003  # the same for every release
        """Methods that take the options, and names of faiss."""
        return frozenset(
            "from_pretrained( from_config( BitsAndBytesConfig( enable_xformers_memory_efficient_attention( "
            "index_cpu_to_gpu index_cpu_to_all_gpus index_cpu_to_gpu_multiple StandardGpuResources "
            "GpuIndexFlatL2 GpuIndexFlatIP GpuIndexIVFFlat GpuIndexIVFPQ GpuIndexFlatConfig".split()
        )

    def visit(self, node: ast.expr) -> None:
        """Name the option, and what to give instead."""
        name = last_name(node.func if isinstance(node, ast.Call) else node)
        meant = self.qualified_name(node) or ""
        if meant.startswith("faiss."):
            self.report(node, Status.UNSUPPORTED, "faiss", symbol=meant, name=meant)
        elif isinstance(node, ast.Call) and name == "enable_xformers_memory_efficient_attention":
            self.report(node, Status.UNSUPPORTED, "xformers", name=name)
        elif isinstance(node, ast.Call):
            self._options(node)

    def _options(self, call: ast.Call) -> None:
        attention = argument(call, "attn_implementation")
        if attention is not None and (text_of(attention) or "").startswith("flash_attention"):
            self.report(attention, Status.MANUAL, "attention", value=text_of(attention) or "")
        for option, status, key in OPTIONS:
            value = argument(call, option)
            if value is not None and not (isinstance(value, ast.Constant) and not value.value):
                self.report(value, status, key, option=option)


OPTIONS = (
    ("use_flash_attention_2", Status.MANUAL, "flash-option"),
    ("load_in_8bit", Status.UNSUPPORTED, "eight-bit"),
    ("load_in_4bit", Status.MANUAL, "four-bit"),
)
