"""Names for random schemas: half of them plain, half with a meaning in some language."""

from __future__ import annotations

from random import Random

PYTHON = "class def None True from import lambda self cls is in not and pass global async match del"
BUILTINS = "type list str bytes dict object len id property super print range tuple set Exception"
CPP = "template operator delete new this private auto int8_t std NULL EOF errno major linux union_"
SCHEMA = "table struct enum union namespace attribute root_type include null rpc_service"
OURS = """Object Vector Bytes Path Rule Box Type Alignments pack unpack verify view describe audit
    wire objects position_ table_ visit_fields kSize kSlots result buffer value tag path index
    field dataclass Any Final IntEnum annotations Visitor Builder reflection size data begin end
    UnknownMember visit each_field fields name mro Python schema views enums""".replace("\n", " ")
SHAPES = "_ _x x_ x__y __dunder__ __private _Upper X1 a1b2 camelCase PascalCase ALL_CAPS snake_case"

AWKWARD = tuple(
    word for line in (PYTHON, BUILTINS, CPP, SCHEMA, OURS, SHAPES) for word in line.split()
)
NAMESPACES = ("class", "std", "wire", "inner", "Deep", "x_", "objects", "None", "import_", "pack")


class NamePool:
    """Hands out names of one scope, none twice."""

    def __init__(self, random: Random, taken: set[str] | None = None) -> None:
        self._random = random
        self._taken = set(taken or ())

    def take(self, plain: str) -> str:
        """Return a new name: `plain` with a number, or one that means something somewhere."""
        while True:
            if self._random.random() < 0.5:
                name = f"{plain}{len(self._taken)}"
            else:
                name = self._random.choice(AWKWARD)
            if name not in self._taken:
                self._taken.add(name)
                return name
