"""The validator under sanitizers: no file crashes it, and its work grows as the file does."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from placewire_schema import pack_program
from placewire_schema import program as p

from tests.runtime.programs import Cursor, Sample, complete, laid_out
from tests.runtime.validate_driver import ValidateDriver

Program = Callable[[int], bytes]


def plain() -> Sample:
    """The complete program without its device table, which would have to be adapted."""
    sample = complete()
    sample.program.named_data = None
    return sample


def many_methods(count: int) -> bytes:
    return pack_program(p.Program(execution_plan=[p.ExecutionPlan(name="forward")] * count))


def many_tensors(count: int) -> bytes:
    sample = plain()
    sample.plan.values += [sample.plan.values[3]] * count
    return sample.file()


def many_calls_of_one_list(count: int) -> bytes:
    sample = plain()
    sample.plan.values[12].val = p.TensorList([1] * count)
    sample.plan.chains[0].instructions = [p.Instruction(p.KernelCall(0, [1, 12]))] * count
    sample.plan.chains[0].stacktrace = None
    return sample.file()


def many_segments(count: int) -> bytes:
    sample = plain()
    sample.program.segments += [p.DataSegment(300, 4)] * count
    return sample.file()


def many_constants(count: int) -> bytes:
    sample = plain()
    sample.program.constant_segment = p.SubsegmentOffsets(0, [0] + [0] * count)
    constant = sample.tensor(0)
    sample.plan.values += [p.EValue(constant)] * count
    return sample.file()


def many_names_that_are_equal_but_for_their_end(count: int) -> bytes:
    sample = plain()
    sample.program.named_data = [p.NamedData("x" * 64 + str(i), 0) for i in range(count)]
    return sample.file()


def many_device_entries(count: int) -> bytes:
    sample = plain()
    sample.plan.non_const_buffer_device = [p.NonConstBufferDevice(2)] * count
    return sample.file()


def many_operators_and_delegates(count: int) -> bytes:
    sample = plain()
    sample.plan.operators += [p.Operator("aten::add", "out")] * count
    sample.plan.delegates += [sample.plan.delegates[0]] * count
    return sample.file()


def many_dimensions(count: int) -> bytes:
    sample = plain()
    sample.tensor(1).sizes = [-1] * count
    sample.tensor(1).dim_order = bytes(count)
    return sample.file()


SHAPES: list[Program] = [
    many_methods,
    many_tensors,
    many_calls_of_one_list,
    many_segments,
    many_constants,
    many_names_that_are_equal_but_for_their_end,
    many_device_entries,
    many_operators_and_delegates,
    many_dimensions,
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_twice_the_file_takes_twice_the_steps(
    driver: ValidateDriver, tmp_path: Path, shape: Program
) -> None:
    counted = []
    for count in (4_000, 8_000):
        path = tmp_path / f"{count}.pte"
        path.write_bytes(shape(count))
        counted.append(driver.measure(path)["steps"])
    small, large = counted
    assert small < large < 2.3 * small


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_memory_stays_in_proportion_to_the_file(
    driver: ValidateDriver, tmp_path: Path, shape: Program
) -> None:
    path = tmp_path / "file.pte"
    path.write_bytes(shape(8_000))
    # All that is ever allocated, however short its life; findings are limited to a megabyte.
    assert driver.measure(path)["allocated"] < 16 * path.stat().st_size + (1 << 20)


def test_no_memory_is_taken_for_what_a_file_only_claims(
    driver: ValidateDriver, tmp_path: Path
) -> None:
    sample = plain()
    sample.plan.non_const_buffer_sizes = [0, 2**62, 2**62]
    sample.tensor(1).sizes = [2**31 - 1, 2**30]
    sample.program.segments.append(p.DataSegment(0, 2**63))
    flatbuffer = bytearray(pack_program(sample.program))
    plan = Cursor.root(flatbuffer).child("execution_plan", 0)
    struct.pack_into("<I", flatbuffer, plan.follow(plan.place(plan.slot("inputs"))), 2**31)
    path = tmp_path / "claims.pte"
    path.write_bytes(laid_out(bytes(flatbuffer), sample.area))
    assert driver.measure(path)["allocated"] < 10_000


def test_any_allocation_may_fail(driver: ValidateDriver, tmp_path: Path, corpus: Path) -> None:
    sample = complete()
    sample.plan.inputs = [-1] * 20
    path = tmp_path / "findings.pte"
    path.write_bytes(sample.file())
    for file in (path, corpus / "dev_add_noplan.pte", corpus / "multimethod.pte"):
        (answer,) = driver.run("starve", file)
        assert answer["failed"] >= 5


def test_mutated_files_crash_nothing_and_sound_ones_can_be_loaded(
    driver: ValidateDriver, tmp_path: Path, corpus: Path
) -> None:
    path = tmp_path / "complete.pte"
    path.write_bytes(complete().file())
    files = [path, *sorted(corpus.glob("*.pte"))]
    assert len(files) > 10
    (answer,) = driver.run("mutate", 1, 10_000, *files)
    assert sum(answer[outcome] for outcome in ("sound", "warned", "refused")) == 10_000
    assert answer["refused"] > 1_000
    assert answer["sound"] > 1_000


@pytest.mark.parametrize("name", ["mlp", "dev_add", "cond"])
def test_no_truncation_reads_behind_the_end(
    driver: ValidateDriver, tmp_path: Path, corpus: Path, name: str
) -> None:
    data = (corpus / f"{name}.pte").read_bytes()
    files = []
    for size in [*range(400), *range(400, len(data), 97)]:
        files.append(tmp_path / f"{size}.pte")
        files[-1].write_bytes(data[:size])
    assert all(answer["findings"] == 1 for answer in driver.run("measure", *files))
