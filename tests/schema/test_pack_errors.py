"""What cannot be packed is refused with its path, what was found and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from placewire_schema import PackError, UnknownMember, program
from placewire_schema._select import Codec


def a_program() -> program.Program:
    """A small program with one value of each kind that the tests spoil."""
    values: list[program.EValue] = [
        program.EValue(program.Int(1)),
        program.EValue(program.Tensor(sizes=[1, 2, 3], dim_order=b"\0\1\2")),
        program.EValue(program.String("text")),
        program.EValue(program.DoubleList([1.0])),
        program.EValue(program.BoolList([True])),
    ]
    plan = program.ExecutionPlan(name="forward", values=values, chains=[program.Chain()])
    return program.Program(execution_plan=[plan])


def spoil(change: Callable[[program.ExecutionPlan], object]) -> program.Program:
    """Return a program whose only plan went through `change`."""
    spoiled = a_program()
    change(spoiled.execution_plan[0])
    return spoiled


def value(index: int) -> Callable[[program.ExecutionPlan], Any]:
    """Return a function that picks the value at `index`, typed so that it can be spoiled."""
    return lambda plan: plan.values[index].val


CASES: list[tuple[str, Callable[[program.ExecutionPlan], object], str]] = [
    (
        "an integer above its range",
        lambda plan: value(1)(plan).sizes.__setitem__(2, 3_000_000_000),
        (
            "execution_plan[0].values[1].val.sizes[2]: 3000000000 is out of range for int32"
            " (-2147483648..2147483647)"
        ),
    ),
    (
        "an integer below its range",
        lambda plan: setattr(value(1)(plan), "data_buffer_idx", -1),
        (
            "execution_plan[0].values[1].val.data_buffer_idx: -1 is out of range for uint32"
            " (0..4294967295)"
        ),
    ),
    (
        "a float where an integer belongs, though it equals the default",
        lambda plan: setattr(value(0)(plan), "int_val", 0.0),
        "execution_plan[0].values[0].val.int_val: expected int64, found float",
    ),
    (
        "None where an integer belongs",
        lambda plan: setattr(value(0)(plan), "int_val", None),
        "execution_plan[0].values[0].val.int_val: expected int64, found None",
    ),
    (
        "a number that is no member of the enum",
        lambda plan: setattr(value(1)(plan), "scalar_type", 9),
        "execution_plan[0].values[1].val.scalar_type: 9 is not a value of ScalarType",
    ),
    (
        "a list that must not be None",
        lambda plan: setattr(plan.chains[0], "instructions", None),
        (
            "execution_plan[0].chains[0].instructions: must not be None: every writer writes this"
            " field"
        ),
    ),
    (
        "None inside a list",
        lambda plan: plan.values.__setitem__(3, None),  # type: ignore[call-overload]
        "execution_plan[0].values[3]: expected EValue, found None",
    ),
    (
        "a table of a wrong type inside a list",
        lambda plan: plan.chains.append(program.Null()),  # type: ignore[arg-type]
        "execution_plan[0].chains[1]: expected Chain, found Null",
    ),
    (
        "a table that the union does not have",
        lambda plan: setattr(plan.values[0], "val", program.Chain()),
        (
            "execution_plan[0].values[0].val: expected a member of KernelTypes (Null, Int, Bool,"
            " Double, Tensor, String, IntList, DoubleList, BoolList, TensorList,"
            " OptionalTensorList), found Chain"
        ),
    ),
    (
        "a union member that was unknown when it was read",
        lambda plan: setattr(plan.values[0], "val", UnknownMember(77)),
        (
            "execution_plan[0].values[0].val: a member that this schema does not know (tag 77)"
            " cannot be packed"
        ),
    ),
    (
        "a string where a list belongs",
        lambda plan: setattr(plan, "inputs", "12"),
        "execution_plan[0].inputs: expected a list, found str",
    ),
    (
        "a list where bytes belong",
        lambda plan: setattr(value(1)(plan), "dim_order", [0, 1, 2]),
        "execution_plan[0].values[1].val.dim_order: expected bytes, found list",
    ),
    (
        "bytes where a string belongs",
        lambda plan: setattr(value(2)(plan), "string_val", b"text"),
        "execution_plan[0].values[2].val.string_val: expected str, found bytes",
    ),
    (
        "a string that UTF-8 cannot spell",
        lambda plan: setattr(value(2)(plan), "string_val", "ab\ud800"),
        "execution_plan[0].values[2].val.string_val: character 2 cannot be encoded as UTF-8",
    ),
    (
        "a string in a list of floats",
        lambda plan: value(3)(plan).items.append("inf"),
        "execution_plan[0].values[3].val.items[1]: expected float64, found str",
    ),
    (
        "a number other than 0 and 1 in a list of booleans",
        lambda plan: value(4)(plan).items.append(2),
        "execution_plan[0].values[4].val.items[1]: 2 is out of range for bool (0..1)",
    ),
    (
        "an attribute that was deleted",
        lambda plan: delattr(plan, "name"),
        "execution_plan[0].name: the attribute is missing",
    ),
]


def test_there_are_cases() -> None:
    assert len(CASES) > 10


@pytest.mark.parametrize(
    ("change", "message"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_is_refused(
    codec: Codec, change: Callable[[program.ExecutionPlan], object], message: str
) -> None:
    with pytest.raises(PackError) as caught:
        codec.pack(spoil(change), {})
    assert str(caught.value) == message
    assert caught.value.path == message.partition(": ")[0]


def test_an_object_that_contains_itself_is_refused(codec: Codec) -> None:
    frames = program.FrameList()
    frames.items.append(frames)  # type: ignore[arg-type]
    with pytest.raises(PackError, match=r"^items\[0\]: expected Frame, found FrameList$"):
        codec.pack(frames, {})


def test_what_is_not_a_table_is_refused(codec: Codec) -> None:
    with pytest.raises(TypeError, match="expected a table type of placewire_schema"):
        codec.pack(object(), {})


def test_an_alignment_for_an_unknown_field_is_refused(codec: Codec) -> None:
    with pytest.raises(PackError, match=r"force_align names 'Buffer.data', which is not a vector"):
        codec.pack(program.Buffer(), {"Buffer.data": 64})


def test_an_alignment_that_is_no_power_of_two_is_refused(codec: Codec) -> None:
    message = "force_align of Buffer.storage is 48, expected a power of two up to 32768"
    with pytest.raises(PackError, match=message):
        codec.pack(program.Buffer(), {"Buffer.storage": 48})


def test_integers_may_come_as_anything_with_an_index(codec: Codec) -> None:
    numpy = pytest.importorskip("numpy")
    chosen = program.AllocationDetails(memory_id=numpy.int64(3))
    assert codec.pack(chosen, {}) == codec.pack(program.AllocationDetails(memory_id=3), {})


def test_an_enum_member_may_come_as_its_number(codec: Codec) -> None:
    as_number = program.ExtraTensorInfo(device_type=1)  # type: ignore[arg-type]
    as_member = program.ExtraTensorInfo(device_type=program.DeviceType.CUDA)
    assert codec.pack(as_number, {}) == codec.pack(as_member, {})


def test_a_tuple_and_an_array_are_lists(codec: Codec) -> None:
    numpy = pytest.importorskip("numpy")
    expected = codec.pack(program.TensorList([1, 2]), {})
    assert codec.pack(program.TensorList((1, 2)), {}) == expected  # type: ignore[arg-type]
    assert codec.pack(program.TensorList(numpy.array([1, 2])), {}) == expected


def test_a_subclass_packs_as_its_table(codec: Codec) -> None:
    class Named(program.Int):
        """A table with something more."""

    assert codec.pack(program.EValue(Named(7)), {}) == codec.pack(
        program.EValue(program.Int(7)), {}
    )


def test_the_alignment_of_a_vector_can_be_raised(codec: Codec) -> None:
    packed = codec.pack(program.Buffer(b"x" * 8), {"Buffer.storage": 256})
    assert packed.index(b"x" * 8) % 256 == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            program.Double(10**400),
            "double_val: an integer of 1329 bits is out of range for float64",
        ),
        (program.Double("1"), "double_val: expected float64, found str"),  # type: ignore[arg-type]
        (
            program.Int(10**5000),
            (
                "int_val: an integer of 16610 bits is out of range for int64"
                " (-9223372036854775808..9223372036854775807)"
            ),
        ),
    ],
    ids=["a huge integer as a float", "a string as a float", "a huge integer"],
)
def test_a_number_that_cannot_be_shown_is_described(
    codec: Codec, table: object, message: str
) -> None:
    with pytest.raises(PackError) as caught:
        codec.pack(table, {})
    assert str(caught.value) == message


def test_a_type_of_another_library_is_named_with_its_module(codec: Codec) -> None:
    numpy = pytest.importorskip("numpy")
    with pytest.raises(PackError, match=r"^int_val: expected int64, found numpy\.float32$"):
        codec.pack(program.Int(numpy.float32(1)), {})
