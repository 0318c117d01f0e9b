"""Spellings of schema names, and the service that keeps them clear of keywords and each other."""

from __future__ import annotations

import builtins
import keyword
import re
import sys

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[A-Z]+")

_CPP_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq NULL EOF TRUE FALSE ERROR OVERFLOW UNDERFLOW DOMAIN INFINITY NAN errno stdin stdout
    stderr assert offsetof linux unix""".split()
)
_CPP_MACROS = frozenset(
    """E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY EBADF EBADMSG EBUSY
    ECANCELED ECHILD ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDESTADDRREQ EDOM EDQUOT EEXIST
    EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR
    ELOOP EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENETDOWN ENETRESET ENETUNREACH ENFILE
    ENOBUFS ENODATA ENODEV ENOENT ENOEXEC ENOLCK ENOLINK ENOMEM ENOMSG ENOPROTOOPT ENOSPC ENOSR
    ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENXIO
    EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMOTE
    EROFS ESHUTDOWN ESPIPE ESRCH ESTALE ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY EUSERS EWOULDBLOCK
    EXDEV BIG_ENDIAN BUFSIZ BYTE_ORDER CHAR_BIT CHAR_MAX CHAR_MIN CLOCKS_PER_SEC EXIT_FAILURE
    EXIT_SUCCESS HUGE_VAL INT_MAX INT_MIN LITTLE_ENDIAN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN
    PDP_ENDIAN PTRDIFF_MAX PTRDIFF_MIN RAND_MAX SCHAR_MAX SCHAR_MIN SEEK_CUR SEEK_END SEEK_SET
    SHRT_MAX SHRT_MIN SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIZE_MAX TIME_UTC UCHAR_MAX
    UINT_MAX ULLONG_MAX ULONG_MAX USHRT_MAX WCHAR_MAX WCHAR_MIN WEOF WINT_MAX WINT_MIN alloca
    major makedev minor va_arg va_copy va_end va_start""".split()
) | {
    f"{kind}{bits}_{end}"
    for kind, ends in (("INT", ("MAX", "MIN", "C")), ("UINT", ("MAX", "C")))
    for size in ("", "_LEAST", "_FAST")
    for bits in (f"{size}8", f"{size}16", f"{size}32", f"{size}64", "MAX", "PTR")
    for end in ends
}
"""Macros of the C library that what generated headers include may define, by themselves or not."""

CPP_KEYWORDS = _CPP_KEYWORDS | _CPP_MACROS
"""What no name in generated C++ can be: keywords and macros."""

PYTHON_KEYWORDS = frozenset(keyword.kwlist)
PYTHON_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))

MODULE_RESERVED = (
    PYTHON_KEYWORDS
    | PYTHON_BUILTINS
    | frozenset(
        """annotations codec_name dataclass field lookup pack reflection sort_by_key unpack verify
        view""".split()
    )
)
"""What a generated package or module calls something else by; no module can have such a name."""

_CPP_NAME = re.compile(r"(?!_[A-Z])(?!.*__)[A-Za-z_][A-Za-z0-9_]*")


def why_not_package(package: str) -> str | None:
    """Say why `package` cannot be imported as a generated package; None if it can."""
    for part in package.split("."):
        if part in PYTHON_KEYWORDS:
            return f"{part!r} is a keyword of Python"
        if not part.isidentifier():
            return f"{package!r} is not an import name"
    if package.partition(".")[0] in sys.stdlib_module_names:
        return f"{package!r} would hide a module of Python's standard library"
    return None


def why_not_module(module: str) -> str | None:
    """Say why `module` cannot name the code of a namespace in Python and C++; None if it can."""
    for language, keywords in (("Python", PYTHON_KEYWORDS), ("C++", CPP_KEYWORDS)):
        if module in keywords:
            return f"{module!r} is a keyword of {language}"
    if not module.isidentifier() or module.startswith("_") or not _CPP_NAME.fullmatch(module):
        return f"{module!r} is not a name that Python and C++ accept"
    if module in MODULE_RESERVED:
        return f"{module!r} has a meaning of its own in generated code"
    return None


def why_not_cpp_namespace(namespace: str) -> str | None:
    """Say why `namespace`, such as `a::b`, cannot be declared in C++; None if it can."""
    for part in namespace.split("::"):
        if part in CPP_KEYWORDS:
            return f"{part!r} is a keyword or a macro of C++"
        if not _CPP_NAME.fullmatch(part):
            return f"{namespace!r} is not a C++ namespace; write it as `a::b`"
    if namespace.partition("::")[0] == "std":
        return "the namespace `std` belongs to the standard library"
    return None


class Name:
    """A schema name with every spelling that a target may need.

    >>> Name("execution_plan").pascal, Name("EValue").snake, Name("ET12File").upper_snake
    ('ExecutionPlan', 'e_value', 'ET12_FILE')
    """

    __slots__ = ("raw", "words")

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.words: tuple[str, ...] = tuple(
            word for part in raw.split("_") for word in _split_words(part)
        )

    def __str__(self) -> str:
        return self.raw

    @property
    def snake(self) -> str:
        return "_".join(word.lower() for word in self.words) or self.raw

    @property
    def upper_snake(self) -> str:
        return self.snake.upper()

    @property
    def pascal(self) -> str:
        return "".join(word[:1].upper() + word[1:] for word in self.words) or self.raw

    @property
    def camel(self) -> str:
        return self.pascal[:1].lower() + self.pascal[1:]


def _split_words(part: str) -> list[str]:
    """Split at case changes; digits stay with the word before them (`QINT8` is one word)."""
    words: list[str] = []
    for word in _WORD.findall(part):
        if word.isdigit() and words:
            words[-1] += word
        else:
            words.append(word)
    return words


class NameScope:
    """Hands out identifiers that are neither reserved nor taken, adding `_` until they are free.

    One scope stands for one namespace of the target language: a module, a class body, a parameter
    list. The order of the requests decides who keeps the plain name, so ask in schema order.
    """

    def __init__(self, reserved: frozenset[str] | set[str] = frozenset()) -> None:
        self._taken = set(reserved)

    def claim(self, wanted: str) -> str:
        """Return `wanted`, or the first of `wanted_`, `wanted__`, ... that is free, and take it."""
        name = wanted
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


class PythonNameScope(NameScope):
    """A scope for Python, where underscores at the front change what a name means.

    In a class, `__x` is another name outside of it, `_x_` is nothing that an enum can have, and
    `__x__` belongs to the language. Such names lose the underscores at the front.
    """

    def claim(self, wanted: str) -> str:
        """As in `NameScope`, for a name without a meaning of its own."""
        has_meaning = wanted.startswith("__") or (wanted.startswith("_") and wanted.endswith("_"))
        plain = wanted.lstrip("_")
        if has_meaning:
            wanted = plain if plain.isidentifier() else f"x_{plain}"
        return super().claim(wanted)
