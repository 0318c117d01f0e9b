"""Runs the compiled modules under AddressSanitizer and UndefinedBehaviorSanitizer.

    python -m tests.fuzz.sanitized [COUNT] [SEED]

Builds the project with the sanitizers below build/sanitized, then sends COUNT (default 1000000)
damaged copies of the corpus through the native codec (mutate_codec.py) and the C++ verifier
(mutate_program.cpp) and the walk by a schema as data (mutate_walk.cpp), a tenth of that through
PteFile and the validator (mutate_pte.py), and COUNT of them, of small programs besides, through the
runtime (mutate_execution.cpp). The same COUNT and SEED give the same copies.
It ends with the first error that a sanitizer reports. Before all that, every operator of torch is
called COUNT / 10000 times with extreme arguments, without sanitizers (extreme_arguments.py).
Needs gcc, CMake, Ninja and nanobind; see `make develop`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from tests.fuzz.execution import EXECUTION_ENVIRONMENT, execution_driver, write_seeds
from tests.fuzz.walk_description import walk_driver, write_program_description

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "sanitized"
CORPUS = ROOT / "tests" / "corpus"
COMPILER = "g++"
FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g")

PYTHON = (sys.executable, "-S", "-P")
"""A Python that looks only where PYTHONPATH says: an editable install would hide our modules."""

PACKAGES = ("generated/placewire_schema", "src/placewire", "codegen/placewire_codegen")
"""The packages that the drivers import."""

PLACES = {
    "_native*.so": "placewire_schema",
    "_runtime*.so": "placewire",
    "libplacewire*.so*": "placewire/lib",
}
"""Where in the packages each module belongs."""


def run(*command: str | Path, environment: dict[str, str] | None = None) -> None:
    """Run a command and say how long it took; end with its exit code if it fails."""
    start = time.monotonic()
    print("$", shlex.join(map(str, command)), flush=True)  # noqa: T201
    result = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **(environment or {})}, check=False
    )
    if result.returncode != 0:
        raise SystemExit(result.returncode)
    print(f"  {time.monotonic() - start:.0f} s", flush=True)  # noqa: T201


def build_package(folder: Path, *targets: str, flags: str = "-O1 -g") -> Path:
    """Build modules with sanitizers below `folder`; return where the packages with them are.

    Args:
        folder: Gets the build tree, which is used again, and the packages, which are made anew.
        targets: What to build: `_native` is the codec, `_runtime` the core for Python.
        flags: Optimisation and debug information; without either, building is quicker.
    """
    tree, package = folder / "tree", folder / "package"
    run(
        *("cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
        *(f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_CXX_FLAGS_RELEASE={flags}"),
        *("-DPLACEWIRE_SANITIZE=address,undefined", f"-DPython_EXECUTABLE={sys.executable}"),
    )
    run("cmake", "--build", tree, "--target", *targets)
    shutil.rmtree(package, ignore_errors=True)
    for source in PACKAGES:
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / source, package / Path(source).name, ignore=ignored)
    for pattern, destination in PLACES.items():
        for built in tree.glob(pattern):
            (package / destination).mkdir(exist_ok=True)
            shutil.copy(built, package / destination)
    return package


def sanitized_environment(package: Path) -> dict[str, str]:
    """Return the variables for a Python that loads the modules in `package`.

    Python's own allocator is replaced by malloc, so that the sanitizers see every object.
    """
    libraries = [
        subprocess.run(
            [COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return {
        "LD_PRELOAD": " ".join(libraries),
        # Python leaves much to be freed by the end of the process.
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join(map(str, (package, ROOT, sysconfig.get_path("platlib")))),
    }


def main(count: str = "1000000", seed: str = "1") -> None:
    """Build everything, and run all drivers."""
    files = sorted(CORPUS.glob("*.pte"))
    if not files:
        raise SystemExit(f"{CORPUS} holds no .pte file")
    calls = str(max(int(count) // 10_000, 1))
    run(sys.executable, "-m", "tests.fuzz.extreme_arguments", calls, seed)
    environment = sanitized_environment(build_package(BUILD, "_native", "_runtime"))
    python = (*PYTHON, "-m")
    run(*python, "tests.fuzz.mutate_codec", CORPUS, count, seed, environment=environment)
    tenth = str(max(int(count) // 10, 1))
    run(*python, "tests.fuzz.mutate_pte", CORPUS, tenth, seed, environment=environment)
    driver = BUILD / "mutate_program"
    run(
        *(COMPILER, "-std=c++17", *FLAGS, "-Igenerated/include", "-Itests/schema/cpp"),
        *("tests/fuzz/mutate_program.cpp", "-o", driver),
    )
    run(driver, count, seed, *files)
    walk = walk_driver(BUILD, COMPILER)
    run(walk, count, seed, "program", write_program_description(BUILD), *files)
    execution = execution_driver(BUILD / "execution", COMPILER)
    seeds = write_seeds(BUILD / "seeds")
    run(execution, count, seed, *files, *seeds, environment=EXECUTION_ENVIRONMENT)


if __name__ == "__main__":
    main(*sys.argv[1:])
