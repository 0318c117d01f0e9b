"""`placewire plan`: what it reads and writes, and what it says about bad files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from benchmarks.lifetimes import INSTANCES
from placewire.lifetimes_csv import LifetimeTable
from placewire.planner import verify
from tests.placewire.test_cli import run

HEAD = "id,lower,upper,size\n"


@pytest.fixture
def lifetimes(tmp_path: Path) -> Path:
    path = tmp_path / "lifetimes.csv"
    path.write_text(HEAD + "a,0,2,64\nb,1,3,64\nc,2,4,64\n")
    return path


def test_the_file_is_written_with_a_column_offset(lifetimes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run("plan", lifetimes, "-o", out)
    assert (result.code, result.out) == (0, "")
    assert out.read_text() == "id,lower,upper,size,offset\na,0,2,64,64\nb,1,3,64,0\nc,2,4,64,64\n"
    assert result.err.startswith(
        f"{lifetimes}: 3 tensors in 128 bytes, 1.0000 times the lower bound of 128, "
        "which is optimal\nfound by skyline by lifetime, in 0."
    )


def test_without_out_it_goes_to_the_standard_output(lifetimes: Path) -> None:
    assert run("plan", lifetimes).out.splitlines()[0] == "id,lower,upper,size,offset"


def test_what_was_written_can_be_verified_and_planned_again(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert run("plan", INSTANCES[0], "-o", out).code == 0
    table = LifetimeTable.load(out)
    with out.open(newline="") as stream:
        offsets = [int(row["offset"]) for row in csv.DictReader(stream)]
    assert verify(table.tensors, offsets) == 1_238_016
    again = tmp_path / "again.csv"
    assert run("plan", out, "-o", again).code == 0
    assert again.read_bytes() == out.read_bytes()


def test_other_columns_are_kept_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(
        '\ufeffsize, upper ,name,offset,lower\r\n\r\n8,2,"a, ""b""",?,0\r\n8,3,ü,,1\r\n'
    )
    out = tmp_path / "out.csv"
    assert run("plan", path, "-o", out, "--alignment", "16").code == 0
    assert out.read_text(encoding="utf-8") == (
        'size,upper,name,offset,lower\n8,2,"a, ""b""",0,0\n8,3,ü,16,1\n'
    )


def test_json_has_the_figures_and_the_offsets(lifetimes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run("plan", lifetimes, "--json", "-o", out)
    document = json.loads(result.out)
    assert document.pop("seconds") > 0
    assert document == {
        "total": 128,
        "lower_bound": 128,
        "ratio": 1.0,
        "is_optimal": True,
        "algorithm": "skyline by lifetime",
        "offsets": [64, 0, 64],
    }
    assert result.err == ""
    assert out.exists()


def test_the_exact_mode_fits_an_instance_into_its_capacity() -> None:
    result = run("plan", INSTANCES[2], "--mode", "exact", "--capacity", 1_048_576, "--json")
    assert result.code == 0
    assert json.loads(result.out)["total"] <= 1_048_576


def test_a_capacity_that_is_too_small_is_a_failure(lifetimes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run("plan", lifetimes, "-o", out, "--capacity", 100)
    assert result.code == 1
    assert result.err.splitlines()[-1] == (
        f"error: {lifetimes}: 128 bytes are needed, the capacity is 100"
    )
    assert not out.exists()
    assert json.loads(run("plan", lifetimes, "--json", "--capacity", 100).out)["total"] == 128


@pytest.mark.parametrize(
    ("head", "found", "hint"),
    [
        (
            "lower;upper;size",
            "'lower;upper;size'",
            ", and cells are separated by commas, not",
        ),
        (
            "lower\tupper\tsize",
            "'lower\\tupper\\tsize'",
            ", and cells are separated by commas, not",
        ),
        ("id,Lower,Upper,Size", "'id', 'Lower', 'Upper', 'Size'", ", in lower case"),
        (
            "LOWER;UPPER;SIZE",
            "'LOWER;UPPER;SIZE'",
            ", and cells are separated by commas, not",
        ),
        ("begin,end,bytes", "'begin', 'end', 'bytes'", ""),
        ("a,b,c,d,e,f,g,h,i,j", "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' and 2 more", ""),
    ],
)
def test_a_wrong_first_line_is_shown_beside_what_it_has_to_name(
    tmp_path: Path, head: str, found: str, hint: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"{head}\n")
    outcome = run("plan", path)
    assert outcome.code == 1
    told = outcome.err.partition("; found ")[2]
    wanted = f"{found}; the first line must name the columns id,lower,upper,size{hint}"
    assert told.startswith(wanted)
    assert told.count(",") == wanted.count(",")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "{}:1: there is no column lower, upper, size; found none; the first line must name"),
        ("id,lower,upper\n", "{}:1: there is no column size; found 'id', 'lower', 'upper'; the"),
        ("lower,upper,size,size\n", "{}:1: there are two columns size"),
        (HEAD + "a,0,2,64\nb,1,3\n", "{}:3: there are 3 cells, expected 4"),
        (HEAD + "a,0,x,1.5\n", "{}:2: upper is 'x', size is '1.5', expected a whole number of 64"),
        (HEAD + "a,0,1,9223372036854775808\n", "{}:2: size is '9223372036854775808', expected"),
        (HEAD + "a,0,1,1_0\n", "{}:2: size is '1_0', expected a whole number"),
        (HEAD + "\na,0,1,-1\n", "{}:3: size is -1, expected 0 or more"),
        (HEAD + "a,2,1,1\n", "{}:2: the lifetime ends at 1, before it begins at 2"),
        (HEAD + 'a,0,1,"1\n', "{}:2: unexpected end of data"),
        (HEAD + "x,0,1,9223372036854775807\n" * 2, "{}: tensor 1: the sizes up to this one add up"),
    ],
)
def test_a_bad_file_is_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    result = run("plan", path)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: " + message.format(path))


def test_all_bad_lines_are_listed_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(HEAD + "a,0,1,-1\n" * 15)
    lines = run("plan", path).err.splitlines()
    assert [line.rpartition("bad.csv:")[2].partition(":")[0] for line in lines[:-1]] == [
        str(number) for number in range(2, 12)
    ]
    assert lines[-1] == "and 5 more lines"


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(HEAD.encode() + b"\xff,0,1,1\n")
    result = run("plan", path)
    assert (result.code, result.err) == (
        1,
        f"error: {path}: byte 20 is not UTF-8; save the file as CSV in UTF-8\n",
    )


def test_a_file_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    result = run("plan", tmp_path / "none.csv")
    assert (result.code, result.err) == (
        1,
        f"error: {tmp_path / 'none.csv'}: No such file or directory\n",
    )


@pytest.mark.parametrize("arguments", [("--mode", "slow"), ("--alignment", 0), ("--capacity", -1)])
def test_impossible_options_are_wrong_usage(lifetimes: Path, arguments: tuple[object, ...]) -> None:
    assert run("plan", lifetimes, *arguments).code == 2
