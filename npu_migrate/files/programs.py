"""Commands that bring software in: pip, conda, apt, git, environment modules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from npu_migrate.files import marks

if TYPE_CHECKING:
    from npu_migrate.files.pins import Pins
    from npu_migrate.files.shell_words import Word
    from npu_migrate.files.sites import Sites

PROGRAMS = {"apt", "conda", "docker", "git", "module", "pip", "python", "run", "text"}
"""What ``basename`` makes of a command that is looked at more closely."""

_ALIASES = {
    **dict.fromkeys(("apt", "apt-get", "yum", "dnf", "microdnf", "zypper", "apk", "aptitude"), "apt"),
    **dict.fromkeys(("conda", "mamba", "micromamba"), "conda"),
    **dict.fromkeys(("docker", "podman", "nvidia-docker", "singularity", "apptainer", "enroot", "nerdctl"), "docker"),
    **dict.fromkeys(("srun", "sbatch", "salloc"), "run"),
    **dict.fromkeys(("module", "ml"), "module"),
    **dict.fromkeys(("pip", "pip3", "poetry", "pdm"), "pip"),
    **dict.fromkeys(
        ("echo", "printf", "print", "print_banner", "log", "die", "info", "warn", "error", "usage"), "text"
    ),
}
_PYTHON = re.compile(r"python[\d.]*$")
_PIP = re.compile(r"pip[\d.]+$")
_SYSTEM = re.compile(
    r"(?:cuda|libcu|libnccl|libnv|libcudnn|nvidia-|tensorrt|python3-libnv|datacenter-gpu-manager|nsight-)[\w.+:=*-]*"
)
_REMOVALS = {"uninstall", "remove", "purge", "autoremove"}
_INSTALLS = {"install", "add", "download", "wheel", "create", "update"}
_CUDA_BUILD = re.compile(r".*--(?:cuda_ext|deprecated_fused_adam|xentropy|fast_multihead_attn)\b")
_INDEXES = {"-i", "-f", "--index-url", "--extra-index-url", "--find-links", "--index"}
_VALUED = {"-r", "-c", "-t", "-n", "-p", "--requirement", "--constraint", "--target", "--prefix", "--name", "--python"}


def basename(word: Word) -> str:
    """What a word is as a command: the kind of program, or its own name."""
    name = word.name
    if "=" in word.value:
        return ""
    if _PYTHON.match(name):
        return "python"
    if _PIP.match(name):
        return "pip"
    return _ALIASES.get(name, name)


class Installers:
    """Reports what one text's commands install."""

    def __init__(self, sites: Sites, pins: Pins) -> None:
        """Share the text's ``pins``."""
        self._sites = sites
        self.pins = pins

    def report(self, program: str, words: tuple[Word, ...]) -> bool:
        """Report the arguments of one command; False for a program that installs nothing."""
        if program == "python":
            if [word.value for word in words[:2]] != ["-m", "pip"]:
                return False
            program, words = "pip", words[2:]
        verb = next((at for at, word in enumerate(words) if word.value in _REMOVALS | _INSTALLS), None)
        if program in {"pip", "conda", "apt"} and verb is not None:
            self._packages(program, words[verb].value, words[verb + 1 :])
            return True
        if program == "git":
            for word in words:
                if "://" in word.value or word.value.startswith("git@"):
                    self.pins.requirement(*word.span)
        elif program == "module":
            self._modules(words)
        return program in {"git", "module"}

    def _packages(self, program: str, verb: str, words: tuple[Word, ...]) -> None:
        if verb in _REMOVALS:
            for word in words:
                self._sites.stay(word.span, marks.STAY_REMOVED)
            return
        before = ""
        for word in words:
            value = word.value
            option, _, inline = value.partition("=")
            if value.startswith("-"):
                if option in _INDEXES and inline:
                    self.pins.index(*word.span)
                elif _CUDA_BUILD.match(value):
                    self._sites.add(word.span, marks.PACKAGE_BUILD, value, option=value)
            elif program == "conda" and before in {"-c", "--channel"}:
                self.pins.channel(*word.span)
            elif program != "conda" and before in _INDEXES:
                self.pins.index(*word.span)
            elif before not in _VALUED:
                self._package(program, word)
            before = value

    def _package(self, program: str, word: Word) -> None:
        quote = 1 if word.raw[:1] in {"'", '"'} and word.raw[-1:] == word.raw[:1] else 0
        start, end = word.start + quote, word.end - quote
        if program == "pip":
            if word.value not in {".", ".."} and not word.value.startswith(("./", "/", "$")):
                self.pins.requirement(start, end)
        elif program == "conda":
            self.pins.conda(start, end)
        elif _SYSTEM.match(word.value):
            self._sites.add(word.span, marks.SYSTEM_PACKAGE, word.value, package=word.value)

    def _modules(self, words: tuple[Word, ...]) -> None:
        if any(word.value in {"unload", "rm", "purge"} for word in words):
            return
        for word in words:
            if re.match(r"(?:[\w.-]+/)*(?:cuda|cudnn|nccl|nvhpc|nvidia|tensorrt)\b", word.value, re.IGNORECASE):
                self._sites.add(word.span, marks.TOOLKIT_MODULE, word.value, module=word.value)
