"""A pass: lets every sensor report in a base unit, so that what follows need not convert."""

from __future__ import annotations

from dataclasses import replace

from station_schema.pipeline import Calibration, Limit, Node, Pipeline, Sensor
from station_schema.units import Range, Unit


class PipelineError(ValueError):
    """The nodes of a pipeline do not fit together; the message names the node."""


def convert_to_base_units(pipeline: Pipeline) -> Pipeline:
    """Return `pipeline` with calibrations and limits in base units; the argument stays as it is.

    What a unit's base is and how a value gets there are attributes of the enum in the schema, so a
    new unit needs no change here.

    Raises:
        PipelineError: Nodes feed each other in a circle, an input does not exist, or the inputs of
            a node have different units.
    """
    nodes = {node.name: node for node in pipeline.nodes}
    found: dict[str, Unit] = {}
    converted = [_converted(node, _unit_of(node, nodes, found, ())) for node in pipeline.nodes]
    return replace(pipeline, nodes=converted)


def _unit_of(
    node: Node, nodes: dict[str, Node], found: dict[str, Unit], path: tuple[str, ...]
) -> Unit:
    """Return the unit of the values that a node gives: a sensor's own, else that of the inputs."""
    if node.name in path:
        raise PipelineError(f"{node.name}: feeds itself by way of {' -> '.join(path)}")
    if isinstance(node.step, Sensor):
        return node.step.unit
    if node.name not in found:
        inputs = node.inputs or []
        missing = [name for name in inputs if name not in nodes]
        if missing:
            raise PipelineError(f"{node.name}: there is no node called {missing[0]}")
        units = {_unit_of(nodes[name], nodes, found, (*path, node.name)) for name in inputs}
        if len(units) != 1:
            named = ", ".join(sorted(unit.name for unit in units)) or "none"
            raise PipelineError(f"{node.name}: the inputs must have one unit, found {named}")
        (found[node.name],) = units
    return found[node.name]


def _converted(node: Node, unit: Unit) -> Node:
    """Return a node that works in the base of `unit`."""
    if unit.base is None:
        return node
    step = node.step
    match step:
        case Sensor(calibration=calibration):
            calibration = calibration or Calibration([0.0, 1.0, 0.0, 0.0], _EVERYTHING)
            step = replace(step, unit=Unit[unit.base], calibration=_calibrated(calibration, unit))
        case Limit(allowed=allowed, hysteresis=hysteresis):
            width = None if hysteresis is None else hysteresis * _scale(unit)
            step = replace(step, allowed=_range(allowed, unit), hysteresis=width)
    return replace(node, step=step)


def _calibrated(calibration: Calibration, unit: Unit) -> Calibration:
    first, *others = calibration.coefficients
    scaled = [coefficient * _scale(unit) for coefficient in others]
    return Calibration([_value(first, unit), *scaled], _range(calibration.valid, unit))


def _range(values: Range, unit: Unit) -> Range:
    return Range(_value(values.low, unit), _value(values.high, unit))


def _value(value: float, unit: Unit) -> float:
    return (value - (unit.zero or 0)) * _scale(unit)


def _scale(unit: Unit) -> float:
    return (unit.multiply or 1) / (unit.divide or 1)


_EVERYTHING = Range(float("-inf"), float("inf"))
