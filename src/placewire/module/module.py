"""Module: a program that is open, with its methods loaded when they are first used."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from placewire_schema.errors import (
    InvalidArgumentError,
    InvalidStateError,
    InvalidTypeError,
    NotFoundError,
    OperatorMissingError,
)

from placewire._core import core
from placewire.argument_types import checked_flag, checked_items, checked_text, wrong_type
from placewire.device import Device, as_device
from placewire.uncopied import Uncopied
from placewire.wording import described, did_you_mean

from .backends import checked_backends, registered_backends
from .kernels import default_kernels
from .metadata import MethodMeta, method_meta
from .method import CallOptions, Method
from .torch_lookup import has_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from placewire_schema import Finding

    from .backends import Backend
    from .outputs import Library

__all__ = ["Module"]

_FORWARD = "forward"


class Module(Uncopied):
    """A program that is open.

    Opening checks the whole file and allocates nothing; a method is loaded when it is first used.
    Methods whose names are Python names are attributes: `module.forward(x)`; `module(x)` is the
    same.

    Args:
        file: Path of a .pte file, or its bytes: anything with the buffer protocol. A file is
            mapped; nobody may shorten it while the module is open.
        device_map: From devices of the file to those to take instead: `{"cuda:0": "cuda:1"}`.
            Default: as in the file.
        backends: What runs delegates; see `Backend`. They come before those that
            `register_backend` has registered.
        kernels: Kernels for operators that the registry lacks: sources, of which the first that has
            one is taken. Default: torch's, if torch is installed and the method needs them.
        share_memory_arenas: Whether all methods use the same planned memory, for programs whose
            methods share mutable buffers, or to save memory. One at a time may execute then.
            Default: no.
        prepare: Whether to do once what need not be done in each execution: compute what depends
            on constants only, and let views that are copied share memory where they can. Default:
            yes. Without it every instruction runs in each execution, as the file says.
        copy_inputs: Whether tensors of another element type, order or device are converted and
            copied. Default: no, they are errors. Another shape always is.
        copy_outputs: Whether the outputs own their elements. Default: yes. Else they change when
            the method executes again.
        library: `"numpy"` or `"torch"`: whose tensors the outputs are. Default: torch's if an input
            is a torch tensor, else numpy's.

    Raises:
        OSError: The file cannot be read.
        InvalidProgramError: The validator refuses it; `placewire verify` lists all findings.
        ModuleNotFoundError: `library` is `"torch"`, which is not installed.
        InvalidArgumentError: A device, a backend or `library` is none, or the path is empty.
        InvalidTypeError: `file` is neither a path nor bytes, or another argument is of a wrong
            type; the message names it.
        StaleBuildError: The compiled core is missing or belongs to another schema.

    Example:
        >>> with Module("mlp.pte") as module:
        ...     y = module.forward(x)
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | object,
        *,
        device_map: Mapping[str | Device, str | Device] | None = None,
        backends: Sequence[Backend] = (),
        kernels: Sequence[core.KernelSource] | None = None,
        share_memory_arenas: bool = False,
        prepare: bool = True,
        copy_inputs: bool = False,
        copy_outputs: bool = True,
        library: Library | None = None,
    ) -> None:
        if library not in (None, "numpy", "torch"):
            raise InvalidArgumentError(f"library is {library!r}; expected 'numpy' or 'torch'")
        if library == "torch":
            _import_torch()
        self._options = CallOptions(
            checked_flag("copy_inputs", copy_inputs),
            checked_flag("copy_outputs", copy_outputs),
            library,
        )
        shares = checked_flag("share_memory_arenas", share_memory_arenas)
        prepares = checked_flag("prepare", prepare)
        pairs = _device_pairs({} if device_map is None else device_map)
        own = checked_backends(backends)
        all_backends = [*own, *registered_backends(besides=own)]
        sources = [default_kernels()] if kernels is None else _kernel_sources(kernels)
        self._has_torch_kernels = kernels is None and has_torch()
        self._label, program = _open(file)
        self._program: core.Program | None = program
        self._loaded: core.Module | None = core.Module(
            program, pairs, all_backends, sources, shares, prepares
        )
        self._names = program.method_names
        self._shared_lock = Lock() if shares else None
        self._methods: dict[str, Method] = {}
        self._loading = Lock()
        self._loader: int | None = None  # the thread that has the lock
        _open_modules.add(self)

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the file."""
        return self._names

    @property
    def warnings(self) -> list[Finding]:
        """What the validator found that does not keep the program from running."""
        return self._open_program().warnings

    def method(self, name: str = _FORWARD) -> Method:
        """The method, loaded if it is not yet.

        Raises:
            InvalidTypeError: The name is no text.
            NotFoundError: There is no such method; or backends, or devices without an allocator,
                are missing: all of them are named.
            OperatorMissingError: Operators have no kernel; all of them are named.
            PlacewireError: Loading fails.
            InvalidStateError: The module is closed, or a backend or kernel source asks for a method
                while it helps to load one.
        """
        checked_text("name", name)
        if self._loader == get_ident():
            raise InvalidStateError(
                f"{self._label}: a method cannot be had while another one is loaded by this thread"
            )
        with self._loading:
            self._loader = get_ident()
            try:
                found = self._methods.get(name)
                if found is None:
                    found = self._methods[name] = self._load(name)
            finally:
                self._loader = None
        return found

    def method_meta(self, name: str = _FORWARD) -> MethodMeta:
        """What the file says of a method, which is not loaded for that.

        Raises:
            InvalidTypeError: The name is no text.
            NotFoundError: There is no such method.
            InvalidStateError: The module is closed.
        """
        program = self._open_program()
        self._check_name(checked_text("name", name))
        return method_meta(program.meta(name))

    def named_data(self, key: str) -> bytes | None:
        """A copy of the data that the file has under a name; `None` if it has none.

        Raises:
            InvalidTypeError: The name is no text.
            InvalidStateError: The module is closed.
        """
        return self._open_program().named_data(key)

    def close(self) -> None:
        """Let go of the program and its methods. What was taken from them stays valid."""
        self._methods.clear()
        self._loaded = None
        self._program = None

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._program is None

    def __call__(self, *args: object, **kwargs: object) -> Any:  # noqa: ANN401 - nests as the model's outputs
        """Run the method `forward`; see `Method`."""
        return self.method()(*args, **kwargs)

    def __getitem__(self, name: str) -> Method:
        """The same as `method(name)`."""
        return self.method(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getattr__(self, name: str) -> Method:
        # Only asked for what there is not; `_names` may not be there yet if opening failed.
        if not name.startswith("_") and name in self.__dict__.get("_names", ()):
            return self.method(name)
        names = () if name.startswith("_") else self.__dict__.get("_names", ())
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}{did_you_mean(name, names)}"
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(str.isidentifier, self._names)})

    def __enter__(self) -> Self:
        """The module itself, which is closed at the end."""
        self._open_program()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _instead_of_copy(self) -> str:
        return "open the file again, in every process that uses it"

    def __repr__(self) -> str:
        if self._program is None:
            return f"<Module {self._label}, closed>"
        return f"<Module {self._label}: {', '.join(self._names)}>"

    def _load(self, name: str) -> Method:
        program = self._open_program()
        assert self._loaded is not None
        self._check_name(name)
        try:
            loaded = self._loaded.method(name)
        except OperatorMissingError as error:
            raise OperatorMissingError(
                f"{error}; as for kernels, {self._advice()}"
            ) from error.__cause__
        lock = self._shared_lock or Lock()
        method = Method(loaded, method_meta(program.meta(name)), self._options, lock)
        _loaded_methods.add(method)
        return method

    def _check_name(self, name: str) -> None:
        if name not in self._names:
            known = ", ".join(self._names) or "none"
            raise NotFoundError(
                f"there is no method {name!r}; the program has {known}"
                f"{did_you_mean(name, self._names)}"
            )

    def _advice(self) -> str:
        """What to do about an operator that no kernel was found for."""
        if self._has_torch_kernels:
            return "torch has none that a program may use: register your own with placewire.kernel"
        if has_torch():
            return "those that were given do not have them: leave out `kernels` to take torch's"
        return "install torch, which has PyTorch's, or register your own with placewire.kernel"

    def _open_program(self) -> core.Program:
        if self._program is None:
            raise InvalidStateError(f"the module {self._label} is closed; open the file again")
        return self._program


_open_modules: WeakSet[Module] = WeakSet()
_loaded_methods: WeakSet[Method] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Close what is open while the interpreter can still free it.

    A backend usually refers to the globals that the module is one of, and Python's collector of
    cycles does not see that the core refers to the backend. Nor does it see that torch's kernels
    refer to what implements an operator of `torch.library`, which has such globals, too.
    """
    for module in list(_open_modules):
        module.close()
    for method in list(_loaded_methods):
        method.let_go()
    default_kernels.cache_clear()


