"""What the pages say is so: links lead somewhere, tables match the code, examples run."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as Xml

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult, TextContent

from eunoe import Memory
from eunoe.config import trust
from eunoe.domain import limits
from eunoe.projections.project import HANDLERS
from eunoe.service.catalog import CATALOG
from eunoe.surfaces.cli.main import sections
from eunoe.surfaces.mcp.door import Door
from eunoe.surfaces.mcp.server import answer

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "eunoe"
REFERENCE = DOCS / "reference"

PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "README.md"])
DRAWINGS = sorted(DOCS.rglob("*.svg"))
DECISIONS = sorted((DOCS / "decisions").glob("*.md"))
ERROR_CLASSES = {"Invalid", "NotFound", "Conflict", "Refused", "Unavailable"}
# Errors whose code is looked up in a table: function → the name of that table, whose rows begin with the code.
ERROR_TABLES = {"_ERRORS", "_STATES", "_CONNECTING"}
ROWS = [*(str(number) for number in range(1, 359)), *(f"P{number}" for number in range(1, 25))]
STATES = {"done", "partial", "no", "opposite"}
DECISION_HEADINGS = ["Context", "Choice", "Consequences", "What would change our mind"]

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    return _FENCE.sub("", text_of(page))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def table_keys(page: Path) -> list[str]:
    """Return the codes that stand first in the rows of a page's tables."""
    return re.findall(r"^\| `([^`]+)` \|", text_of(page), re.MULTILINE)


def section(page: Path, heading: str) -> str:
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text_of(page), re.MULTILINE | re.DOTALL)
    assert found is not None, f"{named(page)} has no section {heading!r}"
    return found[1]


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for file in sorted(SOURCE.rglob("*.py")):
        yield file, ast.parse(text_of(file))


RAISERS = {**{name: name for name in ERROR_CLASSES}, "unusable": "Unavailable"}


