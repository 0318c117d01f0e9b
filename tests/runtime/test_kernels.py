"""Tensors, values, the registries and the native kernels in C++, under sanitizers.

The counterparts of ExecuTorch's own tests are named in `COUNTERPARTS`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.case_program import (
    TENSORS,
    CaseCompiler,
    CaseProgram,
    case_names,
    headers_with_another_device,
)

PROGRAMS = (
    "copy_checks",
    "number_checks",
    "registry_checks",
    "shape_checks",
    "tensor_checks",
    "tensor_ptr_checks",
)

# Tests of ExecuTorch 1.5.1 (device_test, tensor_impl_test, op__device_copy_test,
# copy_tensor_data_device_test, tensor_ptr_device_test) and ours.
COUNTERPARTS = {
    "EnumValues": "every_kind_of_device_is_counted",
    "NumDeviceTypesCoversAllEnums": "every_kind_of_device_is_counted",
    "CpuDefaultIndex": "the_index_of_a_device_is_0_or_the_one_given",
    "CpuExplicitIndex": "the_index_of_a_device_is_0_or_the_one_given",
    "CudaDefaultIndex": "the_index_of_a_device_is_0_or_the_one_given",
    "CudaExplicitIndex": "the_index_of_a_device_is_0_or_the_one_given",
    "Equality": "devices_are_equal_if_kind_and_index_are",
    "Inequality": "devices_are_equal_if_kind_and_index_are",
    # A Device is an aggregate: `Device{type}`; there is no namespace of an older version.
    "ImplicitConstructionFromDeviceType": "the_index_of_a_device_is_0_or_the_one_given",
    "TestDefaultDeviceIsCPU": "a_tensor_is_on_the_cpu_unless_told",
    "TestExplicitCPUDevice": "a_tensor_is_on_the_device_it_was_made_for",
    "TestCUDADevice": "a_tensor_is_on_the_device_it_was_made_for",
    "TestCUDADeviceMultiGPU": "a_tensor_is_on_the_device_it_was_made_for",
    "TestDeviceWithDynamicTensor": "resizing_and_new_data_leave_the_device_alone",
    "size of TensorImpl": "a_tensor_is_no_larger_than_without_a_device",
    "host to device": "a_tensor_is_copied_to_the_device",
    "device to host": "a_tensor_is_copied_to_the_host",
    "WithDeviceIndex1": "the_index_decides_which_device",
    "Multidimensional": "a_deep_tensor_is_copied",
    "DynamicShapeResizesOutDownToInput": "the_destination_takes_the_sizes_of_the_source",
    "FailsWhenInputExceedsOutCapacity": "a_source_beyond_the_bounds_is_refused_before_the_copy",
    "DynamicBoundEqualSizeStillCopies": "sizes_may_change_between_runs",
    "op identity decides the direction": "the_wrong_direction_is_an_error_at_load",
    "reject dtype mismatch": "another_type_or_order_is_an_error_at_load",
    "zero size is a no-op": "no_elements_need_no_memory",
    "HostToHostIsCopied": "data_is_copied_between_tensors_that_are_alike",
    # These two are refused there, and copied here.
    "ADeviceDestinationIsRefused": "tensors_of_every_type_survive_a_device",
    "ADeviceSourceIsRefused": "tensors_of_every_type_survive_a_device",
    "CpuToDevice": "a_clone_is_on_the_device_with_the_index",
    "CpuToDeviceFromRawData": "a_clone_is_on_the_device_with_the_index",
    "DeviceToCpu": "tensors_of_every_type_survive_a_device",
    "DeviceToCpuPreservesShapeDynamism": "a_clone_keeps_shape_order_bounds_and_dynamism",
    "round trips of types and shapes": "tensors_of_every_type_survive_a_device",
    "round trips of four dimensions and 10,000 elements": "large_and_deep_tensors_survive_a_device",
    "DeviceIndexPropagation": "a_clone_is_on_the_device_with_the_index",
    "DeviceMemoryCleanup": "the_last_owner_frees_the_memory",
    # Possible here.
    "ErrorCpuToCpu": "the_host_can_be_cloned_to_the_host",
    "ErrorDeviceToDevice": "a_device_is_cloned_to_another_directly",
    "ErrorNullCpuTensorData": "a_tensor_without_data_cannot_be_cloned",
    "MakeTensorPtrVectorToDevice": "a_clone_is_on_the_device_with_the_index",
    "MakeTensorPtrRawPointerToDevice": "a_label_does_not_copy",
    "CloneToCpuVerifiesCpuDeviceMetadata": "a_clone_keeps_shape_order_bounds_and_dynamism",
    "MultipleClonesFromSameSource": "clones_of_one_tensor_have_memory_of_their_own",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> dict[str, CaseProgram]:
    build = CaseCompiler(tmp_path_factory.mktemp("kernels"), compiler)
    core = build.core(TENSORS)
    return {name: build.program(name, core) for name in PROGRAMS}


@pytest.mark.parametrize(
    ("program", "case"), [(program, case) for program in PROGRAMS for case in case_names(program)]
)
def test_of_tensors_and_kernels(programs: dict[str, CaseProgram], program: str, case: str) -> None:
    programs[program].run(case)


def test_every_case_is_run(programs: dict[str, CaseProgram]) -> None:
    for name, program in programs.items():
        assert program.names() == case_names(name)


def test_every_test_of_executorch_has_a_counterpart() -> None:
    cases = {case for program in PROGRAMS for case in case_names(program)}
    assert set(COUNTERPARTS.values()) <= cases


def test_two_kinds_of_device_copy_through_the_host(tmp_path: Path, compiler: str) -> None:
    headers = headers_with_another_device(tmp_path)
    build = CaseCompiler(tmp_path, compiler, ())
    program = build.program("copy_checks", build.core(TENSORS, headers), headers)
    printed = program.run("devices_of_two_kinds_copy_through_the_host")
    assert printed.splitlines() == ["from 1 to 2", "from 2 to 1"]
