"""``python -m npu_migrate.target.refresh.trace``: what composites and Python functions of torch really call.

Needs torch itself (and expecttest, which its sample inputs import). Every operator and module of torch's own test
database runs on the CPU under the profiler, whose events nest: the children of a composite are what it calls. What is
seen in all runs is kept as such, what only some runs show with a ``?`` before it.
"""

# mypy: disable-error-code="import-not-found,misc,no-untyped-call"

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile, record_function

from npu_migrate.target import calls, series, store
from npu_migrate.target.model import LETTERS
from npu_migrate.target.refresh import aten, tables
from npu_migrate.target.refresh.facts import read_yaml
from npu_migrate.target.target import python_base

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

# Another device never takes these branches.
_OF_THE_CPU = re.compile(r"mkldnn|xnnpack|nnpack|_cpu|slow_conv|thnn_conv|cudnn|miopen|fbgemm")
_FORWARD, _BACKWARD, _ENGINE = "npu-migrate: forward", "npu-migrate: backward", "autograd::engine::evaluate_function"
_SAMPLES = 5

# Other names of composites, which torch's test database runs under one name only.
ALIASES = {
    "det": ["linalg_det"],
    "orgqr": ["linalg_householder_product"],
    "special_digamma": ["digamma"],
    "special_gammainc": ["igamma"],
    "special_gammaincc": ["igammac"],
    "special_gammaln": ["lgamma"],
    "special_i0": ["i0"],
    "special_multigammaln": ["mvlgamma"],
    "special_psi": ["digamma"],
}


class Seen:
    """For each caller, the sets of callees of its runs."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self.runs: dict[str, list[frozenset[str]]] = defaultdict(list)

    def add(self, caller: str, callees: Iterable[str]) -> None:
        """One more run of a caller."""
        self.runs[caller].append(frozenset(callees))

    def lists(self) -> dict[str, list[str]]:
        """Every caller's callees, sorted, the occasional ones last and marked."""
        found = {}
        for caller, runs in sorted(self.runs.items()):
            always, every = frozenset.intersection(*runs), frozenset.union(*runs)
            listed = [*sorted(always), *(f"?{name}" for name in sorted(every - always))]
            if listed:
                found[caller] = listed
        return found


class Tracer:
    """Runs things under the profiler and reads its trees."""

    def __init__(self, listed: dict[str, aten.Definition]) -> None:
        """``listed`` are torch's operators; only those that have no kernel for the CPU are looked into."""
        self.composite = {name for name, one in listed.items() if one.kind != "kernel" and not one.cpu}
        self.listed = listed
        self.operators, self.forward, self.backward = Seen(), Seen(), Seen()

    def run(self, names: Sequence[str], call: Callable[[], Any], *, backward: bool) -> None:
        """One run of the callable that has these names."""
        with profile(
            activities=[ProfilerActivity.CPU], experimental_config=_ExperimentalConfig(capture_overload_names=True)
        ) as recorded:
            with record_function(_FORWARD):
                result = call()
            losses = [one.abs().sum() for one in _tensors(result) if one.requires_grad] if backward else []
            with record_function(_BACKWARD):
                for loss in losses:
                    loss.backward(retain_graph=True)
        events = recorded.events() or ()
        for event in events:
            self._operator(event)
        for name in names:
            self.forward.add(name, self._under(events, _FORWARD))
            if losses:
                self.backward.add(name, self._gradients(events))

    def _operator(self, event: Any) -> None:  # noqa: ANN401 - the profiler's own event
        name = self._name(event)
        if name in self.composite and not _OF_THE_CPU.search(name):
            self.operators.add(name, set(self._below(event)) - {name})

    def _name(self, event: Any) -> str:  # noqa: ANN401 - the profiler's own event
        if not event.name.startswith("aten::"):
            return ""
        overload = getattr(event, "overload_name", "")
        name = event.name[len("aten::") :] + (f".{overload}" if overload else "")
        return name if name in self.listed else ""

    def _below(self, event: Any) -> Iterator[str]:  # noqa: ANN401 - the profiler's own event
        """The nearest operators under an event, looking through whatever is none."""
        for child in event.cpu_children:
            name = self._name(child)
            if not name:
                yield from self._below(child)
            elif not _OF_THE_CPU.search(name):
                yield name

    def _under(self, events: Iterable[Any], marker: str) -> set[str]:
        return {name for event in events if event.name == marker for name in self._below(event)}

    def _gradients(self, events: Iterable[Any]) -> set[str]:
        """What the backward nodes call; the summing up of a sample's outputs is this module's own."""
        return {
            name
            for event in events
            if event.name.startswith(_ENGINE)
            and not event.name.endswith(("SumBackward0", "AccumulateGrad", "AbsBackward0"))
            for name in self._below(event)
        }


