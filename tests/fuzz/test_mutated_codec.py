"""Damaged copies of real files give findings and errors in the codecs, and nothing else."""

from __future__ import annotations

from pathlib import Path

from placewire_schema import _native

from tests.schema.damage import flatbuffer_of

from .mutate_codec import mutate


def test_the_native_codec_survives_damaged_files(corpus: Path) -> None:
    files = [flatbuffer_of(path.read_bytes()) for path in sorted(corpus.glob("*.pte"))]
    assert len(files) > 10
    outcome = mutate(_native, files, count=20_000, seed=3)
    # Both outcomes happen often, or the damage would not test much.
    assert outcome.read // 20 < outcome.sound < outcome.read // 2
    assert outcome.packed >= outcome.sound
    # NaN makes an object unequal to its view.
    assert outcome.viewed > 0.95 * outcome.packed
