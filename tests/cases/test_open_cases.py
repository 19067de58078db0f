"""Inputs that broke other products, through the library. Each section is one case, each test one of its checks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from copy import copy
from pathlib import Path

import pytest
from tests.engines import stored

from eunoe import EunoeError, Invalid, Memory, Unavailable, resolve_project
from eunoe.domain.document import dump
from eunoe.domain.text import clipped
from eunoe.ports.lane import Found
from eunoe.retrieval.recipes import DEFAULT
from eunoe.service.import_lines import LinesImported, import_lines
from eunoe.testing.clock import ManualClock

Open = Callable[..., Memory]


def bodies(m: Memory, query: str | None = None, **how: object) -> list[str]:
    return [hit.body for hit in m.recall(query, **how).hits]  # type: ignore[arg-type]


def lines(m: Memory, *rows: bytes, strict: bool = False) -> LinesImported:
    return import_lines(m._context, rows, strict=strict)


# ── OPEN-01: an identifier with a hyphen is not grammar ──────────────────────────────────────────────────────────────


def test_open_01_an_issue_key_finds_its_own_memory_first(m: Memory) -> None:
    m.remember("Ticket ABC-417 is blocked on the vendor")
    m.remember("Ticket ABC-418 shipped")
    assert bodies(m, "ABC-417", limit=5)[0] == "Ticket ABC-417 is blocked on the vendor"


@pytest.mark.parametrize("user", ["7c1e-44d0-proj-a", "a.b_c:d-e", "-", "OR", "NEAR:5", "0" * 36, "kim@acme.example"])
def test_open_01_no_scope_changes_whether_a_query_parses(opened: Open, user: str) -> None:
    m = opened(user=user)
    m.remember("The vendor portal resets at noon", scope=f"user:{user}")
    m.remember("The vendor of the portal is away")
    assert bodies(m, "vendor portal", scope=f"user:{user}") == ["The vendor portal resets at noon"]
    assert len(bodies(m, "vendor portal")) == 2
    assert bodies(m, "vendor portal", scope="project") == ["The vendor of the portal is away"]


class FailingLane:
    """A lane whose engine is broken."""

    name = "keyword"

    def find(self, *args: object, **how: object) -> list[Found]:
        raise Unavailable("damaged", "the full-text index cannot be read")


def with_lanes(m: Memory, **lanes: object) -> Memory:
    """Return the same memory, searching by other lanes."""
    recipe = copy(DEFAULT)
    recipe.lanes = tuple(lanes)
    return Memory(m._opened._replace(context=m._context._replace(lanes=lanes, recipe=recipe)))


def test_open_01_when_the_only_lane_fails_recall_fails_and_never_says_there_is_nothing(m: Memory) -> None:
    m.remember("The vendor portal resets at noon")
    m = with_lanes(m, keyword=FailingLane())
    with pytest.raises(Unavailable) as caught:
        m.recall("vendor portal")
    assert caught.value.code == "damaged"


def test_open_01_when_one_lane_of_two_fails_the_answer_says_so(m: Memory) -> None:
    m.remember("The vendor portal resets at noon")
    m = with_lanes(m, keyword=m._context.lanes["keyword"], vector=FailingLane())
    answer = m.recall("vendor portal")
    assert [hit.number for hit in answer.hits] == [1]
    assert answer.degraded == ("vector: damaged",)


def test_open_01_a_whole_answer_is_not_called_degraded(m: Memory) -> None:
    m.remember("The vendor portal resets at noon")
    assert m.recall("vendor portal").degraded == ()


# ── OPEN-02: everyday punctuation ────────────────────────────────────────────────────────────────────────────────────

PUNCTUATED = (
    "Maria's router sits behind the printer; config in etc/app/main.toml; alerts go to ops@example.org; "
    "see #launch, [draft], x=2, Debian 12.5"
)


@pytest.mark.parametrize(
    "query",
    ["Maria's", "app/main.toml", "ops@example.org", "#launch", "[draft]", "x=2", "yes, 12.5", "12.5", "Maria’s"],
)
def test_open_02_ordinary_punctuation_finds_the_memory(m: Memory, query: str) -> None:
    m.remember(PUNCTUATED)
    assert bodies(m, query) == [PUNCTUATED]


@pytest.mark.parametrize(
    "query",
    ["ready?", "*", '"', "'", '"unclosed', "(", "a AND", "NEAR(a b)", "NOT", "^x", "x:y", "-", "--", "{}", ";drop"],
)
def test_open_02_no_query_is_an_engine_error(m: Memory, query: str) -> None:
    m.remember(PUNCTUATED)
    assert m.recall(query).total <= 1


def test_open_02_a_query_without_a_word_says_so(m: Memory) -> None:
    m.remember(PUNCTUATED)
    answer = m.recall("*")
    assert answer.hits == ()
    assert answer.notes


# ── OPEN-05: titles that look alike to a machine ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("🍋", "🪴"),
        ("会議メモ", "議事録"),
        ("Key for the small shed behind the house: hook three", "Key for the small shed behind the house: lost"),
        ("The same title", "The same title"),
    ],
)
def test_open_05_two_titles_are_two_memories_and_both_bodies_read_back(m: Memory, one: str, other: str) -> None:
    receipts = [m.remember(f"first body of {one}\n", title=one), m.remember(f"second body of {other}", title=other)]
    assert m.count() == 2
    assert receipts[0].id != receipts[1].id
    assert [m.get(receipt.id).body for receipt in receipts] == [f"first body of {one}\n", f"second body of {other}"]
    assert [m.get(receipt.id).title for receipt in receipts] == [one, other]


def test_open_05_a_title_used_again_destroys_nothing(m: Memory) -> None:
    first = m.remember("The lemon tree needs water", title="Garden")
    m.remember("The shed key hangs on hook three", title="Garden")
    assert bodies(m, "lemon tree") == ["The lemon tree needs water"]
    assert m.get(first.id).version == 1


# ── OPEN-06: half a surrogate pair ───────────────────────────────────────────────────────────────────────────────────


def test_open_06_half_a_surrogate_pair_is_taken_exported_and_found(m: Memory) -> None:
    receipt = m.remember("ok \ud83d end")
    assert receipt.outcome == "recorded"
    assert any("body" in note for note in receipt.notes)
    assert bodies(m, "end") == ["ok \N{REPLACEMENT CHARACTER} end"]
    exported = "".join(dump(m.export())).encode("utf-8", "strict")
    assert json.loads(exported)["counts"]["memories"] == {"fact": {"active": 1}}


def test_open_06_half_a_surrogate_pair_in_a_query_or_filter_is_no_error(m: Memory) -> None:
    m.remember("ok end", tags=["half \ud83d"])
    assert m.recall("end \ud83d").total == 1
    assert m.count(tags=["half \ud83d"]) == 1


@pytest.mark.parametrize("limit", range(1, 13))
def test_open_06_no_cut_gives_half_a_character(limit: int) -> None:
    short = clipped("a" * 9 + "\N{FOX FACE}" + "b" * 100, limit)
    assert len(short.encode("utf-8")) <= 4 * limit
    assert not any("\ud800" <= char <= "\udfff" for char in short)


def test_open_06_a_title_made_from_a_long_body_is_valid_text(m: Memory) -> None:
    m.remember("a" * 78 + "\N{FOX FACE}" + "b" * 100)
    assert m.get(1).title.encode("utf-8")


# ── OPEN-08: one torn record ─────────────────────────────────────────────────────────────────────────────────────────

TORN = (
    b'{"body": "The first one", "kind": "decision", "tags": ["a"]}\n',
    b"   \t \n",
    b'{"body": "The second one has no kind"}\n',
    b'{"body": "The third one", "importance": 0.9}\n',
    b'{"body": "The fourth one was cut in the mid',
)


def test_open_08_good_lines_come_in_and_the_torn_one_is_kept_aside(m: Memory) -> None:
    done = lines(m, *TORN)
    assert done.outcomes == {"recorded": 3}
    assert [(bad.number, bad.raw, bad.code) for bad in done.bad] == [(5, TORN[4], "bad_json")]
    assert m.count() == 3


def test_open_08_what_is_remembered_after_a_torn_import_is_found(m: Memory) -> None:
    lines(m, *TORN)
    m.remember("And life goes on")
    assert bodies(m, "life goes on")[0] == "And life goes on"
    assert m.verify().ok
    assert m.rebuild().differences == {}


def test_open_08_strict_takes_nothing_when_a_line_is_bad(m: Memory) -> None:
    with pytest.raises(Invalid) as caught:
        lines(m, *TORN, strict=True)
    assert caught.value.code == "bad_json"
    assert caught.value.details["line"] == 5
    assert m.count() == 0


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"5", "bad_line"),
        (b"[]", "bad_line"),
        (b"null", "bad_line"),
        (b"{}", "bad_type"),
        (b'{"body": null}', "bad_type"),
        (b'{"body": ""}', "blank"),
        (b'{"body": "a\\u0000"}', "nul_character"),
        (b'{"body": "a", "colour": "red"}', "unknown_field"),
        (b'{"body": "a", "caller": "root"}', "unknown_field"),
        (b'{"body": "a", "trust": "stated"}', "trust"),
        (b'{"body": "a", "scope": "user:bob"}', "scope"),
        (b'{"body": "a", "kind": ["fact"]}', "bad_kind"),
        (b'{"body": "a", "tier": "stm", "ttl": NaN}', "bad_duration"),
        (b'{"body": "a", "occurred_at": 1e5}', "bad_time"),
        (b'{"body": "a", "valid_from": "2026-01-01", "occurred_at": 100000000000000000000000000000}', "bad_time"),
        (b'{"body": "a", "links": [7]}', "no_memory"),
        (b'{"body": "a", "links": 1.5}', "bad_address"),
        (b'{"body": "a", "links": [1.5]}', "bad_address"),
        (b'{"body": "a", "tags": {"a": 1}, "kind": "secret"}', "vault"),
        (b"\xff\xfe", "bad_json"),
        (b'{"body": "a"} {"body": "b"}', "bad_json"),
        (b"[" * 100_000, "bad_json"),
        (b'{"body": "' + b"x" * 1_000_001 + b'"}', "too_long"),
    ],
    ids=lambda value: value[:60].decode("latin-1") if isinstance(value, bytes) else value,
)
def test_open_08_each_bad_line_costs_only_itself(m: Memory, line: bytes, code: str) -> None:
    done = lines(m, b'{"body": "before"}', line, b'{"body": "after"}')
    assert [(bad.number, bad.raw, bad.code) for bad in done.bad] == [(2, line, code)]
    assert sorted(bodies(m)) == ["after", "before"]


def test_open_08_more_lines_than_a_batch_come_in_as_they_stand(m: Memory) -> None:
    rows = [f'{{"body": "line number {at}"}}'.encode() for at in range(430)]
    rows[300] = b"{"
    steps: list[int] = []
    done = import_lines(m._context, rows, progress=steps.append)
    assert done.outcomes == {"recorded": 429}
    assert [bad.number for bad in done.bad] == [301]
    assert steps == [200, 400, 430]


def test_open_08_a_store_that_fails_is_not_taken_for_a_bad_line(m: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **how: object) -> None:
        raise Unavailable("disk_full", "no space is left", retryable=True)

    m.remember("The project is there already")
    monkeypatch.setattr("eunoe.service.commit.Session.record", full)
    with pytest.raises(Unavailable) as caught:
        lines(m, b'{"body": "before"}')
    assert caught.value.code == "disk_full"


# ── OPEN-15: blank text, limits, paging ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("body", ["", "   \n", "\t", "\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}"], ids=ascii)
def test_open_15_a_blank_body_is_refused_and_nothing_is_stored(m: Memory, body: str) -> None:
    with pytest.raises(Invalid) as caught:
        m.remember(body)
    assert caught.value.code == "blank"
    assert m.count() == 0


@pytest.mark.parametrize("query", ["", "   ", "\n", "\N{NO-BREAK SPACE}"], ids=ascii)
def test_open_15_a_blank_query_is_refused(m: Memory, query: str) -> None:
    m.remember("x marks the spot")
    with pytest.raises(Invalid) as caught:
        m.recall(query)
    assert caught.value.code == "blank_query"


@pytest.mark.parametrize("query", ["spot", None])
def test_open_15_a_limit_of_nothing_gives_nothing_and_still_counts(m: Memory, query: str | None) -> None:
    for at in range(3):
        m.remember(f"the spot number {at}")
    answer = m.recall(query, limit=0)
    assert (answer.hits, answer.total, answer.next) == ((), 3, None)


@pytest.mark.parametrize("limit", [-1, -(10**9), 1001, 1.0, True, "5", None], ids=repr)
def test_open_15_a_limit_that_makes_no_sense_is_refused(m: Memory, limit: object) -> None:
    with pytest.raises(Invalid) as caught:
        m.recall("spot", limit=limit)  # type: ignore[arg-type]
    assert caught.value.code == "bad_limit"


def test_open_15_a_tag_alone_lists(m: Memory) -> None:
    m.remember("beans are sown in May", tags=["garden"])
    m.remember("the gym is open")
    assert bodies(m, tags=["garden"]) == ["beans are sown in May"]


@pytest.fixture
def crowd(m: Memory) -> Memory:
    m.remember_many([{"body": f"entry number {at} of the crowd", "occurred_at": "2026-01-01"} for at in range(431)])
    return m


@pytest.mark.parametrize(
    ("query", "order", "size"),
    [
        *((None, order, size) for order in ("relevance", "newest", "oldest") for size in (150, 7)),
        *(("crowd", order, 150) for order in ("relevance", "newest")),
        ("crowd", "relevance", 70),
    ],
)
def test_open_15_walking_pages_gives_each_memory_exactly_once(
    crowd: Memory, query: str | None, order: str, size: int
) -> None:
    seen: list[int] = []
    after = None
    while True:
        page = crowd.recall(query, limit=size, order=order, after=after)
        seen += [hit.number for hit in page.hits]
        assert page.omitted == page.total - len(seen)
        after = page.next
        if after is None:
            break
    assert len(seen) == len(set(seen)) == page.total
    if query is None:
        assert page.total == 431


def test_open_15_what_is_written_between_two_pages_is_on_neither(crowd: Memory) -> None:
    first = crowd.recall(limit=150, order="newest")
    crowd.remember("a latecomer to the crowd")
    crowd.archive(5)
    rest = crowd.recall(limit=1000, order="newest", after=first.next)
    numbers = [hit.number for hit in (*first.hits, *rest.hits)]
    assert sorted(numbers) == list(range(1, 432))


def test_open_15_a_page_of_another_question_is_refused(crowd: Memory) -> None:
    after = crowd.recall(limit=5, order="newest").next
    for how in ({"order": "oldest"}, {"order": "newest", "tags": ["x"]}):
        with pytest.raises(Invalid) as caught:
            crowd.recall(limit=5, after=after, **how)  # type: ignore[arg-type]
        assert caught.value.code == "bad_cursor"


# ── OPEN-17: a tag is a tag ──────────────────────────────────────────────────────────────────────────────────────────

TAGGED = (
    *(["red"], ["blue"], ["red", "blue"], ["art"], ["artful"], ["street-art-club"], ["100%"], ["100x"]),
    *(["a_b"], ["axb"]),
)


@pytest.mark.parametrize("tags", [["red", "blue"], ["art"], ["100%"], ["a_b"]], ids=str)
def test_open_17_list_search_count_and_forget_agree_on_exactly_one(m: Memory, tags: list[str]) -> None:
    for at, each in enumerate(TAGGED):
        m.remember(f"the painted wall, number {at}", tags=each)
    listed = {hit.number for hit in m.recall(None, tags=tags).hits}
    searched = {hit.number for hit in m.recall("painted wall", tags=tags).hits}
    preview = set(m.forget(tags=tags, dry_run=True).memories)
    assert listed == searched == preview
    assert len(listed) == m.count(tags=tags) == 1
    assert set(m.get(listed.pop()).tags) == set(tags)


def test_open_17_any_is_not_all(m: Memory) -> None:
    for at, each in enumerate(TAGGED):
        m.remember(f"the painted wall, number {at}", tags=each)
    assert m.count(any_tags=["red", "blue"]) == 3
    assert m.count(tags=["red", "blue"]) == 1
    assert m.count(tags=["red"], any_tags=["blue"]) == 1


# ── OPEN-18: export drops nothing ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def varied(m: Memory, clock: ManualClock) -> Memory:
    m.remember('He said "no\tnever"\nand left 🎉', tags=["a", "b"], paths=["src/x"], source="mail", importance=0.33)
    m.remember("Kim prefers tea", scope="user:kim", kind="preference", pinned=True, title="Tea")
    m.remember("deploy is v1", key="deploy/current")
    m.remember("A short-lived note", tier="stm", ttl="2h", session="s", speaker="Kim")
    m.link(1, 3, note="both matter")
    clock.advance(days=1)
    m.remember("deploy is v2", key="deploy/current")
    m.remember("To be put away")
    m.archive(6)
    m.remember("Never mind this one")
    m.forget(7)
    m.update(1, body='He said "no"\nand came back')
    m.remember("Kim prefers tea", scope="user:kim")
    m.remember("deploy is v3", key="deploy/current", valid_from="2031-01-01")
    return m


def test_open_18_export_import_export_gives_the_same_bytes(varied: Memory, opened: Open, clock: ManualClock) -> None:
    exported = "".join(dump(varied.export()))
    clock.advance(days=100)
    other = opened("beta/web", at=":memory:")
    assert other.import_(json.loads(exported)).adopted
    assert "".join(dump(other.export())) == exported


def test_open_18_the_copy_believes_what_the_original_believes(varied: Memory, opened: Open) -> None:
    other = opened("beta/web", at=":memory:")
    other.import_(json.loads("".join(dump(varied.export()))))
    for number in range(1, 9):
        original, copied = varied.get(number), other.get(number)
        assert copied.project == "beta/web"
        assert (copied.id, copied.body, copied.status, copied.scope) == (
            original.id,
            original.body,
            original.status,
            original.scope,
        )
        assert (copied.expires_at, copied.valid_from, copied.valid_to, copied.last_seen, copied.created_at) == (
            original.expires_at,
            original.valid_from,
            original.valid_to,
            original.last_seen,
            original.created_at,
        )
        assert (copied.tags, copied.paths, copied.key, copied.occurrences, copied.pinned, copied.importance) == (
            original.tags,
            original.paths,
            original.key,
            original.occurrences,
            original.pinned,
            original.importance,
        )
        assert varied.links(number) == other.links(number)
    assert other.verify().ok
    assert other.rebuild().differences == {}


def test_open_18_the_counts_of_an_export_are_those_of_the_store(varied: Memory) -> None:
    counts = varied.export()["counts"]
    memories = [varied.get(number) for number in range(1, 9)]
    assert sum(sum(by_status.values()) for by_status in counts["memories"].values()) == len(memories)
    statuses: dict[str, int] = {}
    for by_status in counts["memories"].values():
        for status, count in by_status.items():
            statuses[status] = statuses.get(status, 0) + count
    assert statuses == {"active": 5, "archived": 1, "superseded": 1, "forgotten": 1}
    assert counts["events"] == varied.verify().events


def test_open_18_what_is_left_out_is_named(varied: Memory) -> None:
    assert varied.export()["left_out"]


# ── OPEN-23: secrets ─────────────────────────────────────────────────────────────────────────────────────────────────

STRIPE = "sk_" + "test_FAKE0000000000000000"
GITHUB = "ghp" + "_FAKEfakeFAKEfakeFAKEfakeFAKEfake0000"
PASSWORD = "Fake-" + "Pass-1"
PEM = "-----BEGIN " + "PRIVATE KEY-----\nFAKEfakeFAKEfakeFAKE\n-----END " + "PRIVATE KEY-----"
SPOKEN = "Fern-Kettle-9-" + "FAKE"
TURNS = (
    f"export PAYMENT_API_KEY={STRIPE} in the shell",
    f"the bot pushes with {GITHUB} now",
    f"it connects to postgres://svc:{PASSWORD}@db.example.internal/app",
    f"the signing file is {PEM} and nothing else",
    f"my db password is {SPOKEN}",
)
SECRETS = (STRIPE, GITHUB, PASSWORD, "FAKEfakeFAKEfakeFAKE\n", SPOKEN)


def by_remember(m: Memory) -> None:
    for turn in TURNS:
        assert m.remember(turn).masked == ("body",)


def by_remember_many(m: Memory) -> None:
    assert all(receipt.masked == ("body",) for receipt in m.remember_many([{"body": turn} for turn in TURNS]))


def by_session(m: Memory) -> None:
    for at, turn in enumerate(TURNS):
        m.remember(turn, kind="message", session="s", turn=at, speaker="Kim")


def by_import(m: Memory) -> None:
    done = lines(m, *(json.dumps({"body": turn}).encode() for turn in TURNS))
    assert all(receipt.masked == ("body",) for receipt in done.receipts)


def by_update(m: Memory) -> None:
    for at, turn in enumerate(TURNS, 1):
        m.remember(f"placeholder number {at}")
        assert "body" in " ".join(m.update(at, body=turn).notes)


@pytest.mark.parametrize("write", [by_remember, by_remember_many, by_session, by_import, by_update])
def test_open_23_no_secret_reaches_the_disk_by_any_path(
    opened: Open, store: Path, write: Callable[[Memory], None]
) -> None:
    m = opened()
    write(m)
    exported = "".join(dump(m.export()))
    shown = repr(m.recall(None, limit=100)) + repr([m.history(number) for number in range(1, 6)]) + repr(m.log())
    on_disk = stored(store)
    for secret in SECRETS:
        assert secret.encode() not in on_disk
        assert secret.strip() not in exported
        assert secret.strip() not in shown
    assert b"PAYMENT_API_KEY" in on_disk


@pytest.mark.parametrize("write", [by_remember, by_remember_many, by_session, by_import, by_update])
def test_open_23_what_stands_around_a_secret_is_still_found(opened: Open, write: Callable[[Memory], None]) -> None:
    m = opened()
    write(m)
    assert "db.example.internal" in bodies(m, "db.example.internal")[0]
    assert "PAYMENT_API_KEY" in bodies(m, "PAYMENT_API_KEY")[0]
    for hit in m.recall(None, limit=100).hits:
        assert "[masked:" in hit.body


# ── OPEN-24: which project a folder belongs to ───────────────────────────────────────────────────────────────────────


def git(*args: str, at: Path) -> None:
    config = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *config, *args], cwd=at, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository /w/shop with a subfolder and a worktree beside it."""
    root = tmp_path / "w" / "shop"
    (root / "web").mkdir(parents=True)
    git("init", at=root)
    (root / "web" / "index.html").write_text("hello")
    git("add", ".", at=root)
    git("commit", "-m", "first", at=root)
    git("worktree", "add", "../shop-wt-1", at=root)
    return root


