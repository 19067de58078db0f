from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eunoe import Memory
from eunoe.admission import admit, draft
from eunoe.domain import chain
from eunoe.domain.redact import Redacted
from eunoe.retrieval.pack import Packed
from eunoe.service import presenting
from eunoe.surfaces.cli import demo, demo_story


def told(*arguments: str, home: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: os.environ[name]
        for name in ("PATH", "PYTHONPATH", "SYSTEMROOT", "TEMP", "COVERAGE_PROCESS_CONFIG")
        if name in os.environ
    }
    return subprocess.run(
        [sys.executable, "-m", "eunoe.surfaces.cli.demo", *arguments],
        env=kept | {"HOME": str(home), "PYTHONIOENCODING": "utf-8"} | environ,
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )


def test_the_story_ends_well_and_says_what_each_step_found(tmp_path):
    done = told(home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    essentials = (
        "48 memories written",
        "Confirmed #25.",
        "#25 has the same words",
        "its links moved to #49",
        "deploy/target is now #49: fly.io; this morning it was #35: heroku",
        "Scheduled #50.",
        "each question's answer came first",
        "It is number 1 of",
        "deploy/target was heroku and is fly.io",
        "[masked:url-password]",
        "the password is in none of the store's files",
        "every one is as it was written",
        "eunoe-head-1:",
        "came out equal",
        "payload_replaced: event 40",
        "verify names the very event",
        "history_rewritten: event",
        "All 13 steps did what they say",
    )
    assert [each for each in essentials if each not in done.stdout] == []
    assert not list(tmp_path.iterdir()), "nothing is written to the user's home"


def test_piped_output_has_no_colours_and_fits_100_columns(tmp_path):
    done = told(home=tmp_path)
    assert "\x1b" not in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_a_console_of_another_encoding_gets_the_whole_story(tmp_path):
    done = told(home=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "All 13 steps" in done.stdout


def test_the_users_settings_do_not_reach_the_demo(tmp_path):
    done = told(home=tmp_path, EUNOE_STORE="postgresql://nowhere/x", EUNOE_USER="no user", EUNOE_PROJECT="~")
    assert done.returncode == 0


def test_the_story_has_at_least_forty_memories_of_the_kinds_that_engineers_note():
    said = demo_story.monday()
    assert len(said) >= 40
    kinds = {what.kind for what in said}
    assert kinds >= {"decision", "gotcha", "convention", "howto", "reference", "state", "lesson", "preference"}


def test_a_kept_store_answers_afterwards(tmp_path, capsys):
    folder = tmp_path / "deep" / "kept"
    assert demo.run(keep=str(folder)) == 0
    assert str(folder) in "".join(capsys.readouterr().out.split())
    with Memory.open(folder / "parcel.sqlite", project="acme/parcel", user="kim") as memory:
        assert memory.get(key="deploy/target").value == "fly.io"
        assert memory.get(key="limits/dhl").value == "250/min"
        assert memory.verify().ok


def test_a_store_that_was_kept_before_is_left_untouched(tmp_path, capsys):
    assert demo.run(keep=str(tmp_path)) == 0
    before = (tmp_path / "parcel.sqlite").read_bytes()
    assert demo.run(keep=str(tmp_path)) == 4
    assert (tmp_path / "parcel.sqlite").read_bytes() == before
    assert "parcel.sqlite" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_fails_without_a_traceback(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert demo.run(keep=str(tmp_path / "file" / "below")) == 1
    assert "file" in capsys.readouterr().err


BREAKAGES = {
    "a gate that knows no restatement": (2, admit, "text_fingerprint", lambda *_: os.urandom(16).hex()),
    "a gate that sees no twins": (3, admit, "_words", lambda *_: None),
    "a gate that never ends a value": (4, admit, "key_fingerprint", lambda *_: os.urandom(16).hex()),
    "a packer that packs nothing": (6, presenting, "pack", lambda *_, **__: Packed("", 0, (), (), 0)),
    "a redactor that lets secrets through": (9, draft, "redact", lambda text: Redacted(text, ())),
    "a verify that finds no bad event": (12, chain, "_fault", lambda *_: None),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_step_that_does_not_do_what_it_says_ends_the_demo_with_1(breakage, monkeypatch, capsys):
    step, home, name, broken = BREAKAGES[breakage]
    monkeypatch.setattr(home, name, broken)
    assert demo.run() == 1
    out, err = capsys.readouterr()
    assert f"step {step}:" in err
    assert "did what they say" not in out
