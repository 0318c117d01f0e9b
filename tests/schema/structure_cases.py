"""Buffers that break one structural rule each, and what every verifier must say about them.

The list is for all codecs: a case names the root type, the bytes, and the rule, path, offset and two
numbers that are to be reported; or it is sound, although it looks odd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from placewire_schema import pack, program

from .forging import Forged

BASE_BUDGET = 16 << 20
BUDGET_PER_BYTE = 8


@dataclass(frozen=True)
class Expected:
    """A broken rule, where it is broken, and the numbers that go with it."""

    rule: str
    path: str
    offset: int
    found: int
    expected: int


@dataclass(frozen=True)
class StructureCase:
    """One buffer; `expected` is None if it is sound."""

    name: str
    type: str
    data: bytes
    expected: Expected | None


Made = tuple[str, bytes, Expected | None]
_CASES: list[tuple[str, Callable[[], Made]]] = []


def _case(make: Callable[[], Made]) -> Callable[[], Made]:
    _CASES.append((make.__name__.removeprefix("_"), make))
    return make


@cache
def structure_cases() -> tuple[StructureCase, ...]:
    """Return all cases."""
    made = [StructureCase(name, *make()) for name, make in _CASES]
    return (*made, *_short_buffers(), *_bad_strings())


def sound_tensor() -> Forged:
    """Return a tensor (root without identifier) that has all kinds of fields."""
    return Forged(
        pack(
            program.Tensor(
                scalar_type=program.ScalarType.FLOAT,
                sizes=[2, 3],
                dim_order=b"\x00\x01",
                data_buffer_idx=7,
                allocation_info=program.AllocationDetails(memory_id=1, memory_offset_low=64),
                extra_tensor_info=program.ExtraTensorInfo(fully_qualified_name="weight"),
            )
        )
    )


def sound_program() -> Forged:
    """Return a small program."""
    plan = program.ExecutionPlan(
        name="forward",
        container_meta_type=program.ContainerMetadata(encoded_inp_str="[]", encoded_out_str="[]"),
        values=[
            program.EValue(program.Int(5)),
            program.EValue(program.Tensor(sizes=[4], dim_order=b"\x00")),
        ],
        inputs=[0],
        outputs=[1],
        chains=[program.Chain(instructions=[program.Instruction(program.KernelCall(args=[0, 1]))])],
        operators=[program.Operator(name="aten::add", overload="out")],
        non_const_buffer_sizes=[0, 16],
    )
    return Forged(pack(program.Program(execution_plan=[plan])))


# Ids of fields, as in the schema.
PLANS, VALUES, CHAINS = 1, 2, 5
INPUTS, OUTPUTS, INSTRUCTIONS = 0, 1, 2
TAG, MEMBER = 0, 1
SCALAR_TYPE, SIZES, DIM_ORDER, DATA_BUFFER, ALLOCATION, EXTRA = 0, 2, 3, 5, 6, 9
NAME = 1


def _short_buffers() -> Iterator[StructureCase]:
    for size in range(12):
        data = bytes(sound_program()[:size])
        expected = Expected("BUFFER_TOO_SMALL", "", 0, size, 12)
        yield StructureCase(f"a_program_of_{size}_bytes", "Program", data, expected)
    for size in range(8):
        data = bytes(sound_tensor()[:size])
        expected = Expected("BUFFER_TOO_SMALL", "", 0, size, 8)
        yield StructureCase(f"a_tensor_of_{size}_bytes", "Tensor", data, expected)


@_case
def _sound() -> Made:
    return "Program", sound_program(), None


@_case
def _wrong_identifier() -> Made:
    data = sound_program()
    data[4:8] = b"ET99"
    found, expected = data.u32(4), int.from_bytes(b"ET12", "little")
    return "Program", data, Expected("WRONG_IDENTIFIER", "", 4, found, expected)


def _with_header(length: int, size: int) -> Forged:
    """Insert an extended header of 32 bytes behind the identifier."""
    data = sound_program()
    numbers = length.to_bytes(4, "little") + size.to_bytes(8, "little") + bytes(16)
    framed = Forged(data[:8] + b"eh00" + numbers + data[8:])
    framed.put(0, 4, data.u32(0) + 32)
    return framed


@_case
def _sound_with_header() -> Made:
    return "Program", _with_header(32, len(sound_program()) + 32) + b"segments", None


@_case
def _header_too_short() -> Made:
    data = _with_header(23, len(sound_program()) + 32)
    return "Program", data, Expected("HEADER_INVALID", "", 12, 23, 24)


@_case
def _header_with_a_program_of_seven_bytes() -> Made:
    data = _with_header(32, 7)
    return "Program", data, Expected("HEADER_INVALID", "", 16, 7, len(data))


@_case
def _header_with_a_program_beyond_the_end() -> Made:
    data = _with_header(32, len(sound_program()) + 33)
    return "Program", data, Expected("HEADER_INVALID", "", 16, len(data) + 1, len(data))


@_case
def _header_with_the_largest_program() -> Made:
    data = _with_header(32, (1 << 64) - 1)
    return "Program", data, Expected("HEADER_INVALID", "", 16, (1 << 63) - 1, len(data))


@_case
def _header_with_a_program_of_ten_bytes() -> Made:
    return "Program", _with_header(32, 10), Expected("BUFFER_TOO_SMALL", "", 0, 10, 12)


@_case
def _root_offset_zero() -> Made:
    data = sound_tensor()
    data.put(0, 4, 0)
    return "Tensor", data, Expected("OFFSET_OUT_OF_BOUNDS", "", 0, 0, len(data))


@_case
def _root_offset_into_the_last_three_bytes() -> Made:
    data = sound_tensor()
    data.put(0, 4, len(data) - 3)
    expected = Expected("OFFSET_OUT_OF_BOUNDS", "", 0, len(data) - 3, len(data))
    return "Tensor", data, expected


@_case
def _root_offset_that_would_wrap() -> Made:
    data = sound_tensor()
    data.put(0, 4, 0xFFFFFFFC)
    return "Tensor", data, Expected("OFFSET_OUT_OF_BOUNDS", "", 0, 0xFFFFFFFC, len(data))


@_case
def _child_offset_that_would_wrap() -> Made:
    data = sound_tensor()
    place = data.field(data.root(), SIZES)
    data.put(place, 4, 0xFFFFFFFF)
    found = place + 0xFFFFFFFF
    return "Tensor", data, Expected("OFFSET_OUT_OF_BOUNDS", "sizes", place, found, len(data))


@_case
def _misaligned_root() -> Made:
    data = sound_tensor()
    root = data.root() + 2
    data.put(0, 4, root)
    return "Tensor", data, Expected("MISALIGNED", "", root, root, 4)


@_case
def _vtable_before_the_buffer() -> Made:
    data = sound_tensor()
    data.put(data.root(), 4, data.root() + 2)
    return "Tensor", data, Expected("VTABLE_OUT_OF_BOUNDS", "", data.root(), -2, len(data))


@_case
def _vtable_behind_the_buffer() -> Made:
    data = sound_tensor()
    root, vtable = data.root(), len(data) - 2
    data.put(root, 4, root - vtable)
    return "Tensor", data, Expected("VTABLE_OUT_OF_BOUNDS", "", root, vtable, len(data))


@_case
def _vtable_as_far_as_an_offset_reaches() -> Made:
    data = sound_tensor()
    data.put(data.root(), 4, -(1 << 31))
    found = data.root() + (1 << 31)
    return "Tensor", data, Expected("VTABLE_OUT_OF_BOUNDS", "", data.root(), found, len(data))


@_case
def _odd_vtable() -> Made:
    data = sound_tensor()
    root, vtable = data.root(), data.vtable(data.root()) + 1
    data.put(root, 4, root - vtable)
    return "Tensor", data, Expected("MISALIGNED", "", vtable, vtable, 2)


def _with_vtable_size(size: int) -> tuple[Forged, int]:
    data = sound_tensor()
    vtable = data.vtable(data.root())
    data.put(vtable, 2, size)
    return data, vtable


@_case
def _vtable_of_two_bytes() -> Made:
    data, vtable = _with_vtable_size(2)
    return "Tensor", data, Expected("VTABLE_MALFORMED", "", vtable, 2, 4)


@_case
def _vtable_of_seven_bytes() -> Made:
    data, vtable = _with_vtable_size(7)
    return "Tensor", data, Expected("VTABLE_MALFORMED", "", vtable, 7, 4)


@_case
def _vtable_that_does_not_end_in_the_buffer() -> Made:
    data, vtable = _with_vtable_size(0xFFFE)
    found = vtable + 0xFFFE
    return "Tensor", data, Expected("VTABLE_OUT_OF_BOUNDS", "", vtable, found, len(data))


@_case
def _vtable_of_four_bytes_has_no_fields() -> Made:
    data, _ = _with_vtable_size(4)
    return "Tensor", data, None


def _with_inline_size(size: int) -> Forged:
    data = sound_tensor()
    data.put(data.vtable(data.root()) + 2, 2, size)
    return data


@_case
def _table_of_three_bytes() -> Made:
    data = _with_inline_size(3)
    root = data.root()
    return "Tensor", data, Expected("TABLE_OUT_OF_BOUNDS", "", root, root + 3, len(data))


@_case
def _table_that_does_not_end_in_the_buffer() -> Made:
    data = _with_inline_size(0xFFFF)
    root = data.root()
    return "Tensor", data, Expected("TABLE_OUT_OF_BOUNDS", "", root, root + 0xFFFF, len(data))


def _with_entry(id_: int, entry: int) -> tuple[Forged, int, int]:
    """Overwrite a vtable entry; return the buffer, its place and the table's inline size."""
    data = sound_tensor()
    slot = data.slot(data.root(), id_)
    data.put(slot, 2, entry)
    return data, slot, data.u16(data.vtable(data.root()) + 2)