def test_open_24_worktree_and_subfolder_share_the_projects_memory(
    repository: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EUNOE_HOME", str(store.parent))
    slug = resolve_project(repository, store)
    with Memory.open(store, project=slug, user="kim") as m:
        m.remember("The till rounds to five cents")
    for folder in (repository / "web", repository.parent / "shop-wt-1"):
        assert resolve_project(folder, store) == slug
        monkeypatch.chdir(folder)
        with Memory.open(store, user="kim") as m:
            assert bodies(m, "till rounds") == ["The till rounds to five cents"]


def test_open_24_another_repository_of_that_name_shares_nothing(
    repository: Path, tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EUNOE_HOME", str(store.parent))
    other = tmp_path / "x" / "shop"
    other.mkdir(parents=True)
    git("init", at=other)
    slugs = [resolve_project(folder, store) for folder in (repository, other, repository, other)]
    assert slugs == ["shop", "shop-2", "shop", "shop-2"]
    with Memory.open(store, project=slugs[0]) as m:
        m.remember("The till rounds to five cents")
    with Memory.open(store, project=slugs[1]) as m:
        assert bodies(m, "till rounds") == []


def test_open_24_a_project_that_is_named_wins_over_the_folder(
    repository: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EUNOE_HOME", str(store.parent))
    monkeypatch.chdir(repository.parent / "shop-wt-1")
    with Memory.open(store, project="acme/shop-next") as m:
        assert m.project == "acme/shop-next"
    monkeypatch.setenv("EUNOE_PROJECT", "acme/shop-later")
    with Memory.open(store) as m:
        assert m.project == "acme/shop-later"


@pytest.mark.sqlite("a file that cannot be made")
def test_open_24_a_write_that_fails_is_an_error_and_no_success(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(EunoeError):
        Memory.open(blocked / "below" / "eunoe.sqlite", project="acme/api")