def _tensors(value: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401 - whatever an operator returns
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)


def trace_operators(tracer: Tracer) -> None:
    """Everything in torch's database of functions."""
    from torch.testing._internal.common_methods_invocations import op_db  # noqa: PLC0415 - ten seconds to import

    times = Counter(info.name for info in op_db)
    for info in op_db:
        dtype = next((one for one in (torch.float32, *sorted(info.dtypes, key=str)) if one in info.dtypes), None)
        if dtype is None:
            continue
        name = info.name if info.name.startswith("torch.") else f"torch.{info.name}"
        # One variant alone does not stand for the plain call.
        names = [name] if times[info.name] > 1 or not info.variant_test_name else []
        if info.variant_test_name:
            names.append(f"{name}:{info.variant_test_name}")
        grad = bool(info.supports_autograd and dtype.is_floating_point)
        for sample in islice(info.sample_inputs("cpu", dtype, requires_grad=grad), _SAMPLES):
            _attempt(
                tracer,
                names,
                lambda info=info, sample=sample: info(sample.input, *sample.args, **sample.kwargs),
                backward=grad,
            )


def trace_modules(tracer: Tracer) -> None:
    """Everything in torch's database of modules."""
    from torch.testing._internal.common_modules import module_db  # noqa: PLC0415 - as above

    for info in module_db:
        inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=True)
        for one in islice(inputs, _SAMPLES):
            built, given = one.constructor_input, one.forward_input
            if given is None:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = info.module_cls(*built.args, **built.kwargs)
            name = f"torch.nn.{info.module_cls.__name__}"
            call = lambda module=module, given=given: module(*given.args, **given.kwargs)  # noqa: E731 - bound at once
            _attempt(tracer, [name], call, backward=True)


def _attempt(tracer: Tracer, names: Sequence[str], call: Callable[[], Any], *, backward: bool) -> None:
    """Some samples are meant to fail, and some need another device."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tracer.run(names, call, backward=backward)
        except (RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError) as error:
            sys.stderr.write(f"{names[0]}: {type(error).__name__}\n")


def listed_operators() -> dict[str, aten.Definition]:
    """The operator list of the installed torch."""
    packaged = Path(torch.__file__).parents[1] / "torchgen" / "packaged" / "ATen" / "native" / "native_functions.yaml"
    return aten.definitions(read_yaml(packaged))


def _telling(forward: dict[str, list[str]]) -> dict[str, list[str]]:
    """What the operator's own overloads do not say already."""
    return {
        name: callees
        for name, callees in forward.items()
        if len(callees) > 1 or not python_base(name) or python_base(name) != callees[0].partition(".")[0]
    }


def _columns(series_of: dict[str, str]) -> list[dict[str, str]]:
    width = max(map(len, series_of.values()))
    return [
        {name: letter for name, text in series_of.items() for letter in (series.at(text, column),) if letter in LETTERS}
        for column in range(width)
    ]


def _troublesome(
    backward: dict[str, list[str]], operators: dict[str, list[str]], releases: list[dict[str, str]]
) -> dict[str, list[str]]:
    """Only what some release lacks or leaves to the CPU: the rest is never told."""
    bad = {
        name
        for name in {callee for listed in backward.values() for callee in calls.always(listed)}
        if any(name in letters and calls.worst(name, letters, operators)[0].rank for letters in releases)
    }
    kept = {name: [callee for callee in listed if callee in bad] for name, listed in backward.items()}
    return {name: listed for name, listed in kept.items() if listed}


def main(arguments: Sequence[str] | None = None) -> int:
    """Trace everything and write ``calls.json``."""
    parser = argparse.ArgumentParser(prog="python -m npu_migrate.target.refresh.trace", description=__doc__)
    parser.add_argument("--into", type=Path, default=store.folder(), help="the folder of the tables")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    tracer = Tracer(listed_operators())
    trace_operators(tracer)
    trace_modules(tracer)
    operators = dict(sorted({**ALIASES, **tracer.operators.lists()}.items()))
    letters = _columns(tables.read(chosen.into, "operators")["operators"])
    tables.write(
        chosen.into,
        "calls",
        {
            "source": f"torch {torch.__version__}, traced on the CPU",
            "operators": operators,
            "forward": _telling(tracer.forward.lists()),
            "backward": _troublesome(tracer.backward.lists(), operators, letters),
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
