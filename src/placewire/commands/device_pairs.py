"""Devices, and pairs of an old and a new one, as options and arguments name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from placewire.device import Device

__all__ = ["device_of", "device_pairs"]


def device_of(text: str, option: str | None = None) -> Device:
    """The device that a text names.

    Args:
        text: Its name, such as `cuda:0`.
        option: The option that names it. Default: an argument does.

    Raises:
        typer.BadParameter: There is no such device.
    """
    from placewire.device import Device

    try:
        return Device.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def device_pairs(texts: Iterable[str], option: str | None = None) -> dict[Device, Device]:
    """The new device for each old one, of texts such as `cuda:0=cuda:1`.

    Args:
        texts: The pairs; one may be given twice.
        option: The option that names them. Default: arguments do.

    Raises:
        typer.BadParameter: A text is no pair of devices, or a device has two new ones.
    """
    pairs: dict[Device, Device] = {}
    for text in texts:
        old_text, equals, new_text = text.partition("=")
        if not equals:
            problem = f"{text!r} is not of the form OLD=NEW, as in cuda:0=cuda:1"
            raise typer.BadParameter(problem, param_hint=option)
        old, new = device_of(old_text, option), device_of(new_text, option)
        if pairs.setdefault(old, new) != new:
            problem = f"{old} cannot become both {pairs[old]} and {new}"
            raise typer.BadParameter(problem, param_hint=option)
    return pairs
