"""Objects that run code while they are packed: the codecs agree, and nobody reads freed memory.

Each object changes once, when it is first looked at, so that both codecs see the same.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from placewire_schema import _native, _pure, program

from .test_codecs_agree import outcome

CHANGED = ("RuntimeError", "the object changed while it was being packed")

Attack = Callable[[Callable[[], object]], Any]
"""Makes a value that runs what it is given, once, when a codec looks at it."""


def once(action: Callable[[], object]) -> Callable[[], None]:
    """Return a function that runs `action` at the first call only."""
    is_left = [True]

    def run() -> None:
        if is_left:
            is_left.clear()
            action()

    return run


class Number:
    """An integer and a float that runs something when it is asked for its value."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.run = once(action)

    def __index__(self) -> int:
        self.run()
        return 1

    def __float__(self) -> float:
        self.run()
        return 1.0


class ByGetAttribute:
    """A sequence that runs something at every look at its attributes."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.run = once(action)

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            object.__getattribute__(self, "run")()
        return object.__getattribute__(self, name)

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        return [1, 2][index]


class ByIteration:
    """A sequence that runs something when it is iterated."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.run = once(action)

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        return [1, 2][index]

    def __iter__(self) -> Iterator[int]:
        self.run()
        yield from (1, 2)


class ByLength(ByIteration):
    """A sequence that runs something when it is asked for its length."""

    def __len__(self) -> int:
        self.run()
        return 2

    def __iter__(self) -> Iterator[int]:
        yield from (1, 2)


class ListByIteration(list[int]):
    """A list whose iteration has its own mind."""

    def __init__(self, action: Callable[[], object]) -> None:
        super().__init__([5, 6])
        self.run = once(action)

    def __iter__(self) -> Iterator[int]:
        self.run()
        yield from (1, 2)


class ByClass:
    """Runs something when it is asked for its class; its slots could be freed meanwhile."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.run = once(action)

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:
        self.run()
        return ByClass


ATTACKS: list[Attack] = [
    Number,
    lambda action: [Number(action), 2],
    ByGetAttribute,
    ByIteration,
    ByLength,
    ListByIteration,
    ByClass,
]


def agreed(make: Callable[[], Any]) -> tuple[str, str]:
    """Pack an object of its own with each codec; return what both say."""
    results = [outcome(lambda: codec.pack(make(), {})) for codec in (_native, _pure)]  # noqa: B023
    assert results[0] == results[1]
    return results[0]


def attacked(owner: Any, name: str, attack: Attack, replacement: object) -> Any:
    """Return `owner` with a value that replaces itself when it is looked at."""
    setattr(owner, name, attack(lambda: setattr(owner, name, replacement)))
    return owner


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (program.Tensor, "sizes"),
        (program.Tensor, "dim_order"),
        (program.Tensor, "storage_offset"),
        (program.Tensor, "scalar_type"),
        (program.Tensor, "allocation_info"),
        (program.OptionalTensorList, "items"),
        (program.DoubleList, "items"),
        (program.BoolList, "items"),
        (program.Bool, "bool_val"),
        (program.Double, "double_val"),
        (program.EValue, "val"),
        (program.Chain, "instructions"),
        (program.Operator, "name"),
        (program.ContainerMetadata, "encoded_out_str"),
        (program.Buffer, "storage"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_value_that_replaces_itself_gives_one_result(
    type_: type[Any], name: str, attack: Attack
) -> None:
    replacements: list[Any] = [[], None, 1, "text", b"bytes", program.Int(1)]
    for replacement in replacements:
        agreed(lambda: attacked(type_(), name, attack, replacement))  # noqa: B023


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_what_was_there_when_the_turn_of_the_table_came_is_packed(attack: Attack) -> None:
    def make() -> program.Tensor:
        tensor = program.Tensor(sizes=[3], dim_order=b"\0")

        def change() -> None:
            tensor.dim_order = b"\1" * 50
            tensor.layout = 7
            tensor.allocation_info = program.AllocationDetails(1, 2, 3)

        tensor.sizes = attack(change)
        return tensor

    kind, text = agreed(make)
    assert kind in ("result", "PackError")
    assert (kind == "result") == (attack not in (Number, ByClass)), text


@pytest.mark.parametrize(
    "change",
    [
        list.clear,
        lambda items: items.append(7),
        lambda items: items.pop(),
        lambda items: items.extend(items),
        lambda items: items.insert(0, 7),
    ],
)
@pytest.mark.parametrize("type_", [program.IntList, program.DoubleList, program.BoolList])
def test_a_list_of_numbers_that_changes_its_size_is_an_error(
    type_: type[Any], change: Callable[[list[Any]], object]
) -> None:
    def make() -> Any:
        items: list[Any] = [1, 1, 1]
        items.insert(1, Number(lambda: change(items)))
        return type_(items)

    assert agreed(make)[0] in ("RuntimeError", "PackError")


def test_a_list_that_shrinks_is_named_as_the_reason() -> None:
    def make() -> Any:
        items: list[Any] = [1, 1, 1]
        items.append(Number(items.clear))
        return program.IntList(items)

    assert agreed(make) == CHANGED


def test_a_list_that_grows_without_end_is_an_error() -> None:
    class Growing:
        """Adds itself to its list again and again."""

        def __init__(self, items: list[Any]) -> None:
            self.items = items

        def __index__(self) -> int:
            self.items.append(self)
            return 1

    def make() -> Any:
        items: list[Any] = []
        items.append(Growing(items))
        return program.IntList(items)

    assert agreed(make) == CHANGED


def test_elements_that_are_replaced_meanwhile_are_packed_as_they_were() -> None:
    def make() -> Any:
        items: list[Any] = [1, 2, 2**40]

        def replace() -> None:
            items[0] = items[2] = items[3] = 9

        items.insert(1, Number(replace))
        return program.IntList(items)

    kind, text = agreed(make)
    assert kind == "result"
    assert text == repr(_native.pack(program.IntList([1, 1, 2, 2**40]), {}))


@pytest.mark.parametrize(
    "change", [list.clear, lambda values: values.append(values[0]), lambda values: values.pop()]
)
def test_a_list_of_tables_that_changes_its_size_is_an_error(
    change: Callable[[list[Any]], object],
) -> None:
    def make() -> Any:
        values = [program.EValue(program.Int(2**40 + i)) for i in range(50)]
        plan = program.ExecutionPlan(values=values)
        numbers: Any = [Number(lambda: change(values))]
        values.insert(1, program.EValue(program.IntList(numbers)))
        return plan

    assert agreed(make) == CHANGED


def test_tables_that_are_freed_while_they_are_packed_are_packed_as_they_were() -> None:
    def make() -> Any:
        plan = program.ExecutionPlan(name="a name that nobody else holds"[:20])

        def drop() -> None:
            for index in range(len(plan.values)):
                plan.values[index] = program.EValue(program.Null())
            plan.name = "other"
            plan.chains = []
            plan.delegates = []

        numbers: Any = [Number(drop)]
        plan.values = [program.EValue(program.IntList(numbers))]
        plan.values += [program.EValue(program.String(f"text {i}")) for i in range(50)]
        plan.delegates = [program.BackendDelegate(id="x" * 100)]
        return plan

    kind, text = agreed(make)
    assert kind == "result"
    assert "text 49" in text
    assert "other" not in text


class Sequence:
    """A sequence that is neither list nor tuple."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        return self.items[index]