def raised() -> dict[str, set[str]]:
    """Return class → codes of every error that the source makes; a code that is no literal must be in a table."""
    codes: dict[str, set[str]] = {name: set() for name in ERROR_CLASSES}
    for file, tree in modules():
        tabled = table_codes(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RAISERS:
                code = node.args[0]
                if isinstance(code, ast.Constant):
                    codes[RAISERS[node.func.id]].add(str(code.value))
                else:
                    if not tabled and ast.unparse(code) == "code" and node.func.id == "Unavailable":
                        continue  # `unusable` and the like: their callers name it
                    assert tabled or is_passed_on(code), f"{file.name}:{node.lineno}: a code that no table lists"
                    codes[node.func.id] |= tabled
    return codes


def is_passed_on(code: ast.expr) -> bool:
    """Tell whether the code is that of a fault which `verify` found."""
    return isinstance(code, ast.Attribute) and ast.unparse(code) == "result.fault.code"


def table_codes(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id in ERROR_TABLES for target in targets):
            rows = (each for each in ast.walk(node.value) if isinstance(each, ast.Tuple) and len(each.elts) in (3, 4))
            codes = (row.elts[len(row.elts) - 3] for row in rows)  # before the fix and whether it may help to try again
            found |= {str(code.value) for code in codes if isinstance(code, ast.Constant)}
    if found:  # the default of the look-up stands beside the table
        found.add("engine_error")
    return found


def faults() -> set[str]:
    codes: set[str] = set()
    for _, tree in modules():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "_fault" and isinstance(node.args[0], ast.Constant):
                codes.add(str(node.args[0].value))
            if node.func.id == "Fault":
                codes |= {
                    str(word.value.value)
                    for word in node.keywords
                    if word.arg == "code" and isinstance(word.value, ast.Constant)
                }
    return codes


def script(name: str) -> ModuleType:
    spec = spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    return script("generate")


# ── pages ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in _LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{named(page)} links to {target}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{named(page)} links to {target}; there are {sorted(anchors(file))}"


def test_every_page_is_reached_from_the_index() -> None:
    index = DOCS / "index.md"
    linked = {(index.parent / unquote(target.partition("#")[0])).resolve() for target in _LINK.findall(prose(index))}
    assert {page for page in DOCS.rglob("*.md") if page != index} <= linked


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_page_names_a_machine_or_a_registry(page: Path) -> None:
    assert not re.search(r"/(home|Users|root|work|opt)/", text_of(page))
    assert not re.search(r"(pypi\.org|pythonhosted|npmjs|localhost:\d)", text_of(page))


def test_generated_pages_say_what_the_tables_say(generator: ModuleType) -> None:
    assert generator.outdated() == []


@pytest.mark.parametrize("drawing", DRAWINGS, ids=named)
def test_a_drawing_is_well_formed_describes_itself_and_loads_nothing(drawing: Path) -> None:
    names = {child.tag.rpartition("}")[2] for child in Xml.parse(drawing).getroot()}
    assert {"title", "desc"} <= names
    text = text_of(drawing)
    assert not re.search(r"@font-face|@import|url\((?!#)|href=.(?!#)", text)
    assert not re.search(r"/(home|Users|root|work|opt|tmp)/", text)


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_the_pictures_of_the_terminal_show_what_is_printed_now() -> None:
    assert script("screenshots").outdated() == []


@pytest.mark.parametrize("page", DECISIONS, ids=named)
def test_every_decision_has_its_headings_a_status_and_its_number(page: Path) -> None:
    text = text_of(page)
    assert text.startswith(f"# {page.name[:4]}: ")
    assert re.search(r"^\*\*Status:\*\* (accepted|superseded)", text, re.MULTILINE)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == DECISION_HEADINGS


def test_decisions_are_numbered_without_gaps() -> None:
    assert [int(page.name[:4]) for page in DECISIONS] == list(range(1, len(DECISIONS) + 1))


# ── examples ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["howto/use-from-python.md", "tutorial/first-memory.md"])
def test_the_python_blocks_of_a_page_run_in_order(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = blocks(DOCS / name, "python")
    assert found
    scope: dict[str, object] = {}
    for block in found:
        exec(compile(block, name, "exec"), scope)
    printed = capsys.readouterr().out
    assert not printed or printed.strip() in text_of(DOCS / name)


def steps(text: str) -> list[tuple[str, str]]:
    """Return the commands of console blocks, each with what the page says it prints."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = piece.partition("\n")
            found.append((command, printed))
    return found


def timeless(text: str) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", text)
    text = re.sub(r"(by \S+|last write) \d{4}-\d\d-\d\d", r"\1 DAY", text)
    text = re.sub(r"eunoe-[0-9a-f]{8}\b", "FENCE", text)
    return re.sub(r"eunoe-head-1:[0-9a-f:-]+", "HEAD", text).strip()


def agrees(printed: str, shown: str) -> bool:
    """Tell whether a command printed what the page shows; a line `…` of the page stands for any lines."""
    parts = re.split(r"^…$", timeless(shown), flags=re.MULTILINE)
    return re.fullmatch(".*".join(map(re.escape, parts)), timeless(printed), re.DOTALL) is not None


class Follower:
    """Somebody who types what a page says, in a home of their own; installing is left out."""

    def __init__(self, home: Path, **settings: str) -> None:
        others = {"EUNOE_", "CLAUDE_", "XDG_", *(name for _, names in trust._MARKERS for name in names), *trust._NAMING}
        self.home = home
        self.folder = home / "eunoe"
        self.folder.mkdir(parents=True)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(tuple(others))}
        self.environment |= {"HOME": str(home), "XDG_DATA_HOME": str(home / ".local" / "share"), **settings}

    def run(self, command: str) -> str:
        words = shlex.split(command)
        if words[0] == "cd":
            self.folder = (self.folder / words[1]).resolve(strict=True)
        if words[0] not in ("eunoe", "git"):
            return ""
        call = [sys.executable, "-m", *words] if words[0] == "eunoe" else words
        done = subprocess.run(
            call, env=self.environment, cwd=self.folder, capture_output=True, timeout=60, check=False, encoding="utf-8"
        )
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout.replace(str(Path(sys.executable).parent), "/you/eunoe/.venv/bin").replace(
            str(self.home), "/you"
        )

    def follow(self, text: str) -> int:
        """Run all commands of a text, compare what they print, and return how many there were."""
        ran = steps(text)
        for command, shown in ran:
            printed = self.run(command)
            assert agrees(printed, shown), (command, printed)
        return len(ran)

    def ask(self, entry: dict[str, Any], tool: str, **arguments: str) -> str:
        """Start what a client's entry says, and call a tool."""

        async def talk() -> str:
            server = StdioServerParameters(
                command=entry["command"], args=entry["args"], env=self.environment, cwd=str(self.folder)
            )
            async with Client(server) as client:
                return text_of_answer(await client.call_tool(tool, arguments))

        return anyio.run(talk)


def text_of_answer(result: CallToolResult) -> str:
    assert not result.is_error
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_following_the_first_tutorial_prints_what_it_says(tmp_path: Path) -> None:
    somebody = Follower(tmp_path, EUNOE_HOME=str(tmp_path / "data"), EUNOE_PROJECT="acme/shop")
    assert somebody.follow(text_of(DOCS / "tutorial" / "first-memory.md")) > 10


def test_the_commands_of_the_readme_print_what_it_says(tmp_path: Path) -> None:
    somebody = Follower(tmp_path, EUNOE_PROJECT="acme/api")
    assert somebody.follow(section(ROOT / "README.md", "What it does")) == 6


def test_following_the_tutorial_for_claude_code_prints_what_it_says(tmp_path: Path) -> None:
    somebody = Follower(tmp_path)
    page = text_of(DOCS / "tutorial" / "connect-claude-code.md")
    before, shown, after = re.split(r"^```text\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert somebody.follow(before) > 8
    entry = json.loads((tmp_path / ".claude.json").read_text("utf-8"))["mcpServers"]["eunoe"]
    [task] = re.findall(r"^> (.+)$", before, re.MULTILINE)
    assert agrees(somebody.ask(entry, "briefing", focus=task), shown)
    assert somebody.follow(after) > 4
    assert sorted(path.name for path in tmp_path.iterdir()) == [".local", "eunoe", "shop"]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_python_block_is_python(page: Path) -> None:
    for block in blocks(page, "python"):
        compile(block, named(page), "exec")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    known = {name for names in sections().values() for name in names}
    shown = re.findall(r"(?:^\$ |`)eunoe ([a-z][a-z-]*)", text_of(page), re.MULTILINE)
    assert set(shown) <= known


# ── reference ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_error_code_is_documented_under_its_class() -> None:
    for name, codes in raised().items():
        listed = set(re.findall(r"^\| `([a-z0-9_]+)` \|", section(REFERENCE / "errors.md", name), re.MULTILINE))
        assert codes - listed == set(), f"{name}: raised and not documented"


def test_every_documented_error_code_is_raised_by_its_class() -> None:
    codes = raised()
    codes["Invalid"].add("usage")  # made from click's own errors, in surfaces/cli/failures.py
    for name in ERROR_CLASSES:
        listed = set(re.findall(r"^\| `([a-z0-9_]+)` \|", section(REFERENCE / "errors.md", name), re.MULTILINE))
        assert listed - codes[name] == set(), f"{name}: documented and not raised"


def test_what_verify_finds_is_documented_both_ways() -> None:
    listed = re.findall(r"^\| `([a-z0-9_]+)` \|", section(REFERENCE / "errors.md", "What `verify` finds"), re.MULTILINE)
    assert set(listed) == faults()


def test_no_error_code_stands_twice() -> None:
    listed = table_keys(REFERENCE / "errors.md")
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", [row.name for row in CATALOG])
def test_every_use_case_is_a_heading_of_the_commands_and_of_the_library(name: str) -> None:
    assert name in anchors(REFERENCE / "cli.md")
    if name != "projects":  # of the store, not of one project's memory
        headings = re.findall(r"^### (.+)$", text_of(REFERENCE / "library.md"), re.MULTILINE)
        assert name in {each.rstrip("_") for heading in headings for each in heading.split(", ")}


@pytest.mark.parametrize("name", [name for name in vars(Memory) if not name.startswith("_")])
def test_every_method_of_the_library_is_documented_with_its_parameters(name: str) -> None:
    page = text_of(REFERENCE / "library.md")
    assert re.search(rf"^### (.*, )?{name}(,|$)", page, re.MULTILINE)
    member = inspect.getattr_static(Memory, name)
    if isinstance(member, property):
        return
    for parameter in inspect.signature(getattr(Memory, name)).parameters:
        assert parameter == "self" or re.search(rf"\b{parameter}\b", page)


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("remember", {"body": "The queue is Redis", "key": "queue", "value": "redis", "tags": ["infra"]}),
    ("remember", {"body": "The worker drains the queue; my password is hunter2222"}),
    ("remember", {"body": "The queue is Kafka", "key": "queue", "value": "kafka", "tags": ["infra"]}),
    ("link", {"a": "2", "b": "3"}),
    ("related", {"id": "2"}),
    ("related", {"id": "acme/api#1"}),
    ("update", {"id": "2", "dispute": True}),
    ("briefing", {}),
    ("recall", {"query": "queue"}),
    ("get", {"ids": ["1", "me#1"]}),
    ("get", {"key": "queue"}),
    ("get", {"ids": ["acme/api#2"]}),
    ("history", {"key": "queue"}),
    ("review", {}),
    ("list_projects", {}),
    ("forget", {"tags": ["infra"], "dry_run": True}),
]


def test_every_fact_that_a_tool_answers_is_documented(tmp_path: Path) -> None:
    store = tmp_path / "eunoe.sqlite"
    with Memory.open(store, project="me", user="kim") as own:
        own.remember("Kim prefers the queue short", kind="preference")
    with Memory.open(store, project="acme/api", user="kim") as memory:
        memory.remember_many([{"body": "Read me first"}, {"body": "long " * 10_000, "kind": "note"}])
    door = Door(store=str(store), project="acme/shop", user="kim")
    page = text_of(REFERENCE / "mcp.md")
    for tool, given in CALLS:
        result = answer(door, "somebody", tool, given)
        assert not result.is_error, (tool, result.content)
        told = re.search(rf"^### {tool}\n.*?^Facts: (.*?)\n(?:\n|\Z)", page, re.MULTILINE | re.DOTALL)
        assert told, tool
        documented = {word for span in re.findall(r"`([^`]+)`", told[1]) for word in span.split()}
        assert facts_in(result.structured_content or {}) - {"text"} <= documented, tool
    door.close()


def facts_in(facts: Any) -> set[str]:
    """Return all names of an object; sections are named by what they hold."""
    if isinstance(facts, list):
        return {name for each in facts for name in facts_in(each)}
    if not isinstance(facts, dict):
        return set()
    named = facts.get("sections")
    inner = {name: value for name, value in facts.items() if name != "sections"} | (named or {})
    return ({"sections"} if named else set()) | (facts.keys() - {"sections"}) | facts_in(list(inner.values()))


def test_every_event_type_is_documented_both_ways() -> None:
    headings = re.findall(r"^## ([a-z]+\..+)$", text_of(REFERENCE / "events.md"), re.MULTILINE)
    assert {each for heading in headings for each in heading.split(", ")} == set(HANDLERS)


def test_every_table_is_documented_both_ways() -> None:
    made: set[str] = {"migrations"}
    for file in (SOURCE / "stores" / "sql" / "migrations").glob("*.sql"):
        made |= set(re.findall(r"^create (?:virtual )?table (\w+)", text_of(file), re.MULTILINE))
    parts = ("Reference tables", "The ledger", "Projections", "The text index", "Meaning", "Signals")
    listed: set[str] = set()
    for part in parts:
        rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section(REFERENCE / "schema.md", part), re.MULTILINE)
        listed |= {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    columns = {"valid_from", "valid_to", "valid_to_at", "recorded_from", "recorded_to"}
    assert listed - columns == made


def test_every_variable_that_the_source_reads_is_documented() -> None:
    read: set[str] = {"EUNOE_HOME", "EUNOE_STORE", "EUNOE_PROJECT", "EUNOE_USER", "EUNOE_MODEL"}
    for _, tree in modules():
        constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        read |= {value for value in constants if isinstance(value, str) and re.fullmatch(r"EUNOE_[A-Z_]+", value)}
    page = text_of(REFERENCE / "settings.md")
    assert {name for name in read if f"`{name}`" not in page} == set()


def test_every_limit_is_documented() -> None:
    page = text_of(REFERENCE / "settings.md")
    values = [value for name, value in vars(limits).items() if name.isupper()]
    assert values
    assert [value for value in values if not re.search(rf"(?<!\d)(?<!\d,){value:,}(?!,?\d)", page)] == []


# ── coverage ────────────────────────────────────────────────────────────────────────────────────────────────────────


def coverage() -> list[list[str]]:
    head, *lines = text_of(DOCS / "coverage.tsv").splitlines()
    assert head == "id\tstate\ttests\tremark"
    return [line.split("\t") for line in lines]


def test_coverage_has_one_line_for_each_row_and_promise() -> None:
    assert [line[0] for line in coverage()] == ROWS


def test_every_line_of_coverage_has_a_legal_state_and_a_remark() -> None:
    for line in coverage():
        assert len(line) == 4, line
        assert line[1] in STATES, line
        assert line[3].strip(), line


def test_what_coverage_calls_proven_names_tests_that_exist() -> None:
    for ident, state, tests, _ in coverage():
        files = [name for name in tests.split(",") if name]
        assert files or state not in ("done", "opposite"), f"{ident} is {state} without a test"
        for name in files:
            assert (ROOT / name).is_file(), f"{ident} names {name}"
            assert Path(name).name.startswith("test_"), f"{ident} names {name}"
