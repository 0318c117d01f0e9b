"""Fuzzes the generated C++ of many schemas with libFuzzer, under sanitizers.

    python -m tests.fuzz.fuzz_schemas [COUNT] [SEED] [NAME...]

For each schema: generates headers and a package below build/fuzz, packs random objects as seeds,
compiles fuzz_schema.cpp and runs it for its share of COUNT (default 20000000) buffers. It ends with
the first error that a sanitizer reports, and then a table of what was run. Needs clang with
libFuzzer, and takes the schemas of ExecuTorch from its wheel, if that is installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from placewire_codegen.targets.cpp_names import CppNames

from tests.schema.packages import Package, examples, generate_package

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "fuzz"
COMPILER = "clang++"
FLAGS = ("-std=c++17", "-O1", "-g", "-fsanitize=fuzzer,address,undefined")
NO_RECOVERY = "-fno-sanitize-recover=all"
LARGEST = 4096
"""Bytes of the largest buffer that is tried."""

OURS = {
    "program": "schema/program.fbs",
    "device_info": "schema/device_info.fbs",
    "language": "tests/schema/language/language.fbs",
    "tree": "tests/schema/tree.fbs",
    "audited": "tests/schema/cpp/audited.fbs",
}
EXECUTORCH = {
    "mlx": "backends/mlx/serialization/schema.fbs",
    "xnnpack": "backends/xnnpack/serialization/runtime_schema.fbs",
    "vulkan": "backends/vulkan/serialization/schema.fbs",
    "native_graph": "backends/native/serialization/native_graph.fbs",
    "flat_tensor": "extension/flat_tensor/serialize/flat_tensor.fbs",
    "bundled_program": "devtools/bundled_program/schema/bundled_program_schema.fbs",
    "etdump": "devtools/etdump/etdump_schema_flatcc.fbs",
}


class Target(NamedTuple):
    """A schema whose root table is fuzzed."""

    name: str
    schema: Path


class Run(NamedTuple):
    """What came of one target."""

    name: str
    executed: int
    covered: int
    seconds: float


def targets() -> Iterator[Target]:
    """All schemas that are there."""
    for name, path in OURS.items():
        yield Target(name, ROOT / path)
    spec = find_spec("executorch")
    for folder in (spec.submodule_search_locations or [])[:1] if spec else []:
        for name, path in EXECUTORCH.items():
            yield Target(name, Path(folder) / path)


def write_target(package: Package, folder: Path) -> None:
    """Write the header that tells fuzz_schema.cpp what it is about."""
    root = package.schema.table(package.schema.roots[0].table)
    names = CppNames(package.schema, package.config)
    headers = [names.include(root.namespace, header) for header in ("audit.h", "verifier.h")]
    type_ = f"{names.namespace}::{names.module(root.namespace)}::{names.local_type(root)}"
    lines = [*(f'#include "{header}"' for header in headers), f"using Root = {type_};"]
    (folder / "target.h").write_text("#pragma once\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


def write_seeds(package: Package, folder: Path, count: int) -> None:
    """Write `count` packed objects."""
    type_ = package.class_of(package.schema.roots[0].table)
    folder.mkdir()
    for number, obj in enumerate(examples(type_, count)):
        (folder / f"{number}.bin").write_bytes(package.module().pack(obj))


def build(target: Target, folder: Path, *, seeds: int = 200) -> Path:
    """Generate, pack and compile in an empty `folder`; return the program."""
    package = generate_package(
        [target.schema],
        folder,
        name=f"fuzzed_{target.name}",
        targets=("python", "cpp"),
        include=[target.schema.parent],
    )
    write_target(package, folder)
    write_seeds(package, folder / "seeds", seeds)
    program = folder / "fuzz"
    include = (folder, folder / "include", ROOT / "tests" / "schema" / "cpp")
    command = [
        *(COMPILER, *FLAGS, NO_RECOVERY, *(f"-I{path}" for path in include)),
        *(str(ROOT / "tests" / "fuzz" / "fuzz_schema.cpp"), "-o", str(program)),
    ]
    subprocess.run(command, check=True)
    return program


def run(program: Path, count: int, seed: int) -> Run:
    """Let libFuzzer try `count` buffers; end with its exit code if it finds something."""
    folder = program.parent
    start = time.monotonic()
    options = [f"-runs={count}", f"-seed={seed}", f"-max_len={LARGEST}", "-timeout=20"]
    with (folder / "log").open("w", encoding="utf-8") as log:
        result = subprocess.run(
            [program, *options, "-print_final_stats=1", "seeds"],
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    text = (folder / "log").read_text(encoding="utf-8", errors="replace")
    if result.returncode != 0:
        print(text[-8000:])  # noqa: T201
        raise SystemExit(result.returncode)
    executed = re.findall(r"stat::number_of_executed_units: (\d+)", text)
    covered = re.findall(r"cov: (\d+)", text)
    return Run(folder.name, int(executed[-1]), int(covered[-1]), time.monotonic() - start)


def main(count: str = "20000000", seed: str = "1", *names: str) -> None:
    """Build and run all targets, or those of the given names."""
    chosen = [target for target in targets() if not names or target.name in names]
    if not chosen:
        raise SystemExit(f"there is no target called {' or '.join(names)}")
    share = -(-int(count) // len(chosen))
    runs = []
    for target in chosen:
        folder = BUILD / target.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        done = run(build(target, folder), share, int(seed))
        runs.append(done)
        print(  # noqa: T201
            f"{done.name}: {done.executed:,} buffers, {done.covered} places reached, "
            f"{done.seconds:.0f} s",
            flush=True,
        )
    print(f"{sum(each.executed for each in runs):,} buffers, no error")  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
