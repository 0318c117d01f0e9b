"""Calls every operator of torch that a program may call with numbers that no exporter writes.

    python -m tests.fuzz.extreme_arguments COUNT [SEED [OPERATOR ...]]

Each of COUNT calls of an operator happens in a process of its own, with some numbers of the program
and the integers of some inputs replaced. It may give results or an error. What ends the process, or
does not end by itself, is printed, and is the exit status.
"""

from __future__ import annotations

import math
import os
import random
import resource
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from placewire_schema import pack_program, unpack_program
from placewire_schema.program import Bool, BoolList, Double, DoubleList, EValue, Int, IntList
from placewire_schema.program import KernelCall as Call

from placewire.module import Module
from tests.placewire.kernels.operator_inputs import inputs
from tests.placewire.kernels.operator_program import OneCall

if TYPE_CHECKING:
    from collections.abc import Iterator

Number = Int | Double | Bool | DoubleList | BoolList
"""What is replaced."""

INTEGERS = [
    *(sign * 2**power for power in (16, 31, 32, 33, 40, 60, 61, 62) for sign in (1, -1)),
    *(2**63 - 1, -(2**63), 2**33 + 1, 10**6, *range(-3, 4), 5, 9, 17),
]
REALS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 0.0, 1e-308, -1.0, 1e18, 1e-18, 3.0]
SHARE = 0.4
"""How many of the numbers are replaced."""

MEMORY = 12 << 30
SECONDS = 20
"""What a call may take."""


@dataclass(frozen=True)
class Trial:
    """A call with other numbers than a legal one.

    Attributes:
        legal: The legal call.
        values: What replaces numbers of the program, by index of the value.
        elements: What fills inputs of integers, by index of the input.
    """

    legal: OneCall
    values: dict[int, Number]
    elements: dict[int, int]

    def run(self) -> None:
        """Run it, and do not care what comes of it."""
        program = unpack_program(self.legal.program())
        for index, value in self.values.items():
            program.execution_plan[0].values[index].val = value
        given = [
            torch.full_like(tensor, self.elements[index]) if index in self.elements else tensor
            for index, tensor in enumerate(self.legal.tensors)
        ]
        Module(pack_program(program)).method().run(given)

    def __str__(self) -> str:
        return f"{self.legal.name} with values {self.values} and inputs full of {self.elements}"


def numbers(values: list[EValue], call: Call) -> dict[int, Number]:
    """The numbers among the arguments of a call, those in lists as well, by index."""
    arguments = [*call.args]
    for index in call.args:
        value = values[index].val
        if isinstance(value, IntList):
            arguments += value.items
    found = {index: values[index].val for index in sorted(set(arguments))}
    return {index: value for index, value in found.items() if isinstance(value, Number)}


def replaced(value: Number, source: random.Random) -> Number:
    """Another number of the same type, or as many others."""
    match value:
        case Bool():
            return Bool(bool_val=not value.bool_val)
        case Double():
            return Double(source.choice(REALS))
        case Int():
            return Int(source.choice(INTEGERS))
        case DoubleList():
            return DoubleList([source.choice(REALS) for _ in value.items])
        case BoolList():
            return BoolList([not item for item in value.items])


def trials(legal: OneCall, count: int, source: random.Random) -> Iterator[Trial]:
    """Yield calls in which something is replaced, if there is anything."""
    plan = unpack_program(legal.program()).execution_plan[0]
    call = plan.chains[0].instructions[0].instr_args
    assert isinstance(call, Call)
    found = numbers(plan.values, call)
    integers = {
        index: torch.iinfo(tensor.dtype)
        for index, tensor in enumerate(legal.tensors)
        if tensor.dtype in (torch.int32, torch.int64)
    }
    for _ in range(count if found or integers else 0):
        values = {i: replaced(v, source) for i, v in found.items() if source.random() < SHARE}
        elements = {
            index: max(limits.min, min(limits.max, source.choice(INTEGERS)))
            for index, limits in integers.items()
            if source.random() < SHARE
        }
        yield Trial(legal, values, elements)


def signal_of(trial: Trial) -> int:
    """Run a trial in a process of its own; return the signal that ended it, or 0."""
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
            signal.alarm(SECONDS)
            trial.run()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def main(count: str, seed: str = "1", *operators: str) -> None:
    """Run as the command line says."""
    torch.set_num_threads(1)
    table = inputs()
    made = failed = 0
    for name in operators or sorted(table):
        for given in table[name]:
            source = random.Random(f"{seed} {name} {made}")
            for trial in trials(OneCall(name, given), int(count), source):
                made += 1
                if number := signal_of(trial):
                    failed += 1
                    print(f"{signal.Signals(number).name}: {trial}", flush=True)  # noqa: T201
    print(f"{made} calls, {failed} of which ended their process")  # noqa: T201
    sys.exit(failed != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
