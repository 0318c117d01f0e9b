"""Devices of tensors, of planned buffers and of delegates."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewire_schema import program as p

from placewire.placement import target_device
from placewire.validate import validate
from tests.runtime.programs import Cursor, Sample, broken, complete

PLAN = "execution_plan[0]"
CUDA = p.DeviceType.CUDA


def without_table() -> Sample:
    """The complete program without its device table, which would disagree too."""
    sample = complete()
    sample.program.named_data = None
    return sample


def extra_of(sample: Sample, index: int) -> p.ExtraTensorInfo:
    extra = sample.tensor(index).extra_tensor_info
    assert extra is not None
    return extra


def test_a_tensor_on_another_device_than_its_buffer_is_refused() -> None:
    sample = without_table()
    extra_of(sample, 2).device_index = 1
    findings = sample.validate()
    assert broken(findings)[0] == (
        "TENSOR_DEVICE_MISMATCH",
        f"{PLAN}.values[2].val.allocation_info",
    )
    assert findings[0].message == "the tensor is on cuda:1, but its buffer 2 is on cuda:0"


def test_a_host_tensor_in_a_device_buffer_is_refused(corpus: Path) -> None:
    sample = Sample.load(corpus / "dev_add.pte")
    device = [
        index
        for index, value in enumerate(sample.plan.values)
        if isinstance(value.val, p.Tensor) and value.val.extra_tensor_info is not None
    ]
    assert len(device) == 3
    for index in device:
        sample.tensor(index).extra_tensor_info = None
    mismatches = [f for f in sample.validate() if f.rule == "TENSOR_DEVICE_MISMATCH"]
    assert [finding.path for finding in mismatches] == [
        f"{PLAN}.values[{index}].val.allocation_info" for index in device
    ]
    assert mismatches[0].message == "the tensor is on cpu:0, but its buffer 2 is on cuda:0"


def test_device_tensors_in_a_program_without_a_device_list_are_warned_of(corpus: Path) -> None:
    sample = Sample.load(corpus / "dev_add.pte")
    sample.plan.non_const_buffer_device = None
    findings = sample.validate()
    assert {(finding.rule, finding.level) for finding in findings} == {
        ("DEVICE_NOT_PLANNED", "warning")
    }
    assert len(findings) == 3


@pytest.mark.parametrize("value", [7, -1])
def test_an_unknown_device_type_is_one_finding(corpus: Path, value: int) -> None:
    data = bytearray((corpus / "dev_add.pte").read_bytes())
    plan = Cursor.root(data).child("execution_plan", 0)
    entry = plan.child("non_const_buffer_device", 0)
    data[entry.place(entry.slot("device_type"))] = value & 255
    findings = validate(data)
    assert broken(findings) == [
        ("UNKNOWN_ENUM_VALUE", f"{PLAN}.non_const_buffer_device[0].device_type")
    ]
    assert findings[0].message == f"{value} is not a value of DeviceType"


@pytest.mark.parametrize("index", [-1, -128])
def test_a_tensor_on_a_negative_index_is_refused(index: int) -> None:
    sample = without_table()
    extra_of(sample, 2).device_index = index
    (first, *_) = sample.validate()
    assert (first.rule, first.path) == (
        "DEVICE_INDEX_NEGATIVE",
        f"{PLAN}.values[2].val.extra_tensor_info.device_index",
    )
    assert first.message == f"the device index is {index}, expected 0 to 127"


def test_a_buffer_on_a_negative_index_is_refused() -> None:
    sample = without_table()
    sample.plan.non_const_buffer_device = [p.NonConstBufferDevice(2, CUDA, -1)]
    assert broken(sample.validate())[0] == (
        "DEVICE_INDEX_NEGATIVE",
        f"{PLAN}.non_const_buffer_device[0].device_index",
    )


def test_a_cpu_has_no_other_index_than_zero() -> None:
    sample = without_table()
    extra_of(sample, 3).device_index = 1
    assert sample.plan.non_const_buffer_device is not None
    sample.plan.non_const_buffer_device.append(p.NonConstBufferDevice(1, p.DeviceType.CPU, 2))
    findings = sample.validate()
    assert broken(findings) == [
        ("CPU_INDEX_NOT_ZERO", f"{PLAN}.non_const_buffer_device[1].device_index"),
        ("CPU_INDEX_NOT_ZERO", f"{PLAN}.values[3].val.extra_tensor_info.device_index"),
    ]
    assert {finding.level for finding in findings} == {"warning"}


@pytest.mark.parametrize("index", [-1, 0, 3, 2**31 - 1])
def test_a_device_for_a_buffer_that_is_not_there_is_refused(index: int) -> None:
    sample = without_table()
    assert sample.plan.non_const_buffer_device is not None
    sample.plan.non_const_buffer_device.append(p.NonConstBufferDevice(index, CUDA, 0))
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "BUFFER_DEVICE_OUT_OF_RANGE",
        f"{PLAN}.non_const_buffer_device[1].buffer_idx",
    )
    assert f"there is no planned buffer {index}: the method has 2" in finding.message


def test_two_devices_for_one_buffer_are_refused() -> None:
    sample = without_table()
    assert sample.plan.non_const_buffer_device is not None
    sample.plan.non_const_buffer_device.append(p.NonConstBufferDevice(2, CUDA, 1))
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "DUPLICATE_BUFFER_DEVICE",
        f"{PLAN}.non_const_buffer_device[1].buffer_idx",
    )
    assert "non_const_buffer_device[0] names buffer 2 already" in finding.message


def test_a_constant_that_is_labelled_with_a_device_is_warned_of() -> None:
    sample = without_table()
    sample.tensor(0).extra_tensor_info = p.ExtraTensorInfo(device_type=CUDA)
    findings = sample.validate()
    assert broken(findings) == [
        ("CONSTANT_ON_DEVICE", f"{PLAN}.values[0].val.extra_tensor_info.device_type")
    ]
    assert findings[0].level == "warning"


@pytest.mark.parametrize("value", [b"cuda:0", b"CUDA", b" Cuda:0\n", b"cuda"])
def test_a_target_device_may_be_written_in_several_ways(value: bytes) -> None:
    sample = complete()
    sample.plan.delegates[0].compile_specs[0].value = value
    assert sample.validate() == []


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"cuda:",
        b"cuda:-1",
        b"cuda:128",
        b"cuda:300",
        b"cuda:01",
        b"cuda:0:1",
        b"cuda:99999999999999999999",
        b"cuda 0",
        b"tpu:0",
        b":0",
        b"cud",
        b"cudaa",
        b"\xff\xfe",
        b"cuda\0",
    ],
)
def test_a_target_device_that_is_no_device_is_refused(value: bytes) -> None:
    sample = without_table()
    sample.plan.delegates[0].compile_specs[0].value = value
    (finding,) = sample.validate()
    assert (finding.rule, finding.level, finding.path) == (
        "TARGET_DEVICE_INVALID",
        "error",
        f"{PLAN}.delegates[0].compile_specs[0].value",
    )
    assert "is not a device; valid is cpu or cuda, with an index 0 to 127" in finding.message


def test_the_highest_index_is_127() -> None:
    sample = without_table()
    sample.plan.delegates[0].compile_specs[0].value = b"cuda:127"
    assert {finding.rule for finding in sample.validate()} == {"DELEGATE_ARGUMENT_ELSEWHERE"}


def test_a_tensor_on_another_cpu_is_in_the_memory_of_its_buffer() -> None:
    sample = without_table()
    extra_of(sample, 3).device_index = 1
    assert [finding.rule for finding in sample.validate()] == ["CPU_INDEX_NOT_ZERO"]


@pytest.mark.parametrize("blank", [b" ", b"\t", b"\n", b"\v", b"\f", b"\r"])
def test_blanks_around_a_target_device_are_no_fault_in_both_languages(blank: bytes) -> None:
    sample = complete()
    (spec,) = sample.plan.delegates[0].compile_specs
    spec.value = blank + bytes(spec.value) + blank
    assert sample.validate() == []
    assert str(target_device(spec)) == "cuda:0"


@pytest.mark.parametrize("blank", ["\x1c", "\x85", "\xa0", "\u2003"])
def test_other_blanks_around_a_target_device_are_refused_in_both_languages(blank: str) -> None:
    sample = complete()
    (spec,) = sample.plan.delegates[0].compile_specs
    spec.value = blank.encode() + bytes(spec.value)
    assert "TARGET_DEVICE_INVALID" in [finding.rule for finding in sample.validate()]
    assert target_device(spec) is None


def test_a_target_device_cpu_is_warned_of() -> None:
    sample = without_table()
    sample.plan.delegates[0].compile_specs[0].value = b"cpu"
    first = sample.validate()[0]
    assert (first.rule, first.level, first.path) == (
        "TARGET_DEVICE_CPU",
        "warning",
        f"{PLAN}.delegates[0].compile_specs[0].value",
    )


def test_of_two_target_devices_the_second_is_warned_of() -> None:
    sample = complete()
    specs = sample.plan.delegates[0].compile_specs
    specs += [p.CompileSpec("other", b"x"), p.CompileSpec("target_device", b"nonsense")]
    findings = sample.validate()
    assert broken(findings) == [
        ("TARGET_DEVICE_REPEATED", f"{PLAN}.delegates[0].compile_specs[2].key")
    ]
    assert findings[0].level == "warning"


def test_a_delegate_whose_arguments_are_elsewhere_is_warned_of() -> None:
    sample = without_table()
    sample.plan.chains[0].instructions[3].instr_args = p.DelegateCall(0, [1, 2, 5])
    findings = sample.validate()
    assert broken(findings) == [
        (
            "DELEGATE_ARGUMENT_ELSEWHERE",
            f"{PLAN}.chains[0].instructions[3].instr_args.args[0]",
        )
    ]
    assert findings[0].message == "value 1 is on cpu:0, but delegate 0 runs on cuda:0"
    assert findings[0].level == "warning"


def test_a_delegate_without_a_target_device_runs_on_the_host(corpus: Path) -> None:
    sample = Sample.load(corpus / "dev_add.pte")
    for delegate in sample.plan.delegates:
        delegate.compile_specs = []
    findings = sample.validate()
    assert {finding.rule for finding in findings} == {"DELEGATE_ARGUMENT_ELSEWHERE"}
    assert len(findings) == 3


@pytest.mark.parametrize(("name", "args"), [("_h2d_copy", [2, 3, 3]), ("_d2h_copy", [3, 2, 2])])
def test_a_copy_in_the_wrong_direction_is_warned_of(name: str, args: list[int]) -> None:
    sample = complete()
    sample.plan.operators[1].name = f"et_copy::{name}"
    sample.plan.chains[0].instructions[2].instr_args = p.KernelCall(1, args)
    findings = sample.validate()
    path = f"{PLAN}.chains[0].instructions[2].instr_args.args"
    assert broken(findings) == [("COPY_WITHOUT_DEVICE", path)]
    assert findings[0].level == "warning"


def test_a_blob_stored_in_place_must_be_there() -> None:
    sample = complete()
    sample.plan.delegates[0].processed.index = 1
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "DELEGATE_DATA_OUT_OF_RANGE",
        f"{PLAN}.delegates[0].processed.index",
    )
    assert "there is no blob 1 in backend_delegate_data, which has 1" in finding.message
