"""Method: one method of a program, loaded and ready to be called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from placewire_schema.errors import (
    BusyError,
    InvalidArgumentError,
    InvalidStateError,
    PlacewireError,
)

from placewire._core import core
from placewire.argument_types import checked_items
from placewire.torch_tensors import is_torch_tensor
from placewire.uncopied import Uncopied

from .inputs import as_input, converted
from .metadata import BufferMeta, MethodMeta, planned_buffer
from .nesting import LEAF, Nesting, parse_nesting
from .outputs import Library, as_output
from .signature import Signature

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Lock

__all__ = ["CallOptions", "Method"]


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How methods take inputs and give outputs; see `Module`."""

    copy_inputs: bool
    copy_outputs: bool
    library: Library | None


class Method(Uncopied):
    """A method that is loaded. `Module.method` makes it.

    Threads: one at a time; a call during another one is a `BusyError`.
    """

    def __init__(
        self, loaded: core.Method, meta: MethodMeta, options: CallOptions, lock: Lock
    ) -> None:
        self._loaded: core.Method | None = loaded
        self._meta = meta
        self._options = options
        self._lock = lock
        self._signature = Signature(meta.name, meta.input_tree, len(meta.inputs))
        self._nesting = _output_nesting(meta)
        # The inputs as the method has them: tensors on the devices that the device map says.
        self._expected = tuple(loaded.input(index) for index in range(len(meta.inputs)))

    @property
    def name(self) -> str:
        """Its name."""
        return self._meta.name

    @property
    def meta(self) -> MethodMeta:
        """What the file says of it."""
        return self._meta

    @property
    def planned_buffers(self) -> tuple[BufferMeta, ...]:
        """Its planned memory, on the devices where it really is."""
        return tuple(planned_buffer(*buffer) for buffer in self._held().planned_buffers)

    @property
    def inputs(self) -> tuple[object, ...]:
        """The inputs as they are now: views of tensors, and the numbers and strings that a call
        must give, because the program was exported with them.
        """
        return self._expected

    def __call__(self, *args: object, **kwargs: object) -> Any:  # noqa: ANN401 - nests as the model's outputs
        """Run the method with arguments that nest as the model's did.

        Returns:
            The outputs, nested as the model's were. Tensors are numpy arrays, or torch tensors if
            one of the inputs is; on devices that the library does not have, `placewire.Tensor`.

        Raises:
            InvalidArgumentError: The arguments do not fit; the message names the input, what the
                program accepts, and whether `copy_inputs` would help.
            InvalidTypeError: Something that is no tensor was given for one.
            BusyError: It, or a method that shares its memory, is executing already.
            PlacewireError: A kernel or delegate failed; if it is Python code, its exception is the
                cause.
        """
        outputs = self.run(self._signature.inputs(args, kwargs))
        return self._nesting.unflatten(iter(outputs))

    def run(self, inputs: Sequence[object]) -> list[Any]:
        """Run the method with flat inputs, and give flat outputs; else as a call.

        Raises:
            PlacewireError: As a call; `InvalidArgumentError` also for another number of inputs.
        """
        loaded = self._held()
        given = checked_items("inputs", inputs, "a list of the method's inputs")
        if len(given) != len(self._expected):
            count = len(self._expected)
            raise InvalidArgumentError(
                f"{self.name} has {count} {'input' if count == 1 else 'inputs'}; "
                f"{len(given)} {'was' if len(given) == 1 else 'were'} given"
            )
        if not self._lock.acquire(blocking=False):
            raise BusyError(
                f"{self.name} is executing already, or a method that shares its memory is; let "
                "that call end first, or open a Module of its own for this one"
            )
        try:
            for index, value in enumerate(given):
                self._set_input(loaded, index, value)
            loaded.execute()
            return self._outputs(loaded, self._library(given))
        finally:
            self._lock.release()

    def let_go(self) -> None:
        """Let go of the method of the core, as is done when the interpreter ends."""
        self._loaded = None
        self._expected = ()

    def _held(self) -> core.Method:
        if self._loaded is None:
            raise InvalidStateError(f"{self.name} cannot be used while the interpreter ends")
        return self._loaded

    def _set_input(self, loaded: core.Method, index: int, value: object) -> None:
        expected = self._expected[index]
        try:
            convert = converted if self._options.copy_inputs else as_input
            loaded.set_input(index, convert(value, expected))
        except PlacewireError as error:
            raise self._with_place(error, index, value) from error.__cause__

    def _with_place(self, error: PlacewireError, index: int, value: object) -> PlacewireError:
        """The error with the method, the input's number and its place among the arguments, and with
        what to do if a conversion of the value would do.
        """
        text = str(error)
        if not text.startswith(f"{self.name}: "):
            start = "" if text.startswith(f"input {index}") else f"input {index}: "
            text = f"{self.name}: {start}{text}"
        place = self._signature.input_names[index]
        if place != f"args[{index}]":
            text += f"; it is {place}"
        if not self._options.copy_inputs and self._fits_converted(index, value):
            text += "; copy_inputs=True would convert it (placewire run: --copy-inputs)"
        return type(error)(text)

    def _fits_converted(self, index: int, value: object) -> bool:
        """Whether a value that was refused would be taken if it were converted."""
        expected, meta = self._expected[index], self._meta.inputs[index].tensor
        if not isinstance(expected, core.Tensor) or meta is None:
            return False
        try:
            shape = tuple(getattr(converted(value, expected), "shape", ()))
        except Exception:  # whatever the value's own code raises, the first error is what counts
            return False
        return meta.accepts(shape)

    def _library(self, inputs: Sequence[object]) -> Library:
        if self._options.library is not None:
            return self._options.library
        return "torch" if any(map(is_torch_tensor, inputs)) else "numpy"

    def _outputs(self, loaded: core.Method, library: Library) -> list[Any]:
        outputs = []
        for index in range(len(self._meta.outputs)):
            try:
                value = loaded.output(index)
                outputs.append(as_output(value, library, copy=self._options.copy_outputs))
            except PlacewireError as error:
                text = f"{self.name}: output {index}: {error}"
                raise type(error)(text) from error.__cause__
        return outputs

    def _instead_of_copy(self) -> str:
        return f"open the file in another Module, whose {self.name} has memory of its own"

    def __repr__(self) -> str:
        return f"<Method {self._meta}>"


def _output_nesting(meta: MethodMeta) -> Nesting:
    """How outputs nest; flat, if the file does not say or says what does not fit their number."""
    nesting = parse_nesting(meta.output_tree)
    if nesting is not None and nesting.leaf_count == len(meta.outputs):
        return nesting
    return Nesting.of_tuple([LEAF] * len(meta.outputs))
