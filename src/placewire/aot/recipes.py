"""Recipes: what an operator becomes, in terms of kernels of the target, worked out once and reused.

A model applies the same operator to the same kind of tensors over and over: in every layer. So an
operator is traced once for each distinct combination of argument types, constants and shared
arguments, and the result is put wherever the combination recurs.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch._subclasses.functional_tensor import FunctionalTensorMode, dispatch_functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from .arguments import collected, mapped, replaced
from .decompositions import OWN_DECOMPOSITIONS, CannotDecomposeError
from .decompositions.of_torch import known_decompositions
from .emit.calls import NUMBER_OPERATORS
from .limits import limit_of
from .operators import copying_variant, custom_remedy, is_write, kernel_of, scalar_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from .fakes import FakeValues
    from .target import Target

__all__ = [
    "CHECKS",
    "Constant",
    "Operand",
    "Recipe",
    "Recipes",
    "Result",
    "Step",
    "UnsupportedOperatorError",
]


class UnsupportedOperatorError(Exception):
    """No kernel of the target computes an operator, and nothing decomposes it."""

    def __init__(self, operator: object, reason: str) -> None:
        super().__init__(f"{operator}: {reason}")
        self.operator = operator
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument of a recipe that is a node of the graph."""

    index: int


@dataclass(frozen=True, slots=True)
class Result:
    """A result of an earlier step; `item` says which one if the step has several."""

    step: int
    item: int | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """A tensor without dimensions whose value is known."""

    dtype: torch.dtype
    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Step:
    """A call of an operator that the target has a kernel for.

    Attributes:
        target: An operator, or a function on symbolic numbers.
        args, kwargs: Its arguments, with `Operand`, `Result` and `Constant` in the place of nodes.
        value: The canonical fake value of its result, a tuple if it has several.
    """

    target: Callable[..., object]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: object


@dataclass(frozen=True, slots=True)
class Recipe:
    """The steps that stand for a call, and what it gives back: a reference or a tuple of some."""

    steps: tuple[Step, ...]
    result: Any


