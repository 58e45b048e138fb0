"""Random numbers: one generator a device, apart from that of the CPU, as on hardware."""

from __future__ import annotations

import torch

from npu_migrate.rehearse import device
from npu_migrate.rehearse.interface import BACKEND, Value, generator_base

_DEFAULT_SEED = 67280421310721
_LIMIT = 1 << 64


class _AnyGenerator(type(generator_base)):  # type: ignore[misc]
    """Torch's own generators count as instances too, since this class takes the place of ``torch.Generator``."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, generator_base)


class Generator(generator_base, metaclass=_AnyGenerator):  # type: ignore[misc]
    """``torch.Generator`` that also knows npu devices; there it draws with the CPU's algorithm."""

    def __new__(cls, device: Value = "cpu") -> Value:
        """Make a generator for a device."""
        place = torch.device(device)
        made = generator_base.__new__(cls, "cpu" if place.type == BACKEND else place)
        made.place = torch.device(BACKEND, place.index or 0) if place.type == BACKEND else place
        return made

    def __init__(self, device: Value = "cpu") -> None:
        """Nothing is left to do."""

    @property
    def device(self) -> Value:
        """The device it was made for."""
        return self.place

    def clone_state(self) -> Value:
        """A generator for the same device in the same state."""
        made = Generator(self.place)
        made.set_state(self.get_state())
        return made


class Randomness:
    """The random functions of ``torch.npu``."""

    def __init__(self, count: int) -> None:
        """Make the generators of all devices."""
        self.generators = tuple(Generator(torch.device(BACKEND, index)) for index in range(count))
        for generator in self.generators:
            generator.manual_seed(_DEFAULT_SEED)

    def source(self, index: int, given: Value) -> Value:
        """The generator to draw from: one that was given, or the device's own."""
        return self.generators[index] if given is None else given

    def _own(self, place: Value = BACKEND) -> Value:
        device.start()
        return self.generators[device.index_of(place)]

    def manual_seed(self, seed: int) -> None:
        """Seed the current device."""
        self.generators[device.current()].manual_seed(int(seed) % _LIMIT)

    def manual_seed_all(self, seed: int) -> None:
        """Seed every device."""
        for generator in self.generators:
            generator.manual_seed(int(seed) % _LIMIT)

    def seed(self) -> None:
        """Seed the current device by chance."""
        self._own().seed()

    def seed_all(self) -> None:
        """Seed every device by the same chance."""
        chosen = self._own().seed()
        self.manual_seed_all(chosen)

    def initial_seed(self) -> int:
        """The seed of the current device."""
        return int(self._own().initial_seed())

    def get_rng_state(self, device: Value = BACKEND) -> Value:
        """The state of a device's generator."""
        return self._own(device).get_state()

    def set_rng_state(self, new_state: Value, device: Value = BACKEND) -> None:
        """Restore the state of a device's generator."""
        self._own(device).set_state(new_state.cpu())

    def get_rng_state_all(self) -> list[Value]:
        """The states of all devices."""
        return [generator.get_state() for generator in self.generators]

    def set_rng_state_all(self, new_states: Value) -> None:
        """Restore the states of all devices."""
        for generator, state in zip(self.generators, new_states):
            generator.set_state(state.cpu())


def register() -> None:
    """Put `Generator` in the place of torch's own."""
    torch.Generator = Generator
