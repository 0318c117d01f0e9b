"""The compiler of the C++ tests, for those that damage files."""

from tests.schema.conftest import compiler

__all__ = ["compiler"]
