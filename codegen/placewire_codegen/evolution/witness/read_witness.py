"""Reads witnesses with the code generated from either schema; needs the standard library alone.

`placewire compat --witness DIR` talks to it over a pipe, and leaves a copy in DIR:

    python DIR/read_witness.py WITNESS
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

Json = Any
"""What `json` can write.

Tables and structs are `{"table" | "struct": full name, "fields": {slot or offset: value}}`, unions
`{"tag": number, "value": value}`, vectors `{"items": [...], "missed": [...]}`, enums
`{"enum": number}`, floats `{"float": hexadecimal}`, bytes `{"bytes": hexadecimal}`, and bytes that
are a FlatBuffer `{"nested": table}`.
"""


class Package:
    """A generated package: packs and reads by the full names and slots of its schema."""

    def __init__(self, name: str) -> None:
        self.package = import_module(name)
        self.reflection: ModuleType = import_module(f"{name}.reflection")
        self.tables = {info.wire_name: info for info in self.reflection.tables().values()}

    def pack(self, table: str, value: Json) -> bytes:
        """Return the FlatBuffer of a table."""
        packed: bytes = self.package.pack(self._object(self.tables[table].type, value))
        return packed

    def read(self, table: str, buffer: bytes, *, as_file: bool, check_identifier: bool) -> Json:
        """Return what generated code reads, and what it finds wrong.

        Args:
            table: Full name of the table that the buffer begins with.
            buffer: The file.
            as_file: There must be a function for files that begin with the table.
            check_identifier: Refuse files with another identifier.
        """
        info = self.tables.get(table)
        if info is None or (as_file and info.root is None):
            rule = "NO_ROOT" if info else "NO_TABLE"
            message = f"no generated code reads files that begin with a {table}"
            return {"value": None, "findings": [{"rule": rule, "path": "", "message": message}]}
        findings = self.package.verify(info.type, buffer, check_identifier=check_identifier)
        said = [{"rule": f.rule, "path": f.path, "message": f.message} for f in findings]
        try:
            obj = self.package.unpack(
                info.type, buffer, strict=False, check_identifier=check_identifier
            )
        except self.package.UnpackError:
            return {"value": None, "findings": said}
        return {"value": self._plain(obj, self._table), "findings": said, "shown": repr(obj)}

    def _object(self, type_: type[Any], value: Json) -> Any:
        """Make the object of a table or struct."""
        is_table = "table" in value
        describe = self.reflection.describe if is_table else self.reflection.describe_struct
        known = {str(f.id if is_table else f.offset): f for f in describe(type_).fields}
        return type_(
            **{
                known[place].name: self._value(known[place].type, item)
                for place, item in value["fields"].items()
            }
        )

    def _value(self, type_: Any, value: Json) -> Any:
        if not isinstance(value, dict):
            return value
        if "items" in value:
            return [self._value(type_.element, item) for item in value["items"]]
        if "tag" in value:
            return self._member(type_, value)
        if "enum" in value:
            return type_.type(value["enum"])
        if "float" in value:
            return float.fromhex(value["float"])
        if "bytes" in value:
            return bytes.fromhex(value["bytes"])
        if "nested" in value:
            return self.pack(value["nested"]["table"], value["nested"])
        return self._object(type_.type, value)

    def _member(self, union: Any, value: Json) -> Any:
        class_, content = union.members[value["tag"]], value["value"]
        return class_(content) if isinstance(content, str) else self._object(class_, content)

    def _table(self, obj: Any) -> Json:
        info = self.reflection.describe(type(obj))
        fields = {}
        for field in info.fields:
            value = self._plain(getattr(obj, field.name), partial(self._of_type, field.type))
            if field.nested is not None and value is not None:
                value = self._nested(field.nested.type, getattr(obj, field.name))
            fields[str(field.id)] = value
        return {"table": info.wire_name, "fields": fields}

    def _nested(self, root: type[Any], data: bytes) -> Json:
        obj = self.package.unpack(root, data, strict=False, check_identifier=False)
        return {"bytes": data.hex(), "nested": self._table(obj)}

    def _plain(self, value: Any, convert: Callable[[Any], Json]) -> Json:
        return None if value is None else convert(value)

    def _of_type(self, type_: Any, value: Any) -> Json:
        match type(type_).__name__:
            case "EnumInfo":
                return {"enum": int(value)}
            case "ScalarInfo" if type_.is_float:
                return {"float": value.hex()}
            case "TableReference":
                return self._table(value)
            case "StructReference":
                return self._struct(value)
            case "UnionInfo":
                return self._union(type_, value)
            case "VectorInfo" | "ArrayInfo" if not isinstance(value, bytes):
                items = [self._plain(item, partial(self._of_type, type_.element)) for item in value]
                return {"items": items, "missed": self._missed(type_.element, value)}
        return {"bytes": value.hex()} if isinstance(value, bytes) else value

    def _struct(self, value: Any) -> Json:
        info = self.reflection.describe_struct(type(value))
        fields = {
            str(field.offset): self._of_type(field.type, getattr(value, field.name))
            for field in info.fields
        }
        return {"struct": info.wire_name, "fields": fields}

    def _union(self, union: Any, value: Any) -> Json:
        if isinstance(value, self.package.UnknownMember):
            return {"tag": value.tag, "value": None}
        tag = next(tag for tag, class_ in union.members.items() if class_ is type(value))
        if tag in union.strings:
            return {"tag": tag, "value": value.value}
        content = self._struct(value) if tag in union.structs else self._table(value)
        return {"tag": tag, "value": content}

    def _missed(self, element: Any, items: list[Any]) -> list[int]:
        """Return the elements that the generated `lookup` does not find by their own key."""
        match type(element).__name__:
            case "TableReference":
                fields = self.reflection.describe(element.type).fields
            case "StructReference":
                fields = self.reflection.describe_struct(element.type).fields
            case _:
                return []
        key = next((field.name for field in fields if field.key), None)
        if key is None:
            return []
        return [
            index
            for index, item in enumerate(items)
            if getattr(item, key) is not None
            and self.package.lookup(items, getattr(item, key)) is not item
        ]


def serve(package: Package) -> None:
    """Answer requests, one JSON object a line, until there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = _answer(package, request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def _answer(package: Package, request: Mapping[str, Any]) -> Json:
    if "value" in request:
        return {"buffer": package.pack(request["table"], request["value"]).hex()}
    return package.read(
        request["table"],
        bytes.fromhex(request["buffer"]),
        as_file=request["as_file"],
        check_identifier=request["check_identifier"],
    )


def show(folder: Path) -> None:
    """Read a witness with both packages, and print what they say."""
    witness = json.loads((folder / "witness.json").read_text(encoding="utf-8"))
    print(f"{witness['rule']}: {witness['path']}: {witness['message']}")
    if not witness["buffer"]:
        print(witness["reason"])
        return
    buffer = (folder / "buffer.bin").read_bytes()
    sys.path.insert(0, str(folder.parent))
    for role in ("writer", "reader"):
        side = witness[role]
        read = Package(f"witness_{side['schema']}").read(
            side["table"],
            buffer,
            as_file=witness["as_file"],
            check_identifier=witness["check_identifier"],
        )
        print(f"{side['schema']} reads: {read.get('shown', 'nothing')}")
        for finding in read["findings"]:
            where = f"{finding['path']}: " if finding["path"] else ""
            print(f"{side['schema']} finds: {where}{finding['message']} [{finding['rule']}]")
    for difference in witness["differences"]:
        print(f"so {difference['text']}")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--serve":
        serve(Package(sys.argv[2]))
    elif len(sys.argv) == 2:
        show(Path(__file__).parent / Path(sys.argv[1]).name)
    else:
        sys.exit("usage: python read_witness.py WITNESS, the name of a folder beside this file")
