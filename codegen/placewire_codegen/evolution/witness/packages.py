"""The Python packages of both schemas, generated, and asked in a process each."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...config import OutputPaths, ProjectConfig
from ...generate import render_all
from ...model import Schema

__all__ = ["READER", "CannotPackError", "Package", "generate_package", "running"]

READER = Path(__file__).with_name("read_witness.py")
"""What packs and reads with a generated package."""


class CannotPackError(Exception):
    """Generated code does not write a value; the message says why."""


def generate_package(schema: Schema, name: str, folder: Path) -> None:
    """Write the Python package of a schema into a folder, whatever parts of the language it uses.

    Args:
        schema: What to generate for.
        name: Import name of the package.
        folder: Where it goes, as a folder of that name.
    """
    config = ProjectConfig(
        root=folder,
        schemas=tuple(map(Path, schema.files)),
        package=name,
        cpp_namespace=name,
        targets=("python",),
        modules=_module_names(schema),
        output=OutputPaths(
            python=Path(name), cpp=Path("include"), nanobind=Path("bindings"), docs=Path("docs")
        ),
    )
    for file in render_all(schema, config):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)


def _module_names(schema: Schema) -> dict[str, str]:
    """Return a module for each namespace, so that two that end alike do not meet in one."""
    return {
        name: f"{name.replace('.', '_').strip('_').lower() or 'schema'}_{index}"
        for index, name in enumerate(schema.namespaces)
    }


class Package:
    """A generated package in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def pack(self, table: str, value: Any) -> bytes:
        """Return the FlatBuffer of a table.

        Raises:
            CannotPackError: Generated code does not take the value.
        """
        answer = self._ask({"table": table, "value": value})
        if "error" in answer:
            raise CannotPackError(answer["error"])
        return bytes.fromhex(answer["buffer"])

    def read(
        self, table: str, buffer: bytes, *, as_file: bool = False, check_identifier: bool = False
    ) -> Any:
        """Return what generated code reads and finds, as `read_witness.Package.read` says it.

        What it raises is a finding without a path.
        """
        answer = self._ask(
            {
                "table": table,
                "buffer": buffer.hex(),
                "as_file": as_file,
                "check_identifier": check_identifier,
            }
        )
        if "error" in answer:
            finding = {"rule": "ERROR", "path": "", "message": answer["error"]}
            return {"value": None, "findings": [finding]}
        return answer

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("a generated package does not run; it has said why")
        return json.loads(answer)


@contextmanager
def running(folder: Path, name: str) -> Iterator[Package]:
    """Start a process that has the package of that name in `folder`, and end it afterwards."""
    script = folder / READER.name
    if not script.exists():
        shutil.copyfile(READER, script)
    process = subprocess.Popen(  # noqa: S603 - our own script, on code that we have generated
        [sys.executable, "-B", str(script), "--serve", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        yield Package(process)
        assert process.stdin is not None
        process.stdin.close()
