"""The codecs that are generated for somebody else's schema agree, too."""

from __future__ import annotations

import importlib
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .cpp.building import compile_native
from .damage import damaged
from .forging import Forged
from .packages import generate_package
from .strategies import JUNK, objects
from .test_codecs_agree import outcome, patient

PACKAGE = "a_package_for_trees"
SCHEMA = Path(__file__).parent / "tree.fbs"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The generated package of tree.fbs, with its native codec compiled."""
    pytest.importorskip("nanobind", reason="compiling a native codec needs nanobind")
    folder = tmp_path_factory.mktemp("trees")
    package = generate_package(
        [SCHEMA],
        folder,
        name=PACKAGE,
        targets=("python", "cpp", "nanobind"),
        cpp_namespace="trees",
    )
    compile_native(folder, PACKAGE)
    return package.module("tree")


@pytest.fixture(scope="module")
def codecs(trees: ModuleType) -> tuple[Any, Any]:
    """The native and the Python codec of the package."""
    package = trees.__name__.rpartition(".")[0]
    return importlib.import_module(f"{package}._native"), importlib.import_module(
        f"{package}._pure"
    )


def deep(trees: ModuleType, levels: int) -> Any:
    node = trees.Node("leaf")
    for _ in range(levels - 1):
        node = trees.Node("inner", left=node)
    return node


@settings(patient, max_examples=80)
@given(data=st.data())
def test_objects_give_the_same_bytes(
    trees: ModuleType, codecs: tuple[Any, Any], data: st.DataObject
) -> None:
    obj = data.draw(objects(trees.Node))
    packed = codecs[0].pack(obj, {})
    assert packed == codecs[1].pack(obj, {})
    for codec in codecs:
        again = codec.unpack(trees.Node, packed, True, None)  # noqa: FBT003
        assert repr(again) == repr(obj)
        assert codec.verify(trees.Node, packed) == []


@settings(patient, max_examples=80)
@given(data=st.data())
def test_what_one_refuses_the_other_refuses_with_the_same_words(
    trees: ModuleType, codecs: tuple[Any, Any], data: st.DataObject
) -> None:
    obj = data.draw(objects(trees.Node))
    field = data.draw(st.sampled_from(list(obj.__dataclass_fields__)))
    setattr(obj, field, data.draw(st.sampled_from(JUNK))())
    native, python = (outcome(lambda: codec.pack(obj, {})) for codec in codecs)  # noqa: B023
    assert native == python


def test_damaged_buffers_give_the_same_findings_and_objects(
    trees: ModuleType, codecs: tuple[Any, Any]
) -> None:
    children = [trees.Node("child", any=trees.Leaf(2.0)), trees.Node("", levels=[trees.Level.Low])]
    root = trees.Node(
        "root", children, deep(trees, 3), names=["x", ""], maybe_color=trees.Color.Red
    )
    original = codecs[0].pack(root, {})
    source = random.Random("trees")
    sound = 0
    for _ in range(3000):
        data = damaged(original, source)
        findings = [codec.verify(trees.Node, data) for codec in codecs]
        assert findings[0] == findings[1]
        sound += not findings[0]
        reports: list[list[Any]] = [[], []]
        native, python = (
            outcome(lambda: codec.unpack(trees.Node, data, False, report))  # noqa: B023, FBT003
            for codec, report in zip(codecs, reports, strict=True)
        )
        assert native == python
        assert reports[0] == reports[1]
    assert sound > 30


def test_tables_nest_as_deep_as_readers_follow(trees: ModuleType, codecs: tuple[Any, Any]) -> None:
    for codec in codecs:
        packed = codec.pack(deep(trees, 64), {})
        assert codec.verify(trees.Node, packed) == []
        with pytest.raises(ValueError, match="tables nest 65 deep, at most 64 could be read again"):
            codec.pack(deep(trees, 65), {})


def test_an_object_that_contains_itself_is_refused(
    trees: ModuleType, codecs: tuple[Any, Any]
) -> None:
    node = trees.Node("loop")
    node.left = node
    for codec in codecs:
        with pytest.raises(ValueError, match=r"^left: this Node contains itself$"):
            codec.pack(node, {})


def test_a_required_field_must_be_there(trees: ModuleType, codecs: tuple[Any, Any]) -> None:
    for codec in codecs:
        with pytest.raises(ValueError, match=r"^name: must not be None"):
            codec.pack(trees.Node(None), {})
        nameless = Forged(codec.pack(trees.Node("name"), {}))
        nameless.put(nameless.slot(nameless.root(), 0), 2, 0)
        (finding,) = codec.verify(trees.Node, nameless)
        assert (finding.rule, finding.path) == ("REQUIRED_FIELD_MISSING", "name")


def test_a_view_shows_what_was_packed(trees: ModuleType, codecs: tuple[Any, Any]) -> None:
    node = trees.Node(
        "root",
        colors=[trees.Color.Blue],
        names=["a", ""],
        truths=[True, False],
        unsigned=[2**64 - 1],
        blob=b"blob",
        any=trees.Node("inner", maybe=-5, maybe_real=0.5),
    )
    assert codecs[0].view(trees.Node, codecs[0].pack(node, {})) == node


def test_a_float_that_overflows_is_refused(trees: ModuleType, codecs: tuple[Any, Any]) -> None:
    for codec in codecs:
        with pytest.raises(ValueError, match=r"^weight: 1e\+300 is out of range for float32$"):
            codec.pack(trees.Leaf(weight=1e300), {})
