"""`placewire compat`: what it compares, how it writes findings, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import typer
from placewire_codegen.evolution import RULES, Finding, Level
from placewire_codegen.evolution.report import FORMATS
from placewire_codegen.model import Schema

from placewire.commands import compat
from tests.placewire.compat_place import BASE, HEAD, PROJECT, WAIVER, Place, Run

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden" / "compat"
NO_PROJECT = "run in a project, or name its folder with --project\n"


@pytest.mark.parametrize("format_", FORMATS)
def test_findings_are_written_as_recorded(place: Place, format_: str, update_goldens: bool) -> None:
    run = place.compat("base.fbs", "head.fbs", "--format", format_)
    assert run.code == 1
    golden = GOLDEN / f"findings.{format_}.txt"
    if update_goldens:
        golden.write_text(run.out, encoding="utf-8")
        pytest.skip("recorded")
    assert golden.exists(), f"no golden for {format_}; record it with --update-goldens"
    assert run.out
    assert run.out == golden.read_text(encoding="utf-8")


def test_every_golden_has_its_format() -> None:
    recorded = {path.name for path in GOLDEN.iterdir()}
    assert recorded == {f"findings.{format_}.txt" for format_ in FORMATS}


def test_the_options_offer_what_there_is() -> None:
    assert [level.value for level in compat._Level] == [level.value for level in Level]
    assert [one.value for one in compat._Format] == list(FORMATS)


def test_each_line_of_json_is_a_finding_with_both_places(place: Place) -> None:
    lines = place.compat("base.fbs", "head.fbs", "--format", "json").out.splitlines()
    findings = [json.loads(line) for line in lines]
    price = next(one for one in findings if one["path"] == "shop.Item.price")
    assert price["rule"] == "FIELD_SAME_WIRE_TYPE"
    assert price["breaks"] == ["old readers of new files", "new readers of old files"]
    assert price["base"] == {"path": "base.fbs", "line": 3, "column": 28}
    assert price["head"] == {"path": "head.fbs", "line": 5, "column": 3}


def test_junit_has_a_case_for_each_finding(place: Place) -> None:
    suite = ET.fromstring(place.compat("base.fbs", "head.fbs", "--format", "junit").out)
    assert len(suite.findall("testcase/failure")) == 3
    assert suite.get("failures") == suite.get("tests") == "3"


def test_junit_without_findings_has_a_case_that_passed(place: Place) -> None:
    run = place.compat("base.fbs", "base.fbs", "--format", "junit")
    suite = ET.fromstring(run.out)
    assert run.code == 0
    assert len(suite.findall("testcase")) == 1
    assert not suite.findall("testcase/failure")


@pytest.mark.parametrize(("level", "rules"), [("wire", 1), ("semantic", 2), ("source", 3)])
def test_a_level_leaves_out_what_breaks_less(place: Place, level: str, rules: int) -> None:
    run = place.compat("base.fbs", "head.fbs", "--level", level, "--format", "json")
    assert run.code == 1
    assert len(run.out.splitlines()) == rules


def test_only_what_is_shown_decides_about_the_exit_code(place: Place) -> None:
    place.write("renamed.fbs", BASE.replace("name:", "title:"))
    assert place.compat("base.fbs", "renamed.fbs").code == 1
    assert place.compat("base.fbs", "renamed.fbs", "--level", "semantic") == Run(
        0, "", "no findings; identical on the wire\n"
    )


def test_what_has_only_grown_is_compatible(place: Place) -> None:
    place.write("grown.fbs", BASE.replace("color: Color;", "color: Color; weight: float;"))
    assert place.compat("base.fbs", "grown.fbs") == Run(
        0, "", "no findings; compatible on the wire\n"
    )


def test_a_new_member_is_not_identical(place: Place) -> None:
    place.write("grown.fbs", BASE.replace("GREEN", "GREEN, BLUE"))
    assert place.compat("base.fbs", "grown.fbs").err == "no findings; compatible on the wire\n"


def test_the_rules_are_listed(place: Place) -> None:
    listed = place.compat("--rules").out.splitlines()
    assert [line.split()[1] for line in listed] == list(RULES)
    as_json = place.compat("--rules", "--format", "json").out.splitlines()
    assert [json.loads(line)["rule"] for line in as_json] == list(RULES)


def test_a_binary_schema_can_be_compared(place: Place) -> None:
    options = ("--schema", "base.fbs", "--out", "out", "--target", "bfbs")
    subprocess.run(
        [sys.executable, "-m", "placewire", "generate", *options],
        cwd=place.folder,
        check=True,
        capture_output=True,
    )
    run = place.compat("--against", "out/base.bfbs", "head.fbs", "--format", "json")
    assert run.code == 1
    assert {json.loads(line)["rule"] for line in run.out.splitlines()} == {
        "FIELD_SAME_WIRE_TYPE",
        "ENUM_MEMBER_NO_DELETE",
        "FIELD_SAME_NAME",
    }
    assert place.compat("out/base.bfbs", "base.fbs").code == 0


def test_folders_can_be_compared(place: Place) -> None:
    place.write("old/shop.fbs", BASE)
    place.write("new/shop.fbs", HEAD)
    assert len(place.compat("old", "new", "--format", "json").out.splitlines()) == 3


def test_a_folder_that_is_called_like_a_schema_is_none(place: Place) -> None:
    for side in ("base", "head"):
        place.write(f"{side}/shop.fbs", BASE)
        (place.folder / side / "old.fbs").mkdir()
    assert place.compat("base", "head").code == 0
    run = place.compat("base/old.fbs", "head")
    assert (run.code, run.err) == (
        2,
        "error: base/old.fbs holds no schema; name a folder with .fbs files\n",
    )


def test_a_schema_that_does_not_parse_is_told_with_its_place(place: Place) -> None:
    place.write("broken.fbs", "table T { a: nothing; }\n")
    run = place.compat("base.fbs", "broken.fbs")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: broken.fbs is no valid schema:\n\nbroken.fbs:1:14: error: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the old schema: placewire compat --against git:main"),
        (("nowhere.fbs", "head.fbs"), "nowhere.fbs does not exist; name a file, a folder, "),
        (("a", "b", "c"), "too many schemas: a, b, c"),
        (("base.fbs",), f"pyproject.toml does not exist; {NO_PROJECT}"),
        (("release:1.0", "head.fbs"), f"pyproject.toml does not exist; {NO_PROJECT}"),
        (("", "head.fbs"), "the name of a schema is empty; name a file, a folder, "),
        (("a" * 300, "head.fbs"), "cannot be read: File name too long; name a file, "),
        (("base.fbs/a", "head.fbs"), "base.fbs/a does not exist; name a file, a folder, "),
        (("git:main", "head.fbs"), "is in no Git repository"),
        (("--rules", "--format", "junit"), "--rules has no format junit"),
        (("base.fbs", "head.fbs", "-I", "nowhere"), "-I nowhere: there is no such folder"),
        (("base.fbs", "head.fbs", "-I", "base.fbs"), "-I base.fbs: there is no such folder"),
    ],
)
def test_wrong_usage_is_told(
    place: Place, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(place.folder.parent))
    run = place.compat(*arguments)
    assert (run.code, run.out) == (2, "")
    assert message in run.err


def test_the_working_tree_is_compared_with_a_revision(repository: Place) -> None:
    assert repository.compat("--against", "git:v1") == Run(
        0, "", "no findings; identical on the wire\n"
    )
    repository.write("schema/colors.fbs", "namespace shop; enum Color : byte { RED }\n")
    run = repository.compat("--against", "git:v1")
    assert run.code == 1
    assert run.out.startswith(
        "schema/colors.fbs:1:22: semantic: shop.Color.GREEN: is gone; its number was 1"
    )
    assert "    was: v1:schema/colors.fbs:1:42\n" in run.out
    assert "note: schema/colors.fbs has changes that are not committed" in run.err


def test_two_revisions_are_compared(repository: Place) -> None:
    repository.write("schema/colors.fbs", "namespace shop; enum Color : byte { RED }\n")
    repository.git("commit", "-qam", "two")
    assert repository.compat("git:v1", "git:main").code == 1
    assert repository.compat("git:main", "git:v1").code == 0


def test_a_command_works_from_a_folder_below(repository: Place) -> None:
    below = Place(repository.folder / "schema")
    assert below.compat("--against", "git:v1", "--project", "..").code == 0
    assert below.compat("--against", "git:v1", "shop.fbs").code == 0


def test_a_revision_that_does_not_exist_is_told(repository: Place) -> None:
    run = repository.compat("--against", "git:v9")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: revision `v9` does not exist in ")


def test_an_include_folder_must_have_been_there_at_some_time(repository: Place) -> None:
    repository.write("old/part.fbs", "table Part { x: int; }\n")
    repository.git("add", "old")
    repository.git("commit", "-q", "-m", "old")
    repository.git("rm", "-q", "-r", "old")
    repository.git("commit", "-q", "-m", "new")
    assert repository.compat("--against", "git:HEAD~", "-I", "old").code == 0
    run = repository.compat("--against", "git:HEAD", "-I", "old")
    assert (run.code, run.out) == (2, "")
    assert "-I old: there is no such folder, nor was there at git:HEAD" in run.err


def test_a_file_that_the_repository_has_lost_is_named(repository: Place) -> None:
    blob = repository.git("rev-parse", "HEAD:schema/shop.fbs")
    (repository.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    run = repository.compat("--against", "git:HEAD")
    assert (run.code, run.out) == (2, "")
    assert "has no content for schema/shop.fbs: the clone is partial or damaged" in run.err


def test_a_revision_cannot_be_an_option(repository: Place) -> None:
    run = repository.compat("--against", "git:--output=x")
    assert run.code == 2
    assert "revision `--output=x` does not exist" in run.err


def test_a_project_whose_file_was_renamed_is_compared_with_what_it_was(repository: Place) -> None:
    repository.git("mv", "schema/shop.fbs", "schema/store.fbs")
    repository.write("pyproject.toml", PROJECT.replace("shop.fbs", "store.fbs"))
    assert repository.compat("--against", "git:v1").code == 0


def test_a_file_that_was_renamed_is_told_with_its_old_name(repository: Place) -> None:
    repository.git("mv", "schema/shop.fbs", "schema/store.fbs")
    run = repository.compat("--against", "git:v1", "schema/store.fbs")
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "error: git:v1: schema/store.fbs does not exist at that revision; "
        "it was schema/shop.fbs then: say git:v1:schema/shop.fbs\n"
    )
    assert repository.compat("git:v1:schema/shop.fbs", "schema/store.fbs").code == 0


def test_a_revision_whose_schema_does_not_parse_is_told(repository: Place) -> None:
    good = (repository.folder / "schema/shop.fbs").read_text()
    repository.write("schema/shop.fbs", good + "table X { y: }\n")
    repository.git("commit", "-qam", "broken")
    repository.git("tag", "broken")
    repository.write("schema/shop.fbs", good)
    run = repository.compat("--against", "git:broken")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: git:broken is no valid schema:\n\nschema/shop.fbs:")


def test_the_latest_release_is_found_by_number(repository: Place) -> None:
    for version, text in (("0.9.0", HEAD), ("0.10.0rc1", HEAD), ("0.10.0", BASE)):
        repository.write(f"schema/history/{version}/shop.fbs", text)
    run = repository.compat("--against", "release:latest")
    assert run.code == 0
    assert repository.compat("--against", "release:0.9.0").code == 1
    missing = repository.compat("--against", "release:3")
    assert missing.code == 2
    assert missing.err == (
        "error: release:3: there is no such release; there are 0.9.0, 0.10.0rc1, 0.10.0\n"
    )


def test_a_schema_that_only_the_release_has_is_gone(repository: Place) -> None:
    repository.write("schema/history/1.0/shop.fbs", BASE)
    repository.write("schema/history/1.0/other.fbs", "table Other { x: int; } root_type Other;")
    run = repository.compat("--against", "release:1.0", "--format", "json")
    assert {json.loads(line)["path"] for line in run.out.splitlines()} == {"Other"}


def test_a_waiver_hides_a_finding(repository: Place) -> None:
    repository.write("schema/colors.fbs", "namespace shop; enum Color : byte { RED }\n")
    repository.write("pyproject.toml", PROJECT + WAIVER)
    assert repository.compat("--against", "git:v1").code == 0


def test_a_break_on_the_wire_that_is_waived_is_not_forgotten(repository: Place) -> None:
    schema = (repository.folder / "schema/shop.fbs").read_text()
    repository.write("schema/shop.fbs", schema.replace("price: int", "price: long"))
    waiver = WAIVER.replace("ENUM_MEMBER_NO_DELETE", "FIELD_SAME_WIRE_TYPE")
    repository.write("pyproject.toml", PROJECT + waiver.replace("shop.Color.*", "shop.Item.price"))
    run = repository.compat("--against", "git:v1")
    assert (run.code, run.out) == (0, "")
    assert run.err.endswith("no findings; 1 break on the wire waived\n")


def test_a_waiver_that_nothing_needs_is_a_finding(repository: Place) -> None:
    repository.write("pyproject.toml", PROJECT + WAIVER)
    run = repository.compat("--against", "git:v1")
    assert run.code == 1
    assert run.out.startswith(
        "pyproject.toml: source: shop.Color.*: the waiver of ENUM_MEMBER_NO_DELETE waives nothing"
    )


def test_a_waiver_needs_a_reason(repository: Place) -> None:
    repository.write("pyproject.toml", PROJECT + WAIVER.replace("nothing was ever green", ""))
    run = repository.compat("--against", "git:v1")
    assert run.code == 2
    assert "compat.waivers.0.reason" in run.err


def test_waivers_are_of_the_project_alone(repository: Place) -> None:
    repository.write("pyproject.toml", PROJECT + WAIVER)
    assert repository.compat("--against", "git:v1", "schema/shop.fbs").code == 0


def test_our_schema_keeps_what_its_releases_promised() -> None:
    assert Place(ROOT).compat("--against", "release:latest").code == 0


def test_witnesses_are_written_for_what_breaks_more_than_code(place: Place) -> None:
    run = place.compat("base.fbs", "head.fbs", "--witness", "shown")
    assert run.code == 1
    assert "2 of 2 findings shown by files in shown" in run.err
    folders = sorted(path.name for path in (place.folder / "shown").glob("0*"))
    assert folders == [
        "01-ENUM_MEMBER_NO_DELETE-shop.Color.GREEN",
        "02-FIELD_SAME_WIRE_TYPE-shop.Item.price",
    ]


def test_without_a_break_there_are_no_witnesses(place: Place) -> None:
    run = place.compat("base.fbs", "base.fbs", "--witness", "shown")
    assert run.code == 0
    assert "no witnesses: no finding is on the wire or of meaning" in run.err
    assert not (place.folder / "shown").exists()


def test_a_schema_without_a_root_has_witnesses(place: Place) -> None:
    for name, text in (("base", BASE), ("head", HEAD)):
        place.write(f"{name}.fbs", text.replace("root_type Shop;", ""))
    run = place.compat("base.fbs", "head.fbs", "--witness", "deep/er")
    assert "2 of 2 findings shown by files in deep/er" in run.err


def test_a_folder_with_something_in_it_is_not_taken_for_witnesses(place: Place) -> None:
    run = place.compat("base.fbs", "head.fbs", "--witness", ".")
    assert run.code == 2
    assert run.err == "error: . is not empty; name a new folder for the witnesses\n"
    assert not run.out


def test_a_file_is_no_folder_for_witnesses(place: Place) -> None:
    run = place.compat("base.fbs", "head.fbs", "--witness", "base.fbs")
    assert run.code == 2
    assert "base.fbs is not a folder" in run.err


def test_a_folder_that_cannot_be_made_is_named(place: Place) -> None:
    run = place.compat("base.fbs", "head.fbs", "--witness", "base.fbs/shown")
    assert run.code == 2
    assert "error: the witnesses cannot be written: base.fbs/shown: Not a directory" in run.err


def test_a_schema_whose_name_is_not_utf_8_has_witnesses(place: Place) -> None:
    name = os.fsdecode(b"b\xffse.fbs")
    (place.folder / "base.fbs").rename(place.folder / name)
    run = place.compat(name, "head.fbs", "--witness", "shown")
    assert run.code == 1
    assert "2 of 2 findings shown by files in shown" in run.err


@pytest.mark.parametrize("options", [(), ("--witness", "shown"), ("--format", "junit")])
def test_a_reader_that_goes_away_is_no_error(place: Place, options: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(
        [sys.executable, "-u", "-m", "placewire", "compat", "base.fbs", "head.fbs", *options],
        cwd=place.folder,
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (process.returncode, process.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told(place: Place) -> None:
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-u", "-m", "placewire", "compat", "base.fbs", "head.fbs"],
            cwd=place.folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (process.returncode, process.stderr) == (
        1,
        "error: cannot write the output: No space left on device\n",
    )


def test_a_rule_without_a_witness_to_its_finding_is_reported_as_our_fault(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find_what_is_not_there(base: Schema, _: Schema) -> list[Finding]:
        at = base.table("shop.Item").location
        rule = RULES["FIELD_SAME_DEFAULT"]
        return [Finding(rule, "shop.Item.price", "differs", at, at, rule.affected, "It breaks.")]

    monkeypatch.chdir(place.folder)
    monkeypatch.setattr("placewire_codegen.evolution.compare_schemas", find_what_is_not_there)
    with pytest.raises(typer.Exit) as ended:
        compat.compat(["base.fbs", "base.fbs"], witness=Path("shown"))
    assert ended.value.exit_code == 3
    said = capsys.readouterr().err
    assert "error: no file shows FIELD_SAME_DEFAULT of shop.Item.price" in said
    assert "please report this" in said
    assert said.count("shop.Item.price") == 1
