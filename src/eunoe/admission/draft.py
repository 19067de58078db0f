"""A statement on its way to the gate: checked, cleaned, its secrets masked. Nothing unclean gets further than this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from eunoe.domain import limits
from eunoe.domain.caller import PROJECT_SCOPE, Caller
from eunoe.domain.instants import DAY_US, duration_us, optional_us
from eunoe.domain.keys import check_key
from eunoe.domain.kinds import kind_named
from eunoe.domain.memory import TRUSTS, Trust
from eunoe.domain.redact import find_secrets, redact
from eunoe.domain.text import one_line, storable
from eunoe.errors import Invalid, Refused, shown

STM_DEFAULT_US = DAY_US
_AS_IDENTIFIER = str.maketrans("/.:", "___")


class Draft(NamedTuple):
    """What somebody states, ready to be judged. Times in microseconds; importance in thousandths.

    Attributes:
        links, supersedes: Ids of memories of the same project.
        explicit: Fields that the caller gave, beyond the body.
        masked: Fields in which a secret was masked.
        warnings: What was changed on the way, for the receipt.
        ident, expires_at: Of a memory that is taken over from elsewhere; they go before what would be given here.
    """

    body: str
    title: str | None
    kind: str
    tags: tuple[str, ...]
    paths: tuple[str, ...]
    key: str | None
    value: str | None
    importance: int
    pinned: bool
    tier: str
    ttl_us: int | None
    valid_from: int | None
    valid_to: int | None
    scope: str
    session: str | None
    turn: int | None
    speaker: str | None
    source: str | None
    occurred_at: int | None
    trust: Trust
    force: bool
    explicit: frozenset[str]
    masked: tuple[str, ...]
    warnings: tuple[str, ...]
    links: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    dedupe_key: str | None = None
    ident: str | None = None
    expires_at: int | None = None


class Cleaner:
    """Cleans the fields of one statement, and remembers what it had to do."""

    def __init__(self) -> None:
        self.masked: list[str] = []
        self.warnings: list[str] = []

    def text(self, value: object, setting: str, *, limit: int, line: bool = False) -> str:
        """Return a text without half surrogates and secrets.

        Raises:
            Invalid: `bad_type`, `blank`, `too_long`, `nul_character`.
        """
        if not isinstance(value, str):
            raise Invalid("bad_type", f"{setting}={shown(value)} must be text, not {type(value).__name__}")
        text, repaired = storable(value, setting=setting)
        if repaired:
            self.warnings.append(f"{setting}: half of a surrogate pair was replaced by U+FFFD")
        found = redact(text)
        if found.spans:
            self.masked.append(setting)
            text = found.text
        if line:
            text = one_line(text)
        if not text.strip():
            raise Invalid("blank", f"{setting} is blank; give some text")
        if len(text) > limit:
            raise Invalid(
                "too_long",
                f"{setting} has {len(text):,} characters; the limit is {limit:,}",
                details={"setting": setting, "limit": limit, "length": len(text)},
            )
        return text

    def optional(self, value: object, setting: str, *, limit: int, line: bool = False) -> str | None:
        """Return `text(value)`, or None for None."""
        return None if value is None else self.text(value, setting, limit=limit, line=line)

    def keyed(self, value: str, key: str, setting: str = "value") -> str:
        """Return the clean value of a key: masked where the key names a secret, as `db/password` does."""
        before = f'{key.translate(_AS_IDENTIFIER)}="'
        found = redact(f'{before}{value}"').text
        masked = found.removeprefix(before)
        if masked == value + '"' or masked == found:
            return value
        self.masked.append(setting)
        return masked.removesuffix('"')

    def listed(self, value: object, setting: str, *, most: int, limit: int) -> tuple[str, ...]:
        """Return distinct entries in the order given. Raises `Invalid` (`too_many` and those of `text`)."""
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise Invalid("bad_type", f"{setting}={shown(value)} must be a list of texts")
        entries = tuple(dict.fromkeys(self.text(each, setting, limit=limit, line=True) for each in value))
        if len(entries) > most:
            raise Invalid("too_many", f"{setting} has {len(entries)} entries; the limit is {most}")
        return entries


def check_new_key(key: object) -> str:
    """Return a key that is to be stored. Raises `Invalid`: `bad_key`, `secret_in_key`."""
    checked = check_key(key)
    if find_secrets(checked):
        raise Invalid("secret_in_key", "the key looks like a secret; a key is a name and is stored as it is")
    return checked


def check_importance(importance: object) -> int:
    """Return thousandths of an importance in 0 to 1. Raises `Invalid` (`bad_importance`)."""
    if isinstance(importance, bool) or not isinstance(importance, int | float) or not 0 <= importance <= 1:
        raise Invalid("bad_importance", f"importance={shown(importance)} must be a number from 0 to 1")
    return round(importance * 1000)


def check_scope(scope: str | None, caller: Caller) -> str:
    """Return the scope to write to; the shared one by default.

    Raises:
        Invalid: `bad_scope`. Refused: `scope`: another user's, or a user's when nobody is named.
    """
    if scope is None or scope == PROJECT_SCOPE:
        return PROJECT_SCOPE
    if not isinstance(scope, str) or not scope.startswith("user:"):
        raise Invalid("bad_scope", f"scope={shown(scope)} is neither `project` nor `user:<id>`")
    if scope not in caller.scopes:
        who = f"you are {shown(caller.user)}" if caller.user else "nobody is named: set EUNOE_USER or user=…"
        raise Refused("scope", f"scope={shown(scope)} belongs to another user; {who}")
    return scope


def check_flag(value: object, setting: str) -> bool:
    """Return a boolean. Raises `Invalid` (`bad_type`)."""
    if not isinstance(value, bool):
        raise Invalid("bad_type", f"{setting}={shown(value)} must be true or false")
    return value


def check_period(valid_from: int | None, valid_to: int | None) -> None:
    """Raise `Invalid` (`bad_period`) when a period ends before it begins."""
    if valid_from is not None and valid_to is not None and valid_to <= valid_from:
        raise Invalid("bad_period", "valid_to must lie after valid_from")


def _check_kind(kind: str | None, body: str) -> str:
    row = kind_named(("note" if len(body) > limits.BODY else "fact") if kind is None else kind)
    if row.type == "vault":
        raise Refused("vault", "kind='secret' needs encryption, which this version does not have; nothing was stored")
    if len(body) > limits.BODY and not row.long:
        raise Invalid(
            "too_long",
            f"body has {len(body):,} characters; the limit for kind={row.name} is {limits.BODY:,} "
            f"(note, resource, summary and skill may be longer)",
        )
    return row.name


def _check_turn(turn: object, session: str | None) -> int | None:
    if turn is None:
        return None
    if isinstance(turn, bool) or not isinstance(turn, int) or not 0 <= turn < 2**31:
        raise Invalid("bad_turn", f"turn={shown(turn)} must be a whole number from 0")
    if session is None:
        raise Invalid("turn_without_session", f"turn={turn} needs the session it belongs to")
    return turn


def _check_tier(tier: object, ttl: object) -> int | None:
    if tier not in ("ltm", "stm"):
        raise Invalid("bad_tier", f"tier={shown(tier)} must be ltm or stm")
    if tier == "ltm":
        if ttl is not None:
            raise Invalid("ttl_without_stm", f"ttl={shown(ttl)} is for tier='stm'; long-term memories do not expire")
        return None
    return STM_DEFAULT_US if ttl is None else duration_us(ttl, setting="ttl")


def _check_trust(trust: object, caller: Caller) -> Trust:
    highest: Trust = "imported" if caller.author == "import" else "stated"
    if trust is None:
        return highest
    if trust not in TRUSTS:
        raise Invalid("bad_trust", f"trust={shown(trust)} must be one of {' '.join(TRUSTS)}")
    if TRUSTS.index(trust) < TRUSTS.index(highest):
        raise Refused("trust", f"trust={shown(trust)} is higher than {highest!r}; it may only be lowered")
    return trust


def _without_keyed_secret(
    clean: Cleaner, key: str, body: str, title: str | None, value: str | None
) -> tuple[str, str | None, str | None]:
    """Return body, title and value without the secret that the key names, in the value or in a body of one word."""
    if value is None:
        return (clean.keyed(body, key, "body") if len(body.split()) == 1 else body), title, None
    kept = clean.keyed(value, key)
    return body.replace(value, kept), title and title.replace(value, kept), kept


def draft(caller: Caller, body: object, /, **given: Any) -> Draft:
    """Return a clean draft of a statement.

    Args:
        caller: Who states it.
        body: The text.
        **given: The fields of `Memory.remember`; links and supersedes are set later, by id.

    Raises:
        Invalid, Refused: with the codes of the checks above, and `unknown_field`.
    """
    unknown = given.keys() - _FIELDS
    if unknown:
        known = ("body", *sorted(_FIELDS), "links", "supersedes")
        raise Invalid("unknown_field", f"unknown field {shown(min(unknown))}; known: {' '.join(known)}")
    take: Callable[[str], Any] = given.get
    clean = Cleaner()
    text = clean.text(body, "body", limit=limits.LONG_BODY)
    kind = _check_kind(take("kind"), text)
    session = clean.optional(take("session"), "session", limit=limits.SESSION, line=True)
    times = {name: optional_us(take(name), setting=name) for name in ("valid_from", "valid_to", "occurred_at")}
    begins = times["occurred_at"] if times["valid_from"] is None else times["valid_from"]
    check_period(begins, times["valid_to"])
    key = None if take("key") is None else check_new_key(take("key"))
    if key is None and take("value") is not None:
        raise Invalid("value_without_key", "value names the value of a key; give key as well")
    title = clean.optional(take("title"), "title", limit=limits.TITLE, line=True)
    value = clean.optional(take("value"), "value", limit=limits.VALUE)
    if key is not None:
        text, title, value = _without_keyed_secret(clean, key, text, title, value)
    importance = take("importance")
    return Draft(
        body=text,
        title=title,
        kind=kind,
        tags=clean.listed(given.get("tags", ()), "tags", most=limits.TAGS, limit=limits.TAG),
        paths=clean.listed(given.get("paths", ()), "paths", most=limits.PATHS, limit=limits.PATH),
        key=key,
        value=value,
        importance=kind_named(kind).importance if importance is None else check_importance(importance),
        pinned=check_flag(given.get("pinned", False), "pinned"),
        tier=given.get("tier", "ltm"),
        ttl_us=_check_tier(given.get("tier", "ltm"), take("ttl")),
        scope=check_scope(take("scope"), caller),
        session=session,
        turn=_check_turn(take("turn"), session),
        speaker=clean.optional(take("speaker"), "speaker", limit=limits.SPEAKER, line=True),
        source=clean.optional(take("source"), "source", limit=limits.SOURCE, line=True),
        trust=_check_trust(take("trust"), caller),
        force=check_flag(given.get("force", False), "force"),
        explicit=frozenset(name for name, value in given.items() if value not in (None, (), [], False, "ltm")),
        masked=tuple(dict.fromkeys(clean.masked)),
        warnings=tuple(clean.warnings),
        valid_from=times["valid_from"],
        valid_to=times["valid_to"],
        occurred_at=times["occurred_at"],
    )


_FIELDS = frozenset(
    (
        *("title", "kind", "tags", "paths", "key", "value", "importance", "pinned", "tier", "ttl", "valid_from"),
        *("valid_to", "scope", "session", "turn", "speaker", "source", "occurred_at", "trust", "force"),
    )
)

FIELDS: Sequence[str] = tuple(sorted(_FIELDS))
