"""Kernels that users write in Python."""

from __future__ import annotations

import atexit
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from placewire_schema.errors import InvalidArgumentError, NotFoundError

from ._core import core
from .argument_types import checked_function, checked_text
from .uncopied import Uncopied

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

__all__ = ["ScopedKernel", "kernel", "unregister_kernel"]

_Views = Literal["numpy", "torch"]
"""As whose arrays a kernel sees the tensors of a program."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_registered: set[str] = set()
"""Operators whose kernels were registered here."""


def kernel(
    name: str, *, views: _Views = "numpy"
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Register a function as the kernel of an operator, for all methods that are loaded later.

    It gets the arguments of the operator's schema, in order. Tensors are views of the program's
    memory; the function writes its results to those that it is to fill, and returns None or one of
    them. If the shape of the first may change, numpy's view has its largest sizes, and the function
    returns the sizes that it used, as a tuple; torch's is empty, and resized by what gets it as
    `out=`. If it fills none, it returns a bool, int or float.
    Constants of the program cannot be written by numpy; torch cannot keep a kernel from it.

    Args:
        name: The operator, such as `my::add.out`; without an overload `my::add`.
        views: Whether tensors are numpy's arrays or torch's tensors. Default: numpy's.

    Returns:
        A decorator, which gives the function back unchanged.

    Raises:
        InvalidTypeError: The name is no text, or what is decorated no function.
        InvalidArgumentError: The name is empty, or `views` is neither.
        AlreadyRegisteredError: The operator has a kernel.

    Example:
        >>> @kernel("my::double.out")
        ... def double(x, out):
        ...     np.multiply(x, 2, out=out)
    """
    checked_text("name", name)
    wants_torch = _wants_torch(views)

    def register(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        checked_function("function", function)
        core.register_kernel(name, function, wants_torch)
        _registered.add(name)
        return function

    return register


def unregister_kernel(name: str) -> None:
    """Take the kernel of an operator out of the registry; methods that use it keep it.

    Raises:
        NotFoundError: None is registered.
    """
    core.unregister_kernel(checked_text("name", name))
    _registered.discard(name)


@atexit.register
def _unregister_all() -> None:
    """Let go of the functions while there still is an interpreter that can free them."""
    while _registered:
        with suppress(NotFoundError):
            core.unregister_kernel(_registered.pop())


def _wants_torch(views: str) -> bool:
    if views not in ("numpy", "torch"):
        raise InvalidArgumentError(f"views is {views!r}; expected 'numpy' or 'torch'")
    return views == "torch"


class ScopedKernel(Uncopied):
    """A kernel that comes before the registered one, for methods loaded while it is entered.

    Args:
        name: The operator.
        function: As for `kernel`.
        views: As for `kernel`.

    Raises:
        InvalidTypeError: The name is no text, or the function none.
        InvalidArgumentError: `views` is neither.
    """

    def __init__(
        self, name: str, function: Callable[..., object], *, views: _Views = "numpy"
    ) -> None:
        self._name = checked_text("name", name)
        self._scope = core.KernelScope(
            name, checked_function("function", function), _wants_torch(views)
        )

    def __enter__(self) -> Self:
        """Put it before the registered kernel.

        Raises:
            InvalidStateError: This object is entered already.
            InvalidArgumentError: The name is empty.
        """
        self._scope.install()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take it away again."""
        self._scope.remove()

    def _instead_of_copy(self) -> str:
        return f"make another ScopedKernel({self._name!r}, ...) of the same function"
