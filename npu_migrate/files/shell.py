"""What shell commands have to do with CUDA, in scripts and wherever other files hold commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import environment, marks
from npu_migrate.files.embedded import python_text
from npu_migrate.files.images import image
from npu_migrate.files.programs import PROGRAMS, Installers, basename
from npu_migrate.files.shell_words import Command, Comment, Heredoc, split
from npu_migrate.files.values import backend_value, device_value, npu_name

if TYPE_CHECKING:
    from npu_migrate.files.pins import Pins
    from npu_migrate.files.shell_words import Word
    from npu_migrate.files.sites import Mark, Sites

_DEPTH = 4
_ARGUMENT = re.compile(r"([-+~]*[\w.\[\]{}$/-]*)[:+?]?=(.*)$", re.DOTALL)
_DEFAULT = re.compile(r"\$\{(\w+):?[-=]([\w:,]+)\}")
_DIRECTIVE = re.compile(r"#(?:SBATCH|PBS|BSUB|\$|DSUB)\b.*?(--?(?:gres=gpu|gpus?|ngpus)\S*|gpus?[=:]\S+|\s-G\s+\S+)")
_SUBSTITUTION = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_PATH = re.compile(r"/(?:usr/local|usr/lib|usr|opt|[\w.-]+)/(?:nvidia/)?cuda(?=[-/\"':\s]|$)[\w./+-]*")
_REPOSITORY = re.compile(
    r"(?<![\w.])[\w.]*\.nvidia\.com/compute\S*|nvidia\.github\.io\S*|sources\.list\.d/(?:cuda|nvidia)[\w.-]*"
)
_LIBRARY = re.compile(
    r"-l(?:cuda|cudart\w*|cublas\w*|cudnn\w*|curand\w*|cusparse\w*|cusolver\w*|cufft\w*|cupti|nccl\w*|nvinfer\w*|nvrtc\w*"
    r"|nvToolsExt|nvonnxparser)$"
)
_TORCH = re.compile(r"torch\.(?:cuda|backends\.cud)[\w.]*")
_PROCESSES = re.compile(r"--nproc[_-]per[_-]node(?:=(.*))?$")
_TOOLS: dict[str, Mark] = {
    "nvidia-smi": marks.TOOL_SMI,
    "nvtop": marks.TOOL_SMI,
    "gpustat": marks.TOOL_SMI,
    "nvcc": marks.TOOLKIT_COMPILER,
    "nsys": marks.TOOL_PROFILER,
    "ncu": marks.TOOL_PROFILER,
    "nvprof": marks.TOOL_PROFILER,
    "tritonserver": marks.TOOL_SERVER,
    "trtexec": marks.TOOL_SERVER,
    "cuda-gdb": marks.TOOL_DEBUGGER,
    "cuda-memcheck": marks.TOOL_DEBUGGER,
    "compute-sanitizer": marks.TOOL_DEBUGGER,
    "nvidia-cuda-mps-control": marks.TOOL_DEBUGGER,
    "nvidia-cuda-mps-server": marks.TOOL_DEBUGGER,
    "dcgmi": marks.TOOL_DEBUGGER,
    "nvidia-docker": marks.CONTAINER_DEVICES,
    "nvidia-docker2": marks.CONTAINER_DEVICES,
}
_WHOLE = {marks.TOOLKIT_COMPILER, marks.TOOL_SERVER, marks.TOOL_DEBUGGER}
_COMPARED = {"=", "==", "!=", "in", "cpu"}


class Shell:
    """Reads stretches of shell of one text."""

    def __init__(self, sites: Sites, pins: Pins, *, make: bool = False) -> None:
        """Report into ``sites``; packages that are installed go to ``pins``."""
        self._sites = sites
        self._make = make
        self._installers = Installers(sites, pins)

    def scan(self, span: tuple[int, int], depth: int = 0) -> None:
        """Read one stretch; every CUDA word in it ends in some finding."""
        for event in split(self._sites.text, span, make=self._make):
            if isinstance(event, Comment):
                self._comment(event)
            elif isinstance(event, Heredoc):
                self._heredoc(event, depth)
            else:
                self.command(event, depth)
        self._sites.stay(span, marks.STAY_NAME)

    def _comment(self, comment: Comment) -> None:
        directive = _DIRECTIVE.match(self._sites.text, *comment)
        if directive:
            request = directive.group(1).strip()
            self._sites.add(directive.span(1), marks.CONTAINER_SCHEDULER, request, request=request)
        self._sites.stay(comment, marks.STAY_COMMENT)

    def _heredoc(self, heredoc: Heredoc, depth: int) -> None:
        span = (heredoc.start, heredoc.end)
        names = {basename(word) for word in heredoc.reader.words} if heredoc.reader else set()
        if "python" in names:
            python_text(self._sites, span)
        elif depth < _DEPTH:
            self.scan(span, depth + 1)
        else:
            self._sites.stay(span, marks.STAY_TEXT)

    def command(self, command: Command, depth: int = 0) -> None:
        """Read one simple command."""
        if not self._sites.concern(*command.span):
            return
        words = command.words
        index = next((at for at, word in enumerate(words) if basename(word) in PROGRAMS), None)
        program = basename(words[index]) if index is not None else ""
        if program == "text":
            self._text(words, depth)
            return
        if index is not None and self._installers.report(program, words[index + 1 :]):
            index = None
        self._tools(command)
        for at, word in enumerate(words):
            if program == "python" and at and words[at - 1].value == "-c":
                python_text(self._sites, word.span)
            self._word(words, at, depth)
            if program in {"docker", "run"}:
                self._container(words, at)
        self._sites.stay(command.span, marks.STAY_NAME)

    def _text(self, words: tuple[Word, ...], depth: int) -> None:
        span = (words[0].start, words[-1].end)
        for inner in _SUBSTITUTION.finditer(self._sites.text, *span):
            if depth < _DEPTH:
                self.scan(inner.span(1 if inner.group(1) is not None else 2), depth + 1)
        for word in words:
            if not word.raw.startswith("'"):
                environment.references(self._sites, *word.span)
        self._sites.stay(span, marks.STAY_TEXT)

    def _tools(self, command: Command) -> None:
        for at, word in enumerate(command.words):
            mark = _TOOLS.get(word.name)
            if mark is None:
                continue
            rest = command.words[at + 1 :]
            if mark is marks.TOOL_SMI and any(re.match(r"--query|-q$", other.value) for other in rest):
                mark = marks.TOOL_SMI_QUERY
            leads = all(environment.ASSIGNMENT.match(other.value) for other in command.words[:at])
            end = command.span[1] if mark in _WHOLE and leads else word.end
            self._sites.add((word.start, end), mark, word.name, tool=word.name)

    def _word(self, words: tuple[Word, ...], at: int, depth: int) -> None:
        word = words[at]
        if not self._variable(words, at) and not self._sites.covered(*word.span):
            self._argument(words, at)
            self._parts(word)
        if not word.raw.startswith("'"):
            environment.references(self._sites, *word.span)
        if depth < _DEPTH and ("'" in word.raw or '"' in word.raw):
            for inner in word.quoted():
                if re.search(r"[\s$`]", self._sites.text[slice(*inner)]):
                    self.scan(inner, depth + 1)

    def _variable(self, words: tuple[Word, ...], at: int) -> bool:
        word = words[at]
        found = environment.ASSIGNMENT.match(word.value)
        if found:
            return environment.assigned(self._sites, word.span, found.group(1), word.value[found.end() :])
        before = words[at - 1].value if at else ""
        if before in {"-env", "setenv", "-x"} and at + 1 < len(words) and environment.NAME.fullmatch(word.value):
            return environment.assigned(self._sites, word.span, word.value, words[at + 1].value)
        return environment.read(self._sites, word.span, word.value)

    def _argument(self, words: tuple[Word, ...], at: int) -> None:
        word = words[at]
        before = words[at - 1] if at else None
        processes = _PROCESSES.match(word.value)
        count = processes.group(1) or (words[at + 1].value if at + 1 < len(words) else "") if processes else ""
        if count == "gpu":
            self._sites.add(word.span, marks.ARGUMENT_PROCESSES, word.value)
        pair = _ARGUMENT.match(word.value)
        if pair:
            self._value(word.span, pair.group(1), pair.group(2))
        elif before and before.value.startswith("-") and "=" not in before.value:
            self._value((before.start, word.end), before.value, word.value)
        elif (
            word.value == "nccl"
            or re.match(r"cuda:\d", word.value)
            or (word.value == "cuda" and self._compared(words, at))
        ):
            self._value(word.span, "", word.value)
        for default in _DEFAULT.finditer(word.raw):
            first, last = default.span(2)
            self._value((word.start + first, word.start + last), default.group(1), default.group(2))

    @staticmethod
    def _compared(words: tuple[Word, ...], at: int) -> bool:
        near = words[max(at - 1, 0) : at + 2]
        return words[at].value == "cuda" and any(word.value in _COMPARED for word in near)

    def _value(self, span: tuple[int, int], name: str, value: str) -> None:
        if device_value(value) or backend_value(value):
            mark = marks.ARGUMENT_DEVICE if device_value(value) else marks.ARGUMENT_BACKEND
            if not name:
                mark = marks.ARGUMENT_NAMED
            self._sites.add(span, mark, value, name=name, value=value, npu=npu_name(value))

    def _parts(self, word: Word) -> None:
        sites = self._sites
        if _LIBRARY.match(word.value):
            sites.add(word.span, marks.TOOLKIT_LIBRARY, word.value, library=word.value)
        for found in _REPOSITORY.finditer(sites.text, *word.span):
            sites.add(found.span(), marks.SYSTEM_REPOSITORY, found.group(), address=found.group())
        for found in _PATH.finditer(sites.text, *word.span):
            if not sites.covered(*found.span()):
                sites.add(found.span(), marks.TOOLKIT_PATH, found.group(), path=found.group())
        for found in _TORCH.finditer(sites.text, *word.span):
            if not sites.covered(*found.span()):
                sites.add(found.span(), marks.CONFIG_TORCH, found.group(), name=found.group())
        if "whl/" in word.raw and not sites.covered(*word.span):
            self._installers.pins.index(*word.span)

    def _container(self, words: tuple[Word, ...], at: int) -> None:
        word = words[at]
        after = words[at + 1].value if at + 1 < len(words) else ""
        if re.match(r"--gpus(?:=|$)|--nv$|--runtime=nvidia", word.value) or (
            word.value == "--runtime" and after == "nvidia"
        ):
            self._sites.add(word.span, marks.CONTAINER_DEVICES, word.value, tool=word.value)
        elif re.match(r"--gres=gpu|--gpus-per-|--gpus=", word.value):
            self._sites.add(word.span, marks.CONTAINER_SCHEDULER, word.value, request=word.value)
        elif not self._sites.covered(*word.span):
            image(self._sites, word.span, word.value, sure=False)
