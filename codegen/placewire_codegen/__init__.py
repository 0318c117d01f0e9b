"""The code generator: reads FlatBuffers schemas, writes Python, C++, bindings and documentation.

This package imports neither generated code nor the rest of placewire. `placewire generate` is its
command; `generate.generate` is the same from Python.
"""

__version__ = "0.1.0"
