"""Tensors: shape, and whether the data is where it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewire_schema import program as p

from tests.runtime.programs import Sample, broken, complete, tensor

VALUE = "execution_plan[0].values"
MOST = 2**31 - 1


def test_a_storage_offset_is_refused() -> None:
    sample = complete()
    sample.tensor(1).storage_offset = -4
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "STORAGE_OFFSET_UNSUPPORTED",
        f"{VALUE}[1].val.storage_offset",
    )


def test_a_layout_other_than_strided_is_warned_of() -> None:
    sample = complete()
    sample.tensor(1).layout = 1
    (finding,) = sample.validate()
    assert (finding.rule, finding.path, finding.level) == (
        "LAYOUT_UNSUPPORTED",
        f"{VALUE}[1].val.layout",
        "warning",
    )


def test_a_shape_without_an_upper_bound_is_refused() -> None:
    sample = complete()
    sample.tensor(1).shape_dynamism = p.TensorShapeDynamism.DYNAMIC_UNBOUND
    assert broken(sample.validate()) == [("SHAPE_UNBOUND", f"{VALUE}[1].val.shape_dynamism")]


def test_sixteen_dimensions_can_be_read() -> None:
    sample = complete()
    sample.tensor(1).sizes = [1] * 16
    sample.tensor(1).dim_order = bytes(reversed(range(16)))
    assert sample.validate() == []


def test_seventeen_dimensions_are_too_many() -> None:
    sample = complete()
    sample.tensor(1).sizes = [1] * 17
    sample.tensor(1).dim_order = bytes(range(17))
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("RANK_TOO_HIGH", f"{VALUE}[1].val.sizes")
    assert "has 17 dimensions, at most 16" in finding.message


def test_a_tensor_of_ten_thousand_dimensions_is_one_finding() -> None:
    sample = complete()
    sample.tensor(1).sizes = [2] * 10_000
    sample.tensor(1).dim_order = bytes(10_000)
    rules = {finding.rule for finding in sample.validate()}
    assert rules == {"RANK_TOO_HIGH", "SIZE_OVERFLOW"}


def test_each_negative_size_is_refused() -> None:
    sample = complete()
    sample.tensor(1).sizes = [-1, -(2**31)]
    assert broken(sample.validate()) == [
        ("SIZE_NEGATIVE", f"{VALUE}[1].val.sizes[0]"),
        ("SIZE_NEGATIVE", f"{VALUE}[1].val.sizes[1]"),
    ]


@pytest.mark.parametrize("sizes", [[MOST] * 4, [MOST, MOST, 0, MOST], [MOST, MOST, 2], [MOST] * 16])
def test_sizes_that_overflow_are_refused(sizes: list[int]) -> None:
    sample = complete()
    sample.tensor(1).sizes = sizes
    sample.tensor(1).dim_order = bytes(range(len(sizes)))
    assert broken(sample.validate()) == [("SIZE_OVERFLOW", f"{VALUE}[1].val.sizes")]


def test_the_largest_size_that_fits_is_only_too_large_for_its_buffer() -> None:
    sample = complete()
    sample.tensor(1).sizes = [2**30, 2**30, 2]
    sample.tensor(1).dim_order = b"\0\1\2"
    sample.tensor(1).scalar_type = p.ScalarType.BYTE
    (finding,) = sample.validate()
    assert finding.rule == "PLANNED_OUT_OF_BUFFER"
    assert f"the tensor has {2**61} bytes" in finding.message


def test_the_element_size_counts_for_the_overflow() -> None:
    sample = complete()
    sample.tensor(1).sizes = [2**30, 2**30, 1]
    sample.tensor(1).dim_order = b"\0\1\2"
    sample.tensor(1).scalar_type = p.ScalarType.DOUBLE
    assert broken(sample.validate()) == [("SIZE_OVERFLOW", f"{VALUE}[1].val.sizes")]


@pytest.mark.parametrize("order", [b"", b"\0", b"\0\1\2"])
def test_a_dim_order_of_another_length_is_refused(order: bytes) -> None:
    sample = complete()
    sample.tensor(1).dim_order = order
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("DIM_ORDER_LENGTH", f"{VALUE}[1].val.dim_order")
    assert f"has {len(order)} entries for 2 dimensions" in finding.message


@pytest.mark.parametrize(("order", "at"), [(b"\0\0", [1]), (b"\1\2", [1]), (b"\xff\xff", [0, 1])])
def test_a_dim_order_that_is_no_permutation_is_refused(order: bytes, at: list[int]) -> None:
    sample = complete()
    sample.tensor(1).dim_order = order
    assert broken(sample.validate()) == [
        ("DIM_ORDER_NOT_PERMUTATION", f"{VALUE}[1].val.dim_order[{index}]") for index in at
    ]


@pytest.mark.parametrize("memory_id", [0, 3, 2**32 - 1])
def test_a_planned_buffer_that_is_not_there_is_refused(memory_id: int) -> None:
    sample = complete()
    info = sample.tensor(1).allocation_info
    assert info is not None
    info.memory_id = memory_id
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "MEMORY_ID_OUT_OF_RANGE",
        f"{VALUE}[1].val.allocation_info.memory_id",
    )
    assert f"there is no planned buffer {memory_id}: the method has 2" in finding.message


@pytest.mark.parametrize("offset", [20, 32, 33, 2**32, 2**32 + 16, 2**64 - 4, 2**64 - 16])
def test_a_tensor_that_reaches_beyond_its_buffer_is_refused(offset: int) -> None:
    sample = complete()
    sample.plan.values[1].val = tensor(memory_id=1, offset=offset)
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "PLANNED_OUT_OF_BUFFER",
        f"{VALUE}[1].val.allocation_info",
    )
    assert f"has 16 bytes from {offset} on, but buffer 1 has 32 in all" in finding.message


def test_an_offset_of_more_than_32_bits_is_inside_a_large_enough_buffer() -> None:
    sample = complete()
    sample.program.named_data = None
    sample.plan.non_const_buffer_sizes[1] = 2**33
    sample.plan.values[1].val = tensor(memory_id=1, offset=2**32 + 16)
    assert sample.validate() == []


def test_a_bounded_shape_needs_room_for_its_upper_bound(corpus: Path) -> None:
    sample = Sample.load(corpus / "dyn.pte")
    index, bounded = next(
        (index, value.val)
        for index, value in enumerate(sample.plan.values)
        if isinstance(value.val, p.Tensor)
        and value.val.shape_dynamism == p.TensorShapeDynamism.DYNAMIC_BOUND
    )
    assert sample.validate() == []
    bounded.sizes[0] += 1_000
    assert ("PLANNED_OUT_OF_BUFFER", f"{VALUE}[{index}].val.allocation_info") in broken(
        sample.validate()
    )


def test_a_planned_tensor_off_its_alignment_is_warned_of() -> None:
    sample = complete()
    sample.plan.values[1].val = tensor(memory_id=1, offset=2)
    findings = sample.validate()
    assert broken(findings) == [("DATA_MISALIGNED", f"{VALUE}[1].val.allocation_info")]
    assert findings[0].level == "warning"
    assert "at offset 2, which is not a multiple of its element size 4" in findings[0].message


def test_a_constant_off_its_alignment_is_warned_of() -> None:
    sample = complete()
    assert sample.program.constant_segment is not None
    sample.program.constant_segment.offsets = [0, 3]
    sample.tensor(0).sizes = [1]
    assert broken(sample.validate()) == [("DATA_MISALIGNED", f"{VALUE}[0].val.data_buffer_idx")]


@pytest.mark.parametrize("index", [2, 999, 2**32 - 1])
def test_a_constant_that_is_not_stored_is_refused(index: int) -> None:
    sample = complete()
    sample.tensor(0).data_buffer_idx = index
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "CONSTANT_INDEX_OUT_OF_RANGE",
        f"{VALUE}[0].val.data_buffer_idx",
    )
    assert f"there is no stored value {index}: the program has 1" in finding.message


def test_a_constant_of_a_program_without_constants_is_refused(corpus: Path) -> None:
    sample = Sample.load(corpus / "dev_add.pte")
    sample.tensor(0).allocation_info = None
    sample.tensor(0).data_buffer_idx = 999
    findings = sample.validate()
    assert ("CONSTANT_INDEX_OUT_OF_RANGE", f"{VALUE}[0].val.data_buffer_idx") in broken(findings)
    assert "there is no stored value 999: the program has 0" in findings[0].message


def test_a_constant_larger_than_its_segment_is_refused() -> None:
    sample = complete()
    sample.tensor(0).sizes = [5]
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "CONSTANT_TOO_SMALL",
        f"{VALUE}[0].val.data_buffer_idx",
    )
    assert finding.message == "the tensor needs 20 bytes, but only 16 are stored"


def test_a_constant_that_reaches_into_the_next_one_is_refused() -> None:
    sample = complete()
    assert sample.program.constant_segment is not None
    sample.program.constant_segment.offsets = [0, 0, 8]
    (finding,) = sample.validate()
    assert finding.message == "the tensor needs 16 bytes, but only 8 are stored"


def test_constants_may_be_listed_in_any_order_and_shared() -> None:
    sample = complete()
    assert sample.program.constant_segment is not None
    sample.program.constant_segment.offsets = [0, 8, 0, 0]
    sample.tensor(0).sizes = [2]
    sample.plan.values[4].val = p.Tensor(p.ScalarType.FLOAT, 0, [2], b"\0", data_buffer_idx=2)
    sample.plan.values[5].val = p.Tensor(p.ScalarType.FLOAT, 0, [2], b"\0", data_buffer_idx=3)
    sample.plan.values[9].val = p.IntList([])
    assert sample.validate() == []


def test_a_constant_stored_in_place_must_be_large_enough() -> None:
    sample = complete()
    sample.program.constant_segment = None
    sample.program.constant_buffer = [p.Buffer(b""), p.Buffer(bytes(15))]
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "CONSTANT_TOO_SMALL",
        f"{VALUE}[0].val.data_buffer_idx",
    )
    assert finding.message == "the tensor needs 16 bytes, but only 15 are stored"


def test_a_constant_stored_in_place_that_is_large_enough_is_sound() -> None:
    sample = complete()
    sample.program.constant_segment = None
    sample.program.constant_buffer = [p.Buffer(b""), p.Buffer(bytes(16))]
    assert sample.validate() == []


def test_a_constant_stored_in_place_must_be_there() -> None:
    sample = complete()
    sample.program.constant_segment = None
    assert broken(sample.validate()) == [
        ("CONSTANT_INDEX_OUT_OF_RANGE", f"{VALUE}[0].val.data_buffer_idx")
    ]


def test_the_list_of_mutable_data_that_a_tensor_names_counts() -> None:
    # List 1 has the value that the tensor needs, list 0 has none.
    sample = complete()
    extra = sample.tensor(3).extra_tensor_info
    assert extra is not None
    extra.mutable_data_segments_idx = 0
    assert broken(sample.validate()) == [
        ("CONSTANT_INDEX_OUT_OF_RANGE", f"{VALUE}[3].val.data_buffer_idx")
    ]


@pytest.mark.parametrize("index", [2, 2**64 - 1])
def test_a_list_of_mutable_data_that_is_not_there_is_refused(index: int) -> None:
    sample = complete()
    extra = sample.tensor(3).extra_tensor_info
    assert extra is not None
    extra.mutable_data_segments_idx = index
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "MUTABLE_DATA_OUT_OF_RANGE",
        f"{VALUE}[3].val.extra_tensor_info",
    )
    assert f"is in mutable_data_segments[{index}], of 2" in finding.message


def test_an_initial_value_smaller_than_its_tensor_is_refused() -> None:
    sample = complete()
    sample.program.segments[1].size = 12
    assert broken(sample.validate()) == [("CONSTANT_TOO_SMALL", f"{VALUE}[3].val.data_buffer_idx")]


def test_a_tensor_in_another_file_is_refused_by_name() -> None:
    sample = complete()
    extra = p.ExtraTensorInfo(0, "layers.0.weight", p.TensorDataLocation.EXTERNAL)
    sample.plan.values[0].val = p.Tensor(p.ScalarType.FLOAT, 0, [4], b"\0", extra_tensor_info=extra)
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == (
        "EXTERNAL_TENSOR",
        f"{VALUE}[0].val.extra_tensor_info",
    )
    assert 'tensor "layers.0.weight" is in another file (.ptd)' in finding.message


def test_an_empty_tensor_may_end_where_its_buffer_does() -> None:
    sample = complete()
    sample.plan.values[1].val = tensor(memory_id=1, offset=32)
    sample.tensor(1).sizes = [0, 2]
    assert sample.validate() == []
