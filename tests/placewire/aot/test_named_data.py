"""Data that backends put beside their blobs, under names, in the program file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from placewire_schema.program import CompileSpec
from torch.export import ExportedProgram

from placewire.aot import Artifact, CompiledPart, NamedData, NamedDataError, export
from placewire.pte import DEVICE_TABLE_KEY, PteFile
from placewire.validate import validate
from tests.placewire.aot.demo_backend import ADD, EachAlone, matrices, module

WEIGHTS = bytes(range(200))


@dataclass
class Naming:
    """Gives its delegates, in their order, the named data of a list."""

    parts: Sequence[Mapping[str, NamedData] | Any]
    id: str = "naming"
    calls: list[int] = field(default_factory=list)

    def preprocess(self, subgraph: ExportedProgram, specs: Sequence[CompileSpec]) -> CompiledPart:
        del subgraph, specs
        self.calls.append(len(self.calls))
        return CompiledPart(b"blob", self.parts[self.calls[-1]])


def _exported(*parts: Any, device: str | None = None) -> Artifact:
    assert len(parts) == 2
    return export(
        module(lambda a, b, c: (a + b).sin() + c),
        matrices(3),
        partitioners=[EachAlone([ADD], [device], Naming(parts))],
    )


def test_data_is_found_by_its_name_in_the_saved_file() -> None:
    artifact = _exported({"weights": NamedData(WEIGHTS)}, {"bias": NamedData(b"12345")})
    named = PteFile.from_bytes(artifact.pte).named_data
    assert {name: bytes(data) for name, data in named.items()} == {
        "weights": WEIGHTS,
        "bias": b"12345",
    }
    assert validate(artifact.pte) == []


def test_the_same_data_under_the_same_name_is_kept_once() -> None:
    shared = {"weights": NamedData(WEIGHTS)}
    program = _exported(shared, shared).program
    assert program.named_data is not None
    assert [entry.key for entry in program.named_data] == ["weights"]


def test_the_same_data_under_two_names_is_one_segment() -> None:
    program = _exported({"a": NamedData(WEIGHTS)}, {"b": NamedData(WEIGHTS)}).program
    assert program.named_data is not None
    assert len({entry.segment_index for entry in program.named_data}) == 1
    assert [entry.key for entry in program.named_data] == ["a", "b"]
    assert [segment.size for segment in program.segments] == [0, len(b"blob"), len(WEIGHTS)]


def test_different_data_under_one_name_is_an_error_that_names_both_delegates() -> None:
    with pytest.raises(NamedDataError) as caught:
        _exported({"weights": NamedData(WEIGHTS)}, {"weights": NamedData(b"other")})
    message = str(caught.value)
    assert "delegate_0 of forward (backend naming)" in message
    assert "delegate_1 of forward (backend naming)" in message
    assert "'weights'" in message
    assert "200 and 5 bytes" in message


def test_data_lies_where_it_is_aligned_to_in_the_file() -> None:
    first, second = {"a": NamedData(b"1" * 5)}, {"b": NamedData(WEIGHTS, alignment=4096)}
    pte = _exported(first, second).pte
    assert pte.find(WEIGHTS) % 4096 == 0


def test_of_two_alignments_of_the_same_data_the_larger_counts() -> None:
    first, second = NamedData(WEIGHTS, alignment=4096), NamedData(WEIGHTS, alignment=16)
    for one, other in ((first, second), (second, first)):
        assert _exported({"a": one}, {"b": other}).pte.find(WEIGHTS) % 4096 == 0


def test_it_stands_before_the_device_table() -> None:
    artifact = _exported({"weights": NamedData(WEIGHTS)}, {}, device="cuda:0")
    file = PteFile.from_bytes(artifact.pte)
    assert list(file.named_data) == ["weights", DEVICE_TABLE_KEY]
    assert file.device_table is not None
    assert bytes(file.named_data["weights"]) == WEIGHTS
    assert validate(artifact.pte) == []


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({DEVICE_TABLE_KEY: NamedData(b"x")}, NamedDataError, "which is the device table's name"),
        ({"a": NamedData(b"x", 3)}, NamedDataError, "to 3 bytes; expected a power of two"),
        ({"a": NamedData(b"x", 0)}, NamedDataError, "to 0 bytes; expected a power of two"),
        ({"a": b"x"}, TypeError, "expected a string and NamedData of bytes"),
        ({1: NamedData(b"x")}, TypeError, "expected a string and NamedData of bytes"),
        ([1], TypeError, "is a list; expected a dictionary"),
        (1, TypeError, "is an int; expected a dictionary"),
    ],
)
def test_what_cannot_be_named_is_refused_with_the_delegate(
    data: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        _exported(data, {})
    assert "delegate_0 of forward (backend naming)" in str(caught.value)


def test_a_blob_that_is_not_bytes_is_refused() -> None:
    class Wrong:
        id = "wrong"

        def preprocess(self, subgraph: ExportedProgram, specs: Sequence[CompileSpec]) -> Any:
            del subgraph, specs
            return CompiledPart("text")  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="backend wrong gave a str, expected bytes"):
        export(
            module(lambda a, b: a + b),
            matrices(2),
            partitioners=[EachAlone([ADD], [None], Wrong())],
        )
