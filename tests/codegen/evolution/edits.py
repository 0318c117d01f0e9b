"""Edits of schemas as `random_schemas` writes them: some keep files readable, and some do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from placewire_codegen.model import EnumDefinition, Schema, TableDefinition, UnionDefinition

_FIELD = re.compile(r"  (\w+) : (.+?)((?: = .+?)?)((?: \([^()]*\))?);")
_BLOCK = re.compile(r"(table|struct) (\w+)(?: \([^()]*\))? \{")
_ONE_LINE = re.compile(r"(enum|union) (\w+)(.*?) \{ (.*?),? \}")

Files = dict[str, list[str]]
Edit = Callable[["Text"], bool]
"""Changes a text; returns whether there was something to change."""


@dataclass(frozen=True)
class Block:
    """A definition in a text: its kind, full name, file, and first and last line."""

    kind: str
    full_name: str
    file: str
    first: int
    last: int


class Text:
    """The files of a schema as lines, and what they mean."""

    def __init__(self, files: dict[str, str], schema: Schema, random: Random) -> None:
        self.files: Files = {name: text.splitlines() for name, text in files.items()}
        self.schema = schema
        self.random = random
        taken = re.findall(r"brand_new_(\d+)", "\n".join(files.values()).lower())
        self._count = max(map(int, taken), default=0)  # a rename takes a name away again

    def written(self) -> dict[str, str]:
        return {name: "\n".join(lines) + "\n" for name, lines in self.files.items()}

    def new_name(self) -> str:
        self._count += 1
        return f"brand_new_{self._count}"

    def blocks(self, *kinds: str) -> list[Block]:
        """Return the definitions of some kinds in random order."""
        found = [
            block
            for name, lines in self.files.items()
            for block in _blocks(name, lines)
            if block.kind in kinds
        ]
        self.random.shuffle(found)
        return found

    def fields(self, block: Block) -> list[int]:
        """Return the numbers of the lines that are fields."""
        lines = self.files[block.file]
        return [n for n in range(block.first + 1, block.last) if _FIELD.fullmatch(lines[n])]

    def has_ids(self, block: Block) -> bool:
        lines = self.files[block.file]
        return any("id: " in lines[number] for number in self.fields(block))

    def next_id(self, block: Block) -> int:
        """Return the id that a new field of a table must have."""
        table = self.table(block)
        return max((field.id for field in table.fields), default=-1) + 1

    def table(self, block: Block) -> TableDefinition:
        return self.schema.table(block.full_name)


def _blocks(name: str, lines: list[str]) -> Iterator[Block]:
    namespace = ""
    for number, line in enumerate(lines):
        if line.startswith("namespace "):
            namespace = line.removeprefix("namespace ").rstrip(";").strip()
        found = _BLOCK.fullmatch(line) or _ONE_LINE.fullmatch(line)
        if found:
            full_name = f"{namespace}.{found[2]}" if namespace else found[2]
            is_block = found[1] in ("table", "struct")
            last = lines.index("}", number) if is_block else number
            yield Block(found[1], full_name, name, number, last)


# What may happen to a schema.


def append_field(text: Text) -> bool:
    block = text.blocks("table")[0]
    if text.schema.definitions.get(block.full_name) is None:
        return False
    id_ = f" (id: {text.next_id(block)})" if text.has_ids(block) else ""
    type_ = text.random.choice(["int", "string", "[ubyte]", "double = 2.5", "bool = null"])
    text.files[block.file].insert(block.last, f"  {text.new_name()} : {type_}{id_};")
    return True


def append_enum_member(text: Text) -> bool:
    for block in text.blocks("enum"):
        enum = text.schema.enum(block.full_name)
        number = _free_number(enum)
        if number is not None:
            _append_inside(text, block, f"{text.new_name()} = {number}")
            return True
    return False


def _free_number(enum: EnumDefinition) -> int | None:
    taken = {member.value for member in enum.members}
    if enum.bit_flags:
        bits = 8 * enum.underlying.size - (1 if enum.underlying.is_signed else 0)
        return next((bit for bit in range(bits) if 1 << bit not in taken), None)
    least, most = enum.underlying.minimum, enum.underlying.maximum
    return next((n for n in range(5, 100) if least <= n <= most and n not in taken), None)


def append_union_member(text: Text) -> bool:
    for block in text.blocks("union"):
        tag = max(member.tag for member in text.schema.union(block.full_name).members) + 1
        if tag <= text.schema.union(block.full_name).underlying.maximum:
            _append_inside(text, block, f"{text.new_name()} : string = {tag}")
            return True
    return False


def _append_inside(text: Text, block: Block, member: str) -> None:
    line = text.files[block.file][block.first]
    head, members = re.fullmatch(r"(.*?\{ )(.*?),? \}", line, re.DOTALL).groups()  # type: ignore[union-attr]
    text.files[block.file][block.first] = f"{head}{members}, {member} }}"


def add_comment(text: Text) -> bool:
    block = text.random.choice(text.blocks("table", "struct", "enum", "union"))
    text.files[block.file].insert(block.first, "/// Said in other words.")
    return True


def rename_field(text: Text) -> bool:
    for block in text.blocks("table", "struct"):
        numbers = text.fields(block)
        if numbers:
            number = text.random.choice(numbers)
            line = text.files[block.file][number]
            _, _, rest = line.partition(" : ")
            text.files[block.file][number] = f"  {text.new_name()} : {rest}"
            return True
    return False


def reorder_fields(text: Text) -> bool:
    for block in text.blocks("table"):
        numbers = text.fields(block)
        if len(numbers) > 1 and text.has_ids(block):
            lines = text.files[block.file]
            shuffled = [lines[number] for number in numbers]
            text.random.shuffle(shuffled)
            for number, line in zip(numbers, shuffled, strict=True):
                lines[number] = line
            return True
    return False


def add_table(text: Text) -> bool:
    text.files[next(iter(text.files))].append(f"table {text.new_name().title()} {{ x: int; }}")
    return True


ALLOWED: dict[str, Edit] = {
    "append a field": append_field,
    "append a member to an enum": append_enum_member,
    "append a member to a union": append_union_member,
    "add a comment": add_comment,
    "rename a field": rename_field,
    "reorder fields that have ids": reorder_fields,
    "add a table": add_table,
}


# What must not happen to it.


def delete_field(text: Text) -> bool:
    for block in text.blocks("table"):
        numbers = text.fields(block)
        if not numbers:
            continue
        number = text.random.choice(numbers)
        if text.has_ids(block):
            last = max(text.table(block).fields, key=lambda field: field.id).name
            number = next(n for n in numbers if _name(text.files[block.file][n]) == last)
        del text.files[block.file][number]
        return True
    return False


def swap_fields(text: Text) -> bool:
    for block in text.blocks("table"):
        numbers = text.fields(block)
        if len(numbers) > 1 and not text.has_ids(block):
            lines = text.files[block.file]
            one, other = text.random.sample(numbers, 2)
            lines[one], lines[other] = lines[other], lines[one]
            return True
    return False


def insert_field(text: Text) -> bool:
    for block in text.blocks("table"):
        numbers = text.fields(block)
        if numbers and not text.has_ids(block):
            text.files[block.file].insert(numbers[0], f"  {text.new_name()} : int;")
            return True
    return False


def retype_field(text: Text) -> bool:
    for block in text.blocks("table"):
        lines = text.files[block.file]
        for field in text.table(block).fields:
            if (field.type.element or field.type).kind.value == "union":
                continue  # it has two slots, so ids would have to change
            number = next(n for n in text.fields(block) if _name(lines[n]) == field.name)
            id_ = f" (id: {field.id})" if text.has_ids(block) else ""
            type_ = "[string]" if field.type.kind.value == "string" else "string"
            lines[number] = f"  {field.name} : {type_}{id_};"
            return True
    return False


def require_field(text: Text) -> bool:
    for block in text.blocks("table"):
        lines = text.files[block.file]
        for field in text.table(block).fields:
            is_free = not (field.required or field.present or field.deprecated)
            if field.type.is_bytes and is_free and field.default_content is None:
                number = next(n for n in text.fields(block) if _name(lines[n]) == field.name)
                line = lines[number]
                lines[number] = (
                    line.replace(");", ", required);")
                    if ");" in line
                    else f"{line[:-1]} (required);"
                )
                return True
    return False


def grow_struct(text: Text) -> bool:
    for block in text.blocks("struct"):
        text.files[block.file].insert(block.last, f"  {text.new_name()} : [long:3];")
        return True
    return False


def retag_union(text: Text) -> bool:
    for block in text.blocks("union"):
        union = text.schema.union(block.full_name)
        if union.underlying.maximum > max(member.tag for member in union.members) + 1:
            lines = text.files[block.file]
            lines[block.first] = re.sub(
                r"(?: = \d+)?( )\}",
                rf" = {_highest(union) + 1} }}",
                lines[block.first].replace(", }", " }"),
            )
            return True
    return False


def _highest(union: UnionDefinition) -> int:
    return max(member.tag for member in union.members)


def change_identifier(text: Text) -> bool:
    lines = text.files[next(iter(text.files))]
    for number, line in enumerate(lines):
        if line.startswith("file_identifier"):
            lines[number] = 'file_identifier "!new";'
            return True
    lines.append('file_identifier "!new";')
    return True


def _name(line: str) -> str:
    return line.strip().partition(" ")[0]


FORBIDDEN: dict[str, Edit] = {
    "delete a field": delete_field,
    "swap fields": swap_fields,
    "insert a field in front": insert_field,
    "take another type": retype_field,
    "require a field": require_field,
    "grow a struct": grow_struct,
    "change a tag": retag_union,
    "change the identifier": change_identifier,
}
