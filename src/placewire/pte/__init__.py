"""The .pte file: a program and the data that stands behind it in the same file."""

from ._file import DEVICE_TABLE_KEY, PteFile, check_bytes, check_file

__all__ = ["DEVICE_TABLE_KEY", "PteFile", "check_bytes", "check_file"]
