"""Tests of the generated code."""
