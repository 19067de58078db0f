"""Edits of other people's files: what is put in can be taken out without a trace, and nothing else is touched."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eunoe.install import jsonc, marked, toml
from eunoe.install.json_nodes import read
from eunoe.install.text import MalformedError, append_block, cut_block

PATH = ("mcpServers", "eunoe")
ENTRY = {"command": "/opt venv/bin/eunoe", "args": ["mcp"], "env": {"EUNOE_USER": "kim"}}

names = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=6)
scalars = st.none() | st.booleans() | st.integers(-999, 999) | names
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=12
)
newlines = st.sampled_from(["\n", "\r\n"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Draw an object as people write it: any layout, comments between tokens, trailing commas, one of two line ends."""
    content = draw(st.dictionaries(names.filter(lambda name: name != PATH[0]), values, max_size=4))
    if draw(st.booleans()):
        others = draw(st.dictionaries(names.filter(lambda name: name != PATH[1]), values, min_size=1, max_size=2))
        content |= {PATH[0]: others}
    newline = draw(newlines)

    def gap() -> str:
        piece = draw(st.sampled_from(["", "", "", " ", "\n", "\n    ", ' // a "note" }', " /* , { */ ", "\n\t"]))
        return piece + "\n" if "//" in piece else piece

    def written(value: Any) -> str:
        if isinstance(value, dict) and value:
            pairs = [f"{gap()}{json.dumps(name)}{gap()}:{gap()}{written(each)}{gap()}" for name, each in value.items()]
            return "{" + ",".join(pairs) + ("," + gap() if draw(st.booleans()) else "") + "}"
        return json.dumps(value)

    text = gap() + written(content) + draw(st.sampled_from(["", "\n", "\n\n", " // end", "\n/* end */\n"]))
    return text.replace("\n", newline)


def plain(text: str) -> Any:
    node = read(text)
    return None if node is None else node.value


@given(documents())
def test_a_json_member_that_is_put_in_and_dropped_leaves_every_byte(text: str) -> None:
    made = jsonc.put(text, PATH, ENTRY)
    assert jsonc.drop(made, PATH, keep=jsonc.depth(text, PATH)) == text


@given(documents())
def test_putting_a_json_member_in_adds_it_and_nothing_else(text: str) -> None:
    wanted = plain(text)
    wanted.setdefault(PATH[0], {})[PATH[1]] = ENTRY
    made = jsonc.put(text, PATH, ENTRY)
    assert plain(made) == wanted
    assert is_subsequence(text, made)
    assert jsonc.put(made, PATH, ENTRY) == made


def is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(char in rest for char in part)


@given(documents(), st.data())
def test_dropping_any_member_leaves_a_text_that_says_the_rest(text: str, data: st.DataObject) -> None:
    wanted = plain(text)
    if not wanted:
        return
    name = data.draw(st.sampled_from(sorted(wanted)))
    del wanted[name]
    assert plain(jsonc.drop(text, (name,), keep=0)) == wanted


@given(documents())
def test_what_is_put_in_later_survives_the_dropping(text: str) -> None:
    made = jsonc.put(jsonc.put(text, PATH, ENTRY), (PATH[0], "later"), {"command": "other"})
    left = plain(jsonc.drop(made, PATH, keep=jsonc.depth(text, PATH)))
    assert left[PATH[0]]["later"] == {"command": "other"}
    assert PATH[1] not in left[PATH[0]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("// mine\n", '// mine\n{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("{}", '{\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"x": 1}', '{"x": 1, "a": {"b": 1}}'),
        ('{"x": 1,}', '{"x": 1, "a": {"b": 1},}'),
        ('{\n\t"x": 1 // one\n}\n', '{\n\t"x": 1, // one\n\t"a": {\n\t\t"b": 1\n\t}\n}\n'),
        ('{\r\n "a": {}\r\n}', '{\r\n "a": {\r\n  "b": 1\r\n }\r\n}'),
        ('{\n    "a": {\n        "c": 2,\n    },\n}', '{\n    "a": {\n        "c": 2,\n        "b": 1,\n    },\n}'),
    ],
)
def test_a_member_takes_the_layout_of_its_surroundings(before: str, after: str) -> None:
    assert jsonc.put(before, ("a", "b"), 1) == after


def test_only_the_members_that_differ_are_touched() -> None:
    text = '{"eunoe": {"command": "old", /* why */ "args": ["mcp"], "env": {"MINE": "1"}, "timeout": 9}}'
    made = jsonc.put(text, ("eunoe",), {"command": "new", "args": ["mcp"], "env": {"EUNOE_USER": "kim"}})
    assert made == (
        '{"eunoe": {"command": "new", /* why */ "args": ["mcp"], '
        '"env": {"MINE": "1", "EUNOE_USER": "kim"}, "timeout": 9}}'
    )


def test_a_comment_before_the_dropped_member_does_not_swallow_the_next() -> None:
    text = '{ // why\n  "eunoe": 1, "b": 2}'
    assert plain(jsonc.drop(text, ("eunoe",), keep=0)) == {"b": 2}


def test_of_two_members_of_one_name_both_are_dropped() -> None:
    assert plain(jsonc.drop('{"eunoe": 1, "a": 2, "eunoe": 3}', ("eunoe",), keep=0)) == {"a": 2}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n "a": 1\n "b": 2\n}', 3),
        ('{"a" 1}', 1),
        ("{'a': 1}", 1),
        ('{"a": }', 1),
        ('{"a": 1', 1),
        ("[1,,2]", 1),
        ("{,}", 1),
        ('{"a": NaN}', 1),
        ('{"a": "\n"}', 1),
        ("{} {}", 1),
        ("/* never closed", 1),
        ("{1: 2}", 1),
        ("[" * 100_000, 1),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(MalformedError) as caught:
        jsonc.put(text, PATH, ENTRY)
    assert caught.value.line == line


