"""The JSON dump is what flatc prints."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from placewire_schema import UnknownMember
from placewire_schema.device_info import DeviceInfo, DeviceTable
from placewire_schema.program import (
    BoolList,
    Double,
    DoubleList,
    EValue,
    ExtraTensorInfo,
    Int,
    IntList,
    Null,
    String,
    Tensor,
)

from placewire.inspect import to_json
from placewire.pte import PteFile

if TYPE_CHECKING:
    from pathlib import Path

_NUMBER = re.compile(r"-?\d+\.\d+(e[-+]\d+)?")


def _cut(text: str) -> str:
    """The text with floating-point numbers as flatc has them: rounded to twelve digits."""
    return _NUMBER.sub(lambda match: str(round(float(match[0]), 12)), text)


def test_every_corpus_file_dumps_as_flatc_dumps_it(corpus: Path) -> None:
    files = sorted(corpus.glob("*.pte"))
    assert files
    for file in files:
        expected = file.with_suffix(".json").read_text(encoding="utf-8")
        assert _cut(to_json(PteFile.load(file).program)) == _cut(expected), file.name


def test_doubles_of_the_corpus_are_not_cut(corpus: Path) -> None:
    program = PteFile.load(corpus / "conv.pte").program
    values = [value.val for value in program.execution_plan[0].values]
    doubles = [value.double_val for value in values if isinstance(value, Double)]
    dumped = re.findall(r'"double_val": (\S+)', to_json(program))
    assert doubles
    assert [float(text) for text in dumped] == [double for double in doubles if double]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (2.5, "2.5"),
        (1e-5, "0.00001"),
        (-1e20, "-100000000000000000000.0"),
        (1 / 3, "0.3333333333333333"),
        (1e-13, "1e-13"),
        (9.999999747378752e-06, "9.999999747378752e-06"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (float("nan"), "nan"),
        (-0.0, "-0.0"),
    ],
)
def test_a_double_is_flatcs_text_if_that_reads_back_and_else_all_its_digits(
    value: float, text: str
) -> None:
    assert f'"double_val": {text}\n' in to_json(Double(double_val=value))


def test_a_default_is_left_out() -> None:
    assert to_json(Double(double_val=0.0)) == "{\n}\n"
    assert to_json(Int()) == "{\n}\n"


def test_an_absent_field_is_left_out_and_an_empty_one_is_not() -> None:
    assert "allocation_info" not in to_json(Tensor())
    assert '"sizes": [\n\n  ]' in to_json(Tensor(sizes=[]))
    assert '"fully_qualified_name": ""' in to_json(ExtraTensorInfo(fully_qualified_name=""))


def test_a_union_has_a_type_and_a_value() -> None:
    assert to_json(EValue(val=Int(int_val=-3))) == (
        '{\n  "val_type": "Int",\n  "val": {\n    "int_val": -3\n  }\n}\n'
    )
    assert to_json(EValue(val=Null())) == '{\n  "val_type": "Null",\n  "val": {\n  }\n}\n'


def test_an_unknown_union_member_has_only_a_type() -> None:
    assert to_json(EValue(val=UnknownMember(tag=99))) == '{\n  "val_type": 99\n}\n'  # type: ignore[arg-type]


def test_an_unknown_enum_value_is_a_number() -> None:
    assert '"scalar_type": 99,' in to_json(Tensor(scalar_type=99))  # type: ignore[arg-type]


def test_vectors_have_an_element_per_line() -> None:
    assert to_json(IntList(items=[1, -2])) == '{\n  "items": [\n    1,\n    -2\n  ]\n}\n'
    assert "[\n    true,\n    false\n  ]" in to_json(BoolList(items=[True, False]))
    assert "[\n    0.5,\n    0.0\n  ]" in to_json(DoubleList(items=[0.5, 0.0]))


def test_bytes_are_numbers() -> None:
    assert '"dim_order": [\n    0,\n    255\n  ]' in to_json(Tensor(dim_order=b"\0\xff"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('say "hi" \\ bye', r"say \"hi\" \\ bye"),
        ("\n\r\t\b\f", r"\n\r\t\b\f"),
        ("\0\x1f\x7f", r"\u0000\u001F\u007F"),
        ("ä€", r"\u00E4\u20AC"),
        ("😀", r"\uD83D\uDE00"),
        ("/~ !", "/~ !"),
    ],
)
def test_strings_are_escaped_as_flatc_escapes_them(value: str, text: str) -> None:
    dumped = to_json(String(string_val=value))
    assert dumped == f'{{\n  "string_val": "{text}"\n}}\n'
    assert json.loads(dumped) == {"string_val": value}


def test_any_table_of_the_package_is_written() -> None:
    table = DeviceTable(devices=[DeviceInfo(planned_bytes=48)])
    assert json.loads(to_json(table)) == {"devices": [{"planned_bytes": 48}]}


def test_what_is_not_a_table_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a table type"):
        to_json(42)