@_case
def _field_over_the_offset_to_the_vtable() -> Made:
    data, slot, size = _with_entry(SCALAR_TYPE, 3)
    return "Tensor", data, Expected("FIELD_OUTSIDE_TABLE", "scalar_type", slot, 4, size)


@_case
def _field_one_byte_beyond_its_table() -> Made:
    size = _with_entry(DATA_BUFFER, 4)[2]
    data, slot, _ = _with_entry(DATA_BUFFER, size - 3)
    expected = Expected("FIELD_OUTSIDE_TABLE", "data_buffer_idx", slot, size + 1, size)
    return "Tensor", data, expected


@_case
def _field_as_far_as_an_entry_reaches() -> Made:
    data, slot, size = _with_entry(ALLOCATION, 0xFFFF)
    expected = Expected("FIELD_OUTSIDE_TABLE", "allocation_info", slot, 0xFFFF + 4, size)
    return "Tensor", data, expected


@_case
def _misaligned_scalar() -> Made:
    data, _, _ = _with_entry(DATA_BUFFER, 6)
    place = data.root() + 6
    return "Tensor", data, Expected("MISALIGNED", "data_buffer_idx", place, place, 4)


@_case
def _misaligned_offset() -> Made:
    data, _, _ = _with_entry(SIZES, 6)
    place = data.root() + 6
    return "Tensor", data, Expected("MISALIGNED", "sizes", place, place, 4)


