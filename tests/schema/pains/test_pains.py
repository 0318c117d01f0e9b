"""Known troubles with the Python that flatc generates, one test each that ours has none of them.

Numbers are those of issues and pull requests of google/flatbuffers. What concerns verifiers is
tested with ours, speed is measured in `benchmarks/`.
"""

from __future__ import annotations

import array
import enum
import os
import shutil
import struct
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

MODULES = ("inbox", "pains")


def run(code: str, *folders: Path, flags: tuple[str, ...] = ()) -> str:
    """Run Python with `folders` on its path and return what it prints."""
    path = os.pathsep.join(map(str, folders))
    lines = f"import sys; sys.path[:0] = {path!r}.split({os.pathsep!r})\n{code}"
    command = [sys.executable, "-W", "error", *flags, "-c", lines]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


_GENERATED = ("pains", "_pure", "_descriptors")
"""Folders of the package."""


def lines_run(call: Callable[[], object]) -> int:
    """Count the lines of generated Python that run in a call.

    Others may run meanwhile, such as what a library has asked the garbage collector to call.
    """
    count = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line" and Path(frame.f_code.co_filename).parent.name in _GENERATED
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    assert count, "nothing of the package ran"
    return count


def same_again(pains: Any, obj: Any) -> bool:
    """Whether an object comes back as it went."""
    data = pains.pack(obj)
    return bool(pains.unpack(type(obj), data) == obj and pains.verify(type(obj), data) == [])


def test_bytes_are_written_and_read_as_one_block(pains: Any) -> None:
    """8320, 4668: a vector of bytes takes time for each of them, up to seconds for 1 MiB."""
    blob = pains.pains.Blob
    few, many = blob(bytes(1 << 10)), blob(bytes(range(256)) * (1 << 12))
    packed = [pains.pack(few), pains.pack(many)]  # also so that both have been done once
    assert [len(data) > len(obj.d) for data, obj in zip(packed, (few, many), strict=True)]
    for data in packed:
        pains.unpack(blob, data)
    assert lines_run(lambda: pains.pack(many)) == lines_run(lambda: pains.pack(few))
    small, large = (lines_run(lambda: pains.unpack(blob, data)) for data in packed)  # noqa: B023
    assert small == large
    assert pains.unpack(blob, packed[1]) == many


def test_numbers_are_written_and_read_as_one_block(pains: Any) -> None:
    """8320: likewise for other numbers."""
    numbers = pains.pains.Numbers
    few, many = numbers(doubles=[1.5] * 10), numbers(doubles=[1.5] * 5000)
    packed = [pains.pack(few), pains.pack(many)]
    for data in packed:
        pains.unpack(numbers, data)
    assert lines_run(lambda: pains.pack(many)) == lines_run(lambda: pains.pack(few))
    small, large = (lines_run(lambda: pains.unpack(numbers, data)) for data in packed)  # noqa: B023
    assert small == large


@pytest.mark.parametrize("pains", ["native"], indirect=True)
def test_compiled_code_writes_whole_objects(pains: Any) -> None:
    """6056: calls that write a field each are too many, however fast each is."""
    one = pains.pains.Unions(v=[pains.pains.Holder(pains.pains.Text("x"))])
    hundred = pains.pains.Unions(v=[pains.pains.Holder(pains.pains.Text("x"))] * 100)
    assert same_again(pains, hundred)
    lines = lines_run(lambda: pains.pack(one))
    assert lines_run(lambda: pains.pack(hundred)) == lines < 10


def test_a_field_may_be_called_type(pains: Any) -> None:
    """6750: `type: [ubyte]` is an UnboundLocalError with numpy."""
    assert same_again(pains, pains.pains.TypeField(b"\x00\xff"))


def test_a_struct_may_hold_an_array_of_structs(pains: Any) -> None:
    """8775, 9061: packing takes the list for one struct."""
    t = pains.pains
    matrix = t.M([t.V([1.0, 2.0, 3.0]), t.V([4.0, 5.0, 6.0])])
    assert same_again(pains, t.Matrix(matrix, [matrix, t.M()]))
    assert struct.pack("<6f", *range(1, 7)) in pains.pack(t.Matrix(matrix))


def test_fields_may_be_called_like_what_generated_code_uses(pains: Any) -> None:
    """Not reported: fields called `self` and `builder` are a SyntaxError."""
    names = pains.pains.Names(self=1, builder=2, cls="x", None_=3, def_=[4], Class=5, class_=6)
    assert same_again(pains, names)


def test_a_required_field_cannot_be_forgotten(pains: Any) -> None:
    """Not reported: a buffer without it is written, and every verifier refuses it."""
    with pytest.raises(pains.PackError, match=r"^s: must not be None: the schema requires"):
        pains.pack(pains.pains.Needs(None))
    assert same_again(pains, pains.pains.Needs())


