"""The validator in Python: arguments, results, and a core that does not fit the package."""

from __future__ import annotations

import array
import ast
import mmap
import random
import subprocess
import sys
from pathlib import Path

import placewire_schema
import pytest
from placewire_schema import REBUILD_COMMAND, Finding, pack_program
from placewire_schema import program as p

from placewire import _runtime
from placewire.validate import Rule, rules, validate
from tests.runtime.programs import complete, laid_out
from tests.schema.cpp.building import ROOT


def test_findings_are_objects_of_the_generated_class() -> None:
    sample = complete()
    sample.plan.inputs = [99]
    (finding,) = sample.validate()
    assert type(finding) is Finding
    assert (finding.rule, finding.level) == ("VALUE_INDEX_OUT_OF_RANGE", "error")
    assert type(finding.offset) is int


@pytest.mark.parametrize(
    "container",
    [bytes, bytearray, memoryview, lambda data: array.array("B", data)],
    ids=["bytes", "bytearray", "memoryview", "array"],
)
def test_any_contiguous_buffer_is_taken(container: type) -> None:
    assert validate(container(complete().file())) == []


def test_a_buffer_need_not_be_aligned() -> None:
    data = complete().file()
    assert validate(memoryview(b"\0" + data)[1:]) == []


def test_a_mapped_file_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "program.pte"
    path.write_bytes(complete().file())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert validate(mapped) == []


def test_what_others_write_to_the_program_is_not_read() -> None:
    data = complete().file()
    program_end = int.from_bytes(data[16:24], "little")
    head = data[: _runtime.head_size(data)]
    changed = b"\xff" * program_end + data[program_end:]
    assert _runtime.validate(data, 10, layout_only=False, head_copy=head) == []
    assert _runtime.validate(changed, 10, layout_only=False, head_copy=head) == []
    assert _runtime.validate(changed, 10, layout_only=False, head_copy=None) != []


@pytest.mark.parametrize("layout_only", [False, True])
def test_a_copy_of_the_head_gives_the_same_findings(layout_only: bool) -> None:
    original = complete().file()
    generator = random.Random("copy")
    rules_found: set[str] = set()
    for _ in range(1000):
        data = bytearray(original)
        data[generator.randrange(len(data))] = generator.choice((0, 1, 0x7F, 0x80, 0xFF))
        if generator.random() < 0.1:
            data = data[: generator.randrange(len(data))]
        head = bytes(data[: _runtime.head_size(data)])
        expected = _runtime.validate(data, 100, layout_only=layout_only, head_copy=None)
        assert _runtime.validate(data, 100, layout_only=layout_only, head_copy=head) == expected
        rules_found.update(finding.rule for finding in expected)
    assert len(rules_found) > 10


def test_a_head_that_is_shorter_than_it_says_is_refused() -> None:
    data = complete().file()
    for size in range(int.from_bytes(data[16:24], "little")):
        assert _runtime.validate(data, 1, layout_only=True, head_copy=data[:size]) != []


def test_the_head_ends_with_the_program() -> None:
    program = pack_program(p.Program(constant_buffer=[p.Buffer(bytes(8000))]))
    data = laid_out(program, b"segment")
    end = int.from_bytes(data[16:24], "little")
    assert _runtime.head_size(data) == end < len(data)
    assert _runtime.head_size(program) == len(program)


def test_the_buffer_is_released() -> None:
    data = bytearray(b"not a program")
    validate(data)
    data.clear()  # BufferError while anybody holds it


@pytest.mark.parametrize("value", ["text", None, 7, Path("x.pte")])
def test_what_is_no_buffer_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="bytes-like object is required"):
        validate(value)


def test_a_buffer_with_gaps_is_a_buffer_error() -> None:
    with pytest.raises(BufferError, match="contiguous"):
        validate(memoryview(b"abcdefgh")[::2])


def test_a_negative_number_of_findings_is_refused() -> None:
    with pytest.raises(ValueError, match="maximum_findings is -1, expected 0 or more"):
        validate(b"", maximum_findings=-1)


def test_rules_have_a_name_a_level_and_a_meaning() -> None:
    listed = rules()
    assert len(listed) > 60
    assert all(isinstance(rule, Rule) for rule in listed)
    assert {rule.level for rule in listed} == {"error", "warning"}
    assert all(rule.name.isupper() and rule.meaning for rule in listed)
    assert len({rule.name for rule in listed}) == len(listed)


def test_the_core_knows_the_schema_that_it_was_built_from() -> None:
    assert _runtime.MODEL_STAMP == placewire_schema.MODEL_STAMP


def test_a_core_that_was_built_from_another_schema_is_refused() -> None:
    program = (
        "import placewire_schema\n"
        "placewire_schema.MODEL_STAMP = 'another'\n"
        "from placewire_schema.errors import StaleBuildError\n"
        "try:\n"
        "    import placewire.validate\n"
        "except StaleBuildError as error:\n"
        "    print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "C++ core was built from another schema (" in result.stdout
    assert "rebuild it with: pip install --force-reinstall --no-deps ." in result.stdout


def test_a_core_that_is_not_there_is_named_with_the_command_that_builds_it() -> None:
    program = (
        "import sys\n"
        "sys.modules['placewire._runtime'] = None\n"
        "from placewire_schema.errors import StaleBuildError\n"
        "try:\n"
        "    import placewire.validate\n"
        "except StaleBuildError as error:\n"
        "    print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("placewire's C++ core cannot be imported (")
    assert f"build it with: {REBUILD_COMMAND}" in result.stdout


def test_the_stub_names_what_the_module_has() -> None:
    stub = ast.parse((ROOT / "src" / "placewire" / "_runtime.pyi").read_text(encoding="utf-8"))
    declared = _declared(stub.body)
    assert declared
    assert declared == {name for name in vars(_runtime) if not name.startswith("_")}


def test_the_stub_names_what_the_classes_have() -> None:
    stub = ast.parse((ROOT / "src" / "placewire" / "_runtime.pyi").read_text(encoding="utf-8"))
    classes = [node for node in stub.body if isinstance(node, ast.ClassDef)]
    assert classes
    for node in classes:
        members = vars(getattr(_runtime, node.name))
        declared = _declared(node.body) - {"__init__"}
        protocol = {name for name in declared if name.startswith("__")}
        assert protocol <= set(members), node.name
        public = {name for name in members if not name.startswith("_")}
        assert declared - protocol == public, node.name


def _declared(body: list[ast.stmt]) -> set[str]:
    named = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return named | {
        node.target.id
        for node in body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
