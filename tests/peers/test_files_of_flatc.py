"""Files that flatc has laid out: their FlatBuffer is in its own order, not ours."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from placewire_schema import pack_program, unpack_program
from placewire_schema.program import (
    BoolList,
    Double,
    DoubleList,
    EValue,
    ExecutionPlan,
    IntList,
    Program,
    ScalarType,
    String,
    Tensor,
)

from placewire.inspect import to_json
from placewire.pte import PteFile, check_bytes
from tests.placewire.files import header_of

if TYPE_CHECKING:
    from pathlib import Path


def _flatc(flatc: Path, schema: Path, *arguments: str, folder: Path) -> None:
    subprocess.run(
        [flatc, "-I", str(schema.parent), *arguments], cwd=folder, check=True, capture_output=True
    )


def _laid_out_by_flatc(flatc: Path, schema: Path, program: Program, folder: Path) -> bytes:
    (folder / "program.json").write_text(to_json(program), encoding="utf-8")
    _flatc(flatc, schema, "--binary", str(schema), "program.json", folder=folder)
    (output,) = [path for path in folder.iterdir() if path.suffix == ".pte"]
    return output.read_bytes()


@pytest.fixture
def schema(executorch_schema: Path) -> Path:
    return executorch_schema / "program.fbs"


@pytest.mark.parametrize("name", ["mlp", "dev_add", "conv", "kv_names", "multimethod"])
def test_a_file_in_flatcs_order_is_saved_as_it_was_and_can_be_edited(
    corpus: Path, tmp_path: Path, executorch_flatc: Path, schema: Path, name: str
) -> None:
    loaded = PteFile.load(corpus / f"{name}.pte")
    flatbuffer = _laid_out_by_flatc(executorch_flatc, schema, loaded.program, tmp_path)
    assert flatbuffer != pack_program(loaded.program), "flatc has another order"
    data = (corpus / f"{name}.pte").read_bytes()
    _, _, base, _ = header_of(data)
    region = 32
    program_size = len(flatbuffer) + region
    new_base = -(-program_size // 128) * 128
    head = (int.from_bytes(flatbuffer[:4], "little") + region).to_bytes(4, "little")
    header = data[8:16] + program_size.to_bytes(8, "little") + new_base.to_bytes(8, "little")
    file = head + flatbuffer[4:8] + header + data[32:40] + flatbuffer[8:]
    file = file.ljust(new_base, b"\0") + data[base:]

    pte = PteFile.from_bytes(file)
    assert pte.program == loaded.program
    assert pte.to_bytes() == file
    pte.program.execution_plan[0].name += "!"
    edited = pte.to_bytes()
    assert check_bytes(edited) == []
    assert list(PteFile.from_bytes(edited).segments) == list(loaded.segments)


def _odd_program() -> Program:
    values: list[EValue] = [
        EValue(val=String(string_val='quotes " and \\ and /, \n\t\r\b\f\0\x1f\x7f, äöü €, 😀')),
        EValue(val=Double(double_val=1 / 3)),
        EValue(val=Double(double_val=-1e20)),
        EValue(val=Double(double_val=1e-9)),
        EValue(val=DoubleList(items=[0.0, -0.0, 0.1, 123456.789])),
        EValue(val=BoolList(items=[True, False])),
        EValue(val=IntList(items=[])),
        EValue(val=Tensor(scalar_type=ScalarType.BFLOAT16, requires_grad=True, layout=-1)),
    ]
    return Program(version=7, execution_plan=[ExecutionPlan(name="", values=values)])


def test_the_json_of_odd_values_is_flatcs(tmp_path: Path, flatc: Path, schema: Path) -> None:
    program = _odd_program()
    (tmp_path / "odd.pte").write_bytes(pack_program(program))
    _flatc(
        flatc, schema, "--json", "--strict-json", "--raw-binary", str(schema), "--", "odd.pte",
        folder=tmp_path,
    )  # fmt: skip
    expected = (tmp_path / "odd.json").read_text(encoding="utf-8")
    cut = to_json(program).replace(str(1 / 3), "0.333333333333")
    assert cut == expected


def test_flatc_reads_the_json_back_to_the_same_program(
    tmp_path: Path, flatc: Path, schema: Path
) -> None:
    program = _odd_program()
    data = _laid_out_by_flatc(flatc, schema, program, tmp_path)
    assert pack_program(unpack_program(data)) == pack_program(program)
