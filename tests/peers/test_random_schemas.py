"""flatc understands random schemas as we do, and reads and writes their objects as we do."""

from __future__ import annotations

import enum
import json
import re
import subprocess
from dataclasses import fields, is_dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.peers.test_binary_schemas import check_reading, compare
from tests.peers.test_codecs_against_flatc import parse, same
from tests.schema.agreement import JsonWriter
from tests.schema.packages import Package, examples, generate_package
from tests.schema.random_schemas.schemas import RandomSchema, random_schema, schemas

SCHEMAS = 20
FLOAT32 = 1e-6
"""Tolerance of numbers: flatc prints six decimals of a float."""

OBJECTS = 12
"""Objects of each root table."""

_NOT_IN_JSON = re.compile(
    r"^union \w+ :|deprecated|nested_flatbuffer|force_align: (1|2|4|64)\b", re.MULTILINE
)
"""What flatc's JSON cannot do: unions with a tag type, and alignments that it accepts only in the
schema. Of deprecated fields it shows some. It writes nested buffers without their identifier; they
are compared in `test_nested_and_keys_against_flatc.py`."""

_DEFAULT = re.compile(r"/default_(integer|real): flatc (\S+), we (\S+)$")


class Sample(NamedTuple):
    """A schema, as a file that flatc can read JSON by, and packed objects of its root."""

    package: Package
    schema: Path
    objects: list[Any]

    @property
    def root(self) -> type[Any]:
        return self.package.class_of(self.package.schema.roots[0].table)

    @property
    def has_keys(self) -> bool:
        """Whether flatc may sort a vector of tables."""
        return any(field.key for table in self.package.schema.tables for field in table.fields)

    @property
    def module(self) -> ModuleType:
        return self.package.module()


def is_explained(difference: str) -> bool:
    """Whether flatc loses a default, one above 2^63 - 1 or -0.0, or says that it read `: ubyte`."""
    if difference.endswith("/underlying_type/base_type: flatc UByte, we UType"):
        return True
    found = _DEFAULT.search(difference)
    if found is None:
        return False
    kind, theirs, ours = found.groups()
    return float(theirs) == 0 and (float(ours) == 0 if kind == "real" else int(ours) < 0)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # to look for a simpler schema takes many runs of flatc
    suppress_health_check=list(HealthCheck),
)
@given(schema=schemas())
def test_flatc_and_we_write_the_same_binary_schema(flatc: Path, schema: RandomSchema) -> None:
    with TemporaryDirectory() as folder:
        entry = schema.write(Path(folder) / "schemas")
        found = [line for line in compare(flatc, entry, Path(folder)) if not is_explained(line)]
        assert found == []
        # A binary schema does not hold the default of a string, so it is not read.
        if not any(": string = " in text for text in schema.files.values()):
            check_reading(flatc, entry, Path(folder))


def sample(seed: int, folder: Path) -> Sample | None:
    """Generate a package and objects; None if flatc has no JSON for the schema."""
    schema = random_schema(Random(seed))
    if any(_NOT_IN_JSON.search(text) for text in schema.files.values()):
        return None
    entry = schema.write(folder / "schemas")
    package = generate_package([entry], folder, name=f"flatc_{seed}", targets=("python",))
    found = examples(package.class_of(schema.root), OBJECTS)
    return Sample(package, entry, [obj for obj in found if not holds_none_in_a_list(obj)])


def run(flatc: Path, *arguments: str | Path) -> None:
    done = subprocess.run([flatc, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]} {done.stderr[-2000:]}"


def holds_none_in_a_list(value: Any) -> bool:
    """Whether a vector of unions has an element without a value, for which flatc has no text."""
    if is_dataclass(value):
        return any(holds_none_in_a_list(getattr(value, field.name)) for field in fields(value))
    return isinstance(value, list) and any(
        item is None or holds_none_in_a_list(item) for item in value
    )


def without_null(node: Any) -> Any:
    """Leave out the optional scalars that flatc says are absent."""
    if isinstance(node, dict):
        return {name: without_null(value) for name, value in node.items() if value is not None}
    return [without_null(item) for item in node] if isinstance(node, list) else node


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    """Schemas that flatc has JSON for."""
    found: list[Sample] = []
    seed = 1000
    while len(found) < SCHEMAS:
        made = sample(seed, tmp_path_factory.mktemp(f"schema{seed}"))
        found += [made] if made else []
        seed += 1
    assert sum(len(each.objects) for each in found) > SCHEMAS * OBJECTS // 2
    return found


class FlatcJson(JsonWriter):
    """Says what an object holds as flatc does, with all flags by their names."""

    def __init__(self, package: Package) -> None:
        super().__init__(package.name, package.member_names())

    def flags(self, value: enum.IntFlag) -> int | str | None:
        return " ".join(str(self._member_name(flag)) for flag in type(value) if flag in value) or 0


def test_flatc_reads_what_was_packed(flatc: Path, samples: list[Sample], tmp_path: Path) -> None:
    for number, each in enumerate(samples):
        folder = tmp_path / str(number)
        folder.mkdir()
        files = [folder / f"{i}.bin" for i in range(len(each.objects))]
        for file, obj in zip(files, each.objects, strict=True):
            file.write_bytes(each.module.pack(obj))
        options = ["--json", "--strict-json", "--defaults-json", "--raw-binary"]
        run(flatc, *options, "-o", folder, each.schema, "--", *files)
        as_json = FlatcJson(each.package).value
        for file, obj in zip(files, each.objects, strict=True):
            found = without_null(parse(file.with_suffix(".json").read_text(encoding="utf-8")))
            assert same(found, as_json(obj), FLOAT32), (each.schema, obj)


def test_we_read_what_flatc_writes(flatc: Path, samples: list[Sample], tmp_path: Path) -> None:
    without_keys = [each for each in samples if not each.has_keys]
    assert len(without_keys) > SCHEMAS // 3
    for number, each in enumerate(without_keys):
        folder = tmp_path / str(number)
        folder.mkdir()
        as_json = FlatcJson(each.package).value
        files = [folder / f"{i}.json" for i in range(len(each.objects))]
        for file, obj in zip(files, each.objects, strict=True):
            file.write_text(json.dumps(as_json(obj)), encoding="utf-8")
        run(flatc, "-b", "-o", folder, each.schema, *files)
        for file, obj in zip(files, each.objects, strict=True):
            data = next(folder.glob(f"{file.stem}.b*")).read_bytes()
            assert each.module.verify(each.root, data) == []
            found = as_json(each.module.unpack(each.root, data))
            assert same(found, as_json(obj), FLOAT32), (each.schema, obj)
