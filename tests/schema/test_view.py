"""A view looks like the dataclass, reads only what is asked for, and keeps its buffer alive."""

from __future__ import annotations

import copy
import dataclasses
import gc
import mmap
import pickle
import sys
import warnings
from collections.abc import Callable, MutableSequence, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import placewire_schema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewire_schema import PackError, UnknownMember, UnpackError, _native, _pure, program
from placewire_schema._select import Codec
from placewire_schema.reflection import describe

from .damage import flatbuffer_of
from .strategies import objects
from .test_codecs_agree import TABLES, patient


def packed(obj: object) -> bytes:
    return _native.pack(obj, {})


def a_tensor() -> program.Tensor:
    return program.Tensor(
        scalar_type=program.ScalarType.FLOAT, sizes=[2, 3, 4], dim_order=b"\0\1\2"
    )


@pytest.mark.parametrize("type_", TABLES, ids=lambda type_: type_.__name__)
@patient
@given(data=st.data())
def test_a_view_equals_what_was_packed(type_: type[Any], data: st.DataObject) -> None:
    obj = data.draw(objects(type_))
    view = _native.view(type_, packed(obj))
    for field in describe(type_).fields:
        value = getattr(view, field.name)
        if isinstance(value, float):
            assert repr(value) == repr(getattr(obj, field.name))
        elif "nan" not in repr(getattr(obj, field.name)):
            assert value == getattr(obj, field.name)


def test_views_of_real_files_equal_their_objects(corpus: Path) -> None:
    files = sorted(corpus.glob("*.pte"))
    assert len(files) > 10
    for file in files:
        data = flatbuffer_of(file.read_bytes())
        unpacked = _native.unpack(program.Program, data, True, None)  # noqa: FBT003
        view = _native.view(program.Program, data)
        assert view == unpacked
        assert unpacked == view
        for codec in (_native, _pure):
            assert codec.pack(view, {}) == packed(unpacked)


def test_a_view_passes_for_its_dataclass() -> None:
    view = _native.view(program.EValue, packed(program.EValue(a_tensor())))
    assert isinstance(view.val, program.Tensor)
    match view.val:
        case program.Tensor(scalar_type=scalar_type, dim_order=dim_order):
            assert scalar_type is program.ScalarType.FLOAT
            assert bytes(dim_order) == b"\0\1\2"
        case _:
            pytest.fail("a view of a tensor is no tensor")


def test_a_view_differs_from_another_object() -> None:
    view: Any = _native.view(program.Tensor, packed(a_tensor()))
    assert view != program.Tensor()
    assert view != program.Int(5)
    assert view is not None
    assert view.sizes != [2, 3]
    assert view.sizes != [2, 3, 5]
    assert view.sizes != (2, 3, 4)


def test_a_vector_is_indexed_like_a_list() -> None:
    sizes = _native.view(program.Tensor, packed(a_tensor())).sizes
    assert (len(sizes), sizes[0], sizes[-1]) == (3, 2, 4)
    assert list(sizes) == [2, 3, 4]
    assert sizes[1:] == [3, 4]
    assert sizes[::-1] == [4, 3, 2]
    assert repr(sizes) == "[2, 3, 4]"
    for index in (3, -4):
        with pytest.raises(IndexError, match="index out of range"):
            sizes[index]
    with pytest.raises(TypeError):
        sizes["0"]  # type: ignore[call-overload]


def test_bytes_are_not_copied() -> None:
    blob = bytes(range(256)) * 1000
    data = packed(program.Buffer(blob))
    storage: Any = _native.view(program.Buffer, data).storage
    assert isinstance(storage, memoryview)
    assert storage.obj is data
    assert storage == blob


def test_a_view_is_read_only() -> None:
    view: Any = _native.view(program.Tensor, packed(a_tensor()))
    with pytest.raises(AttributeError):
        view.layout = 1
    with pytest.raises(TypeError):
        view.sizes[0] = 1
    with pytest.raises(TypeError):
        hash(view)


def test_a_view_names_itself_and_its_attributes() -> None:
    view = _native.view(program.Int, packed(program.Int(5)))
    assert repr(view) == "<view of Int>"
    assert dir(view) == ["int_val"]
    with pytest.raises(AttributeError, match="a view of Int has no attribute 'value'"):
        view.value  # type: ignore[attr-defined]  # noqa: B018


def test_a_view_keeps_the_buffer_alive() -> None:
    data = packed(a_tensor())
    before = sys.getrefcount(data)
    sizes = _native.view(program.Tensor, data).sizes
    assert sys.getrefcount(data) > before
    assert sizes == [2, 3, 4]
    del sizes
    gc.collect()
    assert sys.getrefcount(data) == before


