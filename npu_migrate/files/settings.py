"""What one setting of a config file has to do with CUDA; shared by YAML, JSON, TOML and INI."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.files import environment, marks
from npu_migrate.files.images import image
from npu_migrate.files.tables import variable
from npu_migrate.files.values import backend_value, device_value, npu_name

if TYPE_CHECKING:
    from npu_migrate.files.pins import Pins
    from npu_migrate.files.sites import Sites

SCRIPT_KEYS = {"after_script", "before_script", "cmd", "command", "commands", "entrypoint", "run", "script", "scripts"}
"""Keys whose text is shell."""

_IMAGE_KEYS = {"base_image", "baseimage", "container", "docker_image", "from", "image", "image_name"}
_DEVICE_KEY = re.compile(r"device|accelerator|(?:^|_)dev$|platform|hardware|location|backend|target", re.IGNORECASE)
_LABEL_KEY = re.compile(
    r"name|title|id|(?:.*[_-])?(?:labels?|tags?|keywords?|topics|description|help|classes|names|words)$"
)
_TRUE = re.compile(r"true|yes|on|1", re.IGNORECASE)
_PIN = re.compile(r"pin[_-]?memory$", re.IGNORECASE)
_RELEASE_KEY = re.compile(r"(?:cuda|cudnn|nccl)(?:[_-]?(?:version|ver|arch_name))?$", re.IGNORECASE)
_RELEASE = re.compile(r"v?\d+(?:\.\d+)*")
_TAG = re.compile(r"cu\d{2,3}")
_TORCH = re.compile(r"torch\.(?:cuda|backends\.cud)[\w.]*")
_RESOURCE = re.compile(r"nvidia\.com/(?:gpu|mig)[\w.-]*|gpu\.nvidia[\w.-]*")
_WHEELS = re.compile(r"https?://\S*/cu\d{2,3}\b\S*")
_LONGEST = 1000
_OFFLOAD = {"offload_param", "offload_optimizer", "zero_optimization", "aio"}


class Setting(NamedTuple):
    """A key with one scalar value (or an item of its list)."""

    keys: tuple[str, ...]
    value: str
    start: int
    span: tuple[int, int]
    item: bool = False

    @property
    def key(self) -> str:
        """The innermost key."""
        return self.keys[-1] if self.keys else ""

    @property
    def whole(self) -> tuple[int, int]:
        """Key and value."""
        return self.start, self.span[1]


def setting(sites: Sites, pins: Pins, it: Setting) -> None:
    """Report one setting; words that stay unexplained are left to the caller."""
    if len(it.value) + len(it.key) > _LONGEST:
        return
    if not it.item and variable(it.key) and environment.assigned(sites, it.whole, it.key, it.value):
        return
    pair = environment.ASSIGNMENT.match(it.value) if it.item else None
    if pair and environment.assigned(sites, it.span, pair.group(1), it.value[pair.end() :]):
        return
    for check in (_image, _device, _backend, _switch, _release, _resource):
        if check(sites, it):
            return
    for found in _TORCH.finditer(sites.text, *it.span):
        sites.add(found.span(), marks.CONFIG_TORCH, found.group(), name=found.group())
    for found in _WHEELS.finditer(sites.text, *it.span):
        pins.index(*found.span())
    environment.references(sites, *it.span)


def prose(it: Setting) -> bool:
    """Whether a value is text for people."""
    return bool(re.search(r"\s", it.value)) or bool(_LABEL_KEY.fullmatch(it.key.lower()))


def _image(sites: Sites, it: Setting) -> bool:
    key = it.key.lower()
    if key in {"cuda", "device"}:
        return False
    return image(sites, it.span, it.value, sure=key in _IMAGE_KEYS)


def _device(sites: Sites, it: Setting) -> bool:
    key = it.key.lower()
    if key == "accelerator" and it.value.lower() in {"gpu", "cuda"}:
        sites.add(it.span, marks.CONFIG_ACCELERATOR, it.value, key=it.key, value=it.value)
        return True
    if not device_value(it.value) or _LABEL_KEY.fullmatch(key):
        return False
    if it.item and ":" not in it.value and not _DEVICE_KEY.search(key):
        return False
    sites.add(it.span, marks.CONFIG_DEVICE, it.value, key=it.key, value=it.value, npu=npu_name(it.value))
    return True


def _backend(sites: Sites, it: Setting) -> bool:
    if not backend_value(it.value) or _LABEL_KEY.fullmatch(it.key.lower()):
        return False
    sites.add(it.span, marks.CONFIG_BACKEND, it.value, key=it.key, value=it.value, npu=npu_name(it.value))
    return True


def _switch(sites: Sites, it: Setting) -> bool:
    if not _TRUE.fullmatch(it.value):
        return False
    if _PIN.search(it.key):
        deepspeed = bool(_OFFLOAD.intersection(it.keys))
        mark = marks.CONFIG_PINNED_DEEPSPEED if deepspeed else marks.CONFIG_PINNED
        sites.add(it.whole, mark, it.key, key=it.key)
    elif it.key == "cuda_aware":
        sites.add(it.whole, marks.CONFIG_AWARE, it.key, key=it.key)
    elif re.fullmatch(r"cudnn[_.]\w+", it.key):
        sites.add(it.whole, marks.CONFIG_CUDNN, it.key, key=it.key)
    else:
        return False
    return True


def _release(sites: Sites, it: Setting) -> bool:
    if _TAG.fullmatch(it.value):
        sites.add(it.span, marks.WHEEL_TAG, it.value, value=it.value)
        return True
    owner = it.key if it.key not in {"default", "version"} or len(it.keys) == 1 else it.keys[-2]
    if _RELEASE_KEY.fullmatch(owner) and _RELEASE.fullmatch(it.value) and it.value not in {"0", "1"}:
        sites.add(it.whole, marks.TOOLKIT_RELEASE, owner, name=owner, value=it.value)
        return True
    return False


def _resource(sites: Sites, it: Setting) -> bool:
    key, value = it.key.lower(), it.value
    if (key, value) in {("runtime", "nvidia"), ("driver", "nvidia"), ("capabilities", "gpu"), ("gpus", "all")}:
        sites.add(it.span, marks.CONTAINER_DEVICES, value, tool=f"{it.key}: {value}")
        return True
    for name, span in ((key, it.whole), (value, it.span)):
        if _RESOURCE.search(name):
            sites.add(span, marks.CONTAINER_RESOURCE, name, resource=name)
            return True
    return False
