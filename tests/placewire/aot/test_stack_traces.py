"""Instructions carry the lines of Python that they come from, if that is asked for."""

from __future__ import annotations

import torch
from torch import fx, nn

from placewire.aot import ExportConfig, export
from placewire.aot.stack_traces import frames_of


class Doubling(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.exp() + x


def test_programs_have_no_stack_traces_by_default() -> None:
    (plan,) = export(Doubling(), (torch.zeros(2),)).program.execution_plan
    assert plan.chains[0].stacktrace is None


def test_every_instruction_has_its_stack_trace_on_request() -> None:
    artifact = export(Doubling(), (torch.zeros(2),), config=ExportConfig(stacktraces=True))
    (chain,) = artifact.program.execution_plan[0].chains
    assert chain.stacktrace is not None
    assert len(chain.stacktrace) == len(chain.instructions) == 2
    for frames in chain.stacktrace:
        innermost = frames.items[-1]
        assert innermost.filename == __file__
        assert innermost.name == "forward"
        assert innermost.context == "return x.exp() + x"
        assert innermost.lineno > 0


def _node(trace: object) -> fx.Node:
    node = fx.Graph().placeholder("x")
    node.meta["stack_trace"] = trace
    return node


def test_underlines_in_a_trace_are_no_code() -> None:
    trace = '  File "a.py", line 3, in f\n    ~~~^^^\n    y = g(x)\n        ^^^^\n'
    (frame,) = frames_of(_node(trace))
    assert (frame.filename, frame.lineno, frame.name, frame.context) == ("a.py", 3, "f", "y = g(x)")


def test_a_node_without_a_trace_has_no_frames() -> None:
    assert frames_of(_node(None)) == []