@pytest.mark.parametrize("text", ["[]", "1", '{"mcpServers": []}', '{"mcpServers": null}'])
def test_a_place_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(MalformedError):
        jsonc.put(text, PATH, ENTRY)
    assert jsonc.drop(text, PATH, keep=0) == text


# ── TOML ────────────────────────────────────────────────────────────────────────────────────────────────────────────

TABLE = ("mcp_servers", "eunoe")
PIECES = (
    "# a comment with [brackets] and 'quotes'\n",
    'model = "gpt" # why\n',
    'notify = [\n  "a", # [one]\n  "b",\n]\n',
    'text = """\n[mcp_servers.eunoe]\nnot = "a table"\n"""\n',
    "raw = '''\n# [x]\n'''\n",
    "\n",
    "   \n",
)
TABLES = (
    "[features]\nhooks = true\n",
    '[mcp_servers.other]\ncommand = "npx"\nenv = { A = "1" }\n',
    '[ "mcp_servers" . \'quoted name\' ] # note\ncommand = "x"\n',
    "[[rules]]\nn = 1\n\n[[rules]]\nn = 2\n",
    "# the end\n",
)


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    pieces = draw(st.lists(st.sampled_from(PIECES), unique=True)) + draw(st.lists(st.sampled_from(TABLES), unique=True))
    text = "".join(pieces)
    text = text if draw(st.booleans()) else text.rstrip("\n")
    return text.replace("\n", draw(newlines))


@given(toml_texts())
def test_a_toml_table_that_is_put_in_and_dropped_leaves_every_byte(text: str) -> None:
    made = toml.put(text, TABLE, ENTRY)
    wanted = tomllib.loads(text)
    wanted.setdefault(TABLE[0], {})[TABLE[1]] = ENTRY
    assert tomllib.loads(made) == wanted
    assert made.startswith(text)
    assert toml.put(made, TABLE, ENTRY) == made
    assert toml.drop(made, TABLE) == text


@given(toml_texts(), st.sampled_from(TABLES[:2] + TABLES[3:]))
def test_a_table_that_others_append_later_survives(text: str, later: str) -> None:
    made = toml.put(text, TABLE, ENTRY)
    try:
        wanted = tomllib.loads(text + "\n" + later)
        made = toml.drop(made + ("" if made.endswith("\n") else "\n") + later, TABLE)
    except tomllib.TOMLDecodeError:
        return  # the same table twice
    assert tomllib.loads(made) == wanted


def test_only_the_keys_that_differ_are_written_anew() -> None:
    text = (
        "[mcp_servers.eunoe]\n# mine\ncommand = 'old'   # path\nargs = [\n  \"mcp\",\n]\nstartup_timeout_sec = 20\n\n"
        '[mcp_servers.eunoe.env]\nMINE = "1"\n\n# about the next\n[other]\n'
    )
    made = toml.put(text, TABLE, ENTRY)
    assert made == text.replace("'old'", '"/opt venv/bin/eunoe"').replace(
        'MINE = "1"\n', 'MINE = "1"\nEUNOE_USER = "kim"\n'
    )
    assert toml.drop(made, TABLE).lstrip() == "# about the next\n[other]\n"


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = {}\n",
        'mcp_servers.eunoe.command = "x"\n',
        '[mcp_servers]\neunoe = { command = "x" }\n',
        "mcp_servers = 1\n",
        '[mcp_servers.eunoe]\nenv.MINE = "1"\n',
    ],
)
def test_a_form_that_cannot_be_edited_safely_is_refused(text: str) -> None:
    with pytest.raises(MalformedError):
        toml.put(text, TABLE, ENTRY)


def test_a_table_in_another_form_is_not_dropped_half() -> None:
    with pytest.raises(MalformedError):
        toml.drop('[mcp_servers]\neunoe = { command = "x" }\n', TABLE)


def test_what_is_no_toml_is_refused_with_its_line() -> None:
    with pytest.raises(MalformedError) as caught:
        toml.put("a = 1\nb = \n", TABLE, ENTRY)
    assert caught.value.line == 2


# ── Markdown ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.text(st.sampled_from("ab# \n"), max_size=20), newlines)
def test_a_paragraph_that_is_put_in_and_dropped_leaves_every_byte(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    made = marked.put(text, ("one", "two"))
    assert marked.find(made) is not None
    assert marked.put(made, ("one", "two")) == made
    assert marked.drop(made) == text


@given(st.text(st.sampled_from("ab# \n"), max_size=20), st.text(st.sampled_from("xy"), min_size=1))
def test_lines_after_the_paragraph_survive(text: str, later: str) -> None:
    made = marked.drop(marked.put(text, ("one",)) + f"\n\n{later}\n")
    assert made.startswith(text.rstrip("\n"))
    assert made.endswith(f"{later}\n")


@pytest.mark.parametrize("text", [marked.BEGIN, marked.END, f"{marked.END}\n{marked.BEGIN}", marked.BEGIN * 2])
def test_markers_that_do_not_pair_are_refused(text: str) -> None:
    with pytest.raises(MalformedError):
        marked.put(text, ("one",))


@given(st.text(st.sampled_from("a\n"), max_size=6))
def test_a_block_at_the_end_is_cut_without_a_trace(text: str) -> None:
    made = append_block(text, ("B", "B"))
    start = made.index("B")
    assert cut_block(made, start, made.rindex("B") + 1) == text