def test_a_mapped_file_is_viewed_in_place(tmp_path: Path) -> None:
    path = tmp_path / "tensor"
    path.write_bytes(packed(a_tensor()))
    with path.open("rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    view = _native.view(program.Tensor, mapping)
    assert view == a_tensor()
    with pytest.raises(BufferError):
        mapping.close()
    del view
    gc.collect()
    mapping.close()


def test_a_buffer_that_may_change_is_refused_unless_promised_not_to(codec: Codec) -> None:
    data = bytearray(packed(a_tensor()))
    with pytest.raises(TypeError) as caught:
        codec.view(program.Tensor, data)
    assert str(caught.value) == (
        "expected a read-only buffer, found bytearray; a view does not notice when the bytes"
        " change, so promise that they will not: memoryview(buffer).toreadonly()"
    )
    assert codec.view(program.Tensor, memoryview(data).toreadonly()) == a_tensor()


def test_what_is_no_buffer_is_refused(codec: Codec) -> None:
    with pytest.raises(TypeError, match="expected a read-only buffer, found str"):
        codec.view(program.Tensor, "text")


def test_a_damaged_buffer_is_refused(codec: Codec) -> None:
    with pytest.raises(UnpackError):
        codec.view(program.Tensor, packed(a_tensor())[:20])


def test_the_package_offers_views() -> None:
    assert placewire_schema.view(program.Tensor, packed(a_tensor())) == a_tensor()


def test_absent_fields_read_as_an_unpacked_object_has_them() -> None:
    # A table without any field passes for one of every kind.
    nothing = packed(program.Null())
    for type_ in (program.Tensor, program.EValue, program.BackendDelegate, program.Buffer):
        report: list[Any] = []
        unpacked = _native.unpack(type_, nothing, False, report)  # noqa: FBT003
        assert report
        assert _native.view(type_, nothing) == unpacked


def test_what_the_schema_does_not_know_is_shown() -> None:
    data = bytearray(packed(program.EValue(program.Int(5))))
    data[data.index(program_tag := 2)] = 77
    assert program_tag == 2
    views = [_native.view(program.EValue, bytes(data))]
    tensor = bytearray(packed(program.Tensor(scalar_type=program.ScalarType.UINT64)))
    tensor[tensor.index(program.ScalarType.UINT64)] = 99
    assert _native.view(program.Tensor, bytes(tensor)).scalar_type == 99
    assert isinstance(views[0].val, UnknownMember)


def test_a_view_that_was_not_made_by_view_is_a_type_error() -> None:
    view: Any = _native.view(program.Tensor, packed(a_tensor()))
    for made in (view, view.sizes):
        type_: Any = type(made)
        empty = type_.__new__(type_)
        actions: list[Callable[[], Any]] = [
            lambda: repr(empty),  # noqa: B023
            lambda: empty == empty,  # noqa: B023, PLR0124
            lambda: view == empty,  # noqa: B023
            lambda: view.sizes == empty,  # noqa: B023
            lambda: empty.sizes,  # noqa: B023
            lambda: empty.__class__,  # noqa: B023
            lambda: isinstance(empty, program.Tensor),  # noqa: B023
            lambda: dir(empty),  # noqa: B023
            lambda: len(empty),  # noqa: B023
            lambda: list(empty),  # noqa: B023
            lambda: empty[0],  # noqa: B023
            lambda: empty.index(1),  # noqa: B023
            lambda: hash(empty),  # noqa: B023
            lambda: _native.pack(empty, {}),  # noqa: B023
            lambda: _native.pack(program.EValue(empty), {}),  # noqa: B023
        ]
        for action in actions:
            with warnings.catch_warnings():
                # nanobind warns before it refuses.
                warnings.simplefilter("ignore", RuntimeWarning)
                with suppress(TypeError, AttributeError, PackError):
                    action()


def test_the_class_of_an_empty_view_is_a_type_error() -> None:
    type_ = type(_native.view(program.Tensor, packed(a_tensor())))
    with pytest.raises(TypeError, match=r"this view was not made by view\(\)"):
        type_.__new__(type_).__class__  # noqa: B018


def test_views_cannot_be_copied_or_subclassed() -> None:
    view: Any = _native.view(program.Tensor, packed(a_tensor()))
    for original in (view, view.sizes):
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                duplicate(original)
        with pytest.raises(TypeError):
            type("Derived", (type(original),), {})
    with pytest.raises(TypeError):
        dataclasses.replace(view, sizes=[1])
    with pytest.raises(TypeError):
        dataclasses.asdict(view)


def test_a_vector_is_a_sequence() -> None:
    sizes: Any = _native.view(program.Tensor, packed(a_tensor())).sizes
    assert isinstance(sizes, Sequence)
    assert not isinstance(sizes, MutableSequence)
    assert (sizes.index(3), sizes.count(4), sizes.count(9)) == (1, 1, 0)
    assert 2 in sizes
    assert 9 not in sizes
    assert list(reversed(sizes)) == [4, 3, 2]
    assert [*iter(sizes)] == [2, 3, 4]
    with pytest.raises(ValueError):  # noqa: PT011
        sizes.index(9)
    match sizes:
        case [first, *rest]:
            assert (first, rest) == (2, [3, 4])
        case _:
            pytest.fail("a vector is no sequence")
