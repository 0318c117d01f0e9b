"""What a schema does not know is refused, or kept and reported: it is never lost without a word."""

from __future__ import annotations

from typing import Any

import pytest
from placewire_schema import Finding, UnknownMember, UnpackError, _native, _pure, program
from placewire_schema._select import Codec

from .forging import Forged


def read_strictly(codec: Codec, type_: type[Any], data: bytes) -> Any:
    strict = True
    return codec.unpack(type_, data, strict, None)


def read_leniently(codec: Codec, type_: type[Any], data: bytes, report: list[Finding]) -> Any:
    strict = False
    return codec.unpack(type_, data, strict, report)


def with_unknown_device(codec: Codec) -> tuple[bytes, int]:
    """Return a packed tensor on a device of type 7, and the offset of that byte."""
    info = program.ExtraTensorInfo(device_type=program.DeviceType.CUDA)
    packed = codec.pack(program.EValue(program.Tensor(extra_tensor_info=info)), {})
    return _with_byte(codec, packed, 1, 7, "UNKNOWN_ENUM_VALUE")


def with_unknown_member(codec: Codec) -> tuple[bytes, int]:
    """Return a packed value whose tag is 77, and the offset of the tag."""
    packed = codec.pack(program.EValue(program.Int(5)), {})
    return _with_byte(codec, packed, 2, 77, "UNKNOWN_UNION_MEMBER")


def _with_byte(codec: Codec, packed: bytes, old: int, new: int, rule: str) -> tuple[bytes, int]:
    """Change the one byte from `old` to `new` that makes `rule` the only finding."""
    for place in (i for i, byte in enumerate(packed) if byte == old):
        changed = packed[:place] + bytes([new]) + packed[place + 1 :]
        if [finding.rule for finding in codec.verify(program.EValue, changed)] == [rule]:
            return changed, place
    raise AssertionError(f"no byte {old} of the buffer causes {rule}")


def test_an_unknown_enum_value_is_refused_with_its_path(codec: Codec) -> None:
    data, place = with_unknown_device(codec)
    with pytest.raises(UnpackError) as caught:
        read_strictly(codec, program.EValue, data)
    assert caught.value.finding == Finding(
        "UNKNOWN_ENUM_VALUE",
        "error",
        "val.extra_tensor_info.device_type",
        place,
        "7 is not a value of DeviceType",
    )


def test_an_unknown_enum_value_is_kept_as_a_number_on_request(codec: Codec) -> None:
    data, _ = with_unknown_device(codec)
    report: list[Finding] = []
    value = read_leniently(codec, program.EValue, data, report)
    assert isinstance(value.val, program.Tensor)
    assert value.val.extra_tensor_info is not None
    assert value.val.extra_tensor_info.device_type == 7
    assert [finding.path for finding in report] == ["val.extra_tensor_info.device_type"]


def test_an_unknown_union_member_is_refused_with_its_path(codec: Codec) -> None:
    data, place = with_unknown_member(codec)
    with pytest.raises(UnpackError) as caught:
        read_strictly(codec, program.EValue, data)
    assert caught.value.finding == Finding(
        "UNKNOWN_UNION_MEMBER", "error", "val", place, "the tag 77 is not a member of KernelTypes"
    )


def test_an_unknown_union_member_keeps_its_tag_on_request(codec: Codec) -> None:
    data, _ = with_unknown_member(codec)
    assert read_leniently(codec, program.EValue, data, []).val == UnknownMember(77)


def test_a_slot_beyond_the_schema_is_refused(codec: Codec) -> None:
    # Three slots are written; a reader of FreeCall knows only the first.
    data = codec.pack(program.AllocationDetails(1, 2, 3), {})
    with pytest.raises(UnpackError) as caught:
        read_strictly(codec, program.FreeCall, data)
    assert caught.value.finding.rule == "UNKNOWN_FIELD"
    assert caught.value.finding.path == "<slot 1>"
    assert caught.value.finding.message == "slot 1 is set, but this schema has only 1"


def test_every_slot_beyond_the_schema_is_reported(codec: Codec) -> None:
    data = codec.pack(program.AllocationDetails(1, 2, 3), {})
    report: list[Finding] = []
    assert read_leniently(codec, program.FreeCall, data, report) == program.FreeCall(1)
    assert [finding.path for finding in report] == ["<slot 1>", "<slot 2>"]


def test_a_field_that_every_writer_writes_is_missed(codec: Codec) -> None:
    data = codec.pack(program.Null(), {})
    with pytest.raises(UnpackError, match="every writer writes it"):
        read_strictly(codec, program.CompileSpec, data)


def test_a_missed_field_is_empty_on_request(codec: Codec) -> None:
    data = codec.pack(program.Null(), {})
    report: list[Finding] = []
    assert read_leniently(codec, program.CompileSpec, data, report) == program.CompileSpec()
    assert [(f.rule, f.path) for f in report] == [
        ("FIELD_ABSENT", "key"),
        ("FIELD_ABSENT", "value"),
    ]


def test_verify_reports_what_is_unknown_and_what_is_missed(codec: Codec) -> None:
    data = codec.pack(program.AllocationDetails(1, 2, 3), {})
    findings = codec.verify(program.FreeCall, data)
    assert [finding.rule for finding in findings] == ["UNKNOWN_FIELD", "UNKNOWN_FIELD"]


def with_absent_keys(count: int) -> bytes:
    """Return a packed delegate with `count` specs, none of which has a key."""
    specs = [program.CompileSpec("key", b"value") for _ in range(count)]
    data = Forged(_pure.pack(program.BackendDelegate(compile_specs=specs), {}))
    first = data.element(data.child(data.root(), 2), 0)
    data.put(data.slot(first, 0), 2, 0)
    return bytes(data)


def test_as_many_findings_as_the_limit_are_all_listed(codec: Codec) -> None:
    findings = codec.verify(program.BackendDelegate, with_absent_keys(1000))
    assert {finding.rule for finding in findings} == {"FIELD_ABSENT"}
    assert len(findings) == 1000


def test_findings_beyond_the_limit_are_counted_by_the_last(codec: Codec) -> None:
    data = with_absent_keys(1234)
    findings = codec.verify(program.BackendDelegate, data)
    assert len(findings) == 1001
    assert findings[999].path == "compile_specs[999].key"
    assert findings[1000] == Finding("MORE_FINDINGS", "error", "", 0, "234 more are not listed")
    report: list[Finding] = []
    delegate = read_leniently(codec, program.BackendDelegate, data, report)
    assert report == findings
    assert len(delegate.compile_specs) == 1234


def test_a_report_that_holds_something_gets_as_many_findings(codec: Codec) -> None:
    report = [Finding("OTHER", "error", "", None, "")] * 3
    read_leniently(codec, program.BackendDelegate, with_absent_keys(1001), report)
    assert [finding.rule for finding in report[-2:]] == ["FIELD_ABSENT", "MORE_FINDINGS"]
    assert len(report) == 3 + 1001


def test_both_codecs_stop_listing_at_the_same_finding() -> None:
    for count in (999, 1000, 1001, 3000):
        data = with_absent_keys(count)
        results = [codec.verify(program.BackendDelegate, data) for codec in (_native, _pure)]
        assert results[0] == results[1]
        assert len(results[0]) == min(count, 1001)
        with pytest.raises(UnpackError, match=r"^compile_specs\[0\]\.key: the field is absent"):
            read_strictly(_native, program.BackendDelegate, data)
