"""Operators with extreme arguments end no process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

GUARDED = (
    "aten::_native_batch_norm_legit.no_stats_out",
    "aten::_upsample_bilinear2d_aa.out",
    "aten::convolution.out",
    "aten::convolution_backward.out",
    "aten::div.Scalar_mode_out",
    "aten::max_pool2d_with_indices_backward.grad_input",
    "aten::replication_pad3d.out",
)


def test_operators_that_are_guarded_end_no_process() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.extreme_arguments", "30", "1", *GUARDED],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    made, _, rest = done.stdout.partition(" calls, ")
    assert rest == "0 of which ended their process\n"
    assert int(made) >= 30 * len(GUARDED)
