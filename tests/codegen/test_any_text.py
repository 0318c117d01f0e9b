"""Whatever the text, the front end ends with a schema or with diagnostics inside the text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from placewire_codegen.diagnostics import Diagnostics, SchemaError, Source
from placewire_codegen.features import Feature
from placewire_codegen.lexer import END, tokenize
from placewire_codegen.model import Schema
from placewire_codegen.parser import parse
from placewire_codegen.resolve import load_schema

from tests.codegen.accepted_schemas import ACCEPTED
from tests.codegen.rejected_schemas import REJECTED

# Pieces from which texts come close to schemas.
_WORDS = """
    table struct enum union namespace root_type attribute include rpc_service file_identifier
    int ubyte string bool float T E U a b null true inf { } ( ) [ ] ; : , = . - + 0 1 -5 0x1F 1.5
    1_0 "x" 'y' " // /* */ /// @ required id key deprecated force_align bit_flags
"""
PIECES = st.sampled_from([*_WORDS.split(), "\n", "/// doc\n", '"\\u12"', "é"])
LIKE_SCHEMAS = st.lists(PIECES, max_size=60).map(" ".join)
SMALL_SCHEMAS = st.sampled_from(
    [text for cases in (ACCEPTED, REJECTED) for texts in cases.values() for text in texts]
)


@st.composite
def damaged_schemas(draw: st.DrawFn) -> str:
    """Draw a small schema in which a piece was replaced."""
    text = draw(SMALL_SCHEMAS)
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 10)))
    return text[:start] + draw(st.one_of(PIECES, st.text(max_size=3), st.just(""))) + text[end:]


ANY_TEXT = st.one_of(st.text(), LIKE_SCHEMAS, damaged_schemas())


@given(ANY_TEXT)
def test_tokens_cover_the_text_in_order(text: str) -> None:
    tokens = tokenize(Source("x.fbs", text), Diagnostics()).tokens
    assert tokens[-1].kind == END
    assert tokens[-1].end == len(text)
    assert all(first.end <= second.start for first, second in pairwise(tokens))


@given(ANY_TEXT)
def test_the_parser_always_ends_with_a_tree(text: str) -> None:
    tree = parse(Source("x.fbs", text), Diagnostics())
    assert tree.source.text == text


def load(data: bytes) -> Schema | SchemaError:
    """Load a file of these bytes; return what is wrong with it, if it cannot be loaded."""
    with TemporaryDirectory() as folder:
        schema = Path(folder) / "schema.fbs"
        schema.write_bytes(data)
        try:
            return load_schema([schema], root=Path(folder), features=frozenset(Feature))
        except SchemaError as error:
            return error


@settings(max_examples=300)
@given(ANY_TEXT)
def test_a_text_gives_a_schema_or_diagnostics_inside_it(text: str) -> None:
    result = load(text.encode("utf-8", "surrogatepass"))
    if isinstance(result, Schema):
        assert result.files == ("schema.fbs",)
        return
    assert str(result)
    spans = [diagnostic.span for diagnostic in result.diagnostics]
    assert spans
    for span in spans:
        assert span is not None
        assert 0 <= span.start <= len(span.source.text)


@given(st.binary(max_size=200))
def test_any_bytes_give_a_schema_or_diagnostics(data: bytes) -> None:
    result = load(data)
    assert isinstance(result, Schema) or result.diagnostics
