"""What both codecs and the generated C++ of a package say about the same buffers."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from .cpp.building import Driver, Fault
from .test_codecs_agree import outcome

Case = tuple[str, bytes]
Said = tuple[str, str, int | None, str] | None


class Codecs(NamedTuple):
    """Both codecs of one package."""

    native: Any
    python: Any


def codecs_of(package: str) -> Codecs:
    """Import both codecs of a package."""
    return Codecs(import_module(f"{package}._native"), import_module(f"{package}._pure"))


def assert_agreement(codecs: Codecs, type_: type[Any], data: bytes) -> bool:
    """Compare what both codecs say about a buffer; return whether it is sound."""
    findings = [codec.verify(type_, data) for codec in codecs]
    assert findings[0] == findings[1]
    for strict in (True, False):
        reports: list[list[Any]] = [[], []]
        native, python = (
            outcome(lambda: codec.unpack(type_, data, strict, report))  # noqa: B023
            for codec, report in zip(codecs, reports, strict=True)
        )
        assert native == python
        assert reports[0] == reports[1]
    return not findings[0]


class Judge:
    """Asks the Python codec and a C++ driver about the same buffers.

    A case is the name of a table, as the driver knows it, and a buffer.
    """

    def __init__(self, package: str, types: Mapping[str, type[Any]], driver: Driver) -> None:
        self.driver = driver
        self._types = types
        self._package = import_module(package)
        self._verify = import_module(f"{package}._pure.verify")
        self._describe = import_module(f"{package}.reflection").describe

    def structure(self, cases: Sequence[Case]) -> list[Said]:
        """Return the broken rule of each buffer, on which both must agree."""
        in_cpp = [
            (answer.rule, answer.path, answer.offset, answer.message)
            if isinstance(answer, Fault)
            else None
            for answer in self.driver.verify(cases)
        ]
        in_python = [self._said_in_python(*case) for case in cases]
        assert in_cpp == in_python
        return in_python

    def meaning(self, cases: Sequence[Case]) -> list[tuple[str, str]]:
        """Return rule and path of all findings in some sound buffers; both must agree on them."""
        in_cpp = self.driver.audit(cases)
        in_python = [
            [
                [finding.rule, finding.path, finding.offset, finding.message]
                for finding in self._package.verify(self._types[name], data)
            ]
            for name, data in cases
        ]
        # C++ names an enum as the schema does, Python by its class.
        for finding in (finding for found in (*in_cpp, *in_python) for finding in found):
            finding[-1] = finding[-1].rstrip("_")
        assert in_cpp == in_python
        return [(rule, path) for findings in in_cpp for rule, path, *_ in findings]

    def _said_in_python(self, name: str, data: bytes) -> Said:
        table = self._describe(self._types[name])
        extent = self._verify.measure(table, memoryview(data))
        finding = self._verify.find_structural_fault(extent)
        return finding and (finding.rule, finding.path, finding.offset, finding.message)


class JsonWriter:
    """Says what an object of a package holds as `print_json.h` does of a view.

    Attributes:
        member_names: What the schema calls the members of enums where Python has other names.
        hidden: Full names of tables and names of fields that are left out.
    """

    def __init__(
        self,
        package: str,
        member_names: Mapping[type[Any], Mapping[int, str]] | None = None,
        hidden: Collection[tuple[str, str]] = (),
    ) -> None:
        self.member_names = member_names or {}
        self.hidden = hidden
        self._reflection = import_module(f"{package}.reflection")
        self._tables = set(self._reflection.tables())
        self._structs = set(self._reflection.structs())

    def value(self, value: Any) -> Any:
        """Return a value as JSON would hold it."""
        classes = type(value).__mro__
        if self._tables.intersection(classes):
            return self._fields(self._reflection.describe(type(value)), value)
        if self._structs.intersection(classes):
            return self._fields(self._reflection.describe_struct(type(value)), value)
        match value:
            case enum.IntFlag():
                return self.flags(value)
            case enum.IntEnum():
                return self._member_name(value)
            case bytes() | list():
                return [self.value(item) for item in value]
            case float() | int() | str() | None:
                return value
        return value.value  # a string in a union

    def flags(self, value: enum.IntFlag) -> int | str | None:
        """Return the name of a flag, or the number of a combination."""
        return self._member_name(value) if value in list(type(value)) else int(value)

    def _member_name(self, value: enum.IntEnum | enum.IntFlag) -> str | None:
        return self.member_names.get(type(value), {}).get(value, value.name)

    def _fields(self, owner: Any, value: Any) -> dict[str, Any]:
        members = {}
        for field in owner.fields:
            if (owner.wire_name, field.wire_name) in self.hidden:
                continue
            union = getattr(field.type, "element", field.type)
            content = getattr(value, field.name)
            has_tag = content is not None or union is field.type
            if type(union).__name__ == "UnionInfo" and has_tag:
                members[f"{field.wire_name}_type"] = self._tags(union, content)
            if content is not None:
                members[field.wire_name] = self.value(content)
        return members

    def _tags(self, union: Any, value: Any) -> Any:
        if isinstance(value, list):
            return [self._tags(union, item) for item in value]
        tags = [tag for tag, type_ in union.members.items() if type_ is type(value)]
        return union.member_names[tags[0] if tags else 0]
