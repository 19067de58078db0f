"""`eunoe demo`: two sessions of work in a store of their own, told with what the store really answers.

Every step checks what it claims, and the first one that fails ends the story with exit code 1. So the demo is a smoke
test, too: it needs no network, no model, and nothing of the user's own store or environment.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from io import TextIOWrapper
from pathlib import Path
from time import perf_counter

from eunoe.bootstrap import SystemClock, open_session
from eunoe.domain.instants import from_us
from eunoe.domain.memory import Receipt
from eunoe.domain.text import clipped
from eunoe.errors import Conflict, EunoeError
from eunoe.service import ledger, read, rebuild, recall, remember
from eunoe.service.context import Context
from eunoe.service.flush import flush
from eunoe.surfaces.cli import demo_story as script
from eunoe.surfaces.cli.demo_briefing import briefs
from eunoe.surfaces.cli.demo_stage import Stage, StepError, require
from eunoe.testing.clock import ManualClock

PROJECT = "acme/parcel"
USER = "ada"
STORE = "parcel.sqlite"

_FAILED, _TAKEN = 1, 4


class _Story:
    """What the steps share: the stage, the clock, the open session, and which memory each label became."""

    context: Context  # of the session that is open

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage = stage
        self.store = folder / STORE
        self.clock = ManualClock(script.monday_us(SystemClock().now_us()))
        self.numbers: dict[str, int] = {}

    @property
    def now(self) -> datetime:
        return from_us(self.clock.now_us())

    @contextmanager
    def session(self, store: Path | None = None) -> Iterator[None]:
        """Open the store, or a copy of it, as an agent's session does; close it afterwards."""
        opened = open_session(
            store=store or self.store,
            project=PROJECT,
            user=USER,
            author="agent",
            surface="demo",
            environ={"EUNOE_HOME": str(self.store.parent), "EUNOE_MODEL": os.environ.get("EUNOE_MODEL", "")},
            clock=self.clock,
        )
        self.context = opened.context
        try:
            yield
        finally:
            opened.close()

    def said(self, what: script.Said, valid_from: date | None = None) -> Receipt:
        """Remember a statement, a little later than the one before."""
        self.clock.advance(s=40)
        return remember.remember(self.context, what.body, valid_from=valid_from, **what.fields(self.numbers))


def run(*, keep: str | None = None) -> int:
    """Tell the story on standard output.

    Args:
        keep: A folder in which the store stays, made if it is not there; without one the store is temporary.

    Returns:
        0 when every step did what it says, 1 when one did not or the folder cannot be used (the reason is on standard
        error), 4 when the folder holds the store of an earlier demo, which is left untouched.
    """
    stage = Stage()
    try:
        with _folder(keep) as folder:
            _tell(_Story(stage, folder))
            _farewell(stage, folder / STORE if keep else None)
    except StepError as broken:
        stage.failed(str(broken))
        return _FAILED
    except EunoeError as error:
        stage.failed(f"{error.message} [{error.code}]")
        return _TAKEN if error.code == "demo_is_there" else _FAILED
    except OSError as error:
        stage.failed(f"the folder of the demo cannot be used: {error}")
        return _FAILED
    return 0


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="eunoe-demo-") as name:
            yield Path(name)
        return
    folder = Path(keep).absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (folder / STORE).exists():
        raise Conflict("demo_is_there", f"{folder / STORE} is there already; keep this demo in another folder")
    yield folder


def _tell(story: _Story) -> None:
    stage = story.stage
    stage.scene(f"{story.now:%A, %Y-%m-%d}: an agent works on {PROJECT}, a parcel-tracking service")
    with story.session():
        for step in (_remembers, _confirms, _refuses_a_twin, _corrects, _schedules):
            step(story)
    story.clock.advance(days=3)
    stage.scene(f"{story.now:%A, %Y-%m-%d}: the store is opened again by a session that knows nothing yet")
    with story.session():
        for step in (briefs, _recalls, _explains, _masks):
            step(story)
        stage.scene("The ledger behind it")
        head = _verifies(story)
        _rebuilds(story)
    with tempfile.TemporaryDirectory(prefix="eunoe-demo-") as name:
        _catches_a_change(story, Path(name))
        _catches_a_rewrite(story, Path(name), head)


def _remembers(story: _Story) -> None:
    stage, said, started = story.stage, script.monday(), perf_counter()
    stage.step("Remember what was learned")
    for what in said:
        receipt = story.said(what)
        require(receipt.outcome == "recorded", f"#{receipt.number} was recorded")
        if what.label:
            story.numbers[what.label] = receipt.number
        found = recall.recall(story.context, what.title or what.body, limit=1).hits
        require([hit.number for hit in found] == [receipt.number], f"#{receipt.number} is found by its words at once")
    took_ms = (perf_counter() - started) * 1000
    stage.command("remember", clipped(said[-6].body, 57), "--kind", said[-6].kind)
    stage.say(", ".join(f"{kind} {count}" for kind, count in Counter(what.kind for what in said).items()))
    stage.check(
        recall.count(story.context) == len(said),
        f"{len(said)} memories written, each found by its words in the very next call; {took_ms:.0f} ms in all",
    )


