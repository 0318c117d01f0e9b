"""A batch of random schemas, all in one package, and objects of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from placewire_codegen.targets.cpp_names import CppNames

from ..packages import Package, examples

SEEDS = tuple(range(12))
OBJECTS = 25
"""Objects of each root table."""


@dataclass(frozen=True)
class Batch:
    """The package of all schemas.

    Attributes:
        package: What was generated.
        entries: The file of each schema by the full name of its root table.
    """

    package: Package
    entries: dict[str, Path]

    @cached_property
    def types(self) -> dict[str, type[Any]]:
        """The class of each root table by its full name."""
        return {root: self.package.class_of(root) for root in self.entries}

    @cached_property
    def objects(self) -> list[tuple[str, Any]]:
        """Pairs of the full name of a root table and an object."""
        return [
            (root, obj) for root, type_ in self.types.items() for obj in examples(type_, OBJECTS)
        ]

    @cached_property
    def packed(self) -> list[tuple[str, bytes]]:
        """Pairs of the full name of a root table and the bytes of an object."""
        pack = self.package.module().pack
        return [(root, pack(obj)) for root, obj in self.objects]


def driver_source(package: Package) -> str:
    """Return a C++ program that serves `driver.h` for all root tables.

    With `mutate COUNT SEED` it does what `mutate_cases.h` says.
    """
    names = CppNames(package.schema, package.config)
    audited = []
    checked = []
    headers = set()
    for root in package.schema.roots:
        table = package.schema.table(root.table)
        headers |= {names.include(table.namespace, name) for name in ("audit.h", "verifier.h")}
        type_ = f"{names.namespace}::{names.module(table.namespace)}::{names.local_type(table)}"
        audited.append(f'      audited_root<{type_}>("{root.table}"),')
        checked.append(f'        checked_root<{type_}>("{root.table}"),')
    includes = [f'#include "{header}"' for header in sorted(headers)]
    return "\n".join(
        [
            *includes,
            '#include "mutate_cases.h"',
            '#include "print_findings.h"',
            "",
            "int main(int argument_count, char** arguments) {",
            "  using namespace placewire::tests;",
            '  if (argument_count == 4 && std::string_view(arguments[1]) == "mutate") {',
            "    const std::uint64_t count = std::strtoull(arguments[2], nullptr, 10);",
            "    return mutate_cases(count, std::strtoull(arguments[3], nullptr, 10), {",
            *checked,
            "    });",
            "  }",
            "  return serve(argument_count, arguments, {",
            *audited,
            "  });",
            "}",
            "",
        ]
    )
