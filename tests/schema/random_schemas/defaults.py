"""Default values of random schemas, each in one of the spellings that the language has for it."""

from __future__ import annotations

from random import Random

_RANGES = {
    "byte": (-128, 127),
    "int8": (-128, 127),
    "ubyte": (0, 255),
    "short": (-(1 << 15), (1 << 15) - 1),
    "ushort": (0, (1 << 16) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int": (-(1 << 31), (1 << 31) - 1),
    "uint": (0, (1 << 32) - 1),
    "long": (-(1 << 63), (1 << 63) - 1),
    "ulong": (0, (1 << 64) - 1),
}
_FLOATS = tuple(
    """1 -7 +5 1. .5 -.25 1e3 2.5e-3 0x1.8p3 -0x1p4 0 0.0 -0.0 inf -inf +infinity nan "1.5" "-2"
    rad(180) sin(1) cos(rad(60)) 123456789 3.14159 1e-3""".split()
)
_BOOLS = ("true", "false", "1", "0", '"true"', '"1"')


def scalar_default(random: Random, type_: str) -> str:
    """Return ` = ...` for a field of a scalar type, or nothing."""
    chance = random.random()
    if chance < 0.4:
        return ""
    if chance < 0.55:
        return " = null"
    if type_ == "bool":
        return f" = {random.choice(_BOOLS)}"
    if type_ in ("float", "double", "float32"):
        return f" = {random.choice(_FLOATS)}"
    least, most = _RANGES[type_]
    value = random.choice([least, most, 0, 1, 5, random.randint(least, most)])
    return f" = {_integer(random, value)}"


def _integer(random: Random, value: int) -> str:
    spellings = [str(value), str(value), f'"{value}"', f"{'-' if value < 0 else ''}{abs(value):#x}"]
    if value >= 0:
        spellings += [f"+{value}", f"00{value}"]
    return random.choice(spellings)


def enum_default(
    random: Random, values: list[tuple[str, int]], has_zero: bool, *, is_flags: bool
) -> str:
    """Return ` = ...` for a field of an enum, or nothing where 0 is one of its members."""
    chance = random.random()
    if chance < 0.3 and has_zero:
        return ""
    if chance < 0.45:
        return " = null"
    name, value = random.choice(values)
    if is_flags and chance < 0.7:
        chosen = random.sample(values, random.randint(1, len(values)))
        return f' = "{" ".join(name for name, _ in chosen)}"'
    return f" = {random.choice([name, str(value), _quoted(name)])}"


def _quoted(text: str) -> str:
    return f'"{text}"'
