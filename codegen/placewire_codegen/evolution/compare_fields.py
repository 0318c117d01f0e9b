"""Two fields that lie in the same place, or have the same name: type, default, attributes."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass

from ..model import Field, ScalarKind, Schema, TypeKind
from .compare_attributes import compare_attributes
from .compare_types import type_difference
from .comparison import Comparison, spelled
from .rules import Affected, Level

__all__ = ["TYPE_RULES", "FieldPair"]

TYPE_RULES = {
    Level.WIRE: "FIELD_SAME_WIRE_TYPE",
    Level.SEMANTIC: "FIELD_SAME_VALUES",
    Level.SOURCE: "FIELD_SAME_TYPE",
}


@dataclass(slots=True)
class FieldPair:
    """A field of BASE and what it is in HEAD.

    Attributes:
        path: Full name in HEAD.
    """

    base: Field
    head: Field
    path: str
    comparison: Comparison

    def report(
        self,
        rule: str,
        message: str,
        *,
        affected: tuple[Affected, ...] = (),
        consequence: str = "",
    ) -> None:
        """Report a finding about the pair."""
        self.comparison.add(
            rule,
            self.path,
            message,
            base=self.base.location,
            head=self.head.location,
            affected=affected,
            consequence=consequence,
        )

    def compare_in_table(self) -> None:
        """Compare all that the two fields of a table say, but for slot and name."""
        difference = type_difference(self.base.type, self.head.type, self.comparison)
        if difference is not None:
            self.report(
                TYPE_RULES[difference],
                f"type is {spelled(self.head.type)}, was {spelled(self.base.type)}",
            )
        if difference is not Level.WIRE:
            self._compare_default()
            self._compare_nested()
        self._compare_required()
        if self.base.attributes == self.head.attributes:
            return
        self._compare_offset_size()
        if difference is not Level.WIRE:
            self._compare_alignment()
            self._compare_hash()
        self._compare_present()
        self._compare_deprecated()
        self.compare_key()
        compare_attributes(self.base, self.head, self.path, self.comparison)

    def compare_key(self) -> None:
        """Report a key that has come or gone."""
        if self.base.key != self.head.key:
            message = "is the key now" if self.head.key else "is the key no more"
            self.report("FIELD_SAME_KEY", message)

    def _compare_offset_size(self) -> None:
        old, new = _wide_offsets(self.base), _wide_offsets(self.head)
        if old != new:
            self.report("FIELD_SAME_OFFSET_SIZE", f"has {_listed(new)}, had {_listed(old)}")

    def _compare_default(self) -> None:
        base, head = self.base, self.head
        if (
            base.default is head.default
            and base.default_content is head.default_content
            and base.optional is head.optional
        ):
            return  # as nearly always, and to spell both takes long
        old, new = _default(self.base), _default(self.head)
        if old == new:
            return
        self.report("FIELD_SAME_DEFAULT", f"default is {new}, was {old}")

    def _compare_nested(self) -> None:
        old, new = self.base.nested, self.head.nested
        flexible = ("flexbuffer" in self.base.attributes, "flexbuffer" in self.head.attributes)
        is_same = (old is None and new is None) or self.comparison.is_same(old, new)
        if not is_same or flexible[0] != flexible[1]:
            self.report(
                "FIELD_SAME_NESTED_ROOT",
                f"holds {_nested(new, is_flexible=flexible[1])}, "
                f"held {_nested(old, is_flexible=flexible[0])}",
            )

    def _compare_alignment(self) -> None:
        old = _alignment(self.base, self.comparison.base)
        new = _alignment(self.head, self.comparison.head)
        if old == new:
            return
        weaker = Affected.NEW_READERS if new > old else Affected.OLD_READERS
        files = "old" if new > old else "new"
        readers = "new" if new > old else "old"
        self.report(
            "FIELD_SAME_ALIGNMENT",
            f"is aligned to {new}, was aligned to {old}",
            affected=(weaker,),
            consequence=f"{readers.title()} readers that rely on the alignment break on {files} "
            "files, which align less.",
        )

    def _compare_hash(self) -> None:
        old, new = self.base.attributes.get("hash"), self.head.attributes.get("hash")
        if old != new:
            self.report("FIELD_SAME_HASH", f"hash is {new or 'none'}, was {old or 'none'}")

    def _compare_required(self) -> None:
        old, new = _must_be_there(self.base), _must_be_there(self.head)
        if old == new:
            return
        if new:
            self.report(
                "FIELD_SAME_REQUIRED",
                "is required now",
                affected=(Affected.NEW_READERS,),
                consequence="New readers reject old files that lack the field.",
            )
            return
        reason = (
            "is deprecated now, and was required"
            if self.head.deprecated
            else ("is required no more")
        )
        self.report(
            "FIELD_SAME_REQUIRED",
            reason,
            affected=(Affected.OLD_READERS,),
            consequence="Old readers reject new files that lack the field.",
        )

    def _compare_present(self) -> None:
        if self.base.present == self.head.present:
            return
        if self.head.present:
            self.report(
                "FIELD_SAME_PRESENT",
                "is `present` now",
                affected=(Affected.NEW_READERS,),
                consequence="Strict new readers refuse old files that lack the field.",
            )
            return
        self.report(
            "FIELD_SAME_PRESENT",
            "is `present` no more",
            affected=(Affected.OLD_READERS,),
            consequence="Strict old readers refuse new files that lack the field.",
        )

    def _compare_deprecated(self) -> None:
        if self.head.deprecated and not self.base.deprecated:
            self.report("FIELD_NO_DEPRECATE", "is deprecated now")
        elif self.base.deprecated and not self.head.deprecated and self._is_one_field:
            self.report("FIELD_NO_UNDEPRECATE", "is deprecated no more")

    @property
    def _is_one_field(self) -> bool:
        """Whether the name says so; another name in a deprecated slot is reuse."""
        return self.base.name == self.head.name


def _must_be_there(field: Field) -> bool:
    return field.required and not field.deprecated


def _alignment(field: Field, schema: Schema) -> int:
    """Return the alignment of a vector's first element or a string's first byte.

    Both lie behind their length, which has 4 bytes and is aligned to them.
    """
    element = field.type.element
    if element is None:
        return max(field.force_align, 4)
    if element.kind is TypeKind.STRUCT:
        assert element.ref is not None
        return max(field.force_align, 4, schema.struct(element.ref).alignment)
    return max(field.force_align, 4, element.scalar.size if element.scalar is not None else 4)


def _wide_offsets(field: Field) -> tuple[str, ...]:
    return tuple(name for name in ("offset64", "vector64") if name in field.attributes)


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names) or "32-bit offsets"


def _nested(table: str | None, *, is_flexible: bool) -> str:
    if table is not None:
        return f"table {table}"
    return "a FlexBuffer" if is_flexible else "plain bytes"


def _default(field: Field) -> str:
    """Spell what an absent field reads as, so that equal spellings are equal values."""
    if field.optional:
        return "null"
    if field.default_content is not None:
        text = field.default_content
        return json.dumps(text) if isinstance(text, str) else "[]"
    if field.default is None:
        return "nothing"
    scalar = field.type.scalar
    if scalar is None or not scalar.is_float:
        return str(int(field.default))
    return _float(float(field.default), scalar)


def _float(value: float, scalar: ScalarKind) -> str:
    """Spell a float as the wire holds it: each zero, and each NaN as one."""
    if math.isnan(value):
        return "nan"
    if scalar is ScalarKind.FLOAT32 and math.isfinite(value):
        try:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            value = math.copysign(math.inf, value)
    return repr(value)
