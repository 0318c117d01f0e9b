"""Retargeting: moves a program from one device to another.

A pass on a finished program: a plain function on the generated dataclasses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from placewire_schema.errors import NotSupportedError

from . import device_table as device_tables
from .placement import TARGET_DEVICE, target_device, tensors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from placewire_schema.program import (
        CompileSpec,
        ExecutionPlan,
        ExtraTensorInfo,
        NonConstBufferDevice,
        Program,
    )

    from .device import Device
    from .pte import PteFile

__all__ = ["Retargeted", "retarget", "retarget_file"]


@dataclass(slots=True)
class Retargeted:
    """What a retargeting changed, as numbers of places.

    Attributes:
        tensors: Tensors that are on another device now.
        buffers: Planned buffers.
        delegates: `target_device` compile specs of delegates.
        table_entries: Entries of the device table.
        unmatched: Devices that were to be moved and that nothing in the program is on.
        unreadable: Paths of `target_device` compile specs whose value is not a device; they are
            left as they are.
    """

    tensors: int = 0
    buffers: int = 0
    delegates: int = 0
    table_entries: int = 0
    unmatched: tuple[Device, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """All changed places."""
        return self.tensors + self.buffers + self.delegates + self.table_entries


def retarget(program: Program, moves: Mapping[Device, Device]) -> Retargeted:
    """Move everything that is on one device to another, in place.

    Changes the devices of tensors and planned buffers and the `target_device` of delegates, nothing
    else. All moves happen at once, so `{cuda:0: cuda:1, cuda:1: cuda:0}` swaps the two.

    Args:
        program: The program to change.
        moves: The new device for each old one. Devices that are not named stay.

    Returns:
        How much changed. A move that matches nothing is in `unmatched` and no error.

    Raises:
        NotSupportedError: A move leads to or from the CPU. Nothing was changed then.
        InvalidTypeError: `moves` is not a mapping of devices. It is also a `TypeError`.

    Example:
        >>> retarget(program, {Device.parse("cuda:0"): Device.parse("cuda:1")}).tensors
        3
    """
    _refuse_the_cpu(moves)
    pass_ = _Pass(moves)
    for index, plan in enumerate(program.execution_plan):
        pass_.visit(plan, f"execution_plan[{index}]")
    result = pass_.result
    result.unmatched = tuple(sorted(set(moves) - pass_.matched))
    return result


def retarget_file(pte: PteFile, moves: Mapping[Device, Device]) -> Retargeted:
    """Move a file's program as `retarget` does, and the device table if the file carries one.

    What the table asks of a device goes along with it.

    Raises:
        NotSupportedError: As `retarget`.
        InvalidProgramError: The device table is damaged.
    """
    table = pte.device_table
    result = retarget(pte.program, moves)
    if table is not None:
        pte.rebuild_device_table(device_tables.move(table, moves))
        changed = {(old.type, old.index) for old, new in moves.items() if old != new}
        result.table_entries = sum(
            (info.device_type, info.device_index) in changed for info in table.devices
        )
    return result


class _Pass:
    """One run over a program. Objects that the program shares are changed once."""

    def __init__(self, moves: Mapping[Device, Device]) -> None:
        self._moves = moves
        # By number, so that a device type that the schema does not know matches nothing.
        self._by_number = {(old.type, old.index): old for old in moves}
        self._seen: set[int] = set()
        self.matched: set[Device] = set()
        self.result = Retargeted()

    def visit(self, plan: ExecutionPlan, path: str) -> None:
        """Move one method."""
        for _, tensor in tensors(plan):
            if tensor.extra_tensor_info is not None:
                self.result.tensors += self._move(tensor.extra_tensor_info)
        for entry in plan.non_const_buffer_device or []:
            self.result.buffers += self._move(entry)
        for index, delegate in enumerate(plan.delegates):
            for position, spec in enumerate(delegate.compile_specs):
                if spec.key == TARGET_DEVICE:
                    self._move_spec(spec, f"{path}.delegates[{index}].compile_specs[{position}]")

    def _move(self, place: ExtraTensorInfo | NonConstBufferDevice) -> bool:
        old = self._by_number.get((place.device_type, place.device_index))
        if old is None or not self._is_new(place):
            return False
        new = self._match(old)
        place.device_type, place.device_index = new.type, new.index
        return new != old

    def _move_spec(self, spec: CompileSpec, path: str) -> None:
        old = target_device(spec)
        if old is None:
            self.result.unreadable += (path,)
        elif old in self._moves and self._is_new(spec):
            new = self._match(old)
            if new != old:
                spec.value = str(new).encode()
                self.result.delegates += 1

    def _match(self, old: Device) -> Device:
        self.matched.add(old)
        return self._moves[old]

    def _is_new(self, place: object) -> bool:
        if id(place) in self._seen:
            return False
        self._seen.add(id(place))
        return True


def _refuse_the_cpu(moves: Mapping[Device, Device]) -> None:
    for old, new in moves.items():
        if old != new and (old.is_cpu or new.is_cpu):
            raise NotSupportedError(
                f"cannot move {old} to {new}: between the CPU and a device a program needs copies, "
                "and buffers that are planned for them; export it anew for the other device"
            )
