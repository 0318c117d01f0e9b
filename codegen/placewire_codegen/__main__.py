"""Runs the generator: `python -m placewire_codegen`."""

from .cli import main

main()
