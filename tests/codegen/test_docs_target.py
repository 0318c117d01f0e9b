"""The Markdown reference: what a page says about each kind of definition."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewire_codegen.config import OutputPaths, ProjectConfig
from placewire_codegen.generate import template_directory
from placewire_codegen.render import Templates
from placewire_codegen.resolve import load_schema
from placewire_codegen.targets import docs

SCHEMA = """
attribute "present";
attribute "weight";

namespace shop;

/// A colour | of paint.
enum Colour : ubyte { RED = 1 (weight: 7), BLUE = 4 }

struct Size { width: ushort; height: uint; }

/// What is
/// sold.
///
/// With a second paragraph.
table Paint {
  colour: Colour = BLUE;
  size: Size;
  /// An `a|b` name_of_it.
  name: string (required);
  layers: [Paint];
  data: [ubyte] (force_align: 16, present);
  glossy: bool = true;
  price: float = 1.5;
  stock: int = null;
}

table Label {
  text: string = "a|b" (force_align: 8);
  codes: [int] = [];
  must: string = "x" (required);
  old: string = "x" (deprecated);
}

table Empty {}

union Item { Paint, Nothing: Empty }

table Order { item: Item; old: int (deprecated); }

root_type Order;
file_identifier "SHOP";
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("shop")
    (root / "shop.fbs").write_text(SCHEMA)
    folder = Path("docs")
    config = ProjectConfig(
        root=root,
        schemas=(Path("shop.fbs"),),
        package="shop_schema",
        cpp_namespace="shop",
        output=OutputPaths(python=folder, cpp=folder, nanobind=folder, docs=folder),
    )
    schema = load_schema([root / "shop.fbs"], root=root, features=docs.FEATURES)
    templates = Templates(template_directory(), schema.files, "shop_schema")
    return {file.path: file.text for file in docs.render(schema, config, templates)}


