"""Which names of a module are kernels that only CUDA runs: extensions, Triton, CuPy, and functions built on them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from npu_migrate.engine.statements import FUNCTIONS
from npu_migrate.names import dotted
from npu_migrate.trees import walk
from npu_migrate.values.arguments import last_name, name_of
from npu_migrate.values.origins import called

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npu_migrate.engine.module import PythonModule

KERNEL = re.compile(r"(^|_)cuda(_|$)|triton|cupy|pycuda", re.IGNORECASE)
COMPILER_WORDS = re.compile("triton|cupy|pycuda", re.IGNORECASE)
COMPILED = re.compile(r"(^|_)(C|ext)$")
# Names with "cuda" in them that speak of the device, of moving there, or of whether it is there.
DEVICE_WORDS = re.compile(
    r"^(is|has|use|to|set|get|init|check|enable|empty|clear|reset|print|log|max|skip\w*|requires?)_|"
    r"(^|_)(to|on|in|if|for|available|enabled|devices?|streams?|events?|memory|rng|seed|sync\w*|version|home)(_|$)",
    re.IGNORECASE,
)
WORDS = frozenset({"cuda", "is_cuda", "use_cuda"})
LOADERS = frozenset({"torch.utils.cpp_extension.load", "torch.utils.cpp_extension.load_inline"})
BUILDER = "torch.utils.cpp_extension.CUDAExtension"
COMPILERS = ("triton.", "numba.cuda", "cupy.")
MAKERS = re.compile(r"cpp_extension|triton|numba|cupy|\bimport\s*\(?[\w\s,.]*\b(?:\w*_)?(?:C|ext)\b")
WORD = re.compile(r"\w+")
MADE_BY = (ast.Import, ast.ImportFrom, ast.Assign, *FUNCTIONS)
OWN_TEST = re.compile(r"is_cuda|is_available|[\"']cuda")


def is_kernel_name(name: str) -> bool:
    """Whether a function or module is called what kernels for CUDA are called."""
    return KERNEL.search(name) is not None and name.lower() not in WORDS and DEVICE_WORDS.search(name) is None


class Kernels:
    """The kernels that one module knows."""

    def __init__(self, module: PythonModule) -> None:
        self.module = module
        self.names: set[str] = set()
        self.plain: set[str] = set()
        # Most modules name nothing that could be one; then their trees are not walked.
        self.any = MAKERS.search(module.text) is not None or any(map(is_kernel_name, set(WORD.findall(module.text))))
        if self.any:
            self._find()

    def _find(self) -> None:
        nodes = list(walk(self.module.tree))
        self.names = {name for node in nodes if isinstance(node, MADE_BY) for name in self._made(node)}
        # Methods are reached through their objects, not by their names.
        methods = {id(node) for owner in nodes if isinstance(owner, ast.ClassDef) for node in owner.body}
        defined = [node for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and id(node) not in methods]
        self.plain = {node.name for node in defined} - self.names
        todo = [node for node in defined if not OWN_TEST.search(self._text(node))]
        while built := {node.name for node in todo if node.name in self.plain and self.first(node.body) is not None}:
            self.names |= built
            self.plain -= built

    @classmethod
    def of(cls, module: PythonModule) -> Kernels:
        """The kernels of a module, found once."""
        return module.fact("kernels", lambda: cls(module))

    def first(self, nodes: Iterable[ast.AST]) -> str | None:
        """The first kernel that some code calls, hands on or imports."""
        found = (name for node in nodes for inner in walk(node) for name in self._used(inner)) if self.any else iter(())
        return next(found, None)

    def _made(self, node: ast.AST) -> Iterator[str]:
        """The names that an import, a build or a compiler's decorator makes kernels."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from self._imported(node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if called(self.module, node.value) in LOADERS and ".cu" in self._text(node.value):
                yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, FUNCTIONS):
            for decorator in node.decorator_list:
                maker = decorator.func if isinstance(decorator, ast.Call) else decorator
                if (name_of(self.module, maker) or "").startswith(COMPILERS):
                    yield node.name

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        source = getattr(node, "module", None) or ""
        for alias in node.names:
            whole = f"{source}.{alias.name}".strip(".")
            if whole.partition(".")[0] in ("torch", "torch_npu"):
                continue
            bound = alias.asname or alias.name.partition(".")[0]
            last = whole.rpartition(".")[2]
            if not (is_kernel_name(last) or COMPILED.search(last) or any(map(is_kernel_name, source.split(".")))):
                continue
            if not self._is_own("." * getattr(node, "level", 0) + whole):
                yield bound

    def _used(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from self._imported(node)
        elif isinstance(node, ast.Name):
            if node.id in self.names and isinstance(node.ctx, ast.Load):
                yield node.id
        elif isinstance(node, ast.Call):
            parts = dotted(node.func) or [getattr(node.func, "attr", "")]
            found = self.module.names.meaning(parts, self.module.scope_at(self.module.range_of(node.func)[0]))
            own = found.via and not COMPILER_WORDS.search(".".join(parts))
            if not own and not (found.name or "").startswith("torch."):
                yield from (part for part in reversed(parts) if is_kernel_name(part) and part not in self.plain)

    def _is_own(self, name: str) -> bool:
        """Whether a name comes from Python code of the tree: its ``cuda_helpers.py`` is no kernel for its name."""
        if COMPILER_WORDS.search(name) or self.module.names.follow is None:
            return False
        return self.module.names.follow(name, self.module.path) is not None

    def _text(self, node: ast.AST) -> str:
        start, end = self.module.range_of(node)
        return self.module.text[start:end]


def builds(module: PythonModule, nodes: Iterable[ast.AST]) -> bool:
    """Whether some code has kernels for CUDA compiled, which needs the compiler and the toolkit of CUDA."""
    if "CUDAExtension" not in module.text:
        return False
    inner = (one for node in nodes for one in walk(node) if isinstance(one, (ast.Name, ast.Attribute)))
    return any(last_name(one) == "CUDAExtension" and name_of(module, one) == BUILDER for one in inner)


def is_build_script(module: PythonModule) -> bool:
    """Whether a module is a ``setup.py`` that compiles kernels for CUDA."""
    return module.fact("builds kernels", lambda: builds(module, [module.tree]) and _calls_setup(module))


def _calls_setup(module: PythonModule) -> bool:
    return any(isinstance(node, ast.Call) and last_name(node.func) == "setup" for node in walk(module.tree))
