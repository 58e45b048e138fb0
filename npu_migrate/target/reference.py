"""Look-ups beside the operators: environment variables, error codes, autocast lists."""

from __future__ import annotations

import re
from dataclasses import dataclass

from npu_migrate.target import releases, store
from npu_migrate.target.series import ABSENT, at

_OWN = re.compile(r"ERR(\d\d)(\d\d\d)$")


@dataclass(frozen=True)
class Variable:
    """An environment variable: which releases read it, and whose documents name it (empty: nobody's)."""

    name: str
    documented: str
    read_by: tuple[str, ...]

    @property
    def real(self) -> bool:
        """Whether any release reads it or any document names it."""
        return bool(self.documented or self.read_by)


def variable(name: str) -> Variable:
    """What is known about an environment variable; one that nobody knows is not ``real``."""
    table = store.table("environment")
    series = table.get("read", {}).get(name, ABSENT)
    every = releases.known(legacy=True)
    read_by = tuple(one for one in every if at(series, releases.column(one)) != ABSENT)
    return Variable(name, table.get("documented", {}).get(name, ""), read_by)


def npu_variable(cuda: str) -> str | None:
    """The counterpart of a CUDA or NCCL variable: a name, empty where there is none, ``None`` where it is not known."""
    found: str | None = store.table("environment").get("cuda", {}).get(cuda)
    return found


@dataclass(frozen=True)
class ErrorCode:
    """An error code: whose (``torch_npu``, ``cann``, ``acl``), from which module, and its own name for the error."""

    code: str
    whose: str
    module: str
    name: str


def error(code: str) -> ErrorCode | None:
    """``ERR01007`` of torch_npu, ``EZ9999`` of CANN, ``507011`` of ACL; ``None`` for a code that nobody defines."""
    table = store.table("errors")
    own = _OWN.match(code)
    if own and own[1] in table["part"] and own[2] in table["kind"]:
        return ErrorCode(code, "torch_npu", table["part"][own[1]], table["kind"][own[2]])
    for part in ("acl", "runtime"):
        if code in table[part]:
            return ErrorCode(code, "acl", "", table[part][code])
    if code in table["cann"]:
        module, _, name = table["cann"][code].partition(":")
        return ErrorCode(code, "cann", module, name)
    return None


def autocast(operator: str) -> str | None:
    """How autocast treats an operator on the NPU: ``lower``, ``fp32``, ``promote``, ...; ``None``: not at all."""
    found: str | None = store.table("autocast").get("npu", {}).get(operator.removeprefix("aten::"))
    return found


def cast_on_cuda_only(release: str) -> frozenset[str]:
    """Operators that autocast casts on CUDA and not on the NPU, by the newest release that was looked at up to this."""
    looked_at: dict[str, list[str]] = store.table("autocast").get("cuda_only", {})
    order = releases.known(legacy=True)
    upto = [one for one in order[: order.index(release) + 1] if one in looked_at]
    chosen = upto[-1] if upto else next(iter(looked_at))
    return frozenset(looked_at[chosen])