def _confirms(story: _Story) -> None:
    stage, number = story.stage, story.numbers[script.PRIVACY]
    stage.step("Say one again: it is confirmed, not stored twice")
    stage.command("remember", script.RESTATED)
    receipt = remember.remember(story.context, script.RESTATED)
    seen = read.get(story.context, number).occurrences
    stage.say(receipt.text)
    stage.check((receipt.outcome, receipt.number, seen) == ("confirmed", number, 2), f"#{number} was said {seen} times")


def _refuses_a_twin(story: _Story) -> None:
    stage, number, before = story.stage, story.numbers[script.PRIVACY], recall.count(story.context)
    stage.step("Say nearly the same: it is refused, and its twin is shown")
    stage.command("remember", script.REWORDED)
    try:
        receipt = remember.remember(story.context, script.REWORDED)
    except Conflict as refused:
        stage.say(refused.message)
        stage.say(read.get(story.context, number).body, mark=f"#{number} says: ")
        is_whole = recall.count(story.context) == before
        stage.check(refused.details.get("twins") == [number] and is_whole, "nothing was written")
    else:
        require(False, f"#{receipt.number} was refused as a twin of #{number}")


def _corrects(story: _Story) -> None:
    stage, context, old = story.stage, story.context, story.numbers[script.DEPLOY]
    key, morning, linked = str(script.CORRECTED.key), story.now, read.links(context, old)
    story.clock.advance(s=6 * 3600)
    stage.step("Correct a fact: the new value takes its key")
    stage.command("remember", clipped(script.CORRECTED.body, 36), "--key", key, "--value", str(script.CORRECTED.value))
    receipt = story.said(script.CORRECTED)
    stage.say(receipt.text)
    story.numbers["corrected"] = new = receipt.number
    now, then = read.get(context, key=key), read.get(context, key=key, as_of=morning)
    stage.check(
        (receipt.outcome, now.number, then.number) == ("replaced", new, old),
        f"{key} is now #{now.number}: {now.value}; this morning it was #{then.number}: {then.value}",
    )
    stage.check(read.get(context, old).status == "superseded", f"#{old} is superseded: out of recall, kept in history")
    stage.check(
        bool(linked) and read.links(context, new) == linked and not read.links(context, old),
        "its links came along: " + ", ".join(f"#{each.number} {each.title}" for each in linked),
    )


def _schedules(story: _Story) -> None:
    stage, context, key = story.stage, story.context, str(script.RAISED.key)
    day = story.now.date() + timedelta(days=56)
    stage.step("Schedule a fact: true from a later day on")
    stage.command("remember", script.RAISED.body, "--key", key, "--valid-from", f"{day}")
    receipt = story.said(script.RAISED, valid_from=day)
    stage.say(receipt.text)
    now, then = read.get(context, key=key), read.get(context, key=key, as_of=day)
    stage.command("get", "--key", key)
    stage.row(f"#{now.number}  {now.body}")
    stage.command("get", "--key", key, "--as-of", f"{day}")
    stage.row(f"#{then.number}  {then.body}")
    stage.check(
        receipt.outcome == "scheduled" and now.value != script.RAISED.value and then.number == receipt.number,
        f"today {now.value}, on {day} {then.value}; no job has to run for it",
    )


def _recalls(story: _Story) -> None:
    stage, old = story.stage, story.numbers[script.DEPLOY]
    stage.step("Ask plain questions")
    flush(story.context)
    how = f"words and meaning ({story.context.semantics.name})" if story.context.semantics.wanted else "words"
    stage.say(f"By {how}. Each hit: its number, its evidence from 0 to 1, its kind and its title.")
    for question, answer in script.QUESTIONS:
        hits = recall.recall(story.context, question, limit=1000).hits
        stage.command("recall", question)
        for rank, hit in enumerate(hits[:3]):
            best = {} if rank else {"bold": True}
            stage.row(f"{hit.address:>4}  {hit.evidence:.2f}  {hit.kind:<12}  {hit.title}", **best)
        require(bool(hits) and hits[0].title == answer, f"{answer!r} answers {question!r}")
        require(old not in [hit.number for hit in hits], f"the corrected #{old} does not come back")
    stage.check(True, f"each question's answer came first, and the old value, #{old}, is in no answer at all")


