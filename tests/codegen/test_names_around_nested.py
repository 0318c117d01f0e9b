"""Names that are derived for nested FlatBuffers and keys give way to those of the schema."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from placewire_codegen.config import command_line_project
from placewire_codegen.generate import generate

from tests.schema.cpp.building import compile_cpp, compilers

FIELDS = """unpack_data view_data pack_data data_nested_root has_data key root strict report lookup
self codec _codec wire_compare_key compare kKey nested""".split()
TYPES = "_codec _Finding Finding RootView NestedField kKey lookup sort_by_key view compare".split()

SCHEMA = f"""
namespace words;
struct order {{ left: int (key); right: int; }}
table Top {{
  data: [ubyte] (nested_flatbuffer: "Top");
  name: string (key);
  {" ".join(f"{name}: [ubyte] (nested_flatbuffer: 'Finding');" for name in FIELDS)}
  {" ".join(f"of_{name}: [{name}];" for name in TYPES)}
}}
{" ".join(f"table {name} {{ key: order (key); }}" for name in TYPES)}
root_type Top;
"""

PACKING = """
from words_schema import lookup, pack, sort_by_key, unpack
from words_schema.words import Top

top = Top(name="top")
top.pack_data_(Top(name="inner"))
assert unpack(Top, pack(top)) == top
assert top.unpack_data_() == Top(name="inner")
assert lookup([top], "top") is top
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("words")
    (root / "words.fbs").write_text(SCHEMA)
    generate(
        command_line_project(
            [root / "words.fbs"],
            root,
            targets=["python", "cpp"],
            include=[],
            package="words_schema",
            cpp_namespace="words_schema",
        )
    )
    return root


def test_the_package_imports_and_its_methods_work(folder: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PACKING], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(not compilers(), reason="no C++ compiler")
def test_the_headers_compile(folder: Path) -> None:
    source = folder / "program.cpp"
    source.write_text(
        '#include "words_schema/words/audit.h"\n#include "words_schema/words/verifier.h"\n'
        '#include "words_schema/words/writer.h"\n#include "words_schema/sort.h"\n'
        "int main() {\n  std::vector<std::uint8_t> bytes;\n"
        "  return words_schema::pack(words_schema::words::objects::Top(), bytes) ? 0 : 1;\n}\n"
    )
    compile_cpp(
        source, folder / "program.o", "-c", include=(folder / "include",), compiler=compilers()[0]
    )
