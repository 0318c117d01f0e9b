"""The command line: what it prints where, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from placewire_schema.program import SubsegmentOffsets, Tensor

import placewire
from placewire.inspect import to_json
from placewire.pte import PteFile
from tests.placewire.files import file_bytes, two_gpu_program


@dataclass(frozen=True)
class Run:
    """What a command did."""

    code: int
    out: str
    err: str


def run(*arguments: object, **environment: str) -> Run:
    """Run `placewire` in a process of its own; it must never show a traceback."""
    process = subprocess.run(
        [sys.executable, "-m", "placewire", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert "Traceback" not in process.stderr, process.stderr
    return Run(process.returncode, process.stdout, process.stderr)


@pytest.fixture
def gpu_file(tmp_path: Path) -> Path:
    path = tmp_path / "gpus.pte"
    path.write_bytes(file_bytes(two_gpu_program(), [b"", b"blob"]))
    return path


def test_the_version_is_printed() -> None:
    assert run("--version") == Run(0, f"placewire {placewire.__version__}\n", "")


def test_without_a_command_the_help_is_shown() -> None:
    result = run()
    assert result.code == 2
    for command in ("generate", "dump", "verify", "retarget", "demo"):
        assert command in result.out + result.err


def test_every_command_has_help() -> None:
    for command in ("generate", "dump", "verify", "retarget", "demo"):
        assert run(command, "--help").code == 0


@pytest.mark.parametrize("arguments", [["nonsense"], ["dump"], ["dump", "--nonsense", "x"]])
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert "Usage" in result.err


@pytest.mark.parametrize("command", ["dump", "verify"])
def test_a_missing_file_is_named(command: str, tmp_path: Path) -> None:
    path = tmp_path / "none.pte"
    result = run(command, path)
    assert (result.code, result.out) == (1, "")
    assert result.err == f"error: {path}: No such file or directory\n"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert run("dump", tmp_path) == Run(1, "", f"error: {tmp_path}: Is a directory\n")


def test_generate_does_not_need_the_generated_package(tmp_path: Path) -> None:
    (tmp_path / "placewire_schema.py").write_text("raise SyntaxError('half-written')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    code = (
        "import sys; from importlib.machinery import PathFinder;"
        "sys.meta_path.insert(0, PathFinder);"
        "sys.argv = ['placewire', 'generate', '--help'];"
        "from placewire.cli import main; main()"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.returncode == 0, process.stderr


def test_a_reader_that_stops_reading_is_no_error(corpus: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [sys.executable, "-m", "placewire", "dump", "--json", str(corpus / "transformer2.pte")],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert process.stderr == ""
    assert process.returncode == 1


@pytest.mark.parametrize(("code", "expected"), [("None", 0), ("0", 0), ("3", 3), ("'a reason'", 1)])
def test_the_exit_code_is_that_of_the_command(code: str, expected: int) -> None:
    program = (
        "from placewire import cli\n"
        f"def app(prog_name): raise SystemExit({code})\n"
        "cli.app = app\n"
        "cli.main()\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert process.returncode == expected
    assert process.stderr == ("a reason\n" if "reason" in code else "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_an_error(corpus: Path, unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "placewire", "dump", str(corpus / "mlp.pte")],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert process.returncode == 1
    assert process.stderr == "error: cannot write the output: No space left on device\n"


class TestDump:
    def test_json_is_flatcs(self, corpus: Path) -> None:
        result = run("dump", "--json", corpus / "dev_add.pte")
        assert result == Run(0, (corpus / "dev_add.json").read_text(), "")

    def test_a_program_is_shown_as_a_person_wants_it(self, corpus: Path) -> None:
        path = corpus / "dev_add.pte"
        result = run("dump", path)
        assert (result.code, result.err) == (0, "")
        assert (
            result.out
            == f"""\
{path}: 1,873 bytes, 1 method, schema version 0

method forward
  inputs          float32 [2, 2]           cpu:0     value 0
                  float32 [2, 2]           cpu:0     value 1
  outputs         float32 [2, 2]           cpu:0     value 5
  planned memory  cpu:0                    32 bytes  1 buffer
                  cuda:0                   48 bytes  1 buffer
  delegates       BackendWithCompilerDemo  81 bytes  segment 1, runs on cuda:0
  operators       et_copy::_h2d_copy.out   2 calls
                  et_copy::_d2h_copy.out   1 call
  size            4 instructions           6 values

data, 81 bytes in 2 segments
  segment 0  0 bytes   at 0  constants
  segment 1  81 bytes  at 0  delegate BackendWithCompilerDemo