def _with_child(id_: int, distance: int) -> tuple[Forged, int]:
    """Move what an offset refers to by some bytes; return the buffer and the new target."""
    data = sound_tensor()
    place = data.field(data.root(), id_)
    data.put(place, 4, data.u32(place) + distance)
    return data, data.follow(place)


@_case
def _misaligned_vector() -> Made:
    data, target = _with_child(SIZES, 2)
    return "Tensor", data, Expected("MISALIGNED", "sizes", target, target, 4)


@_case
def _misaligned_child_table() -> Made:
    data, target = _with_child(ALLOCATION, 1)
    return "Tensor", data, Expected("MISALIGNED", "allocation_info", target, target, 4)


@_case
def _vector_with_one_element_too_many() -> Made:
    data = sound_tensor()
    vector = data.child(data.root(), SIZES)
    count = (len(data) - vector - 4) // 4 + 1
    data.put(vector, 4, count)
    end = vector + 4 + 4 * count
    return "Tensor", data, Expected("VECTOR_OUT_OF_BOUNDS", "sizes", vector, end, len(data))


@_case
def _vector_with_the_largest_length() -> Made:
    data = sound_tensor()
    vector = data.child(data.root(), SIZES)
    data.put(vector, 4, 0xFFFFFFFF)
    end = vector + 4 + 4 * 0xFFFFFFFF
    return "Tensor", data, Expected("VECTOR_OUT_OF_BOUNDS", "sizes", vector, end, len(data))


@_case
def _vector_whose_size_would_wrap() -> Made:
    data = sound_tensor()
    vector = data.child(data.root(), SIZES)
    data.put(vector, 4, 0x40000001)
    end = vector + 4 + 4 * 0x40000001
    return "Tensor", data, Expected("VECTOR_OUT_OF_BOUNDS", "sizes", vector, end, len(data))


