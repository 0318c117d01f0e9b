"""The steps of `placewire demo`."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import placewire_codegen
from placewire_codegen.config import load_project
from placewire_codegen.generate import generate
from placewire_schema.errors import InternalError, UnknownContentError

from placewire.commands import count
from placewire.pte import PteFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

__all__ = ["Demonstration"]

_NEW_MEMBER = "  VULKAN = 2 (dlpack: 7, alignment: 256),"
_DEVICE = "vulkan:0"
_ENUM = re.compile(r"^enum DeviceType\b[^{]*\{\n(?P<members>[^}]*)\}", re.MULTILINE)

_PROJECT = """\
[tool.placewire]
schemas = ["schema/program.fbs", "schema/device_info.fbs", "schema/errors.fbs"]
include = ["schema"]
package = "placewire_schema"
cpp_namespace = "placewire::schema"

[tool.placewire.modules]
executorch_flatbuffer = "program"
"placewire.device" = "device_info"
"placewire.error" = "errors"

[tool.placewire.output]
python = "generated/placewire_schema"
cpp = "generated/include"
nanobind = "generated/bindings"
docs = "generated/docs"
"""

# An editable installation finds modules by name before any path is searched; the package that the
# demo has generated must come first all the same.
_BOOT = """
import sys
from importlib.machinery import PathFinder
sys.meta_path.insert(0, PathFinder)
sys.path.insert(0, sys.argv[1])
from placewire.demo.program import main
main(*sys.argv[2:])
"""


class Demonstration:
    """Adds a device to a copy of the schema and shows how everything follows.

    Args:
        folder: An empty folder to work in.
        console: Where to tell what happens.
    """

    def __init__(self, folder: Path, console: Console) -> None:
        self._folder = folder
        self._console = console
        self._steps = 0

    def run(self) -> None:
        """Take all steps, printing what happens."""
        self._console.print(
            "[bold]placewire demo[/bold]  one line of schema, and a new kind of device exists"
        )
        before = self._prepare()
        self._add_member()
        self._regenerate(before)
        file = self._write_program()
        self._read_with_the_old_schema(file)

    def _step(self, title: str) -> None:
        self._steps += 1
        self._console.print(f"\n[bold cyan]{self._steps}[/bold cyan] [bold]{title}[/bold]")

    def _line(self, text: str, style: str = "") -> None:
        self._console.print(f"    {text}", style=style, markup=False)

    def _prepare(self) -> Mapping[str, str]:
        """Copy the schema and generate everything from it once; return the texts by path."""
        shutil.copytree(_schema_directory(), self._folder / "schema")
        (self._folder / "pyproject.toml").write_text(_PROJECT, encoding="utf-8")
        return {file.path: file.text for file in generate(load_project(self._folder)).files}

    def _add_member(self) -> None:
        self._step("A line is added to a copy of schema/program.fbs")
        path = self._folder / "schema" / "program.fbs"
        text = path.read_text(encoding="utf-8")
        enum = _ENUM.search(text)
        if enum is None:
            raise InternalError("schema/program.fbs has no enum DeviceType")
        path.write_text(
            f"{text[: enum.end('members')]}{_NEW_MEMBER}\n{text[enum.end('members') :]}",
            encoding="utf-8",
        )
        for line in enum[0].splitlines()[:-1]:
            self._line(f"  {line}")
        self._line(f"+ {_NEW_MEMBER}", "green")
        self._line("  }")

    def _regenerate(self, before: Mapping[str, str]) -> None:
        self._step("`placewire generate` makes everything else follow")
        start = time.perf_counter()
        result = generate(load_project(self._folder))
        seconds = time.perf_counter() - start
        texts = {file.path: file.text for file in result.files}
        for path in result.changes.paths:
            added, removed = _changed_lines(before.get(path, ""), texts.get(path, ""))
            self._line(f"{path}  +{added} -{removed}")
        self._line(
            f"{len(result.changes.paths)} of {len(texts)} files changed, in {seconds:.1f} s", "dim"
        )

    def _write_program(self) -> Path:
        self._step(f"The new types are imported, and a program is written that lives on {_DEVICE}")
        file = self._folder / "vulkan.pte"
        facts = self._run_with_the_new_package(_DEVICE, str(file))
        self._line(f">>> list(DeviceType)            {facts['members']}")
        self._line(f">>> DeviceType.VULKAN.alignment {facts['alignment']}")
        found = count(len(facts["findings"]), "finding")
        self._line(f"{file.name}: {facts['size']:,} bytes; the new schema has {found}")
        return file

    def _run_with_the_new_package(self, *arguments: str) -> dict[str, Any]:
        environment = {
            **os.environ,
            # The compiled codec that is installed was built from the old schema.
            "PLACEWIRE_PURE_PYTHON": "1",
        }
        command = [sys.executable, "-c", _BOOT, str(self._folder / "generated"), *arguments]
        process = subprocess.run(  # noqa: S603  our own interpreter and code
            command, cwd=self._folder, env=environment, capture_output=True, text=True, check=False
        )
        if process.returncode:
            raise InternalError(f"the program could not be written:\n{process.stderr}")
        facts: dict[str, Any] = json.loads(process.stdout)
        return facts

    def _read_with_the_old_schema(self, file: Path) -> None:
        self._step("The old schema reads it, and says what it does not know")
        pte = PteFile.load(file)
        for finding in pte.unknown:
            self._line(str(finding), "yellow")
        self._line("To rewrite the file would lose that, so it is refused:")
        pte.program.execution_plan[0].name = "renamed"
        try:
            pte.to_bytes()
        except UnknownContentError as error:
            self._line(f"{type(error).__name__}: {error}", "yellow")
        else:
            raise InternalError(
                "the file was rewritten although the old schema does not know its device"
            )


def _schema_directory() -> Path:
    """The folder of the schemas: in the generator's package, or at the top of a checkout."""
    package = Path(placewire_codegen.__path__[0])
    installed = package / "schema"
    return installed if installed.is_dir() else package.parents[1] / "schema"


def _changed_lines(before: str, after: str) -> tuple[int, int]:
    """Number of lines that were added and removed."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0))[2:]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)
