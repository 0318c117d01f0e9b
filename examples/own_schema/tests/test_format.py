"""The format: both codecs and the reader in C++ see what was written."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import station_schema
from station_schema.pipeline import Node, Pipeline, Sensor
from station_schema.units import Unit

# As the user called the interpreter: scripts lie beside it.
REPORT = Path(sysconfig.get_path("scripts")) / "station-report"
PRINTED = """\
inside: sensor on channel 3 in °F, 1 a second, calibrated: 32 0.18 0 0
outside: sensor on channel 4 in °F, 0.5 a second
smooth: mean of 16 values < outside
sound: limits -40 to 122, hysteresis 9 < smooth
both: blend by 2 weights < inside < sound
wind: sensor on channel 7 in m/s, 1 a second
to file /var/log/station
to note "weather"
to socket collector:5025
to place 47.42, 10.98
"""


def test_the_compiled_codec_is_in_use() -> None:
    assert station_schema.codec_name() == "native"


def test_a_pipeline_survives_a_round_trip(pipeline: Pipeline) -> None:
    data = station_schema.pack_pipeline(pipeline)
    assert data[4:8] == b"STPL"
    assert station_schema.verify_pipeline(data) == []
    assert station_schema.unpack_pipeline(data) == pipeline
    assert station_schema.view(Pipeline, data) == pipeline


def test_the_codec_in_python_writes_the_same_bytes(pipeline: Pipeline) -> None:
    data = station_schema.pack_pipeline(pipeline)
    code = (
        "import sys, station_schema as s; data = sys.stdin.buffer.read();"
        "sys.stdout.buffer.write(s.codec_name().encode() + s.pack(s.unpack_pipeline(data)))"
    )
    environment = {**os.environ, "PLACEWIRE_PURE_PYTHON": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], input=data, env=environment, capture_output=True, check=True
    )
    assert done.stdout == b"python" + data


def test_what_does_not_fit_the_schema_is_refused_with_its_place(pipeline: Pipeline) -> None:
    pipeline.nodes[1] = Node("outside", Sensor(channel=70000))
    with pytest.raises(station_schema.PackError, match=r"^nodes\[1\]\.step\.channel: 70000 is out"):
        station_schema.pack(pipeline)


def test_units_have_symbols() -> None:
    assert [unit.symbol for unit in Unit] == ["", "°C", "hPa", "m/s", "°F", "kn"]


def report(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([REPORT, path], capture_output=True, encoding="utf-8", check=False)


def test_the_reader_prints_a_pipeline(pipeline: Pipeline, tmp_path: Path) -> None:
    path = tmp_path / "zugspitze.station"
    path.write_bytes(station_schema.pack(pipeline))
    assert report(path).stdout == PRINTED


def test_the_reader_refuses_a_damaged_file(pipeline: Pipeline, tmp_path: Path) -> None:
    path = tmp_path / "cut.station"
    path.write_bytes(station_schema.pack(pipeline)[:-40])
    result = report(path)
    assert (result.returncode, result.stdout) == (1, "")
    (finding,) = station_schema.verify_pipeline(path.read_bytes())
    assert result.stderr == f"{path}: {finding.path}: {finding.message}\n"
