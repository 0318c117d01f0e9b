"""Tests against ExecuTorch and flatc themselves; they need the extra `peer`."""
