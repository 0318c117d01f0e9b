"""The compiler of the C++ tests, for those that damage files."""

from tests.schema.cpp.conftest import compiler

__all__ = ["compiler"]
