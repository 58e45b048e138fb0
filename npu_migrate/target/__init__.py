"""What a torch_npu release offers: operators, Python names, versions. The tables are ``rules/coverage``."""

from __future__ import annotations

from npu_migrate.target.choice import Choice, choose
from npu_migrate.target.model import CudaName, CustomOp, Operator, OpStatus, PythonApi, Release
from npu_migrate.target.releases import UnknownRelease, known, resolve
from npu_migrate.target.target import Target, load

__all__ = [
    "Choice",
    "CudaName",
    "CustomOp",
    "OpStatus",
    "Operator",
    "PythonApi",
    "Release",
    "Target",
    "UnknownRelease",
    "choose",
    "known",
    "load",
    "resolve",
]