@pytest.mark.parametrize("length", [0, 1, 3, 17, 64])
def test_a_vector_lies_where_the_schema_wants_it(pains: Any, length: int) -> None:
    """5839: `force_align` of a vector is ignored."""
    marker = bytes(range(100, 180))
    data = pains.pack(pains.pains.Aligned(marker, before="x" * length))
    assert data.index(marker) % 64 == 0


def test_a_number_that_is_no_member_of_an_enum_is_refused(pains: Any) -> None:
    """Not reported: 77 is written for an enum of two members."""
    with pytest.raises(pains.PackError, match=r"^e: 77 is not a value of Plain$"):
        pains.pack(pains.pains.Numbers(e=77))
    with pytest.raises(pains.PackError, match=r"^es\[1\]: 4 is not a value of Sparse$"):
        pains.pack(pains.pains.Numbers(es=[3, 4]))


def test_enums_are_enums(pains: Any) -> None:
    """8617, 8782: they are plain numbers."""
    t = pains.pains
    assert issubclass(t.Plain, enum.IntEnum)
    again = pains.unpack(t.Numbers, pains.pack(t.Numbers(e=1, s=100000, es=[t.Sparse.Other])))
    assert (again.e, again.s) == (t.Plain.B, t.Sparse.Other)
    assert [type(member) for member in (again.e, again.s, *again.es)] == [
        t.Plain,
        t.Sparse,
        t.Sparse,
    ]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("byte_", 128, "byte_: 128 is out of range for int8 (-128..127)"),
        ("u", -1, "u: -1 is out of range for uint64 (0..18446744073709551615)"),
        ("u", 1.0, "u: expected uint64, found float"),
    ],
)
def test_a_number_out_of_range_is_refused_with_its_place(
    pains: Any, field: str, value: object, message: str
) -> None:
    """Not reported: a TypeError of the builder names neither field nor type."""
    with pytest.raises(pains.PackError) as raised:
        pains.pack(pains.pains.Numbers(**{field: value}))
    assert str(raised.value) == message


def test_strings_are_strings(pains: Any) -> None:
    """5997, 8551, 9227: they come back as bytes, in vectors even with the option for them."""
    text = pains.pains.Text("größe", ["", "日本", "x"])
    again = pains.unpack(pains.pains.Text, pains.pack(text))
    assert again == text
    assert [type(each) for each in (again.one, *again.many)] == [str] * 4


def test_a_vector_may_hold_unions(pains: Any) -> None:
    """4530, 7371, 8680: it cannot be read or written."""
    t = pains.pains
    assert same_again(pains, t.Unions(v=[t.Needs("x"), None, t.Holder(t.Blob(b"y"))]))


def test_a_union_in_a_union_keeps_its_member(pains: Any) -> None:
    """7569, 7576: what reads a root also read inner tables, and took one for the other."""
    t = pains.pains
    nested = t.Unions(one=t.Holder(t.Text("deep")), v=[t.Holder(t.Blob(b"")), t.Holder()])
    again = pains.unpack(t.Unions, pains.pack(nested))
    assert again == nested
    assert type(again.one.inner) is t.Text
    # Any table may be a root, by the same function.
    assert same_again(pains, again.one)


@pytest.mark.parametrize("odd", [0, 1, 3])
def test_alignment_does_not_depend_on_where_the_numbers_come_from(pains: Any, odd: int) -> None:
    """8381: a vector is aligned like the array that it is made of."""
    numbers = array.array("d", [1.5, -2.5, 1e300])
    as_list = pains.pack(pains.pains.Numbers(doubles=list(numbers)))
    assert as_list.index(numbers.tobytes()) % 8 == 0
    assert pains.pack(pains.pains.Numbers(doubles=numbers)) == as_list
    memory = memoryview(bytes(odd) + numbers.tobytes())[odd:]
    as_bytes = pains.pack(pains.pains.Aligned(numbers.tobytes()))
    for source in (memory, memory.cast("d"), numbers):
        assert pains.pack(pains.pains.Aligned(source)) == as_bytes


def test_one_name_at_the_end_of_two_namespaces_is_no_trouble(pains: Any) -> None:
    """4718: an import of the wrong `inbox`."""
    letter = pains.inbox.Letter("dear", pains.inbox.Class.Import)
    mail = pains.pains.Mail([pains.inbox.Message("hi", letter)], letter)
    assert same_again(pains, mail)


def test_the_root_of_a_nested_buffer_may_be_of_another_namespace(pains: Any) -> None:
    """8554: an import of `nested.B`, which is no Python."""
    letter = pains.inbox.Letter("hello")
    parcel = pains.pains.Parcel()
    parcel.pack_sealed(letter)
    assert pains.unpack(pains.pains.Parcel, pains.pack(parcel)).unpack_sealed() == letter


