"""What the tests share: a pipeline that has a bit of everything."""

from __future__ import annotations

import pytest
from station_schema.pipeline import (
    Average,
    Blend,
    Calibration,
    File,
    Limit,
    Node,
    Note,
    Pipeline,
    Place,
    Position,
    Sensor,
    Socket,
    Traits,
)
from station_schema.units import Range, Unit


@pytest.fixture
def pipeline() -> Pipeline:
    """Two thermometers of one kind, smoothed and limited, and a wind sensor."""
    calibration = Calibration([32.0, 0.18, 0.0, 0.0], Range(-40.0, 122.0))
    return Pipeline(
        title="Zugspitze",
        nodes=[
            Node("inside", Sensor(3, Unit.FAHRENHEIT, calibration=calibration)),
            Node("outside", Sensor(4, Unit.FAHRENHEIT, 0.5, Traits.HEATED | Traits.VENTILATED)),
            Node("smooth", Average(16), ["outside"]),
            Node("sound", Limit(Range(-40.0, 122.0), 9.0), ["smooth"]),
            Node("both", Blend([0.25, 0.75]), ["inside", "sound"]),
            Node("wind", Sensor(7, Unit.METRE_PER_SECOND, position=Position(47.42, 10.98, 2962.0))),
        ],
        sinks=[
            File("/var/log/station", append=False),
            Note("weather"),
            Socket("collector"),
            Place(47.42, 10.98, 2962.0),
        ],
        digest=bytes(range(20)),
    )
