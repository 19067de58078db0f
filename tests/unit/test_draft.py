"""Drafts: every field is checked and cleaned before the gate sees it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.admission.draft import FIELDS, Cleaner, Draft, check_period, draft
from eunoe.domain import limits
from eunoe.domain.caller import Caller
from eunoe.domain.instants import DAY_US
from eunoe.domain.kinds import KINDS
from eunoe.errors import EunoeError, Invalid, Refused

KIM = Caller(user="kim")
IMPORT = Caller(user="kim", author="import")
SECRET = "ghp" + "_" + "FAKEfake" * 4 + "0000"


def made(body: object = "Stripe webhooks need the raw body", *, by: Caller = KIM, **fields: Any) -> Draft:
    return draft(by, body, **fields)


@pytest.mark.parametrize(
    ("fields", "error", "code"),
    [
        ({"body": None}, Invalid, "bad_type"),
        ({"body": 5}, Invalid, "bad_type"),
        ({"body": b"bytes"}, Invalid, "bad_type"),
        ({"body": ""}, Invalid, "blank"),
        ({"body": " \n\t\N{NO-BREAK SPACE}"}, Invalid, "blank"),
        ({"body": "a\0b"}, Invalid, "nul_character"),
        ({"body": "x" * (limits.BODY + 1), "kind": "fact"}, Invalid, "too_long"),
        ({"body": "x" * (limits.LONG_BODY + 1)}, Invalid, "too_long"),
        ({"title": "x" * (limits.TITLE + 1)}, Invalid, "too_long"),
        ({"title": " "}, Invalid, "blank"),
        ({"title": "a\0"}, Invalid, "nul_character"),
        ({"title": 5}, Invalid, "bad_type"),
        ({"key": "k", "value": "x" * (limits.VALUE + 1)}, Invalid, "too_long"),
        ({"key": "k", "value": ""}, Invalid, "blank"),
        ({"key": "k", "value": "\0"}, Invalid, "nul_character"),
        ({"value": "v2"}, Invalid, "value_without_key"),
        ({"source": "x" * (limits.SOURCE + 1)}, Invalid, "too_long"),
        ({"source": "\0"}, Invalid, "nul_character"),
        ({"speaker": "x" * (limits.SPEAKER + 1)}, Invalid, "too_long"),
        ({"speaker": "\0"}, Invalid, "nul_character"),
        ({"session": "x" * (limits.SESSION + 1)}, Invalid, "too_long"),
        ({"session": "\0"}, Invalid, "nul_character"),
        ({"session": ""}, Invalid, "blank"),
        ({"tags": [str(at) for at in range(limits.TAGS + 1)]}, Invalid, "too_many"),
        ({"tags": ["x" * (limits.TAG + 1)]}, Invalid, "too_long"),
        ({"tags": [""]}, Invalid, "blank"),
        ({"tags": ["a\0"]}, Invalid, "nul_character"),
        ({"tags": [5]}, Invalid, "bad_type"),
        ({"tags": "red"}, Invalid, "bad_type"),
        ({"tags": None}, Invalid, "bad_type"),
        ({"paths": [f"src/{at}" for at in range(limits.PATHS + 1)]}, Invalid, "too_many"),
        ({"paths": ["x" * (limits.PATH + 1)]}, Invalid, "too_long"),
        ({"paths": ["src/\0"]}, Invalid, "nul_character"),
        ({"paths": "src"}, Invalid, "bad_type"),
        ({"kind": "facts"}, Invalid, "bad_kind"),
        ({"kind": ["fact"]}, Invalid, "bad_kind"),
        ({"kind": 5}, Invalid, "bad_kind"),
        ({"kind": "secret"}, Refused, "vault"),
        ({"key": ""}, Invalid, "bad_key"),
        ({"key": "x" * (limits.KEY + 1)}, Invalid, "bad_key"),
        ({"key": "Deploy"}, Invalid, "bad_key"),
        ({"key": "deploy current"}, Invalid, "bad_key"),
        ({"key": "clé"}, Invalid, "bad_key"),
        ({"key": "a\n"}, Invalid, "bad_key"),
        ({"key": "a#b"}, Invalid, "bad_key"),
        ({"key": 5}, Invalid, "bad_key"),
        ({"key": ["a"]}, Invalid, "bad_key"),
        ({"importance": 1.01}, Invalid, "bad_importance"),
        ({"importance": -0.01}, Invalid, "bad_importance"),
        ({"importance": float("nan")}, Invalid, "bad_importance"),
        ({"importance": True}, Invalid, "bad_importance"),
        ({"importance": "high"}, Invalid, "bad_importance"),
        ({"pinned": 1}, Invalid, "bad_type"),
        ({"pinned": None}, Invalid, "bad_type"),
        ({"force": "yes"}, Invalid, "bad_type"),
        ({"tier": "forever"}, Invalid, "bad_tier"),
        ({"tier": ["ltm"]}, Invalid, "bad_tier"),
        ({"tier": None}, Invalid, "bad_tier"),
        ({"ttl": "1h"}, Invalid, "ttl_without_stm"),
        ({"tier": "ltm", "ttl": 60}, Invalid, "ttl_without_stm"),
        ({"tier": "stm", "ttl": "soon"}, Invalid, "bad_duration"),
        ({"tier": "stm", "ttl": 0}, Invalid, "bad_duration"),
        ({"tier": "stm", "ttl": float("nan")}, Invalid, "bad_duration"),
        ({"tier": "stm", "ttl": [1]}, Invalid, "bad_duration"),
        ({"turn": 1}, Invalid, "turn_without_session"),
        ({"session": "s", "turn": -1}, Invalid, "bad_turn"),
        ({"session": "s", "turn": 1.0}, Invalid, "bad_turn"),
        ({"session": "s", "turn": True}, Invalid, "bad_turn"),
        ({"session": "s", "turn": 2**31}, Invalid, "bad_turn"),
        ({"valid_from": "soon"}, Invalid, "bad_time"),
        ({"valid_to": "soon"}, Invalid, "bad_time"),
        ({"occurred_at": "soon"}, Invalid, "bad_time"),
        ({"occurred_at": 10**18}, Invalid, "bad_time"),
        ({"valid_from": 10**18}, Invalid, "bad_time"),
        ({"valid_from": "2026-03-02", "valid_to": "2026-03-01"}, Invalid, "bad_period"),
        ({"valid_from": "2026-03-02", "valid_to": "2026-03-02"}, Invalid, "bad_period"),
        ({"occurred_at": "2026-03-02", "valid_to": "2026-03-01"}, Invalid, "bad_period"),
        ({"occurred_at": 1, "valid_from": 0, "valid_to": 0}, Invalid, "bad_period"),
        ({"scope": "user:bob"}, Refused, "scope"),
        ({"scope": "user:"}, Refused, "scope"),
        ({"scope": "everyone"}, Invalid, "bad_scope"),
        ({"scope": ""}, Invalid, "bad_scope"),
        ({"scope": 5}, Invalid, "bad_scope"),
        ({"trust": "certain"}, Invalid, "bad_trust"),
        ({"trust": ["stated"]}, Invalid, "bad_trust"),
        ({"colour": "red"}, Invalid, "unknown_field"),
        ({"caller": "kim"}, Invalid, "unknown_field"),
        ({"user": "bob"}, Invalid, "unknown_field"),
    ],
    ids=lambda value: repr(value)[:45] if isinstance(value, dict) else None,
)
def test_a_field_that_cannot_be_taken_is_refused_with_its_code(
    fields: dict[str, Any], error: type[EunoeError], code: str
) -> None:
    body = fields.pop("body", "Stripe webhooks need the raw body")
    with pytest.raises(error) as caught:
        draft(KIM, body, **fields)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"body": "x" * limits.BODY}, "body"),
        ({"body": "x" * limits.LONG_BODY}, "body"),
        ({"title": "x" * limits.TITLE}, "title"),
        ({"tags": [f"{at:0{limits.TAG}}" for at in range(limits.TAGS)]}, "tags"),
        ({"paths": [f"{at:0{limits.PATH}}" for at in range(limits.PATHS)]}, "paths"),
        ({"key": "x" * limits.KEY}, "key"),
        ({"key": "k", "value": "x" * limits.VALUE}, "value"),
        ({"source": "x" * limits.SOURCE}, "source"),
        ({"speaker": "x" * limits.SPEAKER}, "speaker"),
        ({"session": "x" * limits.SESSION}, "session"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_largest_size_of_each_field_is_taken_as_it_is(fields: dict[str, Any], name: str) -> None:
    wanted = fields[name]
    taken = getattr(made(**fields), name)
    assert taken == (tuple(wanted) if isinstance(wanted, list) else wanted)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.type != "vault"])
def test_a_long_body_needs_a_kind_that_may_be_long(kind: str) -> None:
    body = "x" * (limits.BODY + 1)
    if KINDS[kind].long:
        assert made(body, kind=kind).kind == kind
    else:
        with pytest.raises(Invalid) as caught:
            made(body, kind=kind)
        assert caught.value.code == "too_long"


def test_without_a_kind_a_memory_is_a_fact_and_a_long_one_a_note() -> None:
    assert made().kind == "fact"
    assert made("x" * (limits.BODY + 1)).kind == "note"


def test_importance_is_kept_in_thousandths_and_comes_from_the_kind() -> None:
    assert made(importance=0.1234).importance == 123
    assert made(importance=0).importance == 0
    assert made(kind="identity").importance == KINDS["identity"].importance


def test_a_short_term_memory_lives_a_day_unless_told_otherwise() -> None:
    assert made(tier="stm").ttl_us == DAY_US
    assert made(tier="stm", ttl=timedelta(hours=1)).ttl_us == DAY_US // 24
    assert made().ttl_us is None


@pytest.mark.parametrize("trust", ["stated", "observed", "inferred"])
def test_an_import_cannot_claim_more_trust_than_an_import_has(trust: str) -> None:
    assert made(by=IMPORT).trust == "imported"
    with pytest.raises(Refused) as caught:
        made(by=IMPORT, trust=trust)
    assert caught.value.code == "trust"


@pytest.mark.parametrize("trust", ["stated", "observed", "inferred", "imported", "external"])
def test_trust_may_be_lowered(trust: str) -> None:
    assert made(trust=trust).trust == trust


def test_without_a_user_there_is_no_private_scope() -> None:
    assert made(scope="user:kim").scope == "user:kim"
    with pytest.raises(Refused) as caught:
        made(by=Caller(), scope="user:kim")
    assert caught.value.code == "scope"


@pytest.mark.parametrize("name", ["title", "source", "speaker", "session"])
def test_short_fields_become_one_line(name: str) -> None:
    assert getattr(made(**{name: "  two \n\t lines "}), name) == "two lines"


@pytest.mark.parametrize("name", ["tags", "paths"])
def test_lists_keep_their_order_and_lose_their_repeats(name: str) -> None:
    assert getattr(made(**{name: ["b", "a", " b ", "a"]}), name) == ("b", "a")


def test_twelve_different_tags_may_be_written_more_than_once() -> None:
    tags = [str(at) for at in range(limits.TAGS)]
    assert made(tags=tags * 2).tags == tuple(tags)


@pytest.mark.parametrize("name", ["body", "title", "value", "source", "speaker", "session", "tags", "paths"])
def test_a_secret_is_masked_in_each_field_and_the_field_is_named(name: str) -> None:
    text = f"the token {SECRET} works"
    wanted: Any = [text] if name in ("tags", "paths") else text
    taken = made(**({"key": "k"} | {name: wanted}))
    shown = getattr(taken, name)
    shown = shown[0] if isinstance(shown, tuple) else shown
    assert SECRET not in shown
    assert shown.startswith("the token [masked:")
    assert shown.endswith("] works")
    assert taken.masked == (name,)


@pytest.mark.parametrize("name", ["body", "title", "value", "source", "speaker", "session", "tags", "paths"])
def test_half_a_surrogate_is_replaced_in_each_field_with_a_warning(name: str) -> None:
    wanted: Any = ["ok \ud83d end"] if name in ("tags", "paths") else "ok \ud83d end"
    taken = made(**({"key": "k"} | {name: wanted}))
    shown = getattr(taken, name)
    assert (shown[0] if isinstance(shown, tuple) else shown) == "ok \N{REPLACEMENT CHARACTER} end"
    assert len(taken.warnings) == 1
    assert taken.warnings[0].startswith(name)


def test_a_key_that_is_a_secret_is_refused_since_it_cannot_be_masked() -> None:
    with pytest.raises(Invalid) as caught:
        made(key="glpat-" + "fake" * 5 + "1")
    assert caught.value.code == "secret_in_key"


@pytest.mark.parametrize("key", ["db/password", "app.secret", "stripe:api/key", "auth-token", "db/prod_pass"])
def test_the_value_of_a_key_that_names_a_secret_is_masked_and_so_is_its_echo_in_the_text(key: str) -> None:
    taken = made(body="Log in with swordfish there", title="swordfish again", key=key, value="swordfish")
    assert "swordfish" not in f"{taken.body} {taken.title} {taken.value}"
    assert taken.value.startswith("[masked:")
    assert taken.masked == ("value",)
    assert made(body="swordfish", key=key).body == taken.value


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("db/password", "required"),
        ("auth/token", "15 minutes"),
        ("auth/token-limit", "128000"),
        ("password/policy", "twelve-letters"),
        ("auth/password", "argon2id"),
        ("db/port", "swordfish"),
    ],
)
def test_what_only_speaks_of_a_secret_is_kept(key: str, value: str) -> None:
    taken = made(body=f"{value} it is", key=key, value=value)
    assert (taken.value, taken.masked) == (value, ())


def test_what_the_caller_gave_beyond_the_body_is_known() -> None:
    assert made().explicit == frozenset()
    assert made(tags=["a"], pinned=True, title=None, tier="ltm").explicit == {"tags", "pinned"}


def test_the_fields_are_those_of_remember() -> None:
    inner = {
        "body",
        "ttl_us",
        "explicit",
        "masked",
        "warnings",
        "links",
        "supersedes",
        "dedupe_key",
        "ident",
        "expires_at",
    }
    assert set(FIELDS) == set(Draft._fields) - inner | {"ttl"}


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(codec=None), max_size=80))
def test_a_body_is_taken_as_valid_utf_8_or_refused_with_a_code(text: str) -> None:
    try:
        taken = made(text)
    except Invalid as exc:
        assert exc.code in ("blank", "nul_character")
    else:
        taken.body.encode("utf-8", "strict")
        assert taken.body.strip()


def test_a_cleaner_names_a_field_once_for_each_secret_it_held() -> None:
    clean = Cleaner()
    clean.listed([f"a {SECRET}", "b"], "tags", most=5, limit=80)
    assert clean.masked == ["tags"]


def test_an_open_period_never_ends_before_it_begins() -> None:
    check_period(None, 1)
    check_period(1, None)
    check_period(1, 2)
