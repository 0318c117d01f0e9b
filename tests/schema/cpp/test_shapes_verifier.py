"""The verifier of a schema with required fields, structs and recursion; see shapes.fbs."""

from __future__ import annotations

import flatbuffers
import pytest

from ..forging import Forged
from .building import Driver, Fault
from .test_views import COLORS, NODES, ORIGIN, SHAPE, SHAPE_TYPE, SPHERES, TITLE, scene

NODE_CHILDREN, NODE_NEXT = 2, 3


def fault(driver: Driver, type_: str, data: bytes | bytearray) -> Fault:
    answer = driver.verify_one(type_, data)
    assert isinstance(answer, Fault)
    return answer


def chain_of_nodes(length: int) -> bytes:
    """Return `length` nodes, each the `next` of the one before."""
    builder = flatbuffers.Builder()
    node = 0
    for _ in range(length):
        builder.StartObject(4)
        builder.PrependUOffsetTRelativeSlot(NODE_NEXT, node, 0)
        node = builder.EndObject()
    builder.Finish(node)
    return bytes(builder.Output())


def tree_of_shared_nodes(levels: int, width: int) -> bytes:
    """Return nodes of which each is `width` times the child of the next: width ** levels paths."""
    builder = flatbuffers.Builder()
    node = 0
    for _ in range(levels):
        children = 0
        if node:
            builder.StartVector(4, width, 4)
            for _ in range(width):
                builder.PrependUOffsetTRelative(node)
            children = builder.EndVector()
        builder.StartObject(4)
        builder.PrependUOffsetTRelativeSlot(NODE_CHILDREN, children, 0)
        node = builder.EndObject()
    builder.Finish(node)
    return bytes(builder.Output())


def test_a_scene_is_sound(shapes_driver: Driver) -> None:
    assert not isinstance(shapes_driver.verify_one("Scene", scene()), Fault)


@pytest.mark.parametrize(("id_", "name"), [(TITLE, "title"), (NODES, "nodes")])
def test_a_required_field_is_missed(shapes_driver: Driver, id_: int, name: str) -> None:
    data = Forged(scene())
    data.put(data.slot(data.root(), id_), 2, 0)
    found = fault(shapes_driver, "Scene", data)
    assert (found.rule, found.path, found.offset) == ("REQUIRED_FIELD_MISSING", name, data.root())
    assert found.message == "the field is required, but absent"


def test_a_required_union_is_missed(shapes_driver: Driver) -> None:
    data = Forged(scene())
    data.put(data.slot(data.root(), SHAPE), 2, 0)
    data.put(data.slot(data.root(), SHAPE_TYPE), 2, 0)
    found = fault(shapes_driver, "Scene", data)
    assert (found.rule, found.path) == ("REQUIRED_FIELD_MISSING", "shape")


def test_a_required_union_with_a_tag_misses_its_value(shapes_driver: Driver) -> None:
    data = Forged(scene())
    data.put(data.slot(data.root(), SHAPE), 2, 0)
    found = fault(shapes_driver, "Scene", data)
    assert (found.rule, found.path, found.found) == ("UNION_VALUE_MISSING", "shape", 3)


def test_a_struct_must_lie_inside_its_table(shapes_driver: Driver) -> None:
    data = Forged(scene())
    size = data.u16(data.vtable(data.root()) + 2)
    slot = data.slot(data.root(), ORIGIN)
    data.put(slot, 2, size - 4)
    found = fault(shapes_driver, "Scene", data)
    assert found.rule == "FIELD_OUTSIDE_TABLE"
    assert (found.path, found.offset, found.found, found.expected) == (
        *("origin", slot),
        *(size + 4, size),
    )


def test_a_struct_is_aligned_to_its_largest_member(shapes_driver: Driver) -> None:
    data = Forged(scene())
    slot = data.slot(data.root(), ORIGIN)
    data.put(slot, 2, data.u16(slot) + 2)
    found = fault(shapes_driver, "Scene", data)
    assert (found.rule, found.path, found.expected) == ("MISALIGNED", "origin", 4)


def test_a_vector_of_structs_counts_whole_structs(shapes_driver: Driver) -> None:
    data = Forged(scene())
    vector = data.child(data.root(), SPHERES)
    data.put(vector, 4, 1000)
    found = fault(shapes_driver, "Scene", data)
    assert (found.rule, found.path) == ("VECTOR_OUT_OF_BOUNDS", "spheres")
    assert found.found == vector + 4 + 24 * 1000


def test_unknown_values_in_a_vector_of_enums_are_sound(shapes_driver: Driver) -> None:
    data = Forged(scene())
    data[data.child(data.root(), COLORS) + 4] = 99
    assert not isinstance(shapes_driver.verify_one("Scene", data), Fault)
    assert shapes_driver.read("Scene", data)["colors"] == [99, "BLUE"]


def test_64_tables_may_nest(shapes_driver: Driver) -> None:
    assert not isinstance(shapes_driver.verify_one("Node", chain_of_nodes(64)), Fault)


@pytest.mark.parametrize("length", [65, 100_000])
def test_more_tables_may_not_nest(shapes_driver: Driver, length: int) -> None:
    found = fault(shapes_driver, "Node", chain_of_nodes(length))
    assert (found.rule, found.found, found.expected) == ("TOO_DEEP", 65, 64)
    assert found.path == ".".join(["next"] * 64)


def test_a_path_that_is_too_long_begins_with_dots(shapes_driver: Driver) -> None:
    found = fault(shapes_driver, "Node", tree_of_shared_nodes(65, 1))
    assert found.rule == "TOO_DEEP"
    assert found.path.startswith("...")
    assert found.path.endswith("children[0].children[0]")
    assert 480 < len(found.path) <= 512


def test_shared_tables_do_not_blow_up(shapes_driver: Driver) -> None:
    data = tree_of_shared_nodes(60, 8)  # 8 ** 59 ways to the innermost node
    assert len(data) < 4000
    assert fault(shapes_driver, "Node", data).rule == "BUDGET_EXCEEDED"


def test_shared_tables_are_sound_within_the_budget(shapes_driver: Driver) -> None:
    assert not isinstance(shapes_driver.verify_one("Node", tree_of_shared_nodes(6, 8)), Fault)


def test_the_identifier_of_another_schema_is_refused(shapes_driver: Driver) -> None:
    data = scene()[:4] + b"ET12" + scene()[8:]
    assert fault(shapes_driver, "Scene", data).message == (
        'the file identifier is "ET12", expected "SHAP"'
    )


def test_modules_that_need_each_other_verify_each_other(shapes_driver: Driver) -> None:
    builder = flatbuffers.Builder()
    builder.StartObject(2)
    label = builder.EndObject()
    builder.StartObject(5)
    builder.PrependUOffsetTRelativeSlot(0, label, 0)
    builder.Finish(builder.EndObject())
    found = fault(shapes_driver, "Mirror", bytes(builder.Output()))
    assert (found.rule, found.path) == ("REQUIRED_FIELD_MISSING", "label.text")
