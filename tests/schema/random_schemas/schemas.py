"""Writes random schemas that are valid, over everything that the codecs handle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from hypothesis import strategies as st

from .defaults import enum_default, scalar_default
from .names import NAMESPACES, NamePool

INTEGERS = ("byte", "ubyte", "short", "ushort", "int", "uint", "long", "ulong")
SCALARS = (*INTEGERS, "bool", "float", "double", "int8", "uint16", "float32")
SIZES = {
    **dict.fromkeys(("byte", "ubyte", "bool", "int8"), 1),
    **dict.fromkeys(("short", "ushort", "uint16"), 2),
    **dict.fromkeys(("int", "uint", "float", "float32"), 4),
    **dict.fromkeys(("long", "ulong", "double"), 8),
}


@dataclass(frozen=True)
class RandomSchema:
    """A schema as text.

    Attributes:
        files: Text by file name; the first includes the others.
        root: Full name of the root table.
    """

    files: dict[str, str]
    root: str

    def write(self, folder: Path) -> Path:
        """Write all files into a folder; return the one that includes the others."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder / next(iter(self.files))


def schemas() -> st.SearchStrategy[RandomSchema]:
    """Return a strategy for schemas."""
    return st.randoms(use_true_random=False).map(random_schema)


def random_schema(random: Random, prefix: str = "") -> RandomSchema:
    """Return a valid schema; the same `random` gives the same one.

    Args:
        random: Decides everything.
        prefix: Namespace that all others are in; without it, some things are in the global one.
    """
    return _Writer(random, prefix).schema()