"""
        )

    def test_dynamic_shapes_say_that_they_are_bounds(self, corpus: Path) -> None:
        assert "float32 [32, 16], at most" in run("dump", corpus / "dyn.pte").out

    def test_names_of_a_file_cannot_steer_the_terminal(self, tmp_path: Path) -> None:
        program = two_gpu_program()
        program.execution_plan[0].name = "\x1b[2Jevil\n[bold]"
        (tmp_path / "evil.pte").write_bytes(file_bytes(program, [b"", b"blob"]))
        result = run("dump", tmp_path / "evil.pte")
        assert "\nmethod \\x1b[2Jevil\\n[bold]\n" in result.out

    def test_a_plan_that_refers_to_nothing_is_shown(self, tmp_path: Path) -> None:
        program = two_gpu_program()
        program.execution_plan[0].inputs = [99]
        program.execution_plan[0].delegates[0].processed.index = 88
        program.constant_segment = SubsegmentOffsets(segment_index=77, offsets=[0])
        (tmp_path / "odd.pte").write_bytes(file_bytes(program, [b"", b"blob"]))
        result = run("dump", tmp_path / "odd.pte")
        assert result.code == 0
        assert "no such value" in result.out
        assert "segment 88, which is not there" in result.out

    def test_a_file_may_come_through_a_pipe(self, corpus: Path) -> None:
        process = subprocess.run(
            [sys.executable, "-m", "placewire", "dump", "--json", "/dev/stdin"],
            input=(corpus / "dev_add.pte").read_bytes(),
            capture_output=True,
            check=False,
        )
        assert process.stdout == (corpus / "dev_add.json").read_bytes()

    def test_what_the_schema_does_not_know_is_reported(
        self, unknown_device: bytes, tmp_path: Path
    ) -> None:
        (tmp_path / "odd.pte").write_bytes(unknown_device)
        result = run("dump", tmp_path / "odd.pte")
        assert result.code == 0
        assert result.err.startswith(f"{tmp_path / 'odd.pte'}: execution_plan[0].values[")
        assert "99 is not" in result.err

    def test_a_damaged_file_says_what_is_wrong(self, corpus: Path, tmp_path: Path) -> None:
        data = (corpus / "dev_add.pte").read_bytes()
        (tmp_path / "cut.pte").write_bytes(data[:-1])
        result = run("dump", tmp_path / "cut.pte")
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith(
            f"error: {tmp_path / 'cut.pte'}: the segment data ends at byte 1873, but the file has "
            "only 1872 bytes: "
        )


class TestVerify:
    def test_good_files_have_no_findings(self, corpus: Path) -> None:
        files = [corpus / f"{name}.pte" for name in ("mlp", "dev_add", "xnnpack_mlp")]
        result = run("verify", *files)
        assert (result.code, result.out) == (0, "")
        assert result.err.splitlines() == [f"{file}: no findings" for file in files]

    def test_every_corpus_file_is_without_errors(self, corpus: Path) -> None:
        files = sorted(corpus.glob("*.pte"))
        assert files
        result = run("verify", *files)
        assert result.code == 0
        assert ": error: " not in result.out

    def test_warnings_alone_are_printed_and_no_failure(self, corpus: Path) -> None:
        path = corpus / "dev_cpu_spec.pte"
        result = run("verify", path)
        assert result.code == 0
        assert f"{path}: warning: execution_plan[0].delegates[0].compile_specs[1]" in result.out

    def test_findings_are_printed_with_their_place(self, tmp_path: Path) -> None:
        path = tmp_path / "cut.pte"
        path.write_bytes(file_bytes(two_gpu_program(), [b"", b"blob"])[:-1])
        result = run("verify", path)
        assert result.code == 1
        assert result.out.startswith(f"{path}: error: ")
        assert "[FILE_TRUNCATED, byte " in result.out
        assert result.err == f"{path}: 1 finding\n"

    def test_all_findings_of_a_file_are_listed(self, tmp_path: Path) -> None:
        program = two_gpu_program()
        first, second, third = program.execution_plan[0].values
        for value in (first, second, third):
            assert isinstance(value.val, Tensor)
            value.val.dim_order = b"\0\0"
        path = tmp_path / "odd.pte"
        path.write_bytes(file_bytes(program, [b"", b"blob"]))
        out = run("verify", path).out
        for index in range(3):
            assert f"{path}: error: execution_plan[0].values[{index}].val.dim_order" in out

    def test_json_lists_every_file(self, gpu_file: Path, tmp_path: Path) -> None:
        (tmp_path / "empty.pte").write_bytes(b"")
        result = run("verify", "--json", gpu_file, tmp_path / "empty.pte")
        assert result.code == 1
        good, bad = json.loads(result.out)
        assert good == {"file": str(gpu_file), "findings": []}
        assert [finding["rule"] for finding in bad["findings"]] == ["FILE_TOO_SMALL"]
        assert set(bad["findings"][0]) == {"rule", "level", "path", "offset", "message"}

    def test_json_lists_a_file_that_cannot_be_read(self, gpu_file: Path, tmp_path: Path) -> None:
        path = tmp_path / "none.pte"
        result = run("verify", "--json", path, gpu_file)
        assert result.code == 1
        assert json.loads(result.out) == [
            {"file": str(path), "error": "No such file or directory", "findings": []},
            {"file": str(gpu_file), "findings": []},
        ]

    def test_a_missing_file_does_not_hide_the_others(self, gpu_file: Path, tmp_path: Path) -> None:
        result = run("verify", tmp_path / "none.pte", gpu_file)
        assert result.code == 1
        assert result.err.splitlines() == [
            f"error: {tmp_path / 'none.pte'}: No such file or directory",
            f"{gpu_file}: no findings",
        ]


class TestRetarget:
    def test_it_writes_the_file_and_says_what_moved(self, corpus: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.pte"
        result = run("retarget", corpus / "dev_add.pte", "cuda:0=cuda:1", "-o", out)
        assert result == Run(
            0,
            "",
            f"{out}: moved 3 tensors, 1 buffer, 1 delegate, 0 entries of the device table\n",
        )
        assert out.read_bytes() == (corpus / "dev_add_cuda1.pte").read_bytes()

    def test_several_moves_happen_at_once(self, gpu_file: Path) -> None:
        assert run("retarget", gpu_file, "cuda:0=cuda:1", "cuda:1=cuda:0", "-o", gpu_file).code == 0
        plan = PteFile.load(gpu_file).program.execution_plan[0]
        assert plan.delegates[0].compile_specs[0].value == b"cuda:1"
        assert plan.delegates[1].compile_specs[0].value == b"cuda:0"

    def test_a_move_that_matches_nothing_writes_nothing(
        self, gpu_file: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "out.pte"
        result = run("retarget", gpu_file, "cuda:0=cuda:5", "cuda:7=cuda:8", "-o", out)
        assert (result.code, result.out) == (1, "")
        assert result.err == (
            f"error: {gpu_file}: nothing is on cuda:7; the program uses cpu:0, cuda:0, cuda:1\n"
        )
        assert not out.exists()

    @pytest.mark.parametrize(
        ("move", "reason"),
        [
            ("cuda:0", "is not of the form OLD=NEW"),
            ("cuda:0=tpu", "'tpu' is not a device"),
            ("=cuda:0", "'' is not a device"),
        ],
    )
    def test_a_move_that_cannot_be_read_is_wrong_usage(
        self, gpu_file: Path, tmp_path: Path, move: str, reason: str
    ) -> None:
        result = run("retarget", gpu_file, move, "-o", tmp_path / "out.pte", COLUMNS="200")
        assert result.code == 2
        assert reason in result.err

    def test_one_device_cannot_go_to_two_places(self, gpu_file: Path, tmp_path: Path) -> None:
        moves = ["cuda:0=cuda:1", "cuda=cuda:2"]
        result = run("retarget", gpu_file, *moves, "-o", tmp_path / "out.pte", COLUMNS="200")
        assert result.code == 2
        assert "cuda:0 cannot become both cuda:1 and cuda:2" in result.err

    def test_the_cpu_is_refused(self, gpu_file: Path, tmp_path: Path) -> None:
        result = run("retarget", gpu_file, "cuda:0=cpu", "-o", tmp_path / "out.pte")
        assert result.code == 1
        assert result.err.startswith("error: cannot move cuda:0 to cpu:0: ")
        assert not (tmp_path / "out.pte").exists()

    def test_what_the_schema_does_not_know_is_not_lost_without_a_word(
        self, unknown_device: bytes, tmp_path: Path
    ) -> None:
        path, out = tmp_path / "in.pte", tmp_path / "out.pte"
        path.write_bytes(unknown_device)
        result = run("retarget", path, "cuda:0=cuda:1", "-o", out)
        assert (result.code, result.out) == (1, "")
        assert "schema does not know: execution_plan[0].values[" in result.err
        assert not out.exists()

    def test_what_is_dropped_is_named(self, unknown_device: bytes, tmp_path: Path) -> None:
        path, out = tmp_path / "in.pte", tmp_path / "out.pte"
        path.write_bytes(unknown_device)
        result = run("retarget", path, "cuda:0=cuda:1", "-o", out, "--drop-unknown")
        assert result.code == 0
        dropped, moved = result.err.splitlines()
        assert dropped.startswith("dropped: execution_plan[0].values[")
        assert moved.startswith(f"{out}: moved ")
        assert PteFile.load(out).unknown == ()

    def test_an_output_that_cannot_be_written_is_named(
        self, gpu_file: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "none" / "out.pte"
        result = run("retarget", gpu_file, "cuda:0=cuda:5", "-o", out)
        assert result == Run(1, "", f"error: {out}: No such file or directory\n")


def test_the_json_dump_can_be_read_by_a_machine(gpu_file: Path) -> None:
    result = run("dump", "--json", gpu_file)
    assert json.loads(result.out) == json.loads(to_json(PteFile.load(gpu_file).program))
    assert json.loads(result.out)["execution_plan"][0]["name"] == "forward"


def test_what_is_neither_a_file_nor_a_pipe_is_refused() -> None:
    assert run("verify", "/dev/zero") == Run(
        1, "", "error: /dev/zero: is neither a regular file nor a pipe\n"
    )


def test_a_file_can_come_through_a_pipe(corpus: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", corpus / "mlp.pte", pipe]):
        assert run("verify", pipe).code == 0


@pytest.mark.parametrize("command", ["dump", "verify"])
def test_a_closed_output_is_no_traceback(command: str, corpus: Path) -> None:
    process = subprocess.run(
        f"{sys.executable} -m placewire {command} {corpus / 'mlp.pte'} >&-",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in process.stderr
