"""Evaluating on the real command line, over a small set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_cli import Cli

from eunoe.evaluation import correctness
from eunoe.surfaces.cli.main import main

BODIES = ("The queue is Redis", "Backups run nightly at two", "Ada owns billing", "Deploys go to Frankfurt")
QUERIES = (("which queue", "m0"), ("when do backups run", "m1"), ("who owns billing", "m2"), ("zebra", "m3"))
SMALL = ("--only", "golden,crosslingual,answerability")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    work = tmp_path / "work"
    work.mkdir()
    sets: dict[str, list[dict[str, Any]]] = {
        "memories": [
            {"id": f"m{at}", "project": "p", "kind": "fact", "body": body, "said": "2026-01-02"}
            for at, body in enumerate(BODIES)
        ],
        "queries": [
            {"id": f"q{at}", "half": ("tune", "test")[at % 2], "project": "p", "text": text, "gold": [gold]}
            for at, (text, gold) in enumerate(QUERIES)
        ],
        "unanswerable": [{"id": "u0", "project": "p", "text": "unicorns"}],
        "crosslingual": [{"id": "x0", "project": "p", "text": "welche queue", "gold": ["m0"], "language": "de"}],
    }
    folder = work / "set"
    folder.mkdir()
    for name, lines in sets.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return Cli(tmp_path, work)


def test_a_summary_is_printed_and_nothing_is_written(cli: Cli) -> None:
    done = cli("eval", *SMALL, "--data", "set", EUNOE_STORE="postgresql://nowhere/x", EUNOE_USER="no user")
    printed = done.stdout.decode()
    rows = [line.split() for line in printed.splitlines()]
    assert [row[1:4] for row in rows if row[:1] == ["eunoe"]] == [["75.0"] * 3, ["100.0"] * 3]
    assert [row[2:5] for row in rows if row[:2] == ["no", "memory"]] == [["0.0"] * 3, ["0.0"] * 3]
    for title in ("Golden set", "Cross-lingual, by language", "Answerability", "Calibration"):
        assert title in printed
    assert done.stderr.decode().startswith("note: the baseline 'dense only' was left out: ")
    assert [path.name for path in cli.cwd.iterdir()] == ["set"]
    assert not cli.store.exists()


def test_a_report_is_three_files_and_the_same_every_time(cli: Cli) -> None:
    for folder in ("one", "two/deep"):
        done = cli("eval", *SMALL, "--data", "set", "--strict-leave-out", "--out", folder)
        assert b"wrote report.json, report.questions.jsonl, report.md in " in done.stderr
    files = sorted((cli.cwd / "one").iterdir())
    assert [file.name for file in files] == ["report.json", "report.md", "report.questions.jsonl"]
    assert all(file.read_bytes() == (cli.cwd / "two" / "deep" / file.name).read_bytes() for file in files)
    report = json.loads(files[0].read_text("utf-8"))
    assert (report["schema"], report["model"], report["data"], report["half"]) == (1, "none", "set", "both")
    page = files[1].read_text("utf-8")
    assert (
        "$ EUNOE_MODEL=none eunoe eval --only golden,crosslingual,answerability --strict-leave-out --data FOLDER "
        "--out FOLDER\n"
    ) in page
    assert str(cli.home) not in page + files[0].read_text("utf-8")
    lines = [json.loads(line) for line in files[2].read_text("utf-8").splitlines()]
    assert {line["set"] for line in lines} == {
        *("golden", "crosslingual", "unanswerable", "gold left out", "gold left out, strictly")
    }
    assert lines[0]["top"][0] == "m0"


def test_json_is_the_report(cli: Cli) -> None:
    told = cli.json("eval", "--only", "golden", "--half", "tune", "--no-baselines", "--data", "set")
    assert list(told["golden"]["systems"]) == ["eunoe"]
    assert told["golden"]["systems"]["eunoe"]["tune"]["all"]["questions"] == 2


def test_two_reports_are_set_side_by_side(cli: Cli) -> None:
    cli("eval", *SMALL, "--data", "set", "--out", "one")
    printed = cli.text("eval", "compare", "one", "one/report.json")
    assert "| all | " in printed
    assert "(+0.0) [+0.0, +0.0]" in printed
    assert "| ECE | " in printed
    assert [table["title"] for table in cli.json("eval", "compare", "one", "one")["tables"]] == [
        *("Golden set", "Cross-lingual", "Evidence")
    ]


def test_what_cannot_be_evaluated_is_told(cli: Cli) -> None:
    assert cli.error("eval", "--only", "golden,luck", code=2) == "usage"
    assert cli.error("eval", "--only", "locomo", code=2) == "usage"
    assert cli.error("eval", "--plots", code=2) == "usage"
    assert cli.error("eval", "--data", "nowhere", code=2) == "bad_evaluation_data"
    assert cli.error("eval", "--only", "locomo", "--locomo", "set/queries.jsonl", code=2) == "bad_evaluation_data"
    assert cli.error("eval", "--data", "set", EUNOE_MODEL="bge-small-en-v1.5", code=1) == "no_model"
    assert cli.error("eval", "compare", "one", "two", code=2) == "bad_evaluation_data"
    assert cli.error("eval", *SMALL, "--data", "set", "--out", "set/queries.jsonl", code=1) == "file_unwritable"


def test_a_check_that_fails_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = correctness.Outcome("the third", {"it is found": False}, control=True)

    def broken(*_: object) -> Iterator[correctness.Outcome]:
        yield outcome

    monkeypatch.setattr(correctness, "CHECKS", {"broken": broken})
    assert main(["eval", "--only", "correctness"]) == 1
    assert "the third: it is found" in capsys.readouterr().out
    outcome = outcome._replace(claims={"it is found": True})
    assert main(["eval", "--only", "correctness"]) == 0
