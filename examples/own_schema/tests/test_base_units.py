"""The pass: what sensors report in °F becomes °C, limits behind them included."""

from __future__ import annotations

from copy import deepcopy

import pytest
import station_schema
from station import PipelineError, convert_to_base_units
from station_schema.pipeline import Average, Limit, Node, Pipeline, Sensor
from station_schema.units import Range, Unit


def node(pipeline: Pipeline, name: str) -> Node:
    (found,) = (node for node in pipeline.nodes if node.name == name)
    return found


def test_a_sensor_is_calibrated_for_the_base_unit(pipeline: Pipeline) -> None:
    step = node(convert_to_base_units(pipeline), "inside").step
    assert isinstance(step, Sensor)
    assert step.unit is Unit.CELSIUS
    assert step.calibration is not None
    assert step.calibration.coefficients == pytest.approx([0.0, 0.1, 0.0, 0.0])
    assert step.calibration.valid == Range(-40.0, 50.0)


def test_a_sensor_without_a_calibration_gets_one(pipeline: Pipeline) -> None:
    step = node(convert_to_base_units(pipeline), "outside").step
    assert isinstance(step, Sensor)
    assert step.calibration is not None
    assert step.calibration.coefficients == pytest.approx([-160 / 9, 5 / 9, 0.0, 0.0])


def test_a_limit_moves_with_what_it_limits(pipeline: Pipeline) -> None:
    step = node(convert_to_base_units(pipeline), "sound").step
    assert isinstance(step, Limit)
    assert step.allowed == Range(-40.0, 50.0)
    assert step.hysteresis == pytest.approx(5.0)


def test_everything_else_stays(pipeline: Pipeline) -> None:
    before = deepcopy(pipeline)
    after = convert_to_base_units(pipeline)
    assert pipeline == before
    assert after != before
    for name in ("smooth", "both", "wind"):
        assert node(after, name) == node(before, name)
    assert (after.title, after.sinks, after.digest) == (before.title, before.sinks, before.digest)


def test_the_result_can_be_written_and_needs_no_further_pass(pipeline: Pipeline) -> None:
    after = convert_to_base_units(pipeline)
    assert station_schema.unpack_pipeline(station_schema.pack(after)) == after
    assert convert_to_base_units(after) == after


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([Node("a", Average(), ["b"])], "a: there is no node called b"),
        ([Node("a", Average())], "a: the inputs must have one unit, found none"),
        (
            [Node("a", Average(), ["b"]), Node("b", Average(), ["a"])],
            "a: feeds itself by way of a -> b",
        ),
        (
            [
                Node("a", Sensor(unit=Unit.KNOT)),
                Node("b", Sensor()),
                Node("c", Average(), ["a", "b"]),
            ],
            "c: the inputs must have one unit, found KNOT, NONE",
        ),
    ],
)
def test_nodes_that_do_not_fit_together_are_refused(nodes: list[Node], message: str) -> None:
    with pytest.raises(PipelineError) as raised:
        convert_to_base_units(Pipeline("x", nodes))
    assert str(raised.value) == message
