"""Structure: the first fault of the FlatBuffer is the only finding, as the codec would word it."""

from __future__ import annotations

import struct
from pathlib import Path

from placewire_codegen.targets.rules import STRUCTURE_RULES
from placewire_schema import pack_program, verify_program
from placewire_schema import program as p

from placewire.validate import validate
from tests.runtime.programs import Cursor, Sample, complete


def test_a_structural_fault_is_the_only_finding(corpus: Path) -> None:
    sample = Sample.load(corpus / "mlp.pte")
    sample.program.version = 7
    data = bytearray(sample.file())
    tensor = Cursor.root(data).child("execution_plan", 0).child("values", 1).child("val")
    place = tensor.place(tensor.slot("sizes"))
    struct.pack_into("<I", data, place, 0x7FFFFFFF)
    (finding,) = validate(data)
    assert finding.rule == "OFFSET_OUT_OF_BOUNDS"
    assert finding.path == "execution_plan[0].values[1].val.sizes"
    assert finding.offset == place


def test_a_structural_fault_is_that_of_the_codec(corpus: Path) -> None:
    data = (corpus / "dev_add.pte").read_bytes()
    (end,) = struct.unpack_from("<Q", data, 16)
    structural = {rule.name for rule in STRUCTURE_RULES}
    faults = 0
    for position in range(40, end):
        damaged = data[:position] + bytes([data[position] ^ 0x80]) + data[position + 1 :]
        expected = verify_program(damaged)
        if expected and expected[0].rule in structural:
            assert validate(damaged) == expected, position
            faults += 1
    assert faults > 100


def test_the_structure_of_what_lies_behind_the_program_does_not_matter() -> None:
    sample = complete()
    data = sample.file()
    (end,) = struct.unpack_from("<Q", data, 16)
    (base,) = struct.unpack_from("<Q", data, 24)
    damaged = data[:end] + b"\xff" * (base - end) + data[base:]
    assert validate(damaged) == []


def test_parts_that_unfold_without_end_are_stopped() -> None:
    # Two thousand methods that are one and the same table of 60,000 bytes.
    count, table_size = 2_000, 60_000
    flatbuffer = bytearray(pack_program(p.Program()))
    root = Cursor.root(flatbuffer)
    vector = len(flatbuffer)
    place = root.place(root.slot("execution_plan"))
    struct.pack_into("<I", flatbuffer, place, vector - place)
    table = vector + 4 + 4 * count + 4
    flatbuffer += struct.pack("<I", count)
    flatbuffer += b"".join(
        struct.pack("<I", table - (vector + 4 + 4 * index)) for index in range(count)
    )
    flatbuffer += struct.pack("<HHi", 4, table_size, 4) + bytes(table_size - 4)
    (finding,) = validate(bytes(flatbuffer))
    assert finding.rule == "BUDGET_EXCEEDED"
    assert finding.path.startswith("execution_plan[")
