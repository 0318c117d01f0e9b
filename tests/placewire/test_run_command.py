"""`placewire run`: what it runs, shows and writes, and what it says about bad options."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from placewire_schema import program

from placewire import PteFile
from tests.placewire.module.adding_backend import SOURCE
from tests.placewire.test_cli import run


def test_inputs_and_outputs_are_npz_files(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.npz"
    result = run("run", corpus / "mlp.pte", "-i", corpus / "mlp.npz", "-o", out)
    assert result.code == 0, result.err
    assert result.out.startswith("output 0: float32[4, 10], mean ")
    assert "ran forward on inputs, 1 time, " in result.err
    np.testing.assert_allclose(
        np.load(out)["output0"], np.load(corpus / "mlp.npz")["output0"], rtol=1e-5, atol=1e-6
    )


def test_without_inputs_they_are_random_and_the_same_for_the_same_seed(corpus: Path) -> None:
    first, again, other = (
        run("run", corpus / "mlp.pte", "--seed", seed) for seed in ("1", "1", "2")
    )
    assert first.code == 0, first.err
    assert first.out == again.out != other.out
    assert "on random inputs" in first.err


def test_a_number_is_taken_from_the_program(corpus: Path) -> None:
    assert run("run", corpus / "scalars_in.pte").code == 0


def test_the_result_is_json_if_wanted(corpus: Path) -> None:
    result = run("run", corpus / "mlp.pte", "--json", "--repeat", "3")
    document = json.loads(result.out)
    assert (document["method"], document["runs"]) == ("forward", 3)
    assert document["inputs"] == ["float32[4, 64]"]
    assert document["buffers"] == [{"device": "cpu:0", "nbytes": 35_840}]
    (output,) = document["outputs"]
    assert output["type"] == "float32[4, 10]"
    assert output["minimum"] < output["mean"] < output["maximum"]
    assert document["seconds"] > 0


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_no_finite_number_is_null_in_json(
    corpus: Path, tmp_path: Path, number: float
) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"JSON has no {name}")

    np.savez(tmp_path / "in.npz", input0=np.full((4, 64), number, np.float32))
    result = run("run", corpus / "mlp.pte", "-i", tmp_path / "in.npz", "--json")
    assert result.code == 0, result.err
    (output,) = json.loads(result.out, parse_constant=refuse)["outputs"]
    assert [output[name] for name in ("mean", "minimum", "maximum")] == [None, None, None]


def test_a_number_that_is_not_finite_is_null_in_json_too(corpus: Path, tmp_path: Path) -> None:
    file = with_output(corpus, tmp_path / "nan.pte", program.Double(float("inf")))
    result = run("run", file, "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["outputs"][1]["value"] is None


def test_a_constant_method_shows_its_values(corpus: Path) -> None:
    result = run("run", corpus / "constmethods.pte", "--method", "get_name")
    assert (result.code, result.out) == (0, "output 0: str 'tiny'\n")


def test_a_method_without_inputs_is_not_said_to_have_random_ones(corpus: Path) -> None:
    result = run("run", corpus / "constmethods.pte", "--method", "get_name")
    assert "constmethods.pte: ran get_name, 1 time, " in result.err


def test_a_device_can_be_simulated_and_a_backend_imported(corpus: Path, tmp_path: Path) -> None:
    module = tmp_path / "backends.py"
    module.write_text(SOURCE)
    inputs = tmp_path / "in.npz"
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    np.savez(inputs, input0=x, input1=x + 1)
    out = tmp_path / "out.npz"
    result = run(
        *("run", corpus / "dev_add.pte", "-i", inputs, "-o", out, "--simulate", "cuda:1"),
        *("--device-map", "cuda:0=cuda:1", "--backend", f"{module}:Adding", "--json"),
    )
    assert result.code == 0, result.err
    assert (np.load(out)["output0"] == 2 * x + 1).all()
    assert [buffer["device"] for buffer in json.loads(result.out)["buffers"]] == ["cpu:0", "cuda:1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--simulate", "gpu"), "'gpu' is not a device"),
        (("--device-map", "cuda:0"), "is not of the form OLD=NEW"),
        (
            ("--device-map", "cuda=cuda:1", "--device-map", "cuda:0=cuda:2"),
            "Invalid value for --device-map: cuda:0 cannot become both cuda:1 and cuda:2",
        ),
        (("--backend", "nothing"), "is not of the form module.py:name"),
        (("--backend", "missing.py:Backend"), "there is no such file"),
        (("--backend", "json:nothing"), "json has no 'nothing'"),
    ],
)
def test_options_that_are_wrong_are_wrong_usage(
    corpus: Path, options: tuple[str, ...], message: str
) -> None:
    result = run("run", corpus / "mlp.pte", *options, COLUMNS="300")
    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mlp.pte", ("--method", "decode"), "there is no method 'decode'"),
        ("mlp.pte", ("--backend", "json:JSONDecoder"), "gives a JSONDecoder, which is no backend"),
        ("xnnpack_mlp.pte", (), "XnnpackBackend"),
        ("missing.pte", (), "No such file"),
    ],
)
def test_what_fails_is_told_in_one_line(
    corpus: Path, name: str, options: tuple[str, ...], message: str
) -> None:
    result = run("run", corpus / name, *options)
    assert result.code == 1
    assert message in result.err
    assert len(result.err.splitlines()) == 1


FAILING = """
def make():
    raise ValueError("no licence")