class Recipes:
    """Finds the recipe for a call.

    Args:
        fakes: The fake values of the program.
        target: What the kernels of a program may be.
        preserved: Operators that are kept although the target has no kernel for them, because a
            backend takes them as they are.
    """

    def __init__(
        self, fakes: FakeValues, target: Target, preserved: Container[OpOverload] = frozenset()
    ) -> None:
        self._fakes = fakes
        self._target = target
        self._preserved = preserved
        self._found: dict[object, Recipe | UnsupportedOperatorError] = {}
        self._known = known_decompositions()
        self._decompositions = {
            op: function for op, function in self._known.items() if not self._is_kept(op)
        }

    @property
    def target(self) -> str:
        """The name of the target."""
        return self._target.name

    def has_kernel(self, op: OpOverload) -> bool:
        """Whether the target computes an operator as it is, or a backend takes it."""
        return self._is_kept(op)

    def find(
        self,
        op: OpOverload,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        operands: Sequence[object],
        value: object = None,
    ) -> Recipe:
        """The recipe for a call.

        Args:
            op: The operator.
            args: Its positional arguments, with `Operand` in the place of nodes.
            kwargs: Its other arguments, likewise.
            operands: Fake values of the operands.
            value: The value of the result, if it cannot be worked out again because the sizes of
                it depend on data.

        Raises:
            UnsupportedOperatorError: There is none.
        """
        key = (
            op,
            self._fakes.key(args),
            tuple((name, self._fakes.key(item)) for name, item in sorted(kwargs.items())),
            self._fakes.key(operands),
            self._fakes.key(value),
        )
        found = self._found.get(key)
        if found is None:
            self._found[key] = UnsupportedOperatorError(op, "it decomposes into itself")
            try:
                found = self._make(op, args, dict(kwargs), operands, value)
            except UnsupportedOperatorError as error:
                found = error
            except GuardOnDataDependentSymNode as error:
                found = UnsupportedOperatorError(
                    op, f"a size depends on data: {_first_line(error)}"
                )
            self._found[key] = found
        if isinstance(found, UnsupportedOperatorError):
            raise found
        return found

    def _is_kept(self, op: OpOverload) -> bool:
        if op in _NOT_KEPT:
            return False
        return op in self._preserved or kernel_of(copying_variant(op), self._target) is not None

    def _make(
        self,
        op: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        operands: Sequence[object],
        value: object,
    ) -> Recipe:
        if op in _IDENTITIES:
            return Recipe((), args[0])
        op = _SYNONYMS.get(op, op)
        op, args, kwargs = self._with_numbers_as_tensors(op, args, kwargs, operands)
        if not self._is_kept(op):
            reason = f"the target {self._target.name} has no kernel for it"
            return self._decomposed(op, args, kwargs, operands, reason)
        limit = self._limit(op, args, kwargs, operands)
        if limit is None:
            return self._call(op, args, kwargs, operands, value)
        return self._decomposed(op, args, kwargs, operands, limit)

    def _limit(
        self,
        op: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        operands: Sequence[object],
    ) -> str | None:
        """Why the kernel of an operator cannot take these arguments; None if it can."""
        if op in self._preserved:
            return None
        names = (argument.name for argument in op._schema.arguments)
        defaults = {a.name: a.default_value for a in op._schema.arguments if a.has_default_value()}
        given = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        return limit_of(op, _filled(given, operands, self._constant))

    def _call(
        self,
        op: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        operands: Sequence[object],
        value: object,
    ) -> Recipe:
        """A single step, with its value worked out on fake tensors."""
        target = op if op in self._preserved else copying_variant(op)
        if value is None:
            with self._fakes.tracing():
                value = target(
                    *_filled(args, operands, self._constant),
                    **_filled(kwargs, operands, self._constant),
                )
        value = self._fakes.canonical(value)
        kwargs = {name: given for name, given in kwargs.items() if name not in _SETTLED}
        result: Any = Result(0)
        if isinstance(value, tuple):
            result = tuple(Result(0, item) for item in range(len(value)))
        return Recipe((Step(target, args, kwargs, value),), result)

    def _with_numbers_as_tensors(
        self,
        op: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        operands: Sequence[object],
    ) -> tuple[OpOverload, tuple[Any, ...], dict[str, Any]]:
        """Graphs may hold numbers where an operator takes tensors; kernels do not take that."""
        places = [
            position
            for position, (argument, given) in enumerate(
                zip(op._schema.arguments, args, strict=False)
            )
            if str(argument.type) == "Tensor" and _is_number(given, operands)
        ]
        if not places:
            return op, args, kwargs
        variant = scalar_variant(op)
        if places == [1] and variant is not None and kernel_of(variant, self._target) is not None:
            return variant, args, kwargs
        dtype = next(
            (item.dtype for item in operands if isinstance(item, torch.Tensor)),
            torch.get_default_dtype(),
        )
        replaced = list(args)
        for place in places:
            number = args[place]
            if isinstance(number, Operand):
                raise UnsupportedOperatorError(
                    op, "a symbolic number stands where it takes a tensor"
                )
            replaced[place] = Constant(_dtype_beside(number, dtype), number)
        return op, tuple(replaced), kwargs

    def _decomposed(
        self,
        op: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        operands: Sequence[object],
        reason: str,
    ) -> Recipe:
        """The steps that an operator decomposes into; `reason` says why it has to be."""
        remedy = custom_remedy(op)
        for function in self._ways_to_decompose(op):

            def call(*values: object, function: Callable[..., object] = function) -> object:
                return function(
                    *_filled(args, values, self._constant),
                    **_filled(kwargs, values, self._constant),
                )

            try:
                traced = self._trace(call, operands)
                if any(is_write(node.target) for node in traced.nodes):
                    functional = dispatch_functionalize(
                        call, mode=FunctionalTensorMode(export=True)
                    )
                    traced = self._trace(functional, operands)
            except CannotDecomposeError as error:
                reason = str(error)
            except (AssertionError, NotImplementedError, RuntimeError, TypeError) as error:
                reason = f"{reason}, and it cannot be decomposed: {_first_line(error)}"
            else:
                if _is_only(traced, op):
                    continue
                try:
                    return self._lowered(op, traced)
                except UnsupportedOperatorError as error:
                    reason = f"it decomposes into {error.operator}: {error.reason}"
                    remedy = None
        raise UnsupportedOperatorError(op, reason if remedy is None else f"{reason}; {remedy}")

    def _ways_to_decompose(self, op: OpOverload) -> Iterator[Callable[..., object]]:
        """Functions that say an operator in terms of others, the best first."""
        if op in OWN_DECOMPOSITIONS:
            yield OWN_DECOMPOSITIONS[op]
        if op in self._known:
            yield self._known[op]
        yield op
        if op in decomposition_table:
            yield decomposition_table[op]

    def _trace(self, call: Callable[..., object], operands: Sequence[object]) -> fx.Graph:
        values = [self._fakes.distinct(value) for value in operands]
        with self._fakes.tracing():
            module = make_fx(
                call,
                decomposition_table=self._decompositions,
                tracing_mode="real",
                _allow_non_fake_inputs=True,
            )(*values)
        graph: fx.Graph = module.graph
        graph.eliminate_dead_code()
        return graph

    def _lowered(self, op: OpOverload, traced: fx.Graph) -> Recipe:
        """The recipe of a traced graph, whose operators may need recipes themselves."""
        steps: list[Step] = []
        references: dict[fx.Node, Any] = {}
        values: dict[Any, object] = {}
        for position, node in enumerate(traced.find_nodes(op="placeholder")):
            references[node] = Operand(position)
            values[Operand(position)] = self._fakes.canonical(node.meta["val"])
        for node in traced.nodes:
            if node.op == "get_attr":
                references[node] = self._known_constant(op, traced, node)
            elif node.op == "call_function" and node.target not in CHECKS:
                references[node] = self._appended(node, references, values, steps)
        results = traced.output_node().args[0]
        return Recipe(tuple(steps), replaced(results, fx.Node, references))

    def _appended(
        self,
        node: fx.Node,
        references: dict[fx.Node, Any],
        values: dict[Any, object],
        steps: list[Step],
    ) -> Any:
        """Append the steps of one traced call and say what refers to its result."""
        target, args = node.target, replaced(node.args, fx.Node, references)
        kwargs = replaced(node.kwargs, fx.Node, references)
        if target is operator.getitem:
            return args[0][args[1]]
        if isinstance(target, type) and issubclass(target, tuple):
            return args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        if not isinstance(target, OpOverload):
            assert callable(target)
            if target not in NUMBER_OPERATORS:
                name = getattr(target, "__name__", str(target))
                raise UnsupportedOperatorError(
                    name, f"the target {self._target.name} has no kernel for it on sizes"
                )
            value = self._fakes.canonical(node.meta["val"])
            steps.append(Step(target, args, kwargs, value))
            values[Result(len(steps) - 1)] = value
            return Result(len(steps) - 1)
        outer = collected((args, kwargs), (Operand, Result))
        inner_names = {reference: Operand(i) for i, reference in enumerate(outer)}
        recipe = self.find(
            target,
            replaced(args, (Operand, Result), inner_names),
            replaced(kwargs, (Operand, Result), inner_names),
            [values[reference] for reference in outer],
        )
        base = len(steps)
        for number, step in enumerate(recipe.steps):
            steps.append(
                Step(
                    step.target,
                    _moved(step.args, outer, base),
                    _moved(step.kwargs, outer, base),
                    step.value,
                )
            )
            for item in range(len(step.value)) if isinstance(step.value, tuple) else [None]:
                whole = step.value
                values[Result(base + number, item)] = (
                    whole[item] if isinstance(whole, tuple) and item is not None else whole
                )
        return _moved(recipe.result, outer, base)

    def _known_constant(self, op: OpOverload, traced: fx.Graph, node: fx.Node) -> Constant:
        """A number that a decomposition wraps in a tensor."""
        tensor = getattr(traced.owning_module, str(node.target))
        known = getattr(tensor, "constant", None)
        tensor = known if known is not None else tensor
        if tensor.dim() != 0 or isinstance(tensor, torch._subclasses.FakeTensor):
            raise UnsupportedOperatorError(
                op, "its decomposition needs a tensor that is not a number"
            )
        return Constant(tensor.dtype, tensor.item())

    def _constant(self, constant: Constant) -> torch.Tensor:
        return self._fakes.tensor(constant.dtype, ())