LANGUAGE = """
attribute "weight";
attribute "shade";

namespace yard;

struct Spot { cell: [ubyte:4] (key); next: [float:2]; }

/// Inside.
table Leaf { name: string (key); weight: double; }

union Part : int { Leaf = 5, text: string, Spot, Twig: Leaf }

table Yard {
  parts: [Part];
  part: Part;
  crate: [ubyte] (nested_flatbuffer: "Leaf", weight: 3);
}

/// What others ask for.
rpc_service Gate (shade: "green") {
  /// Opens it | widely.
  open(Leaf): Yard;
  watch(Leaf): Leaf (streaming: "server");
}

namespace far;

rpc_service Leaf { get(yard.Leaf): yard.Yard; }

root_type yard.Yard;
file_identifier "YARD";
file_extension "yd";
"""


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of a schema with the rest of the language."""
    root = tmp_path_factory.mktemp("yard")
    (root / "yard.fbs").write_text(LANGUAGE)
    config = ProjectConfig(
        root=root,
        schemas=(Path("yard.fbs"),),
        package="yard_schema",
        cpp_namespace="yard",
        output=OutputPaths(python=Path("p"), cpp=Path("c"), nanobind=Path("n"), docs=Path("d")),
    )
    schema = load_schema([root / "yard.fbs"], root=root, features=docs.FEATURES)
    templates = Templates(template_directory(), schema.files, config.package)
    return {Path(f.path).name: f.text for f in docs.render(schema, config, templates)}


def _lines(text: str, name: str) -> list[str]:
    """Return the lines of one definition that are not blank, without its heading."""
    return [
        line for line in text.split(f"\n### {name}\n")[1].partition("\n##")[0].split("\n") if line
    ]


def test_a_service_lists_its_methods(yard: dict[str, str]) -> None:
    assert _lines(yard["yard.md"], "Gate") == [
        "What others ask for.",
        'Attributes: `shade: "green"`.',
        "| method | takes | returns | meaning |",
        "|---|---|---|---|",
        "| `open` | [Leaf](#leaf) | [Yard](#yard) | Opens it \\| widely. |",
        '| `watch` | [Leaf](#leaf) | [Leaf](#leaf) | Attributes: `streaming: "server"`. |',
    ]


def test_a_namespace_of_services_alone_has_a_page(yard: dict[str, str]) -> None:
    assert set(yard) == {"yard.md", "far.md", "README.md"}
    assert _lines(yard["far.md"], "Leaf")[-1] == (
        "| `get` | [Leaf](yard.md#leaf) | [Yard](yard.md#yard) |  |"
    )


def test_a_table_names_the_methods_and_nested_fields_that_use_it(yard: dict[str, str]) -> None:
    (users,) = (line for line in _lines(yard["yard.md"], "Leaf") if line.startswith("Used by"))
    assert users == (
        "Used by [`Yard.crate`](#yard), [`Part.Leaf`](#part), [`Part.Twig`](#part), "
        "[`Gate.open`](#gate), [`Gate.watch`](#gate), [`Leaf.get`](far.md#leaf)."
    )


def test_a_nested_flatbuffer_says_what_it_is_and_how_it_is_aligned(yard: dict[str, str]) -> None:
    (row,) = (line for line in _lines(yard["yard.md"], "Yard") if "`crate`" in line)
    assert row == (
        "| 4 | `crate` | `[uint8]` | nothing | vtable +12: offset to a FlatBuffer of [Leaf](#leaf),"
        " elements aligned to 8 | Attributes: `weight: 3`. |"
    )


def test_a_vector_of_unions_names_both_of_its_vectors(yard: dict[str, str]) -> None:
    (row,) = (line for line in _lines(yard["yard.md"], "Yard") if "`parts`" in line)
    assert row == (
        "| 1 | `parts` | \\[[Part](#part)\\] | nothing |"
        " offset to the tags by vtable +4, to the values by vtable +6 |  |"
    )


def test_members_of_a_union_may_be_strings_structs_and_aliases(yard: dict[str, str]) -> None:
    assert _lines(yard["yard.md"], "Part") == [
        "Its tag is stored as `int32`.",
        "Used by [`Yard.parts`](#yard), [`Yard.part`](#yard).",
        "| tag | member | type | meaning |",
        "|---|---|---|---|",
        "| 0 | `NONE` |  | No value. |",
        "| 5 | `Leaf` | [Leaf](#leaf) |  |",
        "| 6 | `text` | `string` |  |",
        "| 7 | `Spot` | [Spot](#spot) |  |",
        "| 8 | `Twig` | [Leaf](#leaf) |  |",
    ]


def test_a_key_and_an_array_are_shown(yard: dict[str, str]) -> None:
    key = "Key: elements of a sorted vector are found by it."
    assert _lines(yard["yard.md"], "Spot")[-2:] == [
        f"| 0 | `cell` | `[uint8:4]` | {key} |",
        "| 4 | `next` | `[float32:2]` |  |",
    ]
    assert key in yard["yard.md"].split("### Leaf")[1].split("###")[0]


def test_the_head_of_a_page_names_the_attributes_that_the_schema_declares(
    yard: dict[str, str],
) -> None:
    head = yard["yard.md"].partition("\n## ")[0].splitlines()
    assert "Attributes of its own: `shade`, `weight`." in head
    assert "Root table [Yard](#yard), file identifier `YARD`, file extension `.yd`." in head
    assert "Attributes of its own" not in yard["far.md"]


def _entry(pages: dict[str, str], name: str) -> list[str]:
    """Return the lines of one definition that are not blank, without its heading."""
    text = pages["docs/shop.md"].split(f"\n### {name}\n")[1]
    return [line for line in text.partition("\n##")[0].splitlines() if line]


def test_there_is_a_page_for_the_module_and_an_index(pages: dict[str, str]) -> None:
    assert list(pages) == ["docs/shop.md", "docs/README.md"]


def test_the_head_names_root_and_identifier(pages: dict[str, str]) -> None:
    head = "Root table [Order](#order), file identifier `SHOP`, file extension none."
    assert head in pages["docs/shop.md"].splitlines()


def test_the_index_counts_what_a_module_defines(pages: dict[str, str]) -> None:
    row = "| [shop](shop.md) | `shop` | `shop.fbs` | 4 tables, 1 struct, 1 enum, 1 union | `SHOP` |"
    assert row in pages["docs/README.md"].splitlines()


def test_a_table_shows_where_its_fields_are_and_what_their_absence_means(
    pages: dict[str, str],
) -> None:
    assert _entry(pages, "Paint") == [
        "What is sold.",
        "With a second paragraph.",
        "Used by [`Paint.layers`](#paint), [`Item.Paint`](#item).",
        "| id | field | type | if absent | on the wire | meaning |",
        "|---|---|---|---|---|---|",
        "| 0 | `colour` | [Colour](#colour) | `BLUE` | vtable +4: 1 byte |  |",
        "| 1 | `size` | [Size](#size) | nothing | vtable +6: in place |  |",
        "| 2 | `name` | `string` | an error | vtable +8: offset | An `a\\|b` name\\_of\\_it. |",
        "| 3 | `layers` | \\[[Paint](#paint)\\] | nothing | vtable +10: offset |  |",
        "| 4 | `data` | `[uint8]` | a finding | vtable +12: offset, elements aligned to 16 |  |",
        "| 5 | `glossy` | `bool` | `true` | vtable +14: 1 byte |  |",
        "| 6 | `price` | `float32` | `1.5` | vtable +16: 4 bytes |  |",
        "| 7 | `stock` | `int32` | nothing | vtable +18: 4 bytes |  |",
    ]


def test_a_union_field_names_both_of_its_slots(pages: dict[str, str]) -> None:
    rows = [line for line in _entry(pages, "Order") if "`item`" in line]
    assert rows == [
        "| 1 | `item` | [Item](#item) | nothing | uint8 tag by vtable +4, offset by vtable +6 |  |"
    ]


def test_a_deprecated_field_says_so(pages: dict[str, str]) -> None:
    rows = [line for line in _entry(pages, "Order") if "`old`" in line]
    assert len(rows) == 1
    assert rows[0].endswith("| Deprecated: never written, not read. |")


def test_a_default_of_a_string_or_vector_is_shown(pages: dict[str, str]) -> None:
    assert _entry(pages, "Label")[-4:] == [
        '| 0 | `text` | `string` | `"a\\|b"` | vtable +4: offset, bytes aligned to 8 |  |',
        "| 1 | `codes` | `[int32]` | `[]` | vtable +6: offset |  |",
        "| 2 | `must` | `string` | an error | vtable +8: offset |  |",
        (
            "| 3 | `old` | `string` | nothing | vtable +10: offset "
            "| Deprecated: never written, not read. |"
        ),
    ]


def test_a_struct_shows_offsets_size_and_alignment(pages: dict[str, str]) -> None:
    assert _entry(pages, "Size") == [
        "8 bytes, aligned to 4, stored in place.",
        "Used by [`Paint.size`](#paint).",
        "| offset | field | type | meaning |",
        "|---|---|---|---|",
        "| 0 | `width` | `uint16` |  |",
        "| 4 | `height` | `uint32` |  |",
    ]


def test_an_enum_has_a_column_for_every_attribute(pages: dict[str, str]) -> None:
    assert _entry(pages, "Colour") == [
        "A colour \\| of paint.",
        "Stored as `uint8`.",
        "Used by [`Paint.colour`](#paint).",
        "| value | member | `weight` | meaning |",
        "|---|---|---|---|",
        "| 1 | `RED` | `7` |  |",
        "| 4 | `BLUE` |  |  |",
    ]


def test_a_union_lists_its_members_and_the_implied_none(pages: dict[str, str]) -> None:
    assert _entry(pages, "Item")[-3:] == [
        "| 0 | `NONE` |  | No value. |",
        "| 1 | `Paint` | [Paint](#paint) |  |",
        "| 2 | `Nothing` | [Empty](#empty) |  |",
    ]


def test_a_table_without_fields_says_so(pages: dict[str, str]) -> None:
    assert _entry(pages, "Empty") == [
        "Used by [`Item.Nothing`](#item).",
        "It has no fields.",
    ]
