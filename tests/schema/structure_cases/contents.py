"""Cases in what tables refer to: vectors, strings, unions, and shared tables."""

from __future__ import annotations

from collections.abc import Iterator

from placewire_schema import pack, program

from ..forging import Forged
from .case import (
    CHAINS,
    EXTRA,
    INPUTS,
    INSTRUCTIONS,
    MEMBER,
    NAME,
    OUTPUTS,
    PLANS,
    SIZES,
    TAG,
    VALUES,
    Expected,
    Made,
    StructureCase,
    case,
    sound_program,
    sound_tensor,
)

BASE_BUDGET = 16 << 20
BUDGET_PER_BYTE = 8
TABLE_CHARGE = 32


@case
def vector_with_one_element_too_many() -> Made:
    data = sound_tensor()
    vector = data.child(data.root(), SIZES)
    count = (len(data) - vector - 4) // 4 + 1
    data.put(vector, 4, count)
    end = vector + 4 + 4 * count
    return "Tensor", data, Expected("VECTOR_OUT_OF_BOUNDS", "sizes", vector, end, len(data))


@case
def vector_with_the_largest_length() -> Made:
    data = sound_tensor()
    vector = data.child(data.root(), SIZES)
    data.put(vector, 4, 0xFFFFFFFF)
    end = vector + 4 + 4 * 0xFFFFFFFF
    return "Tensor", data, Expected("VECTOR_OUT_OF_BOUNDS", "sizes", vector, end, len(data))


@case
def vector_whose_size_would_wrap() -> Made:
    data = sound_tensor()
    vector = data.child(data.root(), SIZES)
    data.put(vector, 4, 0x40000001)
    end = vector + 4 + 4 * 0x40000001
    return "Tensor", data, Expected("VECTOR_OUT_OF_BOUNDS", "sizes", vector, end, len(data))


def _with_misplaced_numbers(count: int) -> tuple[Forged, int]:
    """Return a list of 64-bit numbers that begins 4 bytes off, and where it begins."""
    data = Forged(pack(program.EValue(program.IntList(items=[count, 0]))))
    items = data.child(data.root(), MEMBER)
    place = data.field(items, 0)
    data.put(place, 4, data.u32(place) + 4)
    return data, data.follow(place) + 4


@case
def misaligned_elements() -> Made:
    data, first = _with_misplaced_numbers(1)
    return "EValue", data, Expected("MISALIGNED", "val.items", first, first, 8)


@case
def no_elements_cannot_be_misaligned() -> Made:
    data, _ = _with_misplaced_numbers(0)
    return "EValue", data, None


def _with_name(text: bytes) -> tuple[Forged, int]:
    """Overwrite the six letters of a name; return the buffer and where they begin."""
    data = sound_tensor()
    first = data.child(data.root(), EXTRA, NAME) + 4
    data[first : first + 6] = text.ljust(6, b"x")
    return data, first


@case
def string_that_is_not_terminated() -> Made:
    data = sound_tensor()
    string = data.child(data.root(), EXTRA, NAME)
    data.put(string, 4, 5)
    end, path = string + 9, "extra_tensor_info.fully_qualified_name"
    return "Tensor", data, Expected("STRING_NOT_TERMINATED", path, end, ord("t"), 0)


@case
def string_that_ends_with_the_buffer() -> Made:
    data = sound_tensor()
    string = data.child(data.root(), EXTRA, NAME)
    data.put(string, 4, len(data) - string - 4)
    found, path = len(data) + 1, "extra_tensor_info.fully_qualified_name"
    return "Tensor", data, Expected("VECTOR_OUT_OF_BOUNDS", path, string, found, len(data))


@case
def string_that_is_longer_than_the_buffer() -> Made:
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


def bad_strings() -> Iterator[StructureCase]:
    for name, (text, bad) in _BAD_UTF8.items():
        data, first = _with_name(text)
        path = "extra_tensor_info.fully_qualified_name"
        expected = Expected("STRING_NOT_UTF8", path, first, bad, 0)
        yield StructureCase(f"string_with_{name}", "Tensor", bytes(data), expected)


