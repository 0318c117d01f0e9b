"""The configuration of an export says no to what it does not know."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from placewire.aot import ExportConfig


def test_the_default_is_for_executorch_with_device_planning() -> None:
    config = ExportConfig()
    assert config.compat == "executorch-1.5"
    assert config.enable_device_memory_planning
    assert config.alignment == 16


@pytest.mark.parametrize("alignment", [0, 3, 24, 2**17, True, 16.0])
def test_an_alignment_must_be_a_power_of_two(alignment: int) -> None:
    with pytest.raises(ValidationError, match="alignment"):
        ExportConfig(alignment=alignment)


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ValidationError, match="allignment"):
        ExportConfig(allignment=16)  # type: ignore[call-arg]


def test_a_setting_for_all_methods_holds_for_each() -> None:
    config = ExportConfig(skip_h2d_for_method_inputs=True)
    assert config.for_method("skip_h2d_for_method_inputs", "decode")


def test_a_setting_by_method_is_looked_up_and_never_judged_by_being_there() -> None:
    config = ExportConfig(skip_h2d_for_method_inputs={"decode": True, "prefill": False})
    assert config.for_method("skip_h2d_for_method_inputs", "decode")
    assert not config.for_method("skip_h2d_for_method_inputs", "prefill")
    assert not config.for_method("skip_h2d_for_method_inputs", "other")
