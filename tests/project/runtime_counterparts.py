"""ExecuTorch's own tests of its runtime's device support, and ours that show the same or better.

The names are those of ExecuTorch 1.5. Where it has one in each direction whose names differ by that
alone, what they have in common stands here once; what has spaces in it describes a test.
"""

from __future__ import annotations

from functools import partial

from tests.project.counterparts import OurTest, UpstreamFile, differs, same

_allocators = partial(OurTest, "runtime/cpp/allocator_checks.cpp")
_copies = partial(OurTest, "runtime/cpp/copy_checks.cpp")
_cuda = partial(OurTest, "runtime/cpp/cuda_checks.cpp")
_methods = partial(OurTest, "runtime/cpp/method_checks.cpp")
_modules = partial(OurTest, "runtime/cpp/module_checks.cpp")
_on_devices = partial(OurTest, "runtime/cpp/device_checks.cpp")
_programs = partial(OurTest, "runtime/cpp/program_checks.cpp")
_tensor_ptrs = partial(OurTest, "runtime/cpp/tensor_ptr_checks.cpp")
_tensors = partial(OurTest, "runtime/cpp/tensor_checks.cpp")

_DEVICE = UpstreamFile(
    "runtime/core/portable_type/test/device_test.cpp",
    (
        same("EnumValues", _tensors("every_kind_of_device_is_counted")),
        same("NumDeviceTypesCoversAllEnums", _tensors("every_kind_of_device_is_counted")),
        same("CpuDefaultIndex", _tensors("the_index_of_a_device_is_0_or_the_one_given")),
        same("CpuExplicitIndex", _tensors("the_index_of_a_device_is_0_or_the_one_given")),
        same("CudaDefaultIndex", _tensors("the_index_of_a_device_is_0_or_the_one_given")),
        same("CudaExplicitIndex", _tensors("the_index_of_a_device_is_0_or_the_one_given")),
        same("EqualitySameTypeAndIndex", _tensors("devices_are_equal_if_kind_and_index_are")),
        same("EqualityDefaultIndices", _tensors("devices_are_equal_if_kind_and_index_are")),
        same("InequalityDifferentType", _tensors("devices_are_equal_if_kind_and_index_are")),
        same("InequalityDifferentIndex", _tensors("devices_are_equal_if_kind_and_index_are")),
        differs(
            "ImplicitConstructionFromDeviceType",
            _tensors("the_index_of_a_device_is_0_or_the_one_given"),
            because="a Device is an aggregate: `Device{type}` says that it is made",
        ),
        differs(
            "DeprecatedNamespaceAliases",
            _tensors("the_index_of_a_device_is_0_or_the_one_given"),
            because="there is no namespace of an older version",
        ),
    ),
)

_TENSOR = UpstreamFile(
    "runtime/core/portable_type/test/tensor_impl_test.cpp",
    (
        same("TestDefaultDeviceIsCPU", _tensors("a_tensor_is_on_the_cpu_unless_told")),
        same("TestExplicitCPUDevice", _tensors("a_tensor_is_on_the_device_it_was_made_for")),
        same("TestCUDADevice", _tensors("a_tensor_is_on_the_device_it_was_made_for")),
        same("TestCUDADeviceMultiGPU", _tensors("a_tensor_is_on_the_device_it_was_made_for")),
        same(
            "TestDeviceWithDynamicTensor",
            _tensors("resizing_and_new_data_leave_the_device_alone"),
        ),
        same("size of TensorImpl", _tensors("a_tensor_is_no_larger_than_without_a_device")),
    ),
)

_ALLOCATOR = UpstreamFile(
    "runtime/core/test/device_allocator_test.cpp",
    (
        same(
            "RegisteredAllocatorReportsCorrectDeviceType",
            _allocators("every_kind_of_the_schema_can_be_registered"),
        ),
        same("AllocateAndDeallocate", _allocators("a_buffer_allocates_and_its_end_frees")),
        same("CopyHostToDevice", _allocators("copies_are_forwarded")),
        same("CopyDeviceToHost", _allocators("copies_are_forwarded")),
        same("RegistryGetUnregisteredReturnsNullptr", _allocators("a_missing_allocator_is_named")),
        differs(
            "RegistrySingletonInstance",
            _allocators("every_kind_of_the_schema_can_be_registered"),
            because="there is no registry object to compare; functions register and look up",
        ),
        differs(
            "RegisteringSameDeviceTypeTwiceAborts",
            _allocators("a_second_registration_is_an_error_and_changes_nothing"),
            because="nothing that a caller does ends the process",
        ),
    ),
)

_TENSOR_PARSER = UpstreamFile(
    "runtime/executor/test/tensor_parser_device_test.cpp",
    (
        same("CUDADeviceParsedFromPteFile", _on_devices("a_delegate_runs_on_its_device")),
        same("NonDelegatedTensorsDefaultToCPU", _programs("a_method_says_what_it_takes_and_gives")),
        same("CudaTensorDataPtrPointsToDeviceMemory", _on_devices("a_delegate_runs_on_its_device")),
    ),
)

