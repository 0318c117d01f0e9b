"""libplacewire for C++: what it exports, that each header stands alone, and its small types."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from placewire_schema.program import DeviceType

from placewire import _runtime
from tests.runtime.validate_driver import RUNTIME, SOURCES
from tests.schema.cpp.building import HEADERS, ROOT, SANITIZERS, WARNINGS, compile_cpp, compilers

INCLUDE = RUNTIME / "include"
CUDA_INCLUDE = ROOT / "src" / "backends" / "cuda" / "include"
PUBLIC = [
    *sorted((INCLUDE / "placewire" / "runtime").glob("*.h")),
    *sorted((CUDA_INCLUDE / "placewire" / "backends" / "cuda").glob("*.h")),
]


@pytest.fixture(params=["g++", "clang++"])
def any_compiler(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name not in compilers():
        pytest.skip(f"{name} is not installed")
    return name


def test_there_are_public_headers() -> None:
    assert {"validate.h", "finding.h", "device.h", "result.h", "allocator.h", "buffers.h"} <= {
        path.name for path in PUBLIC
    }
    assert "cuda_allocator.h" in {path.name for path in PUBLIC}


@pytest.mark.parametrize("header", PUBLIC, ids=lambda path: path.name)
def test_a_public_header_stands_alone(any_compiler: str, header: Path) -> None:
    command = [any_compiler, "-std=c++17", "-fsyntax-only", *WARNINGS, f"-I{HEADERS}"]
    source = f'#include "{header}"\n'
    result = subprocess.run(
        [*command, f"-I{INCLUDE}", f"-I{CUDA_INCLUDE}", "-x", "c++", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[:4000]


def test_results_and_devices_do_what_their_headers_say(any_compiler: str, tmp_path: Path) -> None:
    sources = [str(RUNTIME / "device.cpp"), str(RUNTIME / "text.cpp")]
    program = compile_cpp(
        SOURCES / "core_checks.cpp",
        tmp_path / "checks",
        *SANITIZERS,
        *sources,
        include=(HEADERS, INCLUDE, RUNTIME),
        compiler=any_compiler,
    )
    result = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "")


def loaded_library() -> Path:
    """The libplacewire.so that this process has loaded."""
    assert _runtime.MODEL_STAMP
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    found = re.search(r"\S+/libplacewire\.so", maps)
    assert found, "the extension is not linked to libplacewire.so"
    return Path(found.group())


def test_an_allocator_of_another_library_is_found_from_python(tmp_path: Path) -> None:
    found = compilers()
    if not found:
        pytest.skip("no C++ compiler: neither $CXX nor g++, clang++ or c++ is there")
    source = tmp_path / "library.cpp"
    source.write_text(
        '#include "recording_allocator.h"\n'
        'extern "C" bool register_it() {\n'
        "  return placewire::register_allocator(std::make_shared<cases::RecordingAllocator>(\n"
        "      placewire::DeviceType::CUDA)).ok();\n"
        "}\n"
    )
    path = compile_cpp(
        source,
        tmp_path / "library.so",
        *("-shared", "-fPIC", "-Wl,--no-as-needed", str(loaded_library())),
        include=(HEADERS, INCLUDE, SOURCES),
        compiler=found[0],
    )
    library = ctypes.CDLL(str(path))
    library.register_it.restype = ctypes.c_bool
    assert not _runtime.has_allocator(DeviceType.CUDA, 0)
    assert library.register_it()
    buffer = _runtime.DeviceMemoryBuffer(8, DeviceType.CUDA, 0)
    buffer.write(b"12345678")
    assert buffer.read(8) == b"12345678"
    del buffer
    _runtime.unregister_allocator(DeviceType.CUDA)
    assert not _runtime.has_allocator(DeviceType.CUDA, 0)


def test_the_library_exports_what_its_headers_declare_and_nothing_else() -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm (binutils) is not installed")
    listing = subprocess.run(
        [nm, "-DC", "--defined-only", loaded_library()], capture_output=True, text=True, check=True
    ).stdout
    exported = set(re.findall(r" T (?:placewire::)(?:\w+::)*(\w+)", listing))
    others = re.findall(r" [TBD] (?!placewire::)(?!_init|_fini).*", listing)
    declarations = "".join(
        path.read_text(encoding="utf-8") for path in PUBLIC if path.name != "api.h"
    )
    declared = set(re.findall(r"PLACEWIRE_API [^;{(]*?(\w+)=?\(", declarations))
    assert declared
    assert exported == declared
    assert others == []
