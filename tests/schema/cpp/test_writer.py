"""The C++ writer gives the bytes that the Python codecs give, and names what it cannot write."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from placewire_schema import _pure, device_info, program

from .building import NO_RUNTIME, SANITIZERS, SOURCES, WARNINGS, compile_cpp, compilers


@pytest.fixture(scope="module")
def printed(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What writer_driver.cpp says, by name."""
    output = tmp_path_factory.mktemp("writer") / "driver"
    source = SOURCES / "writer_driver.cpp"
    flags = (*SANITIZERS, *NO_RUNTIME, "-O0")
    driver = compile_cpp(source, output, *flags, compiler=compiler)
    result = subprocess.run([driver], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[:4000]
    return dict(line.split(" ", 1) for line in result.stdout.splitlines())


def tensor() -> program.Tensor:
    return program.Tensor(
        scalar_type=program.ScalarType.FLOAT,
        sizes=[2, -1, 2**31 - 1],
        dim_order=b"\0\1\2",
        requires_grad=True,
        allocation_info=program.AllocationDetails(memory_offset_low=2**32 - 1),
        extra_tensor_info=program.ExtraTensorInfo(
            mutable_data_segments_idx=2**64 - 1,
            fully_qualified_name="größe",
            device_type=program.DeviceType.CUDA,
            device_index=-1,
        ),
    )


def plan() -> program.ExecutionPlan:
    values: list[program.KernelTypes] = [
        program.Null(),
        program.Int(-(2**63)),
        program.Bool(True),  # noqa: FBT003
        program.Double(-0.0),
        program.Double(float("nan")),
        tensor(),
        tensor(),
        program.String(""),
        program.IntList([1, -2]),
        program.DoubleList([float("inf")]),
        program.BoolList([True, False, True]),
        program.OptionalTensorList([-1]),
    ]
    chain = program.Chain(
        instructions=[
            program.Instruction(program.KernelCall(0, [1, 2, 2])),
            program.Instruction(program.JumpFalseCall(1, 0)),
        ],
        stacktrace=[program.FrameList([program.Frame("model.py", 7, "forward", "x + y")])],
    )
    return program.ExecutionPlan(
        name="forward",
        values=[program.EValue(value) for value in values],
        chains=[chain],
        operators=[program.Operator("aten::add", "out"), program.Operator("aten::mul", "")],
        non_const_buffer_sizes=[0, 2**40],
        non_const_buffer_device=[program.NonConstBufferDevice(1, program.DeviceType.CUDA, 0)],
    )


def whole_program() -> program.Program:
    return program.Program(
        execution_plan=[plan(), plan()],
        constant_buffer=[
            program.Buffer(),
            program.Buffer(b"\7" * 40_000),
            program.Buffer(b"\1\2\3"),
        ],
        segments=[program.DataSegment(128, 5)],
        constant_segment=program.SubsegmentOffsets(0, [0, 16]),
        mutable_data_segments=[],
    )


def device_table() -> device_info.DeviceTable:
    device = device_info.DeviceInfo(
        device_type=program.DeviceType.CUDA,
        requirements=device_info.DeviceRequirements(architecture="sm_90"),
    )
    return device_info.DeviceTable([device, device])


PACKED: dict[str, tuple[Any, dict[str, int]]] = {
    "null": (program.Null(), {}),
    "tensor": (tensor(), {}),
    "program": (whole_program(), {}),
    "aligned": (whole_program(), {"Buffer.storage": 256, "Tensor.sizes": 64}),
    "devices": (device_table(), {}),
}
PROBLEMS = {
    "absent_table": (
        "execution_plan[1].container_meta_type: must not be absent: every writer writes this field"
    ),
    "absent_union": (
        "execution_plan[0].values[3].val: must not be absent: every writer writes this field"
    ),
    "empty_union": (
        "execution_plan[0].values[3].val: must not be absent: every writer writes this field"
    ),
    "unknown_enum_value": (
        "execution_plan[0].values[6].val.scalar_type: holds a number that is no member of the enum"
    ),
    "not_utf8": "execution_plan[0].chains[0].stacktrace[0].items[0].name: is not UTF-8",
}


def test_everything_printed_is_looked_at(printed: dict[str, str]) -> None:
    assert set(printed) == {*PACKED, *PROBLEMS, "untouched", "verified"}


@pytest.mark.parametrize("name", PACKED)
def test_it_gives_the_bytes_of_the_python_codec(printed: dict[str, str], name: str) -> None:
    obj, force_align = PACKED[name]
    assert bytes.fromhex(printed[name]) == _pure.pack(obj, force_align)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_has_a_path(printed: dict[str, str], name: str) -> None:
    assert printed[name] == PROBLEMS[name]


def test_a_failed_pack_leaves_the_output_alone(printed: dict[str, str]) -> None:
    assert printed["untouched"] == "yes"


def test_its_own_verifier_finds_its_bytes_sound(printed: dict[str, str]) -> None:
    assert printed["verified"] == "yes"


@pytest.mark.parametrize("compiler_name", compilers())
def test_its_headers_compile_without_a_warning(
    compiler_name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert "-Werror" in WARNINGS
    output = tmp_path_factory.mktemp("warnings") / "driver.o"
    source = SOURCES / "writer_driver.cpp"
    compile_cpp(source, output, *NO_RUNTIME, "-O1", "-c", compiler=compiler_name)