class Loading:
    id = "BackendWithCompilerDemo"
    def load(self, description):
        raise RuntimeError("a blob of odd size")

class Running(Loading):
    def load(self, description):
        return self
    def execute(self, arguments):
        return arguments[0] / 0

class Nameless(Loading):
    @property
    def id(self):
        raise LookupError("no id yet")
"""


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """A module with backends that raise, each in its own way."""
    path = tmp_path / "failing.py"
    path.write_text(FAILING)
    return path


WHERE = {
    "make": ("cannot be loaded: ValueError: no licence", "3 in make: raise ValueError"),
    "Loading": (" (BackendWithCompilerDemo): RuntimeError: a blob of odd", "8 in load: raise Run"),
    "Running": (" (BackendWithCompilerDemo): TypeError: unsupported", "14 in execute: return arg"),
    "Nameless": ("cannot be loaded: LookupError: no id yet", "19 in id: raise LookupError"),
}


@pytest.mark.parametrize(("name", "message", "place"), [(k, *v) for k, v in WHERE.items()])
def test_a_backend_that_raises_is_told_with_the_line_that_does(
    corpus: Path, failing: Path, name: str, message: str, place: str
) -> None:
    result = run("run", corpus / "dev_cpu_spec.pte", "--backend", f"{failing}:{name}")
    first, second, third = result.err.splitlines()
    assert result.code == 1
    assert first.startswith("error: ")
    assert message in first
    assert second.startswith(f"    {failing}:{place}")
    assert third == "--traceback shows where in full"


@pytest.mark.parametrize(("name", "message"), [(k, v[0]) for k, v in WHERE.items()])
def test_the_whole_traceback_of_a_backend_is_shown_if_wanted(
    corpus: Path, failing: Path, name: str, message: str
) -> None:
    backend = f"{failing}:{name}"
    command = [sys.executable, "-m", "placewire", "run", "--traceback", "--backend", backend]
    result = subprocess.run(
        [*command, corpus / "dev_cpu_spec.pte"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr.startswith("error: ")
    assert "\nTraceback (most recent call last):\n" in result.stderr
    assert f'File "{failing}", line ' in result.stderr
    assert message.rpartition(": ")[2] in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("form", ["needing.py:backend", "needing:backend"])
def test_a_backend_whose_module_needs_another_one_is_told_with_the_line(
    corpus: Path, tmp_path: Path, form: str
) -> None:
    (tmp_path / "needing.py").write_text("import nothing_of_that_name\n")
    place = str(tmp_path / form) if ".py" in form else form
    result = run("run", corpus / "mlp.pte", "--backend", place, PYTHONPATH=str(tmp_path))
    assert result.code == 1
    assert "ModuleNotFoundError: No module named 'nothing_of_that_name'\n" in result.err
    assert "needing.py:1 in <module>: import nothing_of_that_name" in result.err


def test_a_missing_backend_and_a_missing_device_are_told_with_the_options(corpus: Path) -> None:
    result = run("run", corpus / "dev_add.pte")
    assert result.code == 1
    assert "or to placewire run with --backend; no allocator for cuda:0" in result.err
    assert result.err.endswith("(placewire run: --cuda, --simulate, --device-map)\n")


def test_gpus_that_cannot_be_used_are_told_before_the_file_is_loaded(corpus: Path) -> None:
    result = run("run", corpus / "mlp.pte", "--cuda", PLACEWIRE_CUDART="/nowhere/libcudart.so")
    assert (result.code, result.out) == (1, "")
    assert "the CUDA runtime library was not found: /nowhere/libcudart.so" in result.err
    assert "set PLACEWIRE_CUDART to its path" in result.err


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (".", ". is a folder; name a file in it"),
        ("nowhere/out.npz", "the folder nowhere is not there; create it first"),
        ("-", "an .npz file is not text, so it goes to a file; name one"),
        ("/dev/null", "/dev/null is no regular file; name another one"),
        ("", "the path is empty; name a file"),
    ],
)
def test_where_nothing_can_be_written_is_told_before_the_run(
    corpus: Path, failing: Path, out: str, message: str
) -> None:
    backend = f"{failing}:make"
    result = run("run", corpus / "mlp.pte", "-o", out, "--backend", backend, COLUMNS="300")
    assert result.code == 2
    assert message in result.err
    assert "no licence" not in result.err


@pytest.mark.parametrize(
    "arguments",
    [("run", ""), ("dump", ""), ("verify", ""), ("retarget", "", "cuda:0=cuda:1", "-o", "x")],
)
def test_an_empty_path_is_told_so(arguments: tuple[str, ...]) -> None:
    result = run(*arguments, COLUMNS="300")
    assert result.code == 2
    assert "the path is empty; name a file" in result.err


def test_a_method_that_is_nearly_one_is_told_so(corpus: Path) -> None:
    result = run("run", corpus / "mlp.pte", "--method", "froward")
    assert result.code == 1
    assert result.err == (
        "error: there is no method 'froward'; the program has forward; did you mean 'forward'?\n"
    )


def test_inputs_that_do_not_fit_are_named(corpus: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "in.npz"
    np.savez(inputs, input0=np.zeros((4, 64)), input1=np.zeros(1))
    result = run("run", corpus / "mlp.pte", "-i", inputs)
    assert result.code == 1
    assert "has input1; forward takes input0" in result.err
    np.savez(inputs, np.zeros((4, 64)))
    lacking = run("run", corpus / "mlp.pte", "-i", inputs).err
    has = "lacks input0; forward takes input0; it has arr_0"
    assert lacking.endswith(f"{has}; write it with np.savez(path, input0=...)\n")
    np.savez(inputs, input0=np.zeros((4, 64)))
    misfit = run("run", corpus / "mlp.pte", "-i", inputs).err
    assert "input 0 must be like float32[4, 64] on cpu:0, not float64[4, 64] on cpu:0; " in misfit
    assert misfit.endswith("would convert it (placewire run: --copy-inputs)\n")
    assert run("run", corpus / "mlp.pte", "-i", inputs, "--copy-inputs").code == 0


def test_a_link_that_leads_nowhere_is_told_before_the_run(
    corpus: Path, failing: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.npz"
    out.symlink_to(tmp_path / "nowhere" / "out.npz")
    backend = f"{failing}:make"
    result = run("run", corpus / "mlp.pte", "-o", out, "--backend", backend, COLUMNS="900")
    assert result.code == 2
    assert f"the folder {tmp_path / 'nowhere'} is not there; create it first" in result.err
    assert "no licence" not in result.err


def test_a_single_array_is_refused_as_inputs(corpus: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.zeros((4, 64), np.float32))
    result = run("run", corpus / "mlp.pte", "-i", tmp_path / "in.npy")
    assert result.code == 1
    problem = "is no .npz file, but one array; write it with np.savez(path, input0=...)"
    assert result.err == f"error: {tmp_path / 'in.npy'} {problem}\n"


def test_an_array_of_objects_is_refused_without_advice_to_load_it(
    corpus: Path, tmp_path: Path
) -> None:
    path = tmp_path / "in.npz"
    np.savez(path, input0=np.array([None]))
    result = run("run", corpus / "mlp.pte", "-i", path)
    assert result.code == 1
    assert result.err == (
        f"error: {path}: input0 is an array of objects; these are not loaded, because reading "
        "them can run code; write an array of numbers\n"
    )


def test_a_pickle_is_no_npz_file_and_nothing_more_is_said(corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "in.npz"
    path.write_bytes(pickle.dumps([1.0]))
    result = run("run", corpus / "mlp.pte", "-i", path)
    assert result.code == 1
    expected = f"error: {path} is no .npz file; write it with np.savez(path, input0=...)\n"
    assert result.err == expected


def _damaged(path: Path) -> None:
    """A compressed array whose bytes are no deflated ones."""
    np.savez_compressed(path, input0=np.zeros((4, 64), np.float32))
    content = bytearray(path.read_bytes())
    start = content.index(b"input0.npy") + 60
    content[start : start + 20] = b"\xff" * 20
    path.write_bytes(content)


def _text(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("input0.npy", "numbers")


def _huge(path: Path) -> None:
    """An array that says of itself that it has 4 PiB."""
    stream = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (2**40, 2**10)}
    np.lib.format.write_array_header_1_0(stream, header)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("input0.npy", stream.getvalue())


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (_damaged, "input0 cannot be read: Error -3 while decompressing data"),
        (_text, "input0 is no array; write it with np.savez("),
        (_huge, "there is no memory for input0"),
    ],
)
def test_an_array_that_cannot_be_read_is_named(
    corpus: Path, tmp_path: Path, write: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "in.npz"
    write(path)
    result = run("run", corpus / "mlp.pte", "-i", path)
    assert result.code == 1
    assert result.err.startswith(f"error: {path}: {message}")
    assert len(result.err.splitlines()) == 1


def test_a_file_that_is_refused_is_named(corpus: Path) -> None:
    result = run("run", corpus / "mlp.npz")
    assert result.code == 1
    assert "mlp.npz" in result.err
    assert "NOT_A_PROGRAM" in result.err


def edited(corpus: Path, target: Path, **fields: object) -> Path:
    """mlp.pte with other fields in the tensor that it takes."""
    file = PteFile.load(corpus / "mlp.pte")
    plan = file.program.execution_plan[0]
    tensor = plan.values[plan.inputs[0]].val
    assert isinstance(tensor, program.Tensor)
    for name, value in fields.items():
        setattr(tensor, name, value)
    target.write_bytes(file.to_bytes())
    return target


def with_output(corpus: Path, target: Path, value: program.KernelTypes) -> Path:
    """mlp.pte with one more output."""
    file = PteFile.load(corpus / "mlp.pte")
    plan = file.program.execution_plan[0]
    plan.outputs = [*plan.outputs, len(plan.values)]
    plan.values.append(program.EValue(value))
    target.write_bytes(file.to_bytes())
    return target


def test_an_output_of_none_is_shown_but_cannot_be_written(corpus: Path, tmp_path: Path) -> None:
    file = with_output(corpus, tmp_path / "none.pte", program.Null())
    shown = run("run", file)
    assert shown.code == 0, shown.err
    assert shown.out.endswith("\noutput 1: NoneType None\n")
    result = run("run", file, "-o", tmp_path / "out.npz")
    assert result.code == 1
    assert result.err == (
        "error: output 1 is None, which an .npz file cannot hold; run it without --output to see "
        "the others\n"
    )
    assert not (tmp_path / "out.npz").exists()


def test_a_list_of_tensors_is_shown_by_their_types(corpus: Path, tmp_path: Path) -> None:
    plan = PteFile.load(corpus / "mlp.pte").program.execution_plan[0]
    tensors = program.TensorList([plan.inputs[0], plan.outputs[0]])
    file = with_output(corpus, tmp_path / "list.pte", tensors)
    types = ["float32[4, 64]", "float32[4, 10]"]
    assert run("run", file).out.endswith(f"\noutput 1: list {types}\n")
    assert json.loads(run("run", file, "--json").out)["outputs"][1]["value"] == types
    result = run("run", file, "-o", tmp_path / "out.npz")
    assert "output 1 is a list of tensors, which an .npz file cannot hold" in result.err


def test_an_element_type_that_numpy_lacks_is_told_with_the_way_to_run_it(
    corpus: Path, tmp_path: Path
) -> None:
    file = edited(corpus, tmp_path / "b.pte", scalar_type=program.ScalarType.BFLOAT16)
    result = run("run", file)
    assert result.code == 1
    assert result.err == (
        "error: forward takes bfloat16[4, 64], which numpy has no type for; call it from Python, "
        "with torch tensors\n"
    )


def test_an_operator_that_fails_is_told_in_one_line(corpus: Path, tmp_path: Path) -> None:
    file = edited(corpus, tmp_path / "int.pte", scalar_type=program.ScalarType.INT)
    result = run("run", file)
    assert result.code == 1
    assert result.err.startswith("error: forward, instruction 1, aten::addmm.out: RuntimeError: ")
    assert "Traceback" not in result.err


def test_random_inputs_beyond_the_memory_are_refused(corpus: Path, tmp_path: Path) -> None:
    huge = edited(corpus, tmp_path / "huge.pte", sizes=[2**20, 2**22], allocation_info=None)
    result = run("run", huge)
    assert result.code == 1
    assert "there is no memory for an input float32[1048576, 4194304]" in result.err


def test_what_is_no_npz_file_is_refused(corpus: Path) -> None:
    result = run("run", corpus / "mlp.pte", "-i", corpus / "mlp.pte")
    assert result.code == 1
    assert "is no .npz file" in result.err
