"""The generated dataclasses, enums and exceptions are what a person would have written."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import placewire_schema
import pytest
from placewire_schema import device_info, errors, program, reflection

TABLES = sorted(reflection.tables(), key=lambda type_: type_.__name__)


def test_the_schema_has_tables() -> None:
    assert len(TABLES) > 30


@pytest.mark.parametrize("table", TABLES)
def test_every_table_can_be_made_without_arguments(table: type[Any]) -> None:
    assert table() == table()


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_a_dataclass_without_a_dict(table: type[Any]) -> None:
    assert dataclasses.is_dataclass(table)
    assert not hasattr(table(), "__dict__")


@pytest.mark.parametrize("table", TABLES)
def test_the_docstring_names_the_slot_of_every_field(table: type[Any]) -> None:
    fields = reflection.describe(table).fields
    missing = [
        f.name for f in fields if f"slot {f.id}," not in " ".join((table.__doc__ or "").split())
    ]
    assert missing == []


def test_a_field_that_every_writer_writes_starts_empty_and_not_absent() -> None:
    plan = program.ExecutionPlan()
    assert (plan.values, plan.name, plan.container_meta_type) == (
        [],
        "",
        program.ContainerMetadata(),
    )


def test_an_optional_field_starts_absent() -> None:
    assert program.ExecutionPlan().non_const_buffer_device is None


def test_two_objects_do_not_share_their_empty_lists() -> None:
    first, second = program.Chain(), program.Chain()
    first.inputs.append(1)
    assert second.inputs == []


def test_a_union_that_every_writer_writes_starts_as_its_first_member() -> None:
    assert program.EValue().val == program.Null()


def test_an_enum_default_is_a_member() -> None:
    assert program.ExtraTensorInfo().device_type is program.DeviceType.CPU


def test_an_attribute_of_an_enum_member_is_a_property() -> None:
    assert program.DeviceType.CUDA.alignment == 256
    assert program.ScalarType.FLOAT.numpy == "float32"


def test_an_attribute_that_a_member_lacks_is_none() -> None:
    assert program.ScalarType.QINT8.numpy is None


def test_enums_are_int_enums() -> None:
    assert issubclass(program.DeviceType, enum.IntEnum)


def test_a_type_of_another_namespace_is_the_same_object() -> None:
    assert type(device_info.DeviceInfo().device_type) is program.DeviceType


def test_every_error_code_but_ok_has_its_exception() -> None:
    assert set(errors.PLACEWIRE_ERRORS) == set(errors.ErrorCode) - {errors.ErrorCode.OK}


@pytest.mark.parametrize("code", sorted(set(errors.ErrorCode) - {errors.ErrorCode.OK}))
def test_an_exception_carries_its_code(code: errors.ErrorCode) -> None:
    exception = errors.PLACEWIRE_ERRORS[code]
    assert issubclass(exception, errors.PlacewireError)
    assert exception.code is code


def test_an_exception_is_also_the_builtin_that_callers_know() -> None:
    assert issubclass(errors.InvalidArgumentError, ValueError)
    assert issubclass(errors.AllocationError, MemoryError)


def test_describe_knows_a_table_and_its_subclasses() -> None:
    class Named(program.Tensor):
        pass

    assert reflection.describe(Named) is reflection.describe(program.Tensor)


def test_describe_refuses_what_is_not_a_table() -> None:
    with pytest.raises(
        TypeError, match="expected a table type of placewire_schema, found <class 'int'>"
    ):
        reflection.describe(int)


def test_the_root_types_have_functions_of_their_own() -> None:
    packed = placewire_schema.pack_device_table(device_info.DeviceTable())
    assert placewire_schema.unpack_device_table(packed) == device_info.DeviceTable()
    assert placewire_schema.verify_device_table(packed) == []