_BUFFER = UpstreamFile(
    "runtime/core/test/device_memory_buffer_test.cpp",
    (
        same("DefaultConstructedIsEmpty", _allocators("a_default_buffer_is_empty")),
        same(
            "CreateAllocatesAndDestructorDeallocates",
            _allocators("a_buffer_allocates_and_its_end_frees"),
        ),
        same(
            "CreateFailsWithNoRegisteredAllocator",
            _allocators("a_buffer_without_an_allocator_is_an_error"),
        ),
        same("MoveConstructorTransfersOwnership", _allocators("a_moved_buffer_is_freed_once")),
        same(
            "MoveAssignmentTransfersOwnership",
            _allocators("assigning_to_a_buffer_frees_what_it_held"),
        ),
        same("DestructorNoOpForDefaultConstructed", _allocators("a_default_buffer_is_empty")),
        same("AsSpanWrapsDevicePointer", _allocators("a_buffer_allocates_and_its_end_frees")),
        same(
            "CreateUsesDefaultAlignmentWhenUnspecified",
            _allocators("the_alignment_is_the_devices_own_or_the_one_asked_for"),
        ),
        same(
            "CreateForwardsCustomAlignmentToAllocator",
            _allocators("the_alignment_is_the_devices_own_or_the_one_asked_for"),
        ),
    ),
)

_METHOD_META = UpstreamFile(
    "runtime/executor/test/method_meta_test.cpp",
    (
        same(
            "MemoryPlannedBufferDeviceDefaultsCpu",
            _programs("a_buffer_is_on_the_cpu_unless_the_file_says_otherwise"),
        ),
        same(
            "MethodMetaBufferDeviceReturnsCudaForDeviceBuffer",
            _programs("a_buffer_is_on_the_device_that_the_file_says"),
        ),
    ),
)

_MEMORY_MANAGER = UpstreamFile(
    "runtime/executor/test/memory_manager_test.cpp",
    (
        differs(
            "ThreeArgCtorHasNoDeviceMemory",
            _methods("memory_that_is_given_is_used"),
            because="planned memory cannot be made without saying where each buffer is",
        ),
        differs(
            "MinimalCtorHasNoDeviceMemory",
            _on_devices("a_method_without_device_memory_is_on_the_host"),
            because="a method that needs no device has buffers of the host; no flag says so",
        ),
        same(
            "DelegatesDeviceMetadataToHierarchicalAllocator",
            _on_devices("planned_memory_knows_the_device_of_each_buffer"),
        ),
    ),
)

_MODULE = UpstreamFile(
    "extension/module/test/module_device_memory_test.cpp",
    (
        same(
            "CpuOnlyModelDoesNotAllocateDeviceMemory",
            _on_devices("a_cpu_only_file_needs_no_device"),
        ),
        same(
            "DeviceMemoryBufferCreateCallsAllocator", _on_devices("a_delegate_runs_on_its_device")
        ),
        same(
            "DeviceModelMethodMetaReportsCudaBuffer",
            _programs("a_buffer_is_on_the_device_that_the_file_says"),
        ),
        differs(
            "DeviceModelWithSharedArenasReturnsNotSupported",
            _modules("memory_is_shared_on_devices_too"),
            because="arenas are shared on any device",
        ),
        same(
            "LoadMethodAllocatesDeviceMemoryAndDeallocatesOnDestroy",
            _on_devices("a_delegate_runs_on_its_device"),
            _on_devices("a_backend_that_refuses_frees_everything"),
        ),
    ),
)

_CUDA_ALLOCATOR = UpstreamFile(
    "backends/cuda/runtime/test/test_cuda_allocator.cpp",
    (
        same("CopyRoundtrip", _cuda("bytes_go_to_the_device_and_back")),
        same("CopyRoundtripWithCallerStream", _cuda("bytes_go_through_a_callers_stream")),
        same(
            "CopyHostToDeviceNullDstReturnsInvalidArgument",
            _cuda("null_pointers_and_no_bytes_are_settled_before_cuda"),
        ),
        same(
            "CopyHostToDeviceNullSrcReturnsInvalidArgument",
            _cuda("null_pointers_and_no_bytes_are_settled_before_cuda"),
        ),
        same(
            "CopyDeviceToHostNullDstReturnsInvalidArgument",
            _cuda("null_pointers_and_no_bytes_are_settled_before_cuda"),
        ),
        same(
            "CopyDeviceToHostNullSrcReturnsInvalidArgument",
            _cuda("null_pointers_and_no_bytes_are_settled_before_cuda"),
        ),
    ),
)

