"""Talks to `cpp/validate_driver.cpp`, the validator compiled with sanitizers and instruments."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.schema.cpp.building import HEADERS, ROOT, SANITIZERS, compile_cpp

SOURCES = Path(__file__).parent / "cpp"
RUNTIME = ROOT / "src" / "runtime"


@dataclass(frozen=True)
class ValidateDriver:
    """The compiled driver."""

    program: Path

    @classmethod
    def build(cls, folder: Path, compiler: str) -> ValidateDriver:
        """Compile validator and driver as one source, in half the time of separate ones."""
        parts = sorted((RUNTIME / "validate").glob("*.cpp"))
        assert len(parts) > 5
        own = [RUNTIME / f"{name}.cpp" for name in ("device", "text", "validate")]
        sources = [*own, *parts, SOURCES / "validate_driver.cpp"]
        unit = folder / "all.cpp"
        unit.write_text("".join(f'#include "{source}"\n' for source in sources))
        flags = (*SANITIZERS, "-fsanitize-coverage=trace-pc", "-O1")
        include = (HEADERS, RUNTIME / "include", RUNTIME, SOURCES)
        return cls(compile_cpp(unit, folder / "driver", *flags, include=include, compiler=compiler))

    def run(self, *arguments: object) -> list[dict[str, Any]]:
        """Run the driver and return the JSON lines that it prints; a crash fails the test."""
        command = [str(self.program), *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr[:4000]
        return [json.loads(line) for line in result.stdout.splitlines()]

    def measure(self, file: Path) -> dict[str, Any]:
        """Validate a file; return how many findings, steps and allocated bytes that took."""
        (answer,) = self.run("measure", file)
        return answer
