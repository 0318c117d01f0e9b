"""What the runtime does with damaged files: it refuses or executes them, and never crashes.

The malformed files of ExecuTorch's issues are here one by one, loaded as they are.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from placewire_schema import program as p

from tests.fuzz.execution import EXECUTION_ENVIRONMENT, execution_driver, write_seeds
from tests.fuzz.primitive_programs import PRIMITIVE_PROGRAMS
from tests.runtime.method_programs import add_constant, device_copy, loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.runtime.programs import Sample

COUNT = 20_000
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Driver:
    """The compiled driver, and a folder to work in."""

    program: Path
    folder: Path

    def run(self, count: int, files: list[Path]) -> list[str]:
        result = subprocess.run(
            [self.program, str(count), "1", *files],
            cwd=self.folder,
            env={**os.environ, **EXECUTION_ENVIRONMENT},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert result.returncode == 0, result.stdout[-2000:] + result.stderr[:4000]
        return result.stdout.splitlines()

    def answer(self, data: bytes) -> str:
        """Load and execute a file as it is."""
        path = self.folder / "file.pte"
        path.write_bytes(data)
        return self.run(0, [path])[0].partition(".pte: ")[2]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Driver:
    folder = tmp_path_factory.mktemp("execution")
    return Driver(execution_driver(folder, compiler), folder)


def test_damaged_files_are_executed_without_a_crash(
    driver: Driver, corpus: Path, tmp_path: Path
) -> None:
    files = [*sorted(corpus.glob("*.pte")), *write_seeds(tmp_path)]
    assert len(files) > 30
    *whole, last = driver.run(COUNT, files)
    executed = {line.partition(".pte: ")[0] for line in whole if line.endswith(": executed")}
    assert {str(tmp_path / name) for name in PRIMITIVE_PROGRAMS} <= executed
    assert len(executed) > len(files) * 3 // 4
    words = last.replace(",", "").split()
    tried, loaded, executed_to_the_end = int(words[0]), int(words[2]), int(words[7])
    assert tried == COUNT
    # Damage that is noticed and damage that is not both happen often, or little would be tested.
    assert executed_to_the_end > COUNT // 20
    assert loaded < COUNT // 2


def edited(make: Callable[[], Sample], edit: Callable[[p.ExecutionPlan], Any]) -> bytes:
    """A program whose first method was edited."""
    sample = make()
    edit(sample.plan)
    return sample.file()


def tensor(plan: p.ExecutionPlan, index: int) -> p.Tensor:
    value = plan.values[index].val
    assert isinstance(value, p.Tensor)
    return value


def jump(target: int) -> Callable[[p.ExecutionPlan], None]:
    """Let the last instruction of `loop` jump elsewhere."""

    def edit(plan: p.ExecutionPlan) -> None:
        call = plan.chains[0].instructions[4].instr_args
        assert isinstance(call, p.JumpFalseCall)
        call.destination_instruction = target

    return edit


def resized(sizes: list[int]) -> Callable[[p.ExecutionPlan], None]:
    """Give the first tensor other sizes."""

    def edit(plan: p.ExecutionPlan) -> None:
        tensor(plan, 0).sizes = sizes
        tensor(plan, 0).dim_order = bytes(index % 256 for index in range(len(sizes)))

    return edit


def placed(memory_id: int = 1, low: int = 0, high: int = 0) -> Callable[[p.ExecutionPlan], None]:
    """Put the first tensor elsewhere."""

    def edit(plan: p.ExecutionPlan) -> None:
        tensor(plan, 0).allocation_info = p.AllocationDetails(memory_id, low, high)

    return edit


def on_device(index: int) -> Callable[[p.ExecutionPlan], None]:
    """Move the label of the tensor on the device."""

    def edit(plan: p.ExecutionPlan) -> None:
        extra = tensor(plan, 1).extra_tensor_info
        assert extra is not None
        extra.device_index = index

    return edit


def planned_on_device(plan: p.ExecutionPlan) -> None:
    """Label an input that is planned on the CPU with a device, as in issue 21580."""
    tensor(plan, 0).extra_tensor_info = p.ExtraTensorInfo(device_type=p.DeviceType.CUDA)


MALFORMED: dict[str, tuple[bytes, str]] = {
    "sizes that overflow (GHSA-9m39-3mf3-xwch)": (
        edited(add_constant, resized([LARGEST] * 4)),
        "multiply to more than",
    ),
    "an offset beyond everything (GHSA-xc7w-r669-48pf)": (
        edited(add_constant, placed(low=0xFFFFFFF0, high=0xFFFFFFFF)),
        "but buffer 1 has 64",
    ),
    "an offset of 4 GiB and more (pull 1792)": (
        edited(add_constant, placed(low=16, high=1)),
        "from 4294967312 on, but buffer 1 has 64",
    ),
    "a constant that is too small (pull 16887)": (
        edited(add_constant, lambda plan: setattr(tensor(plan, 1), "sizes", [4, 2])),
        "the tensor needs 32 bytes, but only",
    ),
    "a constant that is not there": (
        edited(add_constant, lambda plan: setattr(tensor(plan, 1), "data_buffer_idx", 999)),
        "there is no stored value 999",
    ),
    "17 dimensions": (edited(add_constant, resized([1] * 17)), "at most 16 can be read"),
    "10,000 dimensions": (edited(add_constant, resized([1] * 10_000)), "at most 16 can be read"),
    "a negative size": (edited(add_constant, resized([-1, 2])), "the size is -1"),
    "a jump to itself (pull 18679)": (edited(loop, jump(4)), "jumps to itself"),
    "a jump to before the beginning": (edited(loop, jump(-1)), "the jump leads to instruction -1"),
    "a jump beyond the end": (edited(loop, jump(6)), "the jump leads to instruction 6"),
    "a negative device index (pull 21289)": (
        edited(device_copy, on_device(-1)),
        "the device index is -1",
    ),
    "another device than the buffer's (issue 21580)": (
        edited(device_copy, planned_on_device),
        "the tensor is on cuda:0, but its buffer 1 is on cpu:0",
    ),
    "another file identifier (issue 2533)": (
        add_constant().file().replace(b"ET12", b"ET13"),
        "ET13",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_refused_when_it_is_loaded(driver: Driver, name: str) -> None:
    data, reason = MALFORMED[name]
    assert reason in driver.answer(data)


def test_files_that_are_cut_short_are_refused(driver: Driver) -> None:
    data = add_constant().file()
    for size in (0, 4, 31, 64, len(data) // 2, len(data) - 1):
        assert driver.answer(data[:size]) != "executed"


def test_what_is_not_damaged_is_executed(driver: Driver) -> None:
    for make in (add_constant, device_copy, loop):
        assert driver.answer(make().file()) == "executed"


def test_a_program_of_a_newer_version_is_refused_with_both_numbers(driver: Driver) -> None:
    sample = add_constant()
    sample.program.version = 1
    answer = driver.answer(sample.file())
    assert "1" in answer
    assert "0" in answer
    assert "version" in answer


def test_a_thousand_methods_of_one_name_are_refused(driver: Driver) -> None:
    sample = add_constant()
    sample.program.execution_plan *= 1000
    assert "forward" in driver.answer(sample.file())
