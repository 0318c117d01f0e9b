"""A run replaces and removes what is its own, and refuses to touch what is not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from placewire_codegen.cli import generate
from placewire_codegen.outputs import compare
from placewire_codegen.render import GeneratedFile
from typer.testing import CliRunner, Result

TARGETS = ("python", "cpp", "nanobind", "docs")
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Generate a package of one table; `module` is its namespace."""
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    app.command()(generate)

    def run(
        package: str, *options: str, module: str = "things", targets: tuple[str, ...] = ("python",)
    ) -> Result:
        Path("s.fbs").write_text(f"namespace {module}; table T {{ x: int; }} root_type T;")
        chosen = [word for target in targets for word in ("--target", target)]
        arguments = ["--schema", "s.fbs", "--out", "out", "--package", package, *chosen, *options]
        return CliRunner().invoke(app, arguments)

    return run


def files_below(folder: str) -> dict[str, bytes]:
    """The contents of all files, by their paths."""
    return {
        path.as_posix(): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def succeeded(result: Result) -> bool:
    return result.exit_code == 0


@pytest.mark.parametrize(
    "path",
    ["p/things.py", "include/p/things/views.h", "bindings/p/tables.h", "docs/p/things.md"],
)
def test_a_file_of_somebody_else_stops_the_run(run: Run, path: str) -> None:
    file = Path("out", path)
    file.parent.mkdir(parents=True)
    file.write_text("mine\n")
    before = files_below("out")
    result = run("p", targets=TARGETS)
    assert result.exit_code == 1
    assert result.stderr == (
        f"{file}: was not generated\n"
        "error: nothing was written; choose another name or folder, or pass --force to replace what"
        " is there\n"
    )
    assert files_below("out") == before


def test_a_file_without_comments_stops_the_run(run: Run) -> None:
    Path("out/p").mkdir(parents=True)
    Path("out/p/py.typed").write_text("partial\n")
    assert run("p").stderr.startswith("out/p/py.typed: was not generated\n")


def test_every_file_in_the_way_is_named(run: Run) -> None:
    Path("out/p").mkdir(parents=True)
    for name in ("things.py", "_wire.py", "unrelated.py"):
        Path("out/p", name).write_text("mine\n")
    assert run("p").stderr.splitlines()[:2] == [
        "out/p/_wire.py: was not generated",
        "out/p/things.py: was not generated",
    ]


def test_force_replaces_the_file_of_somebody_else(run: Run) -> None:
    Path("out/p").mkdir(parents=True)
    Path("out/p/things.py").write_text("mine\n")
    assert succeeded(run("p", "--force"))
    assert "class T:" in Path("out/p/things.py").read_text()


def test_check_names_the_file_of_somebody_else(run: Run) -> None:
    assert succeeded(run("p"))
    Path("out/p/things.py").write_text("mine\n")
    result = run("p", "--check")
    assert result.exit_code == 1
    assert result.stdout == "out/p/things.py: was not generated\n"


def test_a_generated_file_that_was_edited_is_replaced(run: Run) -> None:
    run("p")
    original = Path("out/p/things.py").read_text()
    Path("out/p/things.py").write_text(original + "x = 1\n")
    assert succeeded(run("p"))
    assert Path("out/p/things.py").read_text() == original


def test_line_ends_of_another_system_do_not_make_a_file_foreign(run: Run) -> None:
    run("p", targets=TARGETS)
    original = files_below("out")
    for path, content in original.items():
        Path(path).write_bytes(content.replace(b"\n", b"\r\n"))
    assert succeeded(run("p", targets=TARGETS))
    assert files_below("out") == original


def test_two_packages_in_one_cpp_namespace_do_not_take_each_others_headers(run: Run) -> None:
    same = ("--cpp-namespace", "common")
    assert succeeded(run("first", *same, module="one", targets=TARGETS))
    before = files_below("out")
    result = run("second", *same, module="two", targets=TARGETS)
    assert result.exit_code == 1
    assert "out/include/common/wire.h: belongs to the package first, target cpp" in result.stderr
    assert files_below("out") == before


def test_a_package_inside_another_is_left_alone(run: Run) -> None:
    assert succeeded(run("a.b", module="inner", targets=TARGETS))
    inner = files_below("out")
    assert succeeded(run("a", module="outer", targets=TARGETS))
    assert inner.items() < files_below("out").items()
    assert run("a.b", "--check", module="inner", targets=TARGETS).exit_code == 0
    assert run("a", "--check", module="outer", targets=TARGETS).exit_code == 0


@pytest.mark.parametrize("first", ["a", "a.b"])
def test_a_module_and_a_package_of_one_name_are_refused(run: Run, first: str) -> None:
    (second,) = {"a", "a.b"} - {first}
    assert succeeded(run(first, module="b"))
    before = files_below("out")
    result = run(second, "--force", module="b")
    assert result.exit_code == 1
    assert " would have the import name of out/a/b" in result.stderr
    assert "--force" not in result.stderr
    assert files_below("out") == before


def test_what_one_target_made_another_does_not_remove(run: Run) -> None:
    run("p", targets=TARGETS)
    before = files_below("out")
    assert Path("out/p/_native.pyi").exists()
    for target in TARGETS:
        assert succeeded(run("p", targets=(target,)))
        assert files_below("out") == before


def test_what_is_left_over_of_this_package_is_removed(run: Run) -> None:
    run("p", targets=TARGETS, module="before")
    assert succeeded(run("p", targets=TARGETS, module="after"))
    assert not [path for path in files_below("out") if "before" in path]


def test_a_binary_schema_is_replaced_but_no_other_file(run: Run) -> None:
    assert succeeded(run("p", targets=("bfbs",)))
    assert succeeded(run("p", targets=("bfbs",), module="changed"))
    Path("out/s.bfbs").write_text("something else")
    assert run("p", targets=("bfbs",)).stderr.startswith("out/s.bfbs: was not generated\n")


def test_one_path_for_two_files_is_refused(tmp_path: Path) -> None:
    twice = [GeneratedFile("docs/README.md", text) for text in ("page", "module")]
    (clash,) = compare(tmp_path, twice, []).clashes
    assert (clash.path, clash.reason) == ("docs/README.md", "would be generated twice")
    assert not clash.can_be_forced


def test_the_refusal_spells_paths_as_seen_from_here(run: Run) -> None:
    Path("out/p").mkdir(parents=True)
    Path("out/p/things.py").write_text("mine\n")
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")
    result = run("p", "--out", "../out")
    assert result.stderr.startswith("../out/p/things.py: was not generated\n")