def _explains(story: _Story) -> None:
    stage, key, question = story.stage, str(script.CORRECTED.key), script.QUESTIONS[0][0]
    old, new = story.numbers[script.DEPLOY], story.numbers["corrected"]
    stage.step("Ask why, and what it was before")
    why = read.why(story.context, new, question)
    require(why.rank == 1, f"#{new} is the first answer to {question!r}")
    terms = why.explanation["lanes"]["keyword"]["terms"]
    stage.command("why", str(new), question)
    stage.say("\n".join(why.reasons))
    stage.say("It matched by its words: " + ", ".join(f"{term} {weight:.2f}" for term, weight in terms.items()))
    stage.say(f"It comes from event {why.memory.event}, by an {why.history[0].origin['author_type']}.")
    stage.command("history", "--key", key)
    values = [step.version for step in read.history(story.context, key=key) if step.version is not None]
    for each in values:
        stage.row(f"{each.recorded_from:%Y-%m-%d %H:%M}  #{each.number}  {each.value:<6}  {each.status}")
    is_whole = [each.number for each in values] == [old, new]
    stage.check(is_whole, f"{key} was {values[0].value} and is {values[-1].value}; nothing is lost")


def _masks(story: _Story) -> None:
    stage = story.stage
    stage.step("Let a password slip in: it never reaches the disk")
    stage.command("remember", script.LEAKED.body)
    receipt = story.said(script.LEAKED)
    stage.say(receipt.text)
    stage.say(read.get(story.context, receipt.number).body, mark=f"#{receipt.number} says: ")
    files = sorted(story.store.parent.glob(f"{STORE}*"))
    is_clean = all(script.FAKE_PASSWORD.encode() not in each.read_bytes() for each in files)
    names = ", ".join(each.name.removeprefix(STORE) or STORE for each in files)
    stage.check(receipt.masked == ("body",) and is_clean, f"the password is in none of the store's files: {names}")


def _verifies(story: _Story) -> str:
    """Return the head, kept outside the store from now on."""
    stage = story.stage
    stage.step("Verify the ledger, and keep its head elsewhere")
    stage.command("verify")
    result, heads = ledger.verify(story.context), ledger.head(story.context)
    stage.check(result.ok, f"{result.events} events, {result.payloads} payloads: every one is as it was written")
    stage.command("head")
    require(len(heads) == 1, "the ledger has one chain")
    stage.say(heads[0])
    return heads[0]


def _rebuilds(story: _Story) -> None:
    stage = story.stage
    stage.step("Rebuild everything else from the ledger")
    stage.command("rebuild")
    result = rebuild.rebuild(story.context)
    claim = f"{result.events} events replayed; keys, links, versions and the index came out equal, row by row"
    stage.check(not result.differences and not result.swapped, claim)


def _catches_a_change(story: _Story, folder: Path) -> None:
    stage, number, copy = story.stage, story.numbers[script.RULE], folder / "changed.sqlite"
    stage.step("Tamper with a copy: one word, changed in the file itself")
    with story.session():
        event = ledger.log(story.context, target=number)[-1]
        rule = read.get(story.context, number).body
    shutil.copyfile(story.store, copy)
    require(script.change_word(copy, event.id), f"event {event.seq} holds the word {script.WORD!r}")
    stage.say(f"In event {event.seq}, which recorded #{number}, somebody turned a rule around:")
    stage.row(f"- {rule}")
    stage.row(f"+ {rule.replace(script.WORD, script.TURNED)}")
    stage.command("verify", "--store", copy.name)
    stage.check(_verify_copy(story, copy) == ("payload_replaced", event.id), "verify names the very event")


def _catches_a_rewrite(story: _Story, folder: Path, head: str) -> None:
    stage, copy = story.stage, folder / "rewritten.sqlite"
    stage.step("Tamper thoroughly: every hash from there on made to fit")
    shutil.copyfile(folder / "changed.sqlite", copy)
    script.hash_anew(copy)
    stage.command("verify", "--store", copy.name)
    stage.check(_verify_copy(story, copy)[0] == "ok", "the copy agrees with itself: the file alone cannot tell")
    stage.command("verify", "--store", copy.name, "--since", f"{head[:24]}...")
    is_caught = _verify_copy(story, copy, since=head)[0] == "history_rewritten"
    stage.check(is_caught, "the head that was kept elsewhere gives it away")


def _verify_copy(story: _Story, store: Path, *, since: str | None = None) -> tuple[str, str | None]:
    """Verify a copy; show the fault and return its code and event, or `ok` and None."""
    with story.session(store):
        fault = ledger.verify(story.context, since=since or ()).fault
    if fault is None:
        return "ok", None
    story.stage.say(f"{fault.code}: {fault.message}", bold=True)
    return fault.code, fault.id


def _farewell(stage: Stage, kept: Path | None) -> None:
    stage.scene(f"All {stage.steps} steps did what they say. Next:")
    if kept is None:
        stage.command("demo", "--keep", "DIR")
        stage.command("remember", "what you just learned", "--kind", "gotcha")
        stage.command("recall", "what you want to know")
    else:
        stage.say(f"export EUNOE_STORE={shlex.quote(str(kept))} EUNOE_PROJECT={PROJECT}", mark="$ ", dim=True)
        stage.command("recall", "how do we roll back a release?")
        stage.command("history", "--key", str(script.CORRECTED.key))
        stage.command("verify")


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(run())
