"""What is generated from `language.fbs`: a package with both codecs, headers, a program."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ..agreement import Judge
from ..cpp.building import NO_RUNTIME, SANITIZERS, Driver, compile_cpp, compile_native
from ..packages import generate_package

FOLDER = Path(__file__).parent
SCHEMA = FOLDER / "language.fbs"


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the headers, in the namespace that the drivers expect."""
    folder = tmp_path_factory.mktemp("headers")
    generate_package([SCHEMA], folder, name="language", targets=("cpp",))
    return folder


@pytest.fixture(scope="session")
def language(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> ModuleType:
    """The package with both codecs; its types are in `language.language` and `language.parts`."""
    assert compiler
    package = generate_package(
        [SCHEMA],
        tmp_path_factory.mktemp("package"),
        name="language",
        targets=("python", "cpp", "nanobind"),
        cpp_namespace="language",
    )
    compile_native(package.folder, "language")
    return package.module()


@pytest.fixture(scope="session")
def types(language: ModuleType) -> Any:
    """The module of the generated types."""
    return language.language


@pytest.fixture(scope="session")
def driver(generated: Path, compiler: str) -> Driver:
    """The headers under address and undefined-behaviour sanitizers."""
    output = generated / "driver"
    flags = (*SANITIZERS, *NO_RUNTIME, "-O1")
    include = (generated / "include",)
    source = FOLDER / "driver.cpp"
    return Driver(compile_cpp(source, output, *flags, include=include, compiler=compiler))


@pytest.fixture(scope="session")
def full_tree(language: ModuleType) -> Any:
    """A tree in which every kind of field holds something."""
    t, parts = language.language, language.parts
    pin = parts.Pin(parts.Shade.DARK, 65535)
    marks = t.Marks(t.Level.LOW, [t.Mask.LAST, t.Mask.FIRST], [t.Level.HIGH] * 3)
    point = t.Point(1.5, -0.0, t.Color.BLUE)
    grid = t.Grid(point, [1, -2, 3], b"name", [t.Point(), point], is_open=True)
    stem = t.Stem(
        [t.Leaf(-1), None, t.Twig(2), t.text("größe"), point, t.Frame(point, [4, 5, 6])],
        t.label("wide"),
        t.text_("word"),
        [t.text_(""), t.Leaf(3), None, marks],
        point,
        [marks, t.Marks()],
        t.Mask.LAST,
    )
    return t.Tree(
        point=point,
        grid=grid,
        points=[point, t.Point()],
        grids=[grid, t.Grid()],
        access=t.Access.READ,
        rights=[t.Access.WRITE | t.Access.RUN],
        content=t.Frame(name=b"here"),
        contents=[t.text("a"), point, None, t.Frame(), t.Leaf(1), t.Twig(2)],
        wide=t.Leaf(7),
        wides=[t.label("x"), None, t.Leaf(8)],
        weight=0.5,
        name="tree",
        color=t.Color.RED,
        colors=[t.Color.RED, t.Color.GREEN],
        flags=[True, False],
        leaves=[t.Leaf(), t.Leaf(9)],
        self=t.Tree(name="inner", content=point),
        stem=stem,
        index=-1,
        parts_=[
            pin,
            parts.label(""),
            None,
            parts.Knot(parts.Dot(parts.Shade.DARK), [pin], [parts.Shade.DARK]),
            parts.Loop(),
        ],
        pin=pin,
        knot=parts.Knot(),
        part=parts.Loop(parts.Loop(parts.label("x")), [pin, parts.Pin()]),
        pair=t.Pair(pin, parts.Pin()),
        span=t.view.LEAST,
        spans=[t.view.MOST, t.view.NONE],
        Visitor=1,
        visitor=2,
        Alignments=[3],
        texts=t.Texts(must="", numbers=[1], contents=[t.text("x"), None]),
        leaf_bytes=language.pack(t.Leaf(-7)),
        nest=language.pack(
            t.Tree(name="nested", grid=grid, leaf_bytes=language.pack(t.Leaf(1)), weight=0.25)
        ),
        knot_bytes=language.pack(
            parts.Knot(pins=[pin], tree_bytes=language.pack(t.Tree(name="deep", point=point)))
        ),
    )


@pytest.fixture(scope="module")
def judge(language: ModuleType, driver: Driver) -> Judge:
    """Asks C++ and Python about the same buffers."""
    names = ("Tree", "Stem", "Branch", "Texts")
    types = {name: getattr(language.language, name) for name in names}
    return Judge("language", {**types, "Knot": language.parts.Knot}, driver)