CHECKS = frozenset(
    {
        torch.ops.aten._assert_async.default,
        torch.ops.aten._assert_async.msg,
        torch.ops.aten._assert_scalar.default,
        torch.ops.aten._assert_tensor_metadata.default,
        torch.ops.aten.sym_constrain_range.default,
        torch.ops.aten.sym_constrain_range_for_size.default,
    }
)
"""What checks at run time what an exported program takes for granted; no kernels exist for it."""

_IDENTITIES = frozenset(
    {
        torch.ops.aten.alias.default,
        torch.ops.aten.detach.default,
        torch.ops.aten.lift_fresh.default,
        torch.ops.aten.lift_fresh_copy.default,
    }
)
"""Operators that give what they are given, once nothing writes to a tensor any more."""

_SETTLED = frozenset({"memory_format", "non_blocking"})
"""Arguments of copies that the value of the result says already, or that mean nothing here."""

_NOT_KEPT = frozenset({torch.ops.aten.narrow.default})
"""Operators that become others although there is a kernel: that of `narrow_copy` ends the process
for a dimension that is counted from the last."""

_SYNONYMS = {torch.ops.aten.item.default: torch.ops.aten._local_scalar_dense.default}


def _is_number(given: object, operands: Sequence[object]) -> bool:
    if isinstance(given, Operand):
        given = operands[given.index]
    return isinstance(given, bool | int | float | torch.SymInt | torch.SymFloat | torch.SymBool)


def _dtype_beside(number: bool | int | float, dtype: torch.dtype) -> torch.dtype:
    """The dtype that gives a number the weight in type promotion that it has as a number."""
    if isinstance(number, bool):
        return torch.bool
    if isinstance(number, float):
        return dtype if dtype.is_floating_point else torch.get_default_dtype()
    return dtype if dtype is not torch.bool else torch.int64


def _is_only(traced: fx.Graph, op: OpOverload) -> bool:
    """Whether a trace does nothing but call the operator itself, so nothing was decomposed."""
    calls = traced.find_nodes(op="call_function", target=op)
    return any(all(a.op == "placeholder" for a in node.all_input_nodes) for node in calls)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _filled(
    structure: Any, values: Sequence[object], constant: Callable[[Constant], torch.Tensor]
) -> Any:
    """Arguments with values in the place of operands and constants."""

    def fill(item: object) -> object:
        if isinstance(item, Operand):
            return values[item.index]
        return constant(item) if isinstance(item, Constant) else item

    return mapped(structure, fill)


def _moved(structure: Any, outer: Sequence[Any], base: int) -> Any:
    """References of an inner recipe as references of the one that takes it in."""

    def move(item: object) -> object:
        if isinstance(item, Operand):
            return outer[item.index]
        return Result(base + item.step, item.item) if isinstance(item, Result) else item

    return mapped(structure, move)
