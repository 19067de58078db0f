"""The analyser finds what is plainly there: in every script, inside identifiers, whatever the punctuation."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scripts import SCRIPTS

from eunoe.domain import words
from eunoe.domain.analyse import MAX_TERM_CHARACTERS, Analyser

HOME = (
    "Maria's router sits behind the printer; config in etc/app/main.toml; alerts go to ops@example.org; "
    "see #launch, [draft], x=2, Debian 12.5"
)
TEXTS = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=())),
    st.text(st.sampled_from("aBc1 '’-_.#+\"*茶の집รู้é\u0301\u0316\u200d\ud800\x00\n\u00a0ßİ")),
    st.lists(st.sampled_from(("the", "What", "not", "don't", "APIs", "v2.1", "新加坡", "café")), max_size=8).map(
        " ".join
    ),
)
HOSTILE = {
    "one letter": "a" * 1_000_000,
    "connectors": "-" * 1_000_000,
    "letters and connectors": "a-" * 500_000,
    "humps": "aB" * 500_000,
    "apostrophes": "n't'" * 250_000,
    "one Han character": "部" * 1_000_000,
    "scripts in turn": "茶a" * 500_000,
    "marks in the wrong order": "a" + "\u0301\u0316" * 500_000,
    "lone surrogates": "\ud800" * 1_000_000,
}


@pytest.fixture(scope="module")
def analyser() -> Analyser:
    return new_analyser()


def new_analyser() -> Analyser:
    return Analyser(Stemmer.Stemmer("english").stemWords)


def shared(analyser: Analyser, query: str, memory: str) -> set[str]:
    return set(analyser.query(query)) & set(analyser.terms(memory))


# Scripts


@pytest.mark.parametrize(
    ("query", "memory"),
    [
        ("新加坡", 0),
        ("部署", 0),
        ("公園", 1),
        ("예산", 2),
        ("nginx", 3),
        ("gateway", 3),
        ("nginx-gateway", 3),
        ("רונית", 4),
        ("сейфа", 5),
        ("ลิ้นชัก", 6),
        ("café", 7),
    ],
)
def test_a_word_of_any_script_finds_its_own_memory_and_no_other(analyser: Analyser, query: str, memory: int) -> None:
    wanted = set(analyser.query(query))
    matches = [len(wanted & set(analyser.terms(text))) for text in SCRIPTS]
    assert matches[memory] == len(wanted) > 0
    assert sorted(matches)[-2] < matches[memory]


def test_cafe_with_an_accent_is_not_the_cafeteria(analyser: Analyser) -> None:
    assert shared(analyser, "café", "Le café ferme à midi") == {"cafe"}
    assert not shared(analyser, "café", "The cafeteria is on floor 2")


@pytest.mark.parametrize("query", ["茶", "집", "物"])
def test_a_query_of_one_character_finds_it_inside_a_run(analyser: Analyser, query: str) -> None:
    assert shared(analyser, query, "买茶叶和礼物 우리집에서")


def test_a_query_of_a_longer_run_asks_only_for_pairs(analyser: Analyser) -> None:
    assert analyser.query("新加坡") == ["新加", "加坡"]


def test_a_latin_word_is_cut_out_of_an_unspaced_run(analyser: Analyser) -> None:
    assert analyser.query(SCRIPTS[3])[:4] == ["重启", "nginx-gateway", "nginx", "gateway"]


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Zoë Müller", "zoe muller"),
        ("ёлка", "ЕЛКА"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("مـحـمـد", "محمد"),
        ("ﬁle １２", "file 12"),
        ("STRASSE", "straße"),
        ("co\u00adoperate", "cooperate"),
        ("ABC\u2011417", "ABC-417"),
        ("Maria\u2019s don\u2019t", "Maria's don't"),
    ],
)
def test_spellings_that_readers_take_for_equal_give_the_same_terms(
    analyser: Analyser, written: str, typed: str
) -> None:
    assert analyser.terms(written) == analyser.terms(typed) != []


@pytest.mark.parametrize("text", ["예산을 확정했다", "が ガ", "Łódź café", "การบ้าน", "किताब"])
def test_composed_and_decomposed_text_give_the_same_terms(analyser: Analyser, text: str) -> None:
    long_enough_to_be_cut = f"{text} " * 60
    assert analyser.terms(unicodedata.normalize("NFD", long_enough_to_be_cut)) == analyser.terms(long_enough_to_be_cut)


def test_hangul_does_not_fall_apart_and_indic_vowels_stay(analyser: Analyser) -> None:
    assert analyser.query("예산") == ["예산"]
    assert len(analyser.query("किताब")) == 1
    assert not shared(analyser, "किताब", "कतब")


# Identifiers and punctuation


@pytest.mark.parametrize(
    "query",
    ["Maria's", "app/main.toml", "ops@example.org", "#launch", "[draft]", "x=2", "yes, 12.5", "12.5", "main.toml"],
)
def test_everyday_punctuation_finds_the_memory(analyser: Analyser, query: str) -> None:
    assert shared(analyser, query, HOME)


@pytest.mark.parametrize("query", ["*", '"', "", " \t\n", "-----", "()", "'", "🍕", "\x00", "\ud800", "\u0301"])
def test_a_query_without_letters_or_digits_asks_for_nothing(analyser: Analyser, query: str) -> None:
    assert analyser.query(query) == analyser.terms(query) == []


@pytest.mark.parametrize("query", ["ready?", 'NEAR("vendor" 5)', "title:vendor*", "vendor -blocked ^x", "a AND NOT b"])
def test_query_grammar_of_any_engine_is_only_words(analyser: Analyser, query: str) -> None:
    assert analyser.query(query)
    assert not any(character in term for term in analyser.query(query) for character in '"*()^?')


def test_a_ticket_number_is_nearer_to_its_own_memory(analyser: Analyser) -> None:
    own = shared(analyser, "ABC-417", "Ticket ABC-417 is blocked on the vendor")
    other = shared(analyser, "ABC-417", "Ticket ABC-418 shipped")
    assert own == {"abc-417", "abc", "417"}
    assert other < own


def test_version_2_1_is_not_version_2_10(analyser: Analyser) -> None:
    assert set(analyser.query("2.1")) == {"2.1", "2", "1"}
    assert "2.1" not in analyser.terms("we run 2.10.")
    assert "2.10" in analyser.terms("we run 2.10.")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("etc/app/main.toml", ["etc/app/main.toml", "etc", "app", "main", "toml"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("user_name", ["user_name", "user", "name"]),
        ("--force", ["forc"]),
        ("@maria", ["maria"]),
        ("APIs", ["api"]),
        ("C++, C# or C.", ["c++", "c", "c#", "c", "c"]),
        ("read-the-docs", ["read-the-docs", "read", "the", "doc"]),
    ],
)
def test_an_identifier_gives_itself_and_its_parts(analyser: Analyser, text: str, terms: list[str]) -> None:
    assert analyser.terms(text) == terms


def test_a_camel_case_name_is_found_however_it_is_typed(analyser: Analyser) -> None:
    assert {"getusername", "get", "user", "name"} <= set(analyser.terms("getUserName"))
    for query in ("getUserName", "getusername", "user name", "MacBooks", "macbooks"):
        assert shared(analyser, query, "getUserName on both MacBooks")


def test_a_long_path_is_cut_but_all_its_parts_are_there(analyser: Analyser) -> None:
    parts = [f"folder{number}" for number in range(40)]
    whole, *rest = analyser.terms("/".join(parts))
    assert len(whole) == MAX_TERM_CHARACTERS
    assert rest == parts


# Words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("don't", ["do", "not"]),
        ("DON'T", ["do", "not"]),
        ("can't cannot", ["can", "not", "can", "not"]),
        ("won't", ["will", "not"]),
        ("n't", ["n", "t"]),
        ("l'eau", ["l", "eau"]),
        ("O'Brien's", ["o", "brien"]),
        ("'quoted'", ["quot"]),
    ],
)
def test_contractions_are_spelt_out(analyser: Analyser, text: str, terms: list[str]) -> None:
    assert analyser.terms(text) == terms


@pytest.mark.parametrize("negation", ["not", "no", "never", "without", "nor"])
def test_negations_are_always_kept(analyser: Analyser, negation: str) -> None:
    asked = analyser.query(f"what should the server {negation} do")
    assert len(asked) == 2
    assert asked[1] in analyser.terms(f"the server {negation} restarts")


def test_a_negated_query_differs_from_the_plain_one(analyser: Analyser) -> None:
    assert analyser.query("don't restart") == ["not", "restart"]


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("Where is the router?", ["router"]),
        ("what did we do about it", ["what", "do", "about"]),
        ("to the", []),
        ("router router", ["router"]),
        ("thé", ["the"]),
        ("may", ["may"]),
    ],
)
def test_function_words_count_only_when_nothing_else_is_asked(analyser: Analyser, query: str, terms: list[str]) -> None:
    assert analyser.query(query) == terms


@pytest.mark.parametrize(
    ("query", "memory"),
    [("go", "we went home"), ("child", "two children"), ("my mom", "Mother called"), ("backups", "the backup failed")],
)
def test_irregular_and_inflected_forms_meet(analyser: Analyser, query: str, memory: str) -> None:
    assert shared(analyser, query, memory)


def test_the_word_lists_do_not_contradict_one_another() -> None:
    assert not words.CORE_WORDS & words.QUERY_WORDS
    assert not set(words.IRREGULAR.values()) & set(words.IRREGULAR)
    assert not {"not", "no", "never", "without", "nor", "may"} & (words.CORE_WORDS | words.QUERY_WORDS)


def test_only_ascii_words_of_three_letters_reach_the_stemmer() -> None:
    seen: list[str] = []

    def stem_words(given_words: list[str]) -> list[str]:
        seen.extend(given_words)
        return given_words

    Analyser(stem_words).terms("We ate at ABC-417, c3po и квартал 新加坡 café")
    assert seen == ["eat", "abc", "cafe"]


# Any text


def is_clean(term: str) -> bool:
    return 0 < len(term) <= MAX_TERM_CHARACTERS and not any(
        character.isspace() or character == '"' or unicodedata.category(character) in {"Cc", "Cs"} for character in term
    )


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_every_term_of_any_text_is_clean_and_every_text_finds_itself(text: str) -> None:
    analyser = new_analyser()
    terms, asked = analyser.terms(text), analyser.query(text)
    assert all(map(is_clean, terms))
    assert set(asked) <= set(terms)
    assert len(asked) == len(set(asked))


@given(st.lists(TEXTS, max_size=4), TEXTS)
@settings(max_examples=100, deadline=None)
def test_terms_do_not_depend_on_what_was_analysed_before(earlier: list[str], text: str) -> None:
    experienced = new_analyser()
    for other in earlier:
        experienced.terms(other)
    fresh = new_analyser()
    assert experienced.query(text) == fresh.query(text) == experienced.query(text)
    assert experienced.terms(text) == fresh.terms(text) == experienced.terms(text)


@given(TEXTS, TEXTS)
@settings(max_examples=100, deadline=None)
def test_terms_of_two_lines_are_the_terms_of_each(first: str, second: str) -> None:
    analyser = new_analyser()
    assert analyser.terms(f"{first}\n{second}") == analyser.terms(first) + analyser.terms(second)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_costs_linear_work(text: str) -> None:
    # Quadratic work on a million characters would outlast any run of the suite, so finishing is the proof.
    terms = new_analyser().terms(text)
    assert len(terms) <= 2 * len(text)
    assert all(len(term) <= MAX_TERM_CHARACTERS for term in set(terms))


def test_memory_of_known_words_is_bounded() -> None:
    analyser = new_analyser()
    for start in range(0, 120_000, 20_000):
        analyser.terms(" ".join(map(str, range(start, start + 20_000))))
    analyser.terms("新" * 60 + " " + "x" * 1_000)
    assert len(analyser._known) <= 50_000
    assert max(map(len, analyser._known)) <= MAX_TERM_CHARACTERS


def loaded_by(code: str) -> set[str]:
    path = [entry for entry in sys.path if entry]
    script = f"import sys; sys.path[:0] = {path!r}; {code}; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_loading_the_analyser_loads_nothing_but_its_words() -> None:
    added = loaded_by("import eunoe.domain.analyse") - loaded_by("pass")
    assert {name for name in added if not name.startswith("eunoe")} <= {"__future__", "unicodedata"}
