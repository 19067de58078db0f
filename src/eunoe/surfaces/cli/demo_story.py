"""The demo's material: what its agents say about `acme/parcel`, and what an attacker does to a copy of the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw

from eunoe.domain.event import GENESIS
from eunoe.domain.instants import SECOND_US, from_us, to_us
from eunoe.domain.sealing import chain_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One statement, with the fields of `remember`.

    Attributes:
        tags, paths: Parted by spaces, which none of them holds.
        label: A name by which later statements link to it; not stored.
        links: Labels of statements made before.
    """

    kind: str
    body: str
    title: str | None = None
    tags: str = ""
    paths: str = ""
    key: str | None = None
    value: str | None = None
    source: str | None = None
    pinned: bool = False
    session: str | None = None
    turn: int | None = None
    speaker: str | None = None
    label: str | None = None
    links: tuple[str, ...] = ()

    def fields(self, numbers: Mapping[str, int]) -> dict[str, Any]:
        """Return the keyword arguments of `remember`; `numbers` tells which memory a label became."""
        plain = ("kind", "title", "key", "value", "source", "pinned", "session", "turn", "speaker")
        lists = {"tags": self.tags.split(), "paths": self.paths.split()}
        return {name: getattr(self, name) for name in plain} | lists | {"links": [numbers[each] for each in self.links]}


def monday_us(now_us: int) -> int:
    """Return nine o'clock on Monday of last week, so that all of the story has happened, and none of its future."""
    today = from_us(now_us).date()
    return to_us(today - timedelta(days=today.weekday() + 7), setting="now") + 9 * 3600 * SECOND_US


def monday() -> list[Said]:
    """Return what Monday's session remembers, in order."""
    text = files(__package__).joinpath("demo_story.json").read_text(encoding="utf-8")
    return [Said(**row | {"links": tuple(row.get("links", ()))}) for row in json.loads(text)]


# The convention labelled `privacy` again: its very words with other spacing, then with other small words.
PRIVACY = "privacy"
RESTATED = "log a parcel by its id,   never by the buyer's name, address or e-mail."
REWORDED = "Log the parcel by an id, and never by that buyer's name, address or e-mail."

# The value of `deploy/target` labelled `deploy` is true until Monday afternoon.
DEPLOY = "deploy"
CORRECTED = Said(
    kind="state",
    title="The API runs on Fly.io",
    body="We deploy the API to Fly.io, region fra, with `fly deploy` from CI. The app on Heroku is switched off.",
    tags="deploy",
    key="deploy/target",
    value="fly.io",
)

RAISED = Said(
    kind="state",
    title="DHL rate limit, new contract",
    body="DHL allows 600 requests a minute.",
    tags="dhl limits",
    paths="src/parcel/carriers/dhl.py",
    key="limits/dhl",
    value="600/min",
)

# Each question, and the title of the memory that answers it.
QUESTIONS = (
    ("Where do we deploy the API?", "The API runs on Fly.io"),
    ("The webhook signature check fails, why?", "Webhook signatures cover the raw body"),
    ("How do I run the tests on my laptop?", "Run the tests on your machine"),
    ("Why did we choose Redis and not Celery?", "Redis Streams instead of Celery"),
    ("May I retry when buying a label times out?", "A label is bought once"),
    ("What does Mara expect of a pull request?", "Mara's pull requests"),
)

FAKE_PASSWORD = "FAKE-hunter2"  # noqa: S105 - made up, to be masked
LEAKED = Said(
    kind="reference",
    title="Staging database",
    body=f"Staging is postgresql://app:{FAKE_PASSWORD}@db.staging.example/parcel",
    tags="postgres staging",
    session="thursday",
)

# The rule labelled `labels`, and the word that turns it around.
RULE = "labels"
WORD, TURNED = "Never", "Always"


def change_word(store: Path, event: str) -> bool:
    """Turn the rule around in the payload of one event, as anyone can who may write the file; tell whether it was."""
    db = apsw.Connection(str(store))
    [(payload,)] = db.execute("select cast(payload as text) from events where id = ?", (event,))
    changed = str(payload).replace(WORD, TURNED)
    db.execute("update events set payload = cast(? as blob) where id = ?", (changed, event))
    db.close()
    return bool(changed != payload)


def hash_anew(store: Path) -> None:
    """Make the whole ledger agree with its payloads, as somebody could who has read this program."""
    db = apsw.Connection(str(store))
    db.execute("drop trigger events_are_frozen")
    rows: list[Any] = db.execute(
        "select seq, payload, cast(id as blob), cast(stream as blob), n, cast(projects.uuid as blob),"
        " cast(type as blob), v, cast(origin as blob), occurred_at, recorded_at, cast(dedupe_key as blob),"
        " cast(meta as blob) from events join projects using (p) order by seq"
    ).fetchall()
    last = GENESIS
    for seq, payload, *hashed in rows:
        digest = None if payload is None else sha256(payload).digest()
        hashed += digest, last
        own = chain_hash(*hashed)
        db.execute(
            "update events set payload_hash = ?, prev_hash = ?, hash = ? where seq = ?", (digest, last, own, seq)
        )
        last = own
    db.execute("update heads set hash = ?", (last,))
    db.close()
