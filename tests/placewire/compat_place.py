"""A folder with two schemas, in which tests run `placewire compat`."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

BASE = """namespace shop;
enum Color : byte { RED, GREEN }
table Item { name: string; price: int = 1; color: Color; }
table Shop { items: [Item]; }
root_type Shop;
"""
HEAD = """namespace shop;
enum Color : byte { RED }
table Item {
  title: string;
  price: long = 1;
  color: Color;
  weight: float;
}
table Shop { items: [Item]; }
root_type Shop;
"""
PROJECT = """
[tool.placewire]
schemas = ["schema/shop.fbs"]
package = "shop"
cpp_namespace = "shop"
[tool.placewire.output]
python = "out/shop"
cpp = "out/include"
nanobind = "out/bindings"
docs = "out/docs"
"""
WAIVER = """
[[tool.placewire.compat.waivers]]
rule = "ENUM_MEMBER_NO_DELETE"
path = "shop.Color.*"
reason = "nothing was ever green"
"""
CLEAN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


@dataclass(frozen=True)
class Run:
    """What a command did."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Place:
    """A folder that the command runs in."""

    folder: Path

    def write(self, path: str, text: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def compat(self, *arguments: str) -> Run:
        process = subprocess.run(
            [sys.executable, "-m", "placewire", "compat", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **CLEAN, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"},
        )
        assert "Traceback" not in process.stderr, process.stderr
        return Run(process.returncode, process.stdout, process.stderr)

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.folder,
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **CLEAN},
        )
        return done.stdout.strip()
