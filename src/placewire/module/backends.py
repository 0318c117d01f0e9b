"""Backends that are written in Python, and the process-wide list of them."""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from placewire_schema.errors import (
    AlreadyRegisteredError,
    InvalidArgumentError,
    NotFoundError,
)

from placewire.argument_types import checked_items, checked_text, wrong_type
from placewire.wording import described, is_encodable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from placewire._core import core

__all__ = [
    "Backend",
    "Delegate",
    "checked_backends",
    "checked_id",
    "register_backend",
    "registered_backends",
    "unregister_backend",
]


class Delegate(Protocol):
    """A delegate that is loaded."""

    def execute(self, arguments: tuple[object, ...], /) -> object:
        """Compute the outputs, in place. What it returns is ignored.

        An exception ends the execution of the method, and is the cause of what its caller gets.

        Args:
            arguments: The inputs, then the outputs, as the exporter wrote them: tensors
                (`placewire.Tensor`) where they lie, numbers, strings. How many of them are inputs
                the backend knows from the blob. Valid during the call.
        """


class Backend(Protocol):
    """Runs the delegates that a program calls by its `id`."""

    @property
    def id(self) -> str:
        """The name in the program, such as `placewire.torch`."""

    def load(self, description: core.DelegateDescription, /) -> Delegate:
        """Prepare one delegate, when its method is loaded. Called with the interpreter lock.

        An exception ends the loading, and is the cause of what its caller gets: a
        `DelegateVersionError` if this raises one because it cannot read blobs of that version, else
        an `InternalError` or another error of placewire's own that this raises.
        """


_registered: dict[str, Backend] = {}
_lock = Lock()


def register_backend(backend: Backend) -> None:
    """Let every `Module` that is opened from now on use a backend.

    Raises:
        InvalidTypeError: It is a class.
        InvalidArgumentError: Its id is no text, or empty, or it has no `load`.
        AlreadyRegisteredError: There is one of that id, which stays.
    """
    name = checked_id(backend)
    with _lock:
        if name in _registered:
            raise AlreadyRegisteredError(
                f"a backend {name!r} is registered already; unregister_backend({name!r}) takes it "
                "out"
            )
        _registered[name] = backend


def unregister_backend(name: str) -> Backend:
    """Take a backend out of the list, and give it back. Modules that have it keep it.

    Raises:
        NotFoundError: There is none of that id.
    """
    checked_text("name", name)
    with _lock:
        if name not in _registered:
            known = ", ".join(sorted(_registered)) or "none"
            raise NotFoundError(f"no backend {name!r} is registered; registered are: {known}")
        return _registered.pop(name)


def registered_backends(besides: Iterable[Backend] = ()) -> list[Backend]:
    """The backends that are registered, but those whose id one of `besides` has."""
    taken = {checked_id(backend) for backend in besides}
    with _lock:
        return [backend for name, backend in _registered.items() if name not in taken]


def checked_id(backend: Backend) -> str:
    """A backend's id.

    Raises:
        InvalidTypeError: It is a class.
        InvalidArgumentError: It has none.
    """
    if isinstance(backend, type):
        raise wrong_type("backend", backend, f"an object of it, {backend.__name__}(...)")
    name: object = getattr(backend, "id", None)
    if not isinstance(name, str) or not name or not is_encodable(name):
        raise InvalidArgumentError(
            f"{described(backend)} is no backend: its id is {name!r}; expected a text that is "
            "not empty, the name by which programs call it"
        )
    if not callable(getattr(backend, "load", None)):
        raise InvalidArgumentError(
            f"{described(backend)} is no backend: it has no method load(description)"
        )
    return name


def checked_backends(backends: object) -> list[Backend]:
    """The backends of a list.

    Raises:
        InvalidTypeError: It is no list, or has a class in it.
        InvalidArgumentError: Something in it is no backend, or two have the same id.
    """
    found = checked_items("backends", backends, "a list of backends, such as [backend]")
    for name, count in Counter(map(checked_id, found)).items():
        if count > 1:
            raise InvalidArgumentError(f"backends has {count} with the id {name!r}; give one")
    return found