_COPY_KERNELS = UpstreamFile(
    "kernels/test/op__device_copy_test.cpp",
    (
        same("H2dCopyCopiesDataAndCallsAllocator", _copies("a_tensor_is_copied_to_the_device")),
        same("D2hCopyCopiesDataAndCallsAllocator", _copies("a_tensor_is_copied_to_the_host")),
        same("H2dCopyWithDeviceIndex1", _copies("the_index_decides_which_device")),
        same("H2dCopyMultidimensionalTensor", _copies("a_deep_tensor_is_copied")),
        same(
            "DynamicShapeResizesOutDownToInput",
            _copies("the_destination_takes_the_sizes_of_the_source"),
        ),
        same(
            "FailsWhenInputExceedsOutCapacity",
            _copies("a_source_beyond_the_bounds_is_refused_before_the_copy"),
        ),
        same("DynamicBoundEqualSizeStillCopies", _copies("sizes_may_change_between_runs")),
        # In builds on ATen:
        same(
            "op identity decides the direction", _copies("the_wrong_direction_is_an_error_at_load")
        ),
        same("dtype mismatch is rejected", _copies("another_type_or_order_is_an_error_at_load")),
        same("zero size is a no-op", _copies("no_elements_need_no_memory")),
    ),
)

_TENSOR_DATA = UpstreamFile(
    "runtime/core/exec_aten/util/test/copy_tensor_data_device_test.cpp",
    (
        same("HostToHostIsCopied", _tensor_ptrs("data_is_copied_between_tensors_that_are_alike")),
        differs(
            "ADeviceDestinationIsRefused",
            _tensor_ptrs("tensors_of_every_type_survive_a_device"),
            because="the allocator of the device copies",
        ),
        differs(
            "ADeviceSourceIsRefused",
            _tensor_ptrs("tensors_of_every_type_survive_a_device"),
            because="the allocator of the device copies",
        ),
    ),
)

_CLONES = UpstreamFile(
    "extension/tensor/test/tensor_ptr_device_test.cpp",
    (
        same("CpuToDeviceTensor", _tensor_ptrs("a_clone_is_on_the_device_with_the_index")),
        same("CpuToDeviceFromRawData", _tensor_ptrs("a_clone_is_on_the_device_with_the_index")),
        same("DeviceToCpuTensor", _tensor_ptrs("tensors_of_every_type_survive_a_device")),
        same(
            "DeviceToCpuPreservesShapeDynamism",
            _tensor_ptrs("a_clone_keeps_shape_order_bounds_and_dynamism"),
        ),
        same("RoundtripCpuDeviceCpu", _tensor_ptrs("tensors_of_every_type_survive_a_device")),
        same("RoundtripInt32", _tensor_ptrs("tensors_of_every_type_survive_a_device")),
        same("RoundtripDouble", _tensor_ptrs("tensors_of_every_type_survive_a_device")),
        same("RoundtripInt64", _tensor_ptrs("tensors_of_every_type_survive_a_device")),
        same("ScalarTensorRoundtrip", _tensor_ptrs("tensors_of_every_type_survive_a_device")),
        same("RawDataRoundtrip", _tensor_ptrs("tensors_of_every_type_survive_a_device")),
        same(
            "HighDimensionalTensorRoundtrip",
            _tensor_ptrs("large_and_deep_tensors_survive_a_device"),
        ),
        same("LargeTensorRoundtrip", _tensor_ptrs("large_and_deep_tensors_survive_a_device")),
        same("DeviceIndexPropagation", _tensor_ptrs("a_clone_is_on_the_device_with_the_index")),
        same("DeviceMemoryCleanup", _tensor_ptrs("the_last_owner_frees_the_memory")),
        differs(
            "ErrorCpuToCpu",
            _tensor_ptrs("the_host_can_be_cloned_to_the_host"),
            because="a clone on the host is as good as any",
        ),
        differs(
            "ErrorDeviceToDevice",
            _tensor_ptrs("a_device_is_cloned_to_another_directly"),
            because="allocators copy from device to device",
        ),
        differs(
            "ErrorNullCpuTensorData",
            _tensor_ptrs("a_tensor_without_data_cannot_be_cloned"),
            because="nothing that a caller does ends the process: it is an error",
        ),
        same(
            "MakeTensorPtrVectorToDevice", _tensor_ptrs("a_clone_is_on_the_device_with_the_index")
        ),
        same("MakeTensorPtrRawPointerToDevice", _tensor_ptrs("a_label_does_not_copy")),
        same(
            "CloneToCpuVerifiesCpuDeviceMetadata",
            _tensor_ptrs("a_clone_keeps_shape_order_bounds_and_dynamism"),
        ),
        same(
            "MultipleClonesFromSameSource",
            _tensor_ptrs("clones_of_one_tensor_have_memory_of_their_own"),
        ),
    ),
)

RUNTIME = (
    _DEVICE,
    _TENSOR,
    _ALLOCATOR,
    _TENSOR_PARSER,
    _BUFFER,
    _METHOD_META,
    _MEMORY_MANAGER,
    _MODULE,
    _CUDA_ALLOCATOR,
    _COPY_KERNELS,
    _TENSOR_DATA,
    _CLONES,
)
