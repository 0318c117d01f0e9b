"""Runs the benchmarks and prints one table: `python -m benchmarks [name...]`.

A benchmark is a module or package in this folder that offers `run()`, which returns a list of
`Measurement`. The exit status is 1 if a goal was missed or a benchmark could not run.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys

from .measure import Measurement, NotMeasured, table

BENCHMARKS = (
    "startup",
    "front_end",
    "compat",
    "files",
    "codec",
    "verify",
    "plan",
    "lowering",
    "runtime",
)


def main() -> int:
    """Run the named benchmarks, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    names = parser.parse_args().names or BENCHMARKS
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; choose {', '.join(BENCHMARKS)}")
    results: list[Measurement] = []
    for name in names:
        print(f"running {name} ...", file=sys.stderr, flush=True)
        results += importlib.import_module(f"{__package__}.{name}").run()
    print(f"Python {platform.python_version()}, {platform.machine()}; least of interleaved runs\n")
    print(table(results))
    met = all(not isinstance(result, NotMeasured) and result.is_met for result in results)
    return 0 if results and met else 1


if __name__ == "__main__":
    sys.exit(main())
