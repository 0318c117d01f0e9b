"""Defaults of strings and vectors, from the text to the model and through a binary schema."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from placewire_codegen.bfbs_records import records_of
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.model import Field, Schema

from tests.codegen.accepted_schemas import ACCEPTED
from tests.codegen.binary_schemas import again

Read = Callable[[str], Schema]


def field(read: Read, text: str) -> Field:
    """Return the only field of a table T."""
    (found,) = read(f"table T {{ {text} }}").table("T").fields
    return found


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("a: string;", None),
        ('a: string = "";', ""),
        ('a: string = "x";', "x"),
        (r'a: string = "\u00e9\n\"";', 'é\n"'),
        ('a: string = "null";', "null"),
        ("a: [int];", None),
        ("a: [int] = [];", ()),
        ("a: [string] = [];", ()),
    ],
)
def test_a_default_is_in_the_model(read: Read, text: str, content: object) -> None:
    found = field(read, text)
    assert found.default_content == content
    assert (found.default, found.optional) == (None, False)
    assert found.reads_default == (content is not None)


def test_a_deprecated_field_does_not_read_its_default(read: Read) -> None:
    found = field(read, 'a: string = "x" (deprecated);')
    assert found.default_content == "x"
    assert not found.reads_default


def test_a_default_is_part_of_the_stamp(read: Read) -> None:
    texts = ("a: string;", 'a: string = "";', 'a: string = "x";', "a: [int];", "a: [int] = [];")
    assert len({read(f"table T {{ {text} }}").stamp for text in texts}) == len(texts)


def test_a_binary_schema_says_that_there_is_one(read: Read) -> None:
    record = records_of(read('table T { a: string = "x"; b: [int] = []; c: string; d: [int]; }'))
    assert {each.name: each.optional for each in record.objects[0].fields} == {
        "a": False,
        "b": False,
        "c": True,
        "d": True,
    }


def test_that_of_a_vector_survives_a_binary_schema(read: Read) -> None:
    schema = again(read("table T { a: [int] = []; b: [int]; }"))
    assert [each.default_content for each in schema.table("T").fields] == [(), None]


def test_the_default_of_a_string_is_missed(read: Read) -> None:
    texts = ACCEPTED["defaults of strings"]
    assert len(texts) > 5
    for text in texts:
        schema = read(text)
        [field, *_] = schema.table("T").fields
        if field.required:
            # The file looks as if there were no default.
            assert again(schema).table("T").fields[0].default_content is None
        else:
            with pytest.raises(SchemaError, match=r"`T\.a` has a default, but a \.bfbs does not"):
                again(schema)