def test_keywords_are_evaded_in_the_names_that_are_used(pains: Any) -> None:
    """4714, 8292: `None`, and names that become keywords when their case changes."""
    assert pains.pains.Sparse.None_ == 3
    assert pains.inbox.Class.Import == 0
    assert pains.inbox.Letter().class_ is pains.inbox.Class.FIRST
    obj = pains.pains.Import(class_t=pains.pains.ClassT(child=pains.pains.Import()))
    assert pains.unpack_import(pains.pack_import(obj)) == obj


def test_types_are_called_as_in_the_schema(pains: Any) -> None:
    """8715, 9013: with other names for types, packing calls what is not there."""
    names = {"ClassT", "Import", "Matrix", "M", "V", "Text", "Unions"}
    assert names <= set(pains.pains.__all__)
    assert all(getattr(pains.pains, name).__name__ == name for name in names)


def test_annotations_name_what_can_be_looked_up(package: Any) -> None:
    """7971: annotations of types that nobody imported."""
    looked_up = 0
    for module in (getattr(package, name) for name in MODULES):
        for name in module.__all__:
            if isinstance(getattr(module, name), type):
                looked_up += len(typing.get_type_hints(getattr(module, name)))
    assert looked_up > 30


CLIENT = """
from typing import assert_type
import pains
from pains import inbox
from pains.pains import Import, Numbers, Sparse, Text, Unions, Outer

assert_type(pains.pack(Text("x")), bytes)
assert_type(pains.pack_import(Import()), bytes)
assert_type(pains.unpack(Text, b"").many, list[str] | None)
assert_type(pains.unpack_import(b""), Import)
assert_type(pains.view(Numbers, b"").s, Sparse)
assert_type(Unions().v, list[Outer | None] | None)
assert_type(inbox.Message().letter, inbox.Letter | None)
Text(one=b"x")
Numbers(e=1)
"""


MYPY_OPTIONS = ("--no-color-output", "--hide-error-context", "-p", "pains", "-m", "client")
MISTAKES = [
    'error: Argument "one" to "Text" has incompatible type "bytes"; expected "str | None"',
    'error: Argument "e" to "Numbers" has incompatible type "int"; expected "Plain"',
]


def test_stubs_and_types_are_right_for_mypy(folder: Path, tmp_path: Path) -> None:
    """9224, 9226, 9057, 9059, 9227: stubs name what does not exist, and say None for a number."""
    (tmp_path / "client.py").write_text(CLIENT)
    assert (folder / "pains" / "_native.pyi").exists()
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}", *MYPY_OPTIONS],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": os.pathsep.join([str(folder), str(tmp_path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line.partition(": ")[2] for line in result.stdout.splitlines()[:-1]]
    assert errors == [f"{mistake}  [arg-type]" for mistake in MISTAKES], result.stdout


def test_type_checkers_are_told_to_look(folder: Path) -> None:
    """8182, 8294: without a `py.typed`, they do not."""
    assert (folder / "pains" / "py.typed").read_bytes() == b""


def test_the_package_works_wherever_it_lies(folder: Path, tmp_path: Path) -> None:
    """5840, 7951, 8345: imports that are absolute where they should be relative, or the reverse."""
    inner = tmp_path / "company" / "formats" / "renamed"
    shutil.copytree(folder / "pains", inner, ignore=shutil.ignore_patterns("__pycache__"))
    code = """
from company.formats import renamed
from company.formats.renamed.pains import Mail
from company.formats.renamed import inbox
mail = Mail(letter=inbox.Letter("x"))
assert renamed.unpack(Mail, renamed.pack(mail)) == mail
assert "pains" not in sys.modules
print(renamed.codec_name())
"""
    assert run(code, tmp_path) == "native\n"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_can_be_imported_alone(folder: Path, module: str) -> None:
    """6580, 6751: nested namespaces without `__init__.py`, modules that import too little."""
    code = f"""
import pains.{module} as module
from pains import pack, reflection, unpack
tables = [table for table in reflection.tables() if table.__module__ == module.__name__]
print(sum(unpack(table, pack(table())) == table() for table in tables))
"""
    assert int(run(code, folder)) == {"inbox": 2, "pains": 14}[module]


def test_generated_code_needs_nothing_but_python(folder: Path, tmp_path: Path) -> None:
    """5499: it used a module that the runtime did not export."""
    without_native = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(folder / "pains", tmp_path / "pains", ignore=without_native)
    code = """
import pains
text = pains.pains.Text("x", ["y"])
assert pains.unpack(pains.pains.Text, pains.pack(text)) == text
foreign = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
print(pains.codec_name(), sorted(foreign - {"__main__"}))
"""
    assert run(code, tmp_path, flags=("-I", "-S")) == "python ['pains']\n"
