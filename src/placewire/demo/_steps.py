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
from placewire_schema.errors import InternalError, InvalidStateError, UnknownContentError
from placewire_schema.program import DeviceType
from rich.padding import Padding
from rich.text import Text

from placewire.commands import count
from placewire.pte import PteFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

__all__ = ["Demonstration"]

_NEW_NAME = "VULKAN"
_DEVICE = f"{_NEW_NAME.lower()}:0"
_ENUM = re.compile(r"^enum DeviceType\b[^{]*\{\n(?P<members>[^}]*)\}", re.MULTILINE)

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
        """Take all steps, printing what happens.

        Raises:
            InvalidStateError: The installed schema has the new member already.
        """
        self._print("placewire demo: one line of schema, and a new kind of device exists", "bold")
        before = self._prepare()
        self._add_member()
        changed = self._regenerate(before)
        file = self._write_program()
        self._read_with_the_old_schema(file)
        self._print(f"\nOne line was written by hand, and {changed} files followed.", "bold")

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(text, style=style, markup=False)

    def _step(self, title: str) -> None:
        self._steps += 1
        self._print(f"\n{self._steps}. {title}", "bold cyan")

    def _line(self, text: str, style: str = "") -> None:
        # On a terminal too long a line continues under its beginning.
        self._console.print(Padding(Text(text, style), (0, 0, 0, 3), expand=False))

    def _prepare(self) -> Mapping[str, str]:
        """Copy the schema and generate everything from it once; return the texts by path."""
        shutil.copytree(_shipped("schema"), self._folder / "schema")
        shutil.copy(_shipped("pyproject.toml"), self._folder)
        return {file.path: file.text for file in generate(load_project(self._folder)).files}

    def _add_member(self) -> None:
        self._step("A line is added to a copy of schema/program.fbs:")
        path = self._folder / "schema" / "program.fbs"
        text = path.read_text(encoding="utf-8")
        enum = _ENUM.search(text)
        if enum is None:
            raise InternalError("schema/program.fbs has no enum DeviceType")
        if _NEW_NAME in enum["members"]:
            raise InvalidStateError(
                f"the schema has {_NEW_NAME} already, so there is nothing to add"
            )
        number = 1 + max(member.value for member in DeviceType)
        line = f"  {_NEW_NAME} = {number} (dlpack: 7, alignment: 256),"
        end = enum.end("members")
        path.write_text(f"{text[:end]}{line}\n{text[end:]}", encoding="utf-8")
        for old in enum[0].splitlines()[:-1]:
            self._line(f"  {old}")
        self._line(f"+ {line}", "green")
        self._line("  }")

    def _regenerate(self, before: Mapping[str, str]) -> int:
        """Generate again; return the number of files that changed."""
        self._step("`placewire generate` makes everything else follow:")
        start = time.perf_counter()
        result = generate(load_project(self._folder))
        seconds = time.perf_counter() - start
        texts = {file.path: file.text for file in result.files}
        paths = result.changes.paths
        width = max(map(len, paths), default=0)
        for path in paths:
            added, removed = _changed_lines(before.get(path, ""), texts.get(path, ""))
            self._line(f"{path:{width}}  {f'+{added}':>3}  {f'-{removed}':>3}")
        self._line(f"{len(paths)} of {len(texts)} files changed, in {seconds:.1f} s.", "green")
        return len(paths)

    def _write_program(self) -> Path:
        self._step(f"With the new types, a program is written that lives on {_DEVICE}:")
        file = self._folder / "vulkan.pte"
        facts = self._run_with_the_new_package(_DEVICE, str(file))
        self._line(">>> from placewire_schema.program import DeviceType")
        self._line(f">>> DeviceType.{_NEW_NAME}, DeviceType.{_NEW_NAME}.alignment")
        self._line(f"({facts['member']}, {facts['alignment']})")
        self._line(f'>>> PteFile(add_on(Device.parse("{_DEVICE}"))).save("{file.name}")')
        found = count(len(facts["findings"]), "finding") if facts["findings"] else "no findings"
        self._line(f"{facts['size']:,} bytes; checked with the new schema: {found}.", "green")
        self._line(
            "(The compiled codec follows with `pip install .`; until then, as here, the one in "
            "Python takes over.)",
            "dim",
        )
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
        self._step("The old schema reads the same file, and says what it does not know:")
        self._line(f'>>> pte = PteFile.load("{file.name}"); pte.unknown')
        pte = PteFile.load(file)
        first, *others = pte.unknown
        self._line(f"{first.path}: {first.message}", "yellow")
        self._line(f"and {len(others)} more", "yellow")
        self._line('>>> pte.program.execution_plan[0].name = "renamed"; pte.save(...)')
        pte.program.execution_plan[0].name = "renamed"
        try:
            pte.to_bytes()
        except UnknownContentError as error:
            reason, _, _ = str(error).partition(": ")
            self._line(f"{type(error).__name__}: {reason}", "yellow")
        else:
            raise InternalError("the file was rewritten although its device is not known")


def _shipped(name: str) -> Path:
    """What the demo starts from: in the generator's package, or at the top of a checkout."""
    package = Path(placewire_codegen.__path__[0])
    installed = package / name
    return installed if installed.exists() else package.parents[1] / name


def _changed_lines(before: str, after: str) -> tuple[int, int]:
    """Number of lines that were added and removed."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0))[2:]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)
