"""The catalogue: one row for each use case. CLI, MCP, REST and the reference are made from it.

A surface may word things differently or leave a row out; it never re-implements one. Rows are data, so that a surface
can list them without importing what they run.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Field:
    """One input of a use case.

    Attributes:
        name: As the function takes it.
        type: `text`, `address`, `integer`, `number`, `flag`, `time`, `duration`, `choice`, `document`; `texts` and
            `addresses` are lists.
        help: One line, starting in lower case.
        choices: For `choice`.
        positional: True where a command takes it without a name; `required` is then implied unless `optional`.
        one: The singular, for an option that may be given several times (`tags` → `--tag`).
    """

    __slots__ = ("choices", "help", "name", "one", "optional", "positional", "type")

    def __init__(
        self,
        name: str,
        type_: str,
        help_: str,
        *,
        choices: tuple[str, ...] = (),
        positional: bool = False,
        optional: bool = True,
        one: str | None = None,
    ) -> None:
        self.name = name
        self.type = type_
        self.help = help_
        self.choices = choices
        self.positional = positional
        self.optional = optional
        self.one = one


class UseCase:
    """One row.

    Attributes:
        name: The word for it, everywhere.
        home: `module:function`; the function takes a `Context` first.
        summary: One line, an imperative sentence without a full stop.
        writes: Whether it may change anything.
        fields: Its inputs.
    """

    __slots__ = ("fields", "home", "name", "summary", "writes")

    def __init__(self, name: str, home: str, summary: str, *, writes: bool, fields: tuple[Field, ...]) -> None:
        self.name = name
        self.home = home
        self.summary = summary
        self.writes = writes
        self.fields = fields

    def load(self) -> Callable[..., Any]:
        """Return the function; its module is imported now."""
        module, _, name = self.home.partition(":")
        function: Callable[..., Any] = getattr(import_module(f"eunoe.service.{module}"), name)
        return function


_KINDS = (
    *("overview", "architecture", "decision", "convention", "gotcha", "howto", "reference", "state", "preference"),
    *("identity", "fact", "lesson", "failure", "activity", "message", "summary", "note", "resource", "skill"),
)
_TARGET = Field("target", "address", "a number (12), an id, or me#12", positional=True, optional=False)
_TARGET_OR_KEY = (
    Field("target", "address", "a number (12), an id, or me#12", positional=True),
    Field("key", "text", "the key it holds, instead of an address"),
)
_CONTENT = (
    Field("title", "text", "up to 120 characters; default the beginning of the body"),
    Field("kind", "choice", "what it is about", choices=_KINDS),
    Field("tags", "texts", "a tag; up to 12", one="tag"),
    Field("paths", "texts", "a file or folder that it is about; up to 20", one="path"),
    Field("key", "text", "names a fact that changes, such as deploy/current"),
    Field("value", "text", "the key's value, when the body is a sentence about it"),
    Field("importance", "number", "0 to 1; default by kind"),
    Field("pinned", "flag", "always part of a briefing"),
    Field("source", "text", "where it was read"),
    Field("valid_from", "time", "when it becomes true; a future time schedules it"),
    Field("valid_to", "time", "when it stops being true"),
)
_FILTERS = (
    Field("kinds", "texts", "only of this kind (any of those given)", one="kind"),
    Field("tags", "texts", "only with this tag (all of those given)", one="tag"),
    Field("any_tags", "texts", "only with this tag (any of those given)", one="any-tag"),
    Field("paths", "texts", "only about this path or what lies below it", one="path"),
    Field("since", "time", "first said at this time or later"),
    Field("until", "time", "first said before this time"),
    Field("scope", "text", "only of this scope: project, or user:<id>"),
    Field("session", "text", "only of this session"),
)
_CLOCKS = (
    Field("as_of", "time", "what was true in the world then"),
    Field("known_at", "time", "what was recorded by then"),
)

CATALOG: tuple[UseCase, ...] = (
    UseCase(
        "remember",
        "remember:remember",
        "State something worth keeping; stating it again confirms it",
        writes=True,
        fields=(
            Field("body", "text", "what to remember; - reads standard input", positional=True, optional=False),
            *_CONTENT,
            Field("tier", "choice", "ltm, or stm for what expires", choices=("ltm", "stm")),
            Field("ttl", "duration", "life of an stm memory: 30m, 24h, 7d"),
            Field("links", "addresses", "a memory it belongs with", one="link"),
            Field("supersedes", "addresses", "a memory that it takes the place of"),
            Field("scope", "text", "project (default), or user:<id> for that user alone"),
            Field("session", "text", "the session in which it was said"),
            Field("turn", "integer", "its place in the session"),
            Field("speaker", "text", "who said it"),
            Field("occurred_at", "time", "when it happened; default now"),
            Field(
                "trust",
                "choice",
                "may only be lowered",
                choices=("stated", "observed", "inferred", "imported", "external"),
            ),
            Field("force", "flag", "record it although a near-duplicate is there"),
        ),
    ),
    UseCase(
        "recall",
        "recall:recall",
        "Find what bears on a query; without one, browse",
        writes=False,
        fields=(
            Field("query", "text", "any text; left out, memories are listed in order", positional=True),
            Field("limit", "integer", "hits at most (default 10)"),
            Field("budget_tokens", "integer", "print what an agent reads, in o200k tokens at most"),
            *_FILTERS,
            *_CLOCKS,
            Field("min_evidence", "number", "floor of evidence, 0 to 1"),
            Field("min_score", "number", "floor of the score, 0 to 1"),
            Field("order", "choice", "how to order", choices=("relevance", "newest", "oldest")),
            Field("after", "text", "the cursor that the page before ended with"),
            Field("explain", "flag", "show why each hit is where it is"),
        ),
    ),
    UseCase(
        "briefing",
        "briefing:briefing",
        "Print what a session should know before it starts",
        writes=False,
        fields=(
            Field("focus", "text", "the task: what bears on it comes first", positional=True),
            Field("paths", "texts", "a file or folder that the task is about", one="path"),
            Field("budget_tokens", "integer", "o200k tokens at most (default 1,500)"),
            Field("surface", "text", "where the session runs; skills for other surfaces are left out"),
        ),
    ),
    UseCase(
        "related",
        "related:related",
        "Walk the links of a memory",
        writes=False,
        fields=(
            _TARGET,
            Field("hops", "integer", "links to follow, 1 to 3 (default 1)"),
            Field("budget_tokens", "integer", "o200k tokens at most (default 800)"),
        ),
    ),
    UseCase("count", "recall:count", "Count memories", writes=False, fields=(*_FILTERS, *_CLOCKS)),
    UseCase("get", "read:get", "Show one memory in full", writes=False, fields=(*_TARGET_OR_KEY, *_CLOCKS)),
    UseCase(
        "update",
        "update:update",
        "Correct a memory in a new version; the old one stays in its history",
        writes=True,
        fields=(
            _TARGET,
            Field("body", "text", "the corrected text; - reads standard input"),
            *_CONTENT,
            Field("version", "integer", "the version you have read; refused when there is a newer one"),
            Field("confirm", "flag", "say that it is true today"),
            Field("dispute", "flag", "say that it is probably wrong"),
        ),
    ),
    UseCase(
        "confirm",
        "freshness:confirm",
        "Say that a memory is true today; a dispute is over",
        writes=True,
        fields=(_TARGET,),
    ),
    UseCase(
        "dispute",
        "freshness:dispute",
        "Say that a memory is probably wrong; it is marked until that is resolved",
        writes=True,
        fields=(_TARGET,),
    ),
    UseCase(
        "archive",
        "lifecycle:archive",
        "Put a memory away; its key is free again",
        writes=True,
        fields=(_TARGET,),
    ),
    UseCase(
        "restore",
        "lifecycle:restore",
        "Believe an archived or forgotten memory again",
        writes=True,
        fields=(_TARGET,),
    ),
    UseCase(
        "forget",
        "lifecycle:forget",
        "Take memories back; what they said does not return by itself",
        writes=True,
        fields=(
            Field("target", "address", "a number (12), an id, or me#12", positional=True),
            *_FILTERS,
            Field("dry_run", "flag", "only tell what would go"),
        ),
    ),
    UseCase(
        "link",
        "links:link",
        "Link two memories that belong together",
        writes=True,
        fields=(
            Field("a", "address", "one memory", positional=True, optional=False),
            Field("b", "address", "the other", positional=True, optional=False),
            Field("note", "text", "what the link means"),
        ),
    ),
    UseCase(
        "unlink",
        "links:unlink",
        "Cut a link",
        writes=True,
        fields=(
            Field("a", "address", "one memory", positional=True, optional=False),
            Field("b", "address", "the other", positional=True, optional=False),
        ),
    ),
    UseCase(
        "history",
        "read:history",
        "Show everything that happened to a memory or a key",
        writes=False,
        fields=_TARGET_OR_KEY,
    ),
    UseCase(
        "why",
        "read:why",
        "Explain where a memory comes from, and why a query finds it or not",
        writes=False,
        fields=(_TARGET, Field("query", "text", "the query to explain", positional=True)),
    ),
    UseCase(
        "review",
        "review:review",
        "Say what needs tending: disputed, likely the same, stale, unread, unlinked",
        writes=False,
        fields=(),
    ),
    UseCase("projects", "projects:list_projects", "List the projects of the store", writes=False, fields=()),
    UseCase(
        "verify",
        "ledger:verify",
        "Check that no event of the ledger was changed, removed or reordered",
        writes=False,
        fields=(Field("since", "texts", "a head that `eunoe head` printed earlier", one="since"),),
    ),
    UseCase("head", "ledger:head", "Print the ends of the ledger's chains, to keep elsewhere", writes=False, fields=()),
    UseCase(
        "log",
        "ledger:log",
        "List the newest events of the ledger",
        writes=False,
        fields=(
            Field("target", "address", "only events of this memory", positional=True),
            Field("limit", "integer", "events at most (default 20)"),
        ),
    ),
    UseCase(
        "rebuild",
        "rebuild:rebuild",
        "Rebuild every projection from the ledger, compare, and repair",
        writes=True,
        fields=(Field("dry_run", "flag", "only compare"),),
    ),
    UseCase(
        "reembed",
        "reembed:reembed",
        "Embed everything by the model in use: after installing or changing it, or what failed",
        writes=True,
        fields=(Field("everything", "flag", "also what is embedded already"),),
    ),
    UseCase(
        "export",
        "export:export",
        "Write the whole project as one JSON document",
        writes=False,
        fields=(Field("everyone", "flag", "also what other users keep to themselves"),),
    ),
    UseCase(
        "import",
        "importing:import_document",
        "Take in an exported project, or memories as JSON lines",
        writes=True,
        fields=(Field("document", "document", "what `eunoe export` wrote", positional=True, optional=False),),
    ),
)

BY_NAME = {row.name: row for row in CATALOG}
