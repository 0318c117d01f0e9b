"""Witnesses of findings: files that one schema writes and the other misreads, made and read."""

from __future__ import annotations

from .files import write_witnesses
from .witness import Verdict, Witness, make_witnesses

__all__ = ["Verdict", "Witness", "make_witnesses", "write_witnesses"]