class Backwards(list[Any]):
    """A list that iterates from the end."""

    def __iter__(self) -> Iterator[Any]:
        yield from reversed([self[i] for i in range(len(self))])


class Raising(Sequence):
    """Fails when it is asked for its length, at the first time and always."""

    def __len__(self) -> int:
        raise ZeroDivisionError("no length")


class Hidden(Sequence):
    """Raises something unusual where an attribute is looked for."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__len__":
            raise LookupError("no attribute")
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    "kind", [Sequence, Backwards, Raising, Hidden, tuple, type("T", (tuple,), {})]
)
def test_other_sequences_give_the_same_result(kind: Callable[[list[Any]], Any]) -> None:
    agreed(lambda: program.Tensor(sizes=kind([1, 2, 3]), dim_order=b"\0\1\2"))
    agreed(lambda: program.Chain(instructions=kind([program.Instruction(program.MoveCall(1, 2))])))
    agreed(lambda: program.BackendDelegate(compile_specs=kind([program.CompileSpec("a", b"b")])))
    agreed(lambda: program.ContainerMetadata(encoded_inp_str=kind(["a"])))


def test_a_list_that_iterates_backwards_is_packed_backwards() -> None:
    items = Backwards([1, 2, 3])
    for codec in (_native, _pure):
        assert codec.pack(program.IntList(items), {}) == codec.pack(program.IntList([3, 2, 1]), {})


@pytest.mark.parametrize("pretended", [list, str, dict, bytes, tuple])
def test_what_pretends_to_be_of_another_class_gives_the_same_result(pretended: type[Any]) -> None:
    class Pretender(Sequence):
        """Says that it is something else."""

        __class__ = pretended

        def encode(self) -> bytes:
            return b"forged"

    owners: list[tuple[type[Any], str]] = [
        (program.IntList, "items"),
        (program.Operator, "name"),
        (program.Buffer, "storage"),
        (program.Tensor, "sizes"),
    ]
    for type_, name in owners:
        agreed(lambda: type_(**{name: Pretender([1, 2])}))  # noqa: B023


def test_a_str_that_encodes_itself_is_not_asked_to() -> None:
    class Forged(str):
        """Claims other bytes."""

        __slots__ = ()

        def encode(self, *_: Any) -> bytes:
            return b"forged"

    kind, text = agreed(lambda: program.Operator(name=Forged("plain")))
    assert kind == "result"
    assert "plain" in text


class Changing(program.Tensor):
    """Replaces another attribute whenever one is read."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name == "sizes":
            super().__setattr__("dim_order", b"\7\7")
            super().__setattr__("sizes", [8, 8, 8])
            gc.collect()
        return value


def test_a_subclass_that_changes_while_it_is_read_gives_one_result() -> None:
    agreed(lambda: Changing(sizes=[1, 2], dim_order=b"\0\1"))
    agreed(lambda: program.EValue(Changing(sizes=[1, 2], dim_order=b"\0\1")))


def test_the_first_attribute_that_fails_ends_the_reading() -> None:
    read: list[str] = []

    class Failing(program.AllocationDetails):
        """Has no second attribute."""

        __slots__ = ()

        def __getattribute__(self, name: str) -> Any:
            if not name.startswith("_"):
                read.append(name)
            if name == "memory_offset_low":
                raise ZeroDivisionError
            return super().__getattribute__(name)

    tensor = program.Tensor(allocation_info=Failing(1, 2, 3))
    with pytest.raises(ZeroDivisionError):
        _native.pack(tensor, {})
    # The checker reads as far, once more.
    assert read == ["memory_id", "memory_offset_low"] * 2
