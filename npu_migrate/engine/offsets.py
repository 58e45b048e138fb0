"""Where LibCST's nodes stand in the text they were parsed from, in characters.

LibCST's own PositionProvider counts lines and columns and costs twice the parse; plain offsets, and only for the
regions a rule asks about, are a small part of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from libcst._nodes.internal import CodegenState

if TYPE_CHECKING:
    import libcst as cst

Range = tuple[int, int]


class _Mark:
    """Context manager that notes the range of what is generated inside it."""

    __slots__ = ("end_node", "node", "start", "start_node", "state")

    def __init__(
        self, state: _OffsetState, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.state = state
        self.node = node
        self.start_node = start_node
        self.end_node = end_node

    def __enter__(self) -> None:
        self.start = self.state.offset

    def __exit__(self, *_: object) -> None:
        found = self.state.found
        start = found[id(self.start_node)][0] if self.start_node is not None else self.start
        end = found[id(self.end_node)][1] if self.end_node is not None else self.state.offset
        found[id(self.node)] = (start, end)


class _OffsetState(CodegenState):
    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent, default_newline)
        self.offset = 0
        self.found: dict[int, Range] = {}
        self._open: list[int] = []

    def add_indent_tokens(self) -> None:
        self.offset += sum(map(len, self.indent_tokens))

    def add_token(self, value: str) -> None:
        self.offset += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:  # noqa: ARG002  # the signature is LibCST's
        self._open.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._open.pop()
        self.found.setdefault(id(node), (start, self.offset))

    def pop_trailing_newline(self) -> None:
        """Nothing is kept, so nothing can be taken back; the end of a module is never asked for."""

    def record_syntactic_position(  # type: ignore[override]  # a plain context manager is what callers need
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Mark:
        return _Mark(self, node, start_node, end_node)


def offsets(root: cst.CSTNode, module: cst.Module) -> dict[int, Range]:
    """Ranges of all nodes below ``root``, by ``id``, counted from the start of the code of ``root``.

    White space and parentheses round a node do not belong to it.
    """
    state = _OffsetState(module.default_indent, module.default_newline)
    root._codegen(state)  # noqa: SLF001  # what Module.code_for_node does; a state of one's own cannot be passed there
    return state.found
