"""Tests of what our own schemas do not use: structs, arrays, bit flags, every kind of union."""
