"""Witnesses: for each finding a file that shows it, written and read by generated code."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any

from ...model import Field, Schema
from ..findings import Finding
from ..rules import Affected, Level
from .differences import Difference, find_differences
from .identity import Identity
from .packages import CannotPackError, Package, generate_package, running
from .subjects import Subjects
from .text_hashes import HASHES
from .trial import Direction, Trial
from .trials import trials
from .values import NoSuchValueError, Values
from .wide_offsets import Form

__all__ = ["PACKAGES", "Verdict", "Witness", "make_witnesses"]

PACKAGES = {False: "witness_base", True: "witness_head"}
"""Import names of the packages generated from BASE, and from HEAD."""

_MOST_TRIALS = 300
_TEXT = "telling"
_NOT_IN_A_FILE = {
    "RPC_SERVICE_NO_DELETE": "a service is called by its name, which no file holds",
    "RPC_METHOD_NO_DELETE": "a method is called by its name, which no file holds",
    "RPC_METHOD_SAME_STREAMING": "how often messages are sent is not in any of them",
}


class Verdict(str, Enum):
    """What came of making a witness."""

    SHOWN = "shown"
    """The file is misread, or rejected, where the finding says so."""
    HIDDEN = "hidden"
    """The file is misread or rejected, but another break is seen first."""
    NOT_IN_A_FILE = "not in a file"
    """What the finding is about is in no file that generated code reads; the reason says why."""
    EQUAL = "equal"
    """No file showed a difference, so the finding is wrong: a fault of the rule."""


@dataclass(frozen=True)
class Witness:
    """A file that shows a finding.

    Attributes:
        finding: What is shown.
        verdict: What came of it.
        reason: Why there is no file, or how the file was made if no generated code can read it.
        from_head: The file was written under HEAD and read under BASE; else the other way round.
        buffer: The file; empty if there is none.
        table: Full name of the table it begins with, by the writer's schema.
        reader_table: The same by the reader's schema.
        value: What was written.
        read: What the reader's code says: a value, and findings.
        differences: Where that is not what was written.
        as_file: Only a function for whole files counts as reading.
        check_identifier: The reader looks at the file identifier.
    """

    finding: Finding
    verdict: Verdict
    reason: str = ""
    from_head: bool = False
    buffer: bytes = b""
    table: str = ""
    reader_table: str = ""
    value: Any = None
    read: Any = None
    differences: tuple[Difference, ...] = ()
    as_file: bool = False
    check_identifier: bool = False

    @property
    def broken(self) -> Affected:
        """Who misreads the file."""
        return Affected.OLD_READERS if self.from_head else Affected.NEW_READERS


def make_witnesses(
    findings: Iterable[Finding], base: Schema, head: Schema, folder: Path
) -> list[Witness]:
    """Make a witness for each finding on the wire or of meaning, in their order.

    Args:
        findings: What `compare_schemas` found.
        base: The old schema.
        head: The new one.
        folder: An empty folder, which the generated packages are written into.
    """
    wanted = [finding for finding in findings if finding.level is not Level.SOURCE]
    subjects = Subjects(base, head)
    for finding in wanted:
        subjects.prepare(finding)
    with ExitStack() as stack:
        packages = {}
        for from_head, schema in ((False, subjects.base), (True, subjects.head)):
            generate_package(schema, PACKAGES[from_head], folder)
            packages[from_head] = stack.enter_context(running(folder, PACKAGES[from_head]))
        maker = _Maker(subjects, wanted, packages)
        return [maker.witness(finding) for finding in wanted]


class _Maker:
    def __init__(
        self, subjects: Subjects, findings: list[Finding], packages: dict[bool, Package]
    ) -> None:
        self._subjects = subjects
        self._packages = packages
        base, head, names = subjects.base, subjects.head, subjects.names
        self._directions = []
        for from_head in (False, True):
            identity = Identity(base, head, names, findings, from_head=from_head)
            values = Values(identity.writer, _required_by_reader(identity))
            self._directions.append(Direction(from_head, identity, values))

    def witness(self, finding: Finding) -> Witness:
        """Try one file after the other, and return the one that shows most."""
        name = finding.rule.name
        if name in _NOT_IN_A_FILE:
            return Witness(finding, Verdict.NOT_IN_A_FILE, _NOT_IN_A_FILE[name])
        if name == "FIELD_SAME_OFFSET_SIZE":
            return self._by_format(finding)
        if name == "FIELD_SAME_HASH":
            return self._hash(finding)
        if name == "FIELD_SAME_NESTED_ROOT" and self._holds_no_table(finding):
            reason = "generated code leaves FlexBuffers, like plain bytes, unread"
            return Witness(finding, Verdict.NOT_IN_A_FILE, reason)
        best: Witness | None = None
        best_rank = _ELSEWHERE + 1
        possible = islice(trials(finding, self._subjects, self._directions), _MOST_TRIALS)
        try:
            for trial in possible:
                found, rank = self._try(finding, trial)
                if found is not None and rank < best_rank:
                    best, best_rank = found, rank
                if best_rank == 0:
                    break
        except NoSuchValueError as error:
            if best is None:
                return Witness(finding, Verdict.NOT_IN_A_FILE, f"there is no such file: {error}")
        return best or _equal(finding)

    def _try(self, finding: Finding, trial: Trial) -> tuple[Witness | None, int]:
        """Write, read on both sides, and compare; the rank is 0 for what shows the finding best."""
        direction = trial.direction
        writer = self._packages[direction.from_head]
        reader = self._packages[not direction.from_head]
        try:
            buffer = trial.change(writer.pack(trial.table, trial.value))
        except CannotPackError:
            return None, 0
        options = {"check_identifier": trial.check_identifier}
        read = reader.read(trial.reader_table, buffer, as_file=trial.as_file, **options)
        if trial.inspect is not None:
            seen = trial.inspect(buffer)
            differences = [] if seen is None else [seen]
        else:
            own = writer.read(trial.table, buffer, **options)
            differences = find_differences(own, read, direction.identity, by_number=trial.by_number)
        if trial.rules:
            expected = [each for each in differences if each.rule in trial.rules]
            differences = expected or [each for each in differences if each.rule]
        if not differences:
            return None, 0
        ranks = [_rank(each, trial) for each in differences]
        ordered = [each for _, each in sorted(zip(ranks, differences, strict=True), key=_first)]
        witness = Witness(
            finding,
            Verdict.HIDDEN if min(ranks) == _ELSEWHERE else Verdict.SHOWN,
            from_head=direction.from_head,
            buffer=buffer,
            table=trial.table,
            reader_table=trial.reader_table,
            value=trial.value,
            read=read,
            differences=tuple(ordered),
            as_file=trial.as_file,
            check_identifier=trial.check_identifier,
        )
        return witness, min(ranks)

    def _holds_no_table(self, finding: Finding) -> bool:
        subject = self._subjects.of(finding)
        parts = (subject.base_part, subject.head_part)
        return all(isinstance(part, Field) and part.nested is None for part in parts)

    def _by_format(self, finding: Finding) -> Witness:
        """Write and read a vector as the format has it, since no generated code does."""
        subject = self._subjects.of(finding)
        old, new = subject.base_part, subject.head_part
        if not isinstance(old, Field) or not isinstance(new, Field):
            return _equal(finding)
        data = _TEXT.encode()
        for from_head, own, other in ((False, old, new), (True, new, old)):
            buffer = Form.of(own).write(own.id, data)
            assert Form.of(own).read(own.id, buffer) == data
            read = Form.of(other).read(other.id, buffer)
            if read != data:
                text = f"but it is not read: {read}" if isinstance(read, str) else f"and {read!r}"
                return Witness(
                    finding,
                    Verdict.SHOWN,
                    "no generated code handles 64-bit offsets, so the file was written and read "
                    "here as the format says",
                    from_head,
                    buffer,
                    differences=(Difference(own.name, repr(data), text),),
                )
        return _equal(finding)

    def _hash(self, finding: Finding) -> Witness:
        """Show that one text has two numbers."""
        subject = self._subjects.of(finding)
        old, new = subject.base_part, subject.head_part
        if not isinstance(old, Field) or not isinstance(new, Field):
            return _equal(finding)
        difference = _difference_of_hashes(old, new)
        if difference is None:
            reason = "a file holds the number and not what it is the hash of"
            return Witness(finding, Verdict.NOT_IN_A_FILE, reason)
        assert subject.base is not None
        table = subject.base.full_name
        value = self._directions[0].values.table(table, {old.id: _stored_hash(old)})
        buffer = self._packages[False].pack(table, value)
        other = self._subjects.names.get(table, "")
        return Witness(
            finding,
            Verdict.SHOWN if _hash_of(old) != _hash_of(new) else Verdict.EQUAL,
            f'the file holds what "{_TEXT}" is by the old algorithm',
            buffer=buffer,
            table=table,
            reader_table=other,
            value=value,
            read=self._packages[True].read(other, buffer),
            differences=(difference,),
        )


def _algorithm(field: Field) -> str:
    return str(field.attributes.get("hash", ""))


def _hash_of(field: Field) -> int:
    """Return the number of a text by the algorithm of a field."""
    return HASHES[_algorithm(field)](_TEXT)


def _stored_hash(field: Field) -> int:
    """Return the same as the field holds it, whose type may be signed."""
    scalar = field.type.scalar
    assert scalar is not None
    number = _hash_of(field)
    return number - (1 << 8 * scalar.size) if number > scalar.maximum else number


def _difference_of_hashes(old: Field, new: Field) -> Difference | None:
    """Say that one text has two numbers; None if one of the fields holds no hash."""
    if _algorithm(old) not in HASHES or _algorithm(new) not in HASHES:
        return None
    return Difference(
        new.name,
        f'{_hash_of(old)}, the {_algorithm(old)} of "{_TEXT}",',
        f"and code that looks for the {_algorithm(new)} of it, {_hash_of(new)}, does not find it",
    )


_ELSEWHERE = 2


def _equal(finding: Finding) -> Witness:
    return Witness(finding, Verdict.EQUAL, "no file shows a difference")


def _first(pair: tuple[int, Difference]) -> int:
    return pair[0]


def _rank(difference: Difference, trial: Trial) -> int:
    """Return 0 for what is in the right place, 1 near to it, and 2 elsewhere."""
    if trial.rules and difference.rule not in trial.rules:
        return _ELSEWHERE
    if "" not in trial.paths and not any(_is_inside(difference.path, path) for path in trial.paths):
        return _ELSEWHERE
    last = difference.path.rpartition(".")[2].partition("[")[0]
    return 0 if not trial.names or last in trial.names else 1


def _is_inside(path: str, outer: str) -> bool:
    return path == outer or path.startswith((f"{outer}.", f"{outer}["))


def _required_by_reader(identity: Identity) -> frozenset[tuple[str, int]]:
    """Return the table and slot of what the reader's schema asks for."""
    found = set()
    for table in identity.writer.tables:
        for field in table.fields:
            other = identity.counterpart(table.full_name, field)
            if other is not None and other.is_mandatory and not other.deprecated:
                found.add((table.full_name, field.id))
    return frozenset(found)