def _with_misplaced_numbers(count: int) -> tuple[Forged, int]:
    """Return a list of 64-bit numbers whose first element is 4 bytes off, and that element's place."""
    data = Forged(pack(program.EValue(program.IntList(items=[count, 0]))))
    items = data.child(data.root(), MEMBER)
    place = data.field(items, 0)
    data.put(place, 4, data.u32(place) + 4)
    return data, data.follow(place) + 4


@_case
def _misaligned_elements() -> Made:
    data, first = _with_misplaced_numbers(1)
    return "EValue", data, Expected("MISALIGNED", "val.items", first, first, 8)


@_case
def _no_elements_cannot_be_misaligned() -> Made:
    data, _ = _with_misplaced_numbers(0)
    return "EValue", data, None


def _with_name(text: bytes) -> tuple[Forged, int]:
    """Overwrite the six letters of a name; return the buffer and where they begin."""
    data = sound_tensor()
    first = data.child(data.root(), EXTRA, NAME) + 4
    data[first : first + 6] = text.ljust(6, b"x")
    return data, first


@_case
def _string_that_is_not_terminated() -> Made:
    data = sound_tensor()
    string = data.child(data.root(), EXTRA, NAME)
    data.put(string, 4, 5)
    end, path = string + 9, "extra_tensor_info.fully_qualified_name"
    return "Tensor", data, Expected("STRING_NOT_TERMINATED", path, end, ord("t"), 0)


@_case
def _string_that_ends_with_the_buffer() -> Made:
    data = sound_tensor()
    string = data.child(data.root(), EXTRA, NAME)
    data.put(string, 4, len(data) - string - 4)
    found, path = len(data) + 1, "extra_tensor_info.fully_qualified_name"
    return "Tensor", data, Expected("VECTOR_OUT_OF_BOUNDS", path, string, found, len(data))


@_case
def _string_that_is_longer_than_the_buffer() -> Made:
    data = sound_tensor()
    string = data.child(data.root(), EXTRA, NAME)
    data.put(string, 4, 0xFFFFFFFF)
    found, path = string + 4 + 0xFFFFFFFF, "extra_tensor_info.fully_qualified_name"
    return "Tensor", data, Expected("VECTOR_OUT_OF_BOUNDS", path, string, found, len(data))


_BAD_UTF8 = {
    "a_continuation_byte_alone": (b"ab\x80", 2),
    "a_letter_in_two_bytes": (b"\xc1\x81", 0),
    "a_letter_in_three_bytes": (b"a\xe0\x80\x80", 1),
    "a_letter_in_four_bytes": (b"\xf0\x80\x80\x80", 0),
    "a_surrogate": (b"\xed\xa0\x80", 0),
    "a_code_point_beyond_the_last": (b"\xf4\x90\x80\x80", 0),
    "a_byte_that_never_occurs": (b"abcde\xff", 5),
    "a_sequence_that_ends_early": (b"ab\xe2\x82x", 2),
    "a_sequence_cut_off_by_the_end": (b"abcd\xe2\x82", 4),
}


def _bad_strings() -> Iterator[StructureCase]:
    for name, (text, bad) in _BAD_UTF8.items():
        data, first = _with_name(text)
        path = "extra_tensor_info.fully_qualified_name"
        expected = Expected("STRING_NOT_UTF8", path, first, bad, 0)
        yield StructureCase(f"string_with_{name}", "Tensor", bytes(data), expected)


@_case
def _string_with_the_last_code_points() -> Made:
    return "Tensor", _with_name("\ud7ff\ue000".encode())[0], None


@_case
def _string_with_the_very_last_code_point() -> Made:
    return "Tensor", _with_name("ab\U0010ffff".encode())[0], None


def _sound_value() -> Forged:
    return Forged(pack(program.EValue(program.Int(int_val=5))))


@_case
def _union_without_value() -> Made:
    data = _sound_value()
    data.put(data.slot(data.root(), MEMBER), 2, 0)
    return "EValue", data, Expected("UNION_VALUE_MISSING", "val", data.root(), 2, 0)


@_case
def _union_without_tag() -> Made:
    data = _sound_value()
    data.put(data.slot(data.root(), TAG), 2, 0)
    place = data.field(data.root(), MEMBER)
    return "EValue", data, Expected("UNION_TAG_MISSING", "val", place, 0, 0)