@dataclass
class _Definition:
    """What later definitions need to know of one.

    Attributes:
        rank: Its place in the order in which tables may need each other.
    """

    kind: str
    name: str
    namespace: str
    rank: int = 0
    has_zero: bool = True
    is_flags: bool = False
    underlying: str = ""
    values: list[tuple[str, int]] = field(default_factory=list)
    alignment: int = 1
    size: int = 1
    has_end: bool = True

    @property
    def full_name(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass
class _File:
    """A file that is being written."""

    name: str
    lines: list[str] = field(default_factory=list)
    namespace: str = ""


class _Writer:
    def __init__(self, random: Random, prefix: str) -> None:
        self._random = random
        self._namespaces = self._choose_namespaces(prefix)
        # flatc's JSON takes the tag of a member `null` for no value.
        taken = {"null", *(part for name in self._namespaces for part in name.split("."))}
        self._names = NamePool(random, taken)
        self._defined: list[_Definition] = []
        self._coming: list[_Definition] = []  # tables of the file, which may be used before
        self._used: set[str] = set()

    def _choose_namespaces(self, prefix: str) -> list[str]:
        """Choose some, in the order in which they may use each other."""
        found = [prefix]
        for part in self._random.sample(NAMESPACES, self._random.randint(0, 2)):
            parent = self._random.choice([prefix, found[-1]])
            found.append(f"{parent}.{part}" if parent else part)
        self._random.shuffle(found)
        return found

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def schema(self) -> RandomSchema:
        files = [_File(f"part{number}.fbs") for number in range(self._random.randint(0, 2))]
        files.append(_File("schema.fbs"))
        for number, file in enumerate(files):
            self._write_file(file, files[:number])
        root = self._defined[-1]
        return RandomSchema(
            {file.name: "\n".join(file.lines) + "\n" for file in reversed(files)}, root.full_name
        )

    def _write_file(self, file: _File, earlier: list[_File]) -> None:
        is_entry = file.name == "schema.fbs"
        includes = earlier if is_entry else [f for f in earlier if self._chance(0.7)]
        if not is_entry and includes != earlier:
            includes = earlier  # what is defined there may be used here
        file.lines += [f'include "{other.name}";' for other in includes]
        file.lines += ['attribute "present";', "attribute rank;"]
        writers: list[Callable[[], tuple[_Definition, list[str]]]] = []
        writers += [self._enum] * self._random.randint(0, 2)
        writers += [self._struct] * self._random.randint(0, 2)
        writers += [self._union] * self._random.randint(0, 2)
        tables = self._random.randint(1, 3)
        self._coming = [self._new("table", "Table") for _ in range(tables)]
        for rank, table in enumerate(self._coming):
            table.rank = len(self._defined) + 100 * rank
        writers += [self._table] * tables
        self._random.shuffle(writers)
        for write in writers:
            definition, lines = write()
            self._place(file, definition, lines)
        if is_entry:
            root, lines = self._root()
            self._place(file, root, lines)
            file.lines += self._file_facts(root)

    def _place(self, file: _File, definition: _Definition, lines: list[str]) -> None:
        if file.namespace != definition.namespace:
            file.lines.append(f"namespace {definition.namespace};")
            file.namespace = definition.namespace
        if self._chance(0.2):
            file.lines.append(f'/// What "{definition.kind}" is \\ for.')
        file.lines += lines
        if definition not in self._defined:
            self._defined.append(definition)

    def _file_facts(self, root: _Definition) -> list[str]:
        spelled = root.full_name if self._chance(0.5) else root.name
        lines = [f"root_type {spelled};"]
        if self._chance(0.6):
            identifier = "".join(self._random.choices("ABCxyz019_ -", k=4))
            lines.append(f'file_identifier "{identifier}";')
        if self._chance(0.3):
            lines.append('file_extension "bin";')
        return lines

    def _new(self, kind: str, plain: str) -> _Definition:
        """A definition with a name, in any of the namespaces."""
        namespace = self._random.choice(self._namespaces)
        return _Definition(kind, self._names.take(plain), namespace, rank=len(self._defined))

    def _choose(
        self, kind: str, owner: _Definition, *, at_most: int | None = None
    ) -> _Definition | None:
        """Choose something that `owner` can refer to.

        Tables of this file may come later, but flatc does not find them from every other namespace.
        """
        found = [d for d in self._defined if d.kind == kind]
        if kind == "table":
            found += [
                d for d in self._coming if d not in self._defined and d.namespace == owner.namespace
            ]
        if at_most is not None:
            found = [d for d in found if d.rank < at_most]
        if not found:
            return None
        chosen = self._random.choice(found)
        self._used.add(chosen.full_name)
        return chosen

    def _refer(self, definition: _Definition, namespace: str) -> str:
        """Spell a reference as a file in `namespace` may."""
        is_coming = definition in self._coming and definition not in self._defined
        # flatc does not find what comes later by its full name from its own namespace.
        if definition.namespace == namespace and (is_coming or self._chance(0.7)):
            return definition.name
        return definition.full_name

    def _enum(self) -> tuple[_Definition, list[str]]:
        new = self._new("enum", "Enum")
        new.underlying = self._random.choice(INTEGERS)
        bits = 8 * SIZES[new.underlying]
        new.is_flags = self._chance(0.3)
        names = NamePool(self._random, {"rank", "null"})
        if new.is_flags:
            positions = sorted(
                self._random.sample(range(bits), self._random.randint(1, min(bits, 5)))
            )
            # The highest bit of a signed type is its sign.
            is_signed = not new.underlying.startswith("u")
            positions = [p for p in positions if not (is_signed and p == bits - 1)] or [0]
            written = [(names.take("FLAG"), position) for position in positions]
            new.values = [(name, 1 << position) for name, position in written]
        else:
            written = new.values = [
                (names.take("MEMBER"), value) for value in self._enum_values(new, bits)
            ]
        new.has_zero = new.is_flags or any(value == 0 for _, value in new.values)
        members = [self._enum_member(name, value) for name, value in written]
        attributes = " (bit_flags)" if new.is_flags else ""
        comma = "," if self._chance(0.3) else ""
        text = f"enum {new.name} : {new.underlying}{attributes} {{ {', '.join(members)}{comma} }}"
        return new, [text]

    def _enum_values(self, enum: _Definition, bits: int) -> list[int]:
        unsigned = enum.underlying.startswith("u")
        least = 0 if unsigned else -(1 << bits - 1)
        most = (1 << bits) - 1 if unsigned else (1 << bits - 1) - 1
        candidates = {least, most, 1, 2, 3, self._random.randint(least, most)}
        values = self._random.sample(sorted(candidates - {0}), self._random.randint(1, 4))
        return [*([0] if self._chance(0.75) else []), *values]

    def _enum_member(self, name: str, value: int) -> str:
        spelled = hex(value) if value >= 0 and self._chance(0.2) else str(value)
        attribute = f" (rank: {self._random.choice([-5, 1, 300])})" if self._chance(0.15) else ""
        return f"{name} = {spelled}{attribute}"

    def _struct(self) -> tuple[_Definition, list[str]]:
        new = self._new("struct", "Struct")
        names = self._field_names(new)
        lines = []
        for _ in range(self._random.randint(1, 4)):
            text, size, alignment = self._struct_field_type(new)
            new.alignment = max(new.alignment, alignment)
            new.size += size
            lines.append(f"  {names.take('field')} : {text};")
        attributes = ""
        if self._chance(0.25):
            new.alignment = self._random.choice([a for a in (8, 16) if a >= new.alignment])
            attributes = f" (force_align: {new.alignment})"
        return new, [f"struct {new.name}{attributes} {{", *lines, "}"]

    def _struct_field_type(self, owner: _Definition) -> tuple[str, int, int]:
        """Return a type, and what it adds at most to the size and to the alignment."""
        inner = self._choose("struct", owner) if self._chance(0.3) else None
        enum = self._choose("enum", owner) if self._chance(0.3) else None
        if inner is not None and inner.size < 300:
            text, size = self._refer(inner, owner.namespace), inner.size
            alignment = inner.alignment
        elif enum is not None and enum.has_zero:
            text, size = self._refer(enum, owner.namespace), SIZES[enum.underlying]
            alignment = size
        else:
            text = self._random.choice(SCALARS)
            size = alignment = SIZES[text]
        if self._chance(0.3):
            length = self._random.randint(1, 4)
            return f"[{text}:{length}]", length * (size + alignment), alignment
        return text, size + alignment, alignment

    def _field_names(self, owner: _Definition) -> NamePool:
        """Names that are not those of types, which flatc minds."""
        types = {d.name for d in (*self._defined, *self._coming, owner)}
        return NamePool(self._random, types)

    def _union(self) -> tuple[_Definition, list[str]]:
        new = self._new("union", "Union")
        new.underlying = self._random.choice(["", "", "", *INTEGERS])
        types = {d.name for d in (*self._defined, *self._coming)}
        names = NamePool(self._random, {"NONE", "null", *types})
        members: list[str] = []
        plain: set[str] = set()
        new.has_end = False
        for _ in range(self._random.randint(1, 4)):
            type_, ends = self._union_member_type(new)
            new.has_end |= ends
            # One class stands for a type by its name and by its full name, so they cannot be two.
            name = type_.rpartition(".")[2]
            if type_ == "string" or name in plain or self._chance(0.5):
                members.append(f"{names.take('member')} : {type_}")
            else:
                plain.add(name)
                members.append(type_)
        if not new.has_end:
            members.append(f"{names.take('member')} : string")
            new.has_end = True
        tags = self._tags(len(members), new.underlying or "ubyte")
        if tags:
            members = [f"{m} = {tag}" for m, tag in zip(members, tags, strict=True)]
        underlying = f" : {new.underlying}" if new.underlying else ""
        return new, [f"union {new.name}{underlying} {{ {', '.join(members)} }}"]

    def _union_member_type(self, owner: _Definition) -> tuple[str, bool]:
        """Return a type, and whether an object of it needs no table that is yet to come."""
        kind = self._random.choice(["table", "table", "struct", "string"])
        chosen = self._choose(kind, owner) if kind != "string" else None
        if chosen is None:
            return "string", True
        return self._refer(chosen, owner.namespace), kind == "struct"

    def _tags(self, count: int, underlying: str) -> list[int]:
        if self._chance(0.6):
            return []
        bits = 8 * SIZES[underlying] - (0 if underlying.startswith("u") else 1)
        most = min((1 << bits) - 1, 1 << 40)
        tags = self._random.sample(range(1, most if self._chance(0.5) else 20), count)
        return tags if self._chance(0.3) else sorted(tags)

    def _table(self) -> tuple[_Definition, list[str]]:
        waiting = [table for table in self._coming if table not in self._defined]
        new = waiting[0]
        return new, self._table_text(new, [self._field(new) for _ in range(self._field_count())])

    def _field_count(self) -> int:
        return self._random.choice([0, 1, 2, 3, 5, 8])

    def _root(self) -> tuple[_Definition, list[str]]:
        """The last table: it refers to everything that nothing else refers to."""
        new = self._new("table", "Root")
        fields = [self._field(new) for _ in range(self._field_count())]
        for definition in self._defined:
            if definition.full_name in self._used and self._chance(0.5):
                continue
            reference = self._refer(definition, new.namespace)
            if self._chance(0.3):
                fields.append(_Field(f"[{reference}]", is_union=definition.kind == "union"))
            elif definition.kind == "enum" and not definition.has_zero:
                fields.append(_Field(reference, " = null"))
            else:
                fields.append(_Field(reference, is_union=definition.kind == "union"))
        return new, self._table_text(new, fields)

    def _table_text(self, table: _Definition, fields: list[_Field]) -> list[str]:
        names = self._field_names(table)
        ids = self._ids(fields)
        may_have_key = self._chance(0.3)
        lines = []
        for number, one in enumerate(fields):
            attributes = list(one.attributes)
            if may_have_key and one.may_be_key and not attributes:
                attributes.append("key")
                may_have_key = False
            if ids:
                attributes.append(f"id: {ids[number]}")
            self._random.shuffle(attributes)
            written = f" ({', '.join(attributes)})" if attributes else ""
            if self._chance(0.1):
                lines.append("  /// A field.")
            lines.append(f"  {names.take('field')} : {one.type}{one.default}{written};")
        return [f"table {table.name} {{", *lines, "}"]

    def _ids(self, fields: list[_Field]) -> list[int]:
        """Return ids in shuffled order; none if the fields are to be numbered as they come."""
        if self._chance(0.65):
            return []
        order = list(range(len(fields)))
        self._random.shuffle(order)
        ids = [0] * len(fields)
        following = 0
        for number in order:
            following += 1 if fields[number].is_union else 0
            ids[number] = following
            following += 1
        return ids

    def _field(self, owner: _Definition) -> _Field:
        made = self._typed_field(owner)
        if not made.attributes and self._chance(0.06):
            made.attributes.append("deprecated")
            made.may_be_key = False
        return made

    def _typed_field(self, owner: _Definition) -> _Field:
        kind = self._random.choice(
            ["scalar", "scalar", "enum", "string", "struct", "table", "union", "vector", "vector"]
        )
        if kind == "scalar":
            type_ = self._random.choice(SCALARS)
            default = scalar_default(self._random, type_)
            return _Field(type_, default, may_be_key=default != " = null")
        if kind == "string":
            if self._chance(0.25):
                text = self._random.choice(["", "text", "gr\u00f6\u00dfe", "a b"])
                return _Field("string", f' = "{text}"')
            return _Field("string", attributes=self._mandatory(), may_be_key=True)
        if kind == "vector":
            return self._vector(owner)
        at_most = owner.rank if self._chance(0.2) else None
        chosen = self._choose(kind, owner, at_most=at_most if kind == "table" else None)
        if chosen is None:
            return _Field("bool")
        reference = self._refer(chosen, owner.namespace)
        if kind == "enum":
            default = enum_default(
                self._random, chosen.values, chosen.has_zero, is_flags=chosen.is_flags
            )
            return _Field(reference, default)
        may_be_mandatory = kind != "table" or at_most is not None
        attributes = self._mandatory() if may_be_mandatory else []
        return _Field(reference, attributes=attributes, is_union=kind == "union")

    def _mandatory(self) -> list[str]:
        return self._random.choice([[], [], [], ["required"], ["present"]])

    def _vector(self, owner: _Definition) -> _Field:
        kind = self._random.choice(
            ["scalar", "ubyte", "enum", "string", "struct", "table", "union"]
        )
        attributes = self._mandatory()
        if kind in ("scalar", "ubyte"):
            element = "ubyte" if kind == "ubyte" else self._random.choice(SCALARS)
        elif kind == "string":
            element = "string"
        else:
            chosen = self._choose(kind, owner)
            element = self._refer(chosen, owner.namespace) if chosen else "short"
            kind = kind if chosen else "scalar"
        if kind in ("scalar", "ubyte", "struct") and self._chance(0.2):
            attributes.append(f"force_align: {self._random.choice([1, 2, 4, 8, 16, 32, 64])}")
        if kind == "ubyte" and not attributes and (root := self._choose("table", owner)):
            attributes.append(f'nested_flatbuffer: "{root.full_name}"')
        may_be_empty = not attributes and kind != "union"
        default = " = []" if may_be_empty and self._chance(0.25) else ""
        return _Field(f"[{element}]", default, attributes=attributes, is_union=kind == "union")


@dataclass
class _Field:
    """A field of a table that has no name yet."""

    type: str
    default: str = ""
    attributes: list[str] = field(default_factory=list)
    is_union: bool = False
    may_be_key: bool = False
