"""Device: where a tensor or a planned buffer lives, such as `cuda:0`."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass

from placewire_schema.errors import InvalidArgumentError, InvalidTypeError
from placewire_schema.program import DeviceType

from .torch_tensors import is_torch_device
from .wording import described

__all__ = ["HIGHEST_INDEX", "Device", "as_device"]

HIGHEST_INDEX = 127
"""Greatest device index: the wire stores it in a signed byte."""

_FORM = re.compile(r"(?P<type>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<index>0|[1-9][0-9]{0,2}))?", re.ASCII)
_TYPES = {member.name.lower(): member for member in DeviceType}


@dataclass(frozen=True, slots=True, order=True)
class Device:
    """One device: its kind, and which one of that kind.

    Devices compare and hash by value and sort by kind, then index. So `cpu:1`, which a file may
    say, is not `cpu:0`, although there is only one CPU; the validator warns of it.

    Attributes:
        type: Kind of device.
        index: Which one of that kind, 0 to 127. Default 0.

    Raises:
        InvalidArgumentError: The kind is not in the schema, or the index is out of range. It is
            also a `ValueError`.
    """

    type: DeviceType
    index: int = 0

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "type", DeviceType(self.type))
        except ValueError:
            kinds = ", ".join(f"{member.value} ({member.name})" for member in DeviceType)
            raise InvalidArgumentError(
                f"{self.type!r} is not a device type; valid are {kinds}"
            ) from None
        try:
            object.__setattr__(self, "index", int(operator.index(self.index)))
        except TypeError:
            raise self._wrong_index() from None
        if not 0 <= self.index <= HIGHEST_INDEX:
            raise self._wrong_index()

    def _wrong_index(self) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self.index!r} is not a device index; valid is 0 to {HIGHEST_INDEX}"
        )

    @classmethod
    def parse(cls, text: str) -> Device:
        """Read a device as people write it: `cuda`, `cuda:1`, `CPU`. Without an index it is 0.

        Blanks around it are not allowed.

        Example:
            >>> Device.parse("CUDA:1")
            Device(type=<DeviceType.CUDA: 1>, index=1)

        Raises:
            InvalidArgumentError: The text is anything else; the message shows it and what is valid.
                It is also a `ValueError`.
        """
        match = _FORM.fullmatch(str(text))
        device_type = _TYPES.get(match["type"].lower()) if match else None
        index = int(match["index"] or 0) if match else 0
        if device_type is None or index > HIGHEST_INDEX:
            raise InvalidArgumentError(f"{text!r} is not a device; {_valid_forms()}")
        return cls(device_type, index)

    @property
    def is_cpu(self) -> bool:
        """Whether its memory is the host's, which all devices of this kind share."""
        return self.type is DeviceType.CPU

    def __str__(self) -> str:
        return f"{self.type.name.lower()}:{self.index}"


def as_device(device: object, parameter: str = "device") -> Device:
    """The device that a caller names.

    Args:
        device: It, or its name as for `Device.parse`, or a `torch.device`.
        parameter: What it is called in messages.

    Raises:
        InvalidTypeError: It is neither.
        InvalidArgumentError: There is no device of that name.
    """
    if isinstance(device, Device):
        return device
    if not isinstance(device, str) and not is_torch_device(device):
        raise InvalidTypeError(
            f"{parameter} is {described(device)}; expected a Device, or its name such as 'cuda:0'"
        )
    return Device.parse(str(device))


def _valid_forms() -> str:
    kinds = " or ".join(_TYPES)
    return f"valid is {kinds}, with an index 0 to {HIGHEST_INDEX} if wanted, as in cuda:0"
