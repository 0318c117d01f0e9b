"""The kernels that we take ExecuTorch 1.5.1 to have are those that its runtime registers."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
portable = pytest.importorskip(
    "executorch.extension.pybindings.portable_lib",
    reason="executorch is not installed; pip install '.[peer]'",
)

from placewire.aot.target import target_of  # noqa: E402


def test_the_list_equals_the_registry() -> None:
    registered = set(portable._get_operator_names())
    assert len(registered) > 200
    assert target_of("executorch-1.5").kernels == registered