@_case
def _union_with_tag_none() -> Made:
    data = _sound_value()
    data.put(data.field(data.root(), TAG), 1, 0)
    place = data.field(data.root(), MEMBER)
    return "EValue", data, Expected("UNION_TAG_MISSING", "val", place, 0, 0)


@_case
def _union_with_an_unknown_tag_is_not_followed() -> Made:
    data = _sound_value()
    data.put(data.field(data.root(), TAG), 1, 200)
    data.put(data.child(data.root(), MEMBER), 4, 0x7FFFFFFF)
    return "EValue", data, None


@_case
def _union_with_an_unknown_tag_and_an_offset_beyond_the_end() -> Made:
    data = _sound_value()
    data.put(data.field(data.root(), TAG), 1, 200)
    place = data.field(data.root(), MEMBER)
    data.put(place, 4, len(data))
    found = place + len(data)
    return "EValue", data, Expected("OFFSET_OUT_OF_BOUNDS", "val", place, found, len(data))


@_case
def _union_whose_member_is_another_table() -> Made:
    data = _sound_value()
    data.put(data.field(data.root(), TAG), 1, 6)  # String: its field would be an offset
    number = data.child(data.root(), MEMBER)
    place = data.field(number, 0)
    data.put(place, 4, 0)
    expected = Expected("OFFSET_OUT_OF_BOUNDS", "val.string_val", place, place, len(data))
    return "EValue", data, expected


@_case
def _path_through_vectors_and_unions() -> Made:
    data = sound_program()
    plan = data.element(data.child(data.root(), PLANS), 0)
    sizes = data.child(data.element(data.child(plan, VALUES), 1), MEMBER, SIZES)
    data.put(sizes, 4, 1 << 24)
    found, path = sizes + 4 + (1 << 26), "execution_plan[0].values[1].val.sizes"
    return "Program", data, Expected("VECTOR_OUT_OF_BOUNDS", path, sizes, found, len(data))


@_case
def _element_with_an_offset_beyond_the_end() -> Made:
    data = sound_program()
    plan = data.element(data.child(data.root(), PLANS), 0)
    place = data.child(plan, CHAINS) + 4
    data.put(place, 4, len(data))
    found, path = place + len(data), "execution_plan[0].chains[0]"
    return "Program", data, Expected("OFFSET_OUT_OF_BOUNDS", path, place, found, len(data))


@_case
def _slots_beyond_the_schema_are_not_followed() -> Made:
    data = Forged(pack(program.Null()))
    # A vtable of its own behind the table, with an entry for a field 0 that Null does not have.
    root = data.root()
    vtable = len(data)
    data += bytes([6, 0, 4, 0, 0xFF, 0xFF, 0, 0])
    data.put(root, 4, root - vtable)
    return "Null", data, None


@_case
def _tables_shared_until_the_budget_is_spent() -> Made:
    """A chain of 500,000 instructions, all of them the same table."""
    small = Forged(
        pack(program.Chain(instructions=[program.Instruction(program.FreeCall(value_index=1))]))
    )
    count, vector = 500_000, len(small)
    # Offsets lead forward only, so the instruction must lie behind its vector: in a second copy.
    copy = vector + 4 + 4 * count
    shared = copy + small.element(small.child(small.root(), INSTRUCTIONS), 0)
    place = small.field(small.root(), INSTRUCTIONS)
    offsets = b"".join(
        (shared - place).to_bytes(4, "little") for place in range(vector + 4, copy, 4)
    )
    data = Forged(small + count.to_bytes(4, "little") + offsets + small)
    data.put(place, 4, vector - place)
    return "Chain", data, _where_the_budget_ends(data, vector, shared)


def _where_the_budget_ends(data: Forged, vector: int, instruction: int) -> Expected:
    budget = BASE_BUDGET + BUDGET_PER_BYTE * len(data)
    root, call = data.root(), data.child(instruction, MEMBER)
    spent = _table_charge(data, root) + 4 + 4 * data.u32(vector)
    spent += sum(4 + 4 * data.u32(data.child(root, id_)) for id_ in (INPUTS, OUTPUTS))
    for index in range(data.u32(vector)):
        path = f"instructions[{index}]"
        for place, name in ((instruction, path), (call, f"{path}.instr_args")):
            spent += _table_charge(data, place)
            if spent > budget:
                return Expected("BUDGET_EXCEEDED", name, place, spent, budget)
    raise AssertionError("the budget is never spent")


def _table_charge(data: Forged, table: int) -> int:
    return data.u16(data.vtable(table) + 2) + 32