@case
def string_with_the_last_code_points() -> Made:
    return "Tensor", _with_name("\ud7ff\ue000".encode())[0], None


@case
def string_with_the_very_last_code_point() -> Made:
    return "Tensor", _with_name("ab\U0010ffff".encode())[0], None


def _sound_value() -> Forged:
    return Forged(pack(program.EValue(program.Int(int_val=5))))


@case
def union_without_value() -> Made:
    data = _sound_value()
    data.put(data.slot(data.root(), MEMBER), 2, 0)
    return "EValue", data, Expected("UNION_VALUE_MISSING", "val", data.root(), 2, 0)


@case
def union_without_tag() -> Made:
    data = _sound_value()
    data.put(data.slot(data.root(), TAG), 2, 0)
    place = data.field(data.root(), MEMBER)
    return "EValue", data, Expected("UNION_TAG_MISSING", "val", place, 0, 0)


@case
def union_with_tag_none() -> Made:
    data = _sound_value()
    data.put(data.field(data.root(), TAG), 1, 0)
    place = data.field(data.root(), MEMBER)
    return "EValue", data, Expected("UNION_TAG_MISSING", "val", place, 0, 0)


@case
def union_with_an_unknown_tag_is_not_followed() -> Made:
    data = _sound_value()
    data.put(data.field(data.root(), TAG), 1, 200)
    data.put(data.child(data.root(), MEMBER), 4, 0x7FFFFFFF)
    return "EValue", data, None


@case
def union_with_an_unknown_tag_and_an_offset_beyond_the_end() -> Made:
    data = _sound_value()
    data.put(data.field(data.root(), TAG), 1, 200)
    place = data.field(data.root(), MEMBER)
    data.put(place, 4, len(data))
    found = place + len(data)
    return "EValue", data, Expected("OFFSET_OUT_OF_BOUNDS", "val", place, found, len(data))


@case
def union_whose_member_is_another_table() -> Made:
    data = _sound_value()
    data.put(data.field(data.root(), TAG), 1, 6)  # String: its field would be an offset
    number = data.child(data.root(), MEMBER)
    place = data.field(number, 0)
    data.put(place, 4, 0)
    expected = Expected("OFFSET_OUT_OF_BOUNDS", "val.string_val", place, place, len(data))
    return "EValue", data, expected


@case
def path_through_vectors_and_unions() -> Made:
    data = sound_program()
    plan = data.element(data.child(data.root(), PLANS), 0)
    sizes = data.child(data.element(data.child(plan, VALUES), 1), MEMBER, SIZES)
    data.put(sizes, 4, 1 << 24)
    found, path = sizes + 4 + (1 << 26), "execution_plan[0].values[1].val.sizes"
    return "Program", data, Expected("VECTOR_OUT_OF_BOUNDS", path, sizes, found, len(data))


@case
def element_with_an_offset_beyond_the_end() -> Made:
    data = sound_program()
    plan = data.element(data.child(data.root(), PLANS), 0)
    place = data.child(plan, CHAINS) + 4
    data.put(place, 4, len(data))
    found, path = place + len(data), "execution_plan[0].chains[0]"
    return "Program", data, Expected("OFFSET_OUT_OF_BOUNDS", path, place, found, len(data))


@case
def slots_beyond_the_schema_are_not_followed() -> Made:
    data = Forged(pack(program.Null()))
    # A vtable of its own behind the table, with an entry for a field 0 that Null does not have.
    root = data.root()
    vtable = len(data)
    data += bytes([6, 0, 4, 0, 0xFF, 0xFF, 0, 0])
    data.put(root, 4, root - vtable)
    return "Null", data, None


@case
def tables_shared_until_the_budget_is_spent() -> Made:
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
    return data.u16(data.vtable(table) + 2) + TABLE_CHARGE
