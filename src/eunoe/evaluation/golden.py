"""The golden set: memories of made-up projects, questions with the memories that answer them, and ones without.

A set is a folder of JSON lines. `memories.jsonl` and `queries.jsonl` must be there, `unanswerable.jsonl` and
`crosslingual.jsonl` may be. A memory has `id project kind body said`, and may have `title tags paths key value`. A
question has `id project text`, its `gold` (ids of memories of its project; none where nothing answers it), and may have
`half` (`tune` or `test`; without one it belongs to both), `category` or `language`; one that nothing answers may have
the `kind` `near`: memories of its project are about its topic, but none answers it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from eunoe.domain.instants import DAY_US, to_us
from eunoe.errors import Invalid, shown

HALVES = ("tune", "test")
DATA = Path(__file__).with_name("data")


class Item(NamedTuple):
    """A memory to be written: its name in the set, and the fields of `remember`."""

    ident: str
    project: str
    fields: Mapping[str, Any]

    @property
    def body(self) -> str:
        """Return its body alone."""
        return str(self.fields["body"])

    @property
    def text(self) -> str:
        """Return all its words: title, body, tags, paths, key and value, as a file of notes would hold them."""
        has = self.fields.get
        parts = (has("title"), has("body"), *has("tags", ()), *has("paths", ()), has("key"), has("value"))
        return "\n".join(str(part) for part in parts if part)


class Question(NamedTuple):
    """A question to a project.

    Attributes:
        category: What is hard about it, or its language; empty where nothing is said of it.
        half: `tune`, `test`, or empty: then it belongs to both.
        gold: Names of the memories that answer it; empty where none does.
    """

    ident: str
    project: str
    text: str
    category: str
    half: str
    gold: tuple[str, ...]


class Golden(NamedTuple):
    """One set, checked: no id twice, every gold memory there and of the question's own project."""

    memories: tuple[Item, ...]
    queries: tuple[Question, ...]
    unanswerable: tuple[Question, ...]
    crosslingual: tuple[Question, ...]

    @property
    def now_us(self) -> int:
        """Return the instant at which it is asked: a day after the last thing was said."""
        return max(to_us(item.fields["occurred_at"], setting="said") for item in self.memories) + DAY_US

    def of_half(self, half: str) -> Golden:
        """Return the set with the questions of one half, `both` for all."""
        if half == "both":
            return self
        return self._replace(
            **{
                name: tuple(each for each in getattr(self, name) if each.half in ("", half))
                for name in ("queries", "unanswerable", "crosslingual")
            }
        )


def load(folder: Path = DATA) -> Golden:
    """Read a set; default the one that comes with Eunoe.

    Raises:
        Invalid: `bad_evaluation_data`: a file is missing or breaks the form; the message names the place.
    """
    memories = tuple(_item(each, where) for where, each in _lines(folder / "memories.jsonl"))
    if not memories:
        raise Invalid("bad_evaluation_data", "memories.jsonl holds no memory")
    known = {item.ident: item.project for item in memories}
    if len(known) != len(memories):
        raise Invalid("bad_evaluation_data", "memories.jsonl has an id twice")
    found = Golden(
        memories,
        _questions(folder / "queries.jsonl", known),
        _questions(folder / "unanswerable.jsonl", known, optional=True, answerable=False),
        _questions(folder / "crosslingual.jsonl", known, optional=True),
    )
    idents = [each.ident for each in (*found.queries, *found.unanswerable, *found.crosslingual)]
    if len(set(idents)) != len(idents):
        raise Invalid("bad_evaluation_data", "two questions of the set have the same id")
    return found


def parse_json(text: str, where: str) -> Any:
    """Return the value of a JSON text. Raises `Invalid` (`bad_evaluation_data`), naming the place."""
    try:
        return json.loads(text)
    except ValueError as exc:
        raise Invalid("bad_evaluation_data", f"{where} is no JSON: {exc}") from exc


def read_text(file: Path) -> str:
    """Return the text of a file. Raises `Invalid` (`bad_evaluation_data`)."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise Invalid("bad_evaluation_data", f"{str(file)!r} cannot be read: {reason}") from exc


def _lines(file: Path, *, optional: bool = False) -> Iterable[tuple[str, dict[str, Any]]]:
    if optional and not file.is_file():
        return
    for at, line in enumerate(read_text(file).splitlines(), 1):
        where = f"{file.name}, line {at}"
        value = parse_json(line, where)
        if not isinstance(value, dict):
            raise Invalid("bad_evaluation_data", f"{where} is no object")
        yield where, value


def _item(line: Mapping[str, Any], where: str) -> Item:
    fields = {name: line.get(name) for name in ("kind", "body", "title", "key", "value")}
    fields |= {name: line.get(name) or () for name in ("tags", "paths")}
    try:
        fields["occurred_at"] = datetime.fromisoformat(_text(line, "said", where)).replace(tzinfo=UTC)
    except ValueError as exc:
        raise Invalid("bad_evaluation_data", f"{where}: said is no day such as 2026-03-01") from exc
    _text(line, "body", where)
    return Item(_text(line, "id", where), _text(line, "project", where), fields)


def _questions(
    file: Path, known: Mapping[str, str], *, optional: bool = False, answerable: bool = True
) -> tuple[Question, ...]:
    return tuple(_question(each, where, known, answerable) for where, each in _lines(file, optional=optional))


def _question(line: Mapping[str, Any], where: str, known: Mapping[str, str], answerable: bool) -> Question:
    project, gold, half = _text(line, "project", where), line.get("gold", []), line.get("half", "")
    if half not in ("", *HALVES):
        raise Invalid("bad_evaluation_data", f"{where}: half={shown(half)} must be tune or test")
    if bool(gold) != answerable or not all(known.get(name) == project for name in gold):
        wanted = "the ids of memories of its project" if answerable else "left out: nothing answers it"
        raise Invalid("bad_evaluation_data", f"{where}: gold={shown(gold)} must be {wanted}")
    if project not in known.values():
        raise Invalid("bad_evaluation_data", f"{where}: project={shown(project)} has no memories")
    category = str(line.get("category") or line.get("language") or line.get("kind") or "")
    return Question(_text(line, "id", where), project, _text(line, "text", where), category, half, tuple(gold))


def _text(line: Mapping[str, Any], name: str, where: str) -> str:
    value = line.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Invalid("bad_evaluation_data", f"{where}: {name}={shown(value)} must be text")
    return value