def _open(file: object) -> tuple[str, core.Program]:
    """A program, and what to call it."""
    if isinstance(file, str | os.PathLike):
        path = _path(file)
        path.stat()  # a missing file is the system's error, with its number
        return str(path), core.Program.open(os.fsencode(path))
    try:
        contents = memoryview(file)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidTypeError(
            f"{described(file)} is no program; expected a path, or the bytes of a file"
        ) from None
    if not contents.c_contiguous:
        raise InvalidArgumentError("the bytes of the file do not lie one after the other")
    return "of bytes", core.Program.load(file)


def _import_torch() -> None:
    try:
        import_module("torch")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"library is 'torch', but it cannot be imported ({error}); install placewire[torch]",
            name=error.name,
        ) from error


def _path(file: str | os.PathLike[str]) -> Path:
    name = os.fsdecode(file)
    if not name or "\0" in name:
        problem = "is empty" if not name else "has a NUL byte"
        raise InvalidArgumentError(f"the path {name!r} {problem}; expected that of a .pte file")
    return Path(name)


def _kernel_sources(kernels: Sequence[core.KernelSource]) -> list[core.KernelSource]:
    sources = checked_items("kernels", kernels, "a list of kernel sources")
    for source in sources:
        if not isinstance(source, core.KernelSource):
            raise InvalidTypeError(
                f"kernels has {described(source)}; expected kernel sources. Functions are "
                "registered with placewire.kernel or placewire.ScopedKernel"
            )
    return sources


def _device_pairs(
    device_map: Mapping[str | Device, str | Device],
) -> list[tuple[int, int, int, int]]:
    if not isinstance(device_map, Mapping):
        raise wrong_type("device_map", device_map, "a dictionary such as {'cuda:0': 'cuda:1'}")
    targets: dict[Device, Device] = {}
    for old, new in device_map.items():
        source = as_device(old, "a key of device_map")
        target = as_device(new, "a value of device_map")
        if targets.setdefault(source, target) != target:
            raise InvalidArgumentError(
                f"device_map: {source} cannot become both {targets[source]} and {target}"
            )
    return [
        (int(source.type), source.index, int(target.type), target.index)
        for source, target in targets.items()
    ]
