"""`Memory`: the Python face. Synchronous, a context manager, safe to share between threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

from eunoe import bootstrap
from eunoe.domain.address import Target
from eunoe.domain.canonical import parse
from eunoe.domain.instants import When
from eunoe.domain.memory import Change, Linked, Receipt
from eunoe.domain.memory import Memory as Believed
from eunoe.ports.clock import Clock, Entropy
from eunoe.service import export as exporting
from eunoe.service import freshness, importing, ledger, lifecycle, links, read, recall, remember, review, update
from eunoe.service import rebuild as rebuilding
from eunoe.service.context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.service.briefing import Briefing
    from eunoe.service.flush import Flushed
    from eunoe.service.reembed import Reembedded
    from eunoe.service.related import Related

Progress = Callable[[int, int], None]


class Memory:
    """One project's memory in one store.

    >>> with Memory.open(":memory:", project="acme/api") as m:
    ...     receipt = m.remember("Stripe webhooks need the raw body", kind="gotcha")
    ...     (receipt.number, receipt.outcome, m.recall("webhook body").hits[0].number)
    (1, 'recorded', 1)
    """

    def __init__(self, opened: bootstrap.Opened) -> None:
        """Wrap a running session; use `Memory.open`."""
        self._opened = opened

    @classmethod
    def open(
        cls,
        store: str | os.PathLike[str] | None = None,
        project: str | None = None,
        user: str | None = None,
        *,
        durability: str = "process",
        clock: Clock | None = None,
        entropy: Entropy | None = None,
    ) -> Self:
        """Open a store, making it if it is not there.

        Args:
            store: A path, `:memory:`, or None for `EUNOE_STORE` or the default store.
            project: `acme/api`; `me` for the user's own project; None finds it by the current folder.
            user: Who this is for; default `EUNOE_USER`. Opens the scope `user:<id>` and the project `me`.
            durability: `process`: acknowledged writes survive the end of any process. `power`: a loss of power, too.
            clock, entropy: For tests.

        Raises:
            Invalid, Refused, Unavailable: with a stable code; a file that is refused is left untouched.
        """
        return cls(
            bootstrap.open_session(
                store=store, project=project, user=user, durability=durability, clock=clock, entropy=entropy
            )
        )

    @property
    def project(self) -> str:
        """Return the project's slug."""
        return self._context.slug

    @property
    def _context(self) -> Context:
        return self._opened.context

    def remember(
        self,
        body: str,
        *,
        title: str | None = None,
        kind: str | None = None,
        tags: Sequence[str] = (),
        paths: Sequence[str] = (),
        key: str | None = None,
        value: str | None = None,
        importance: float | None = None,
        pinned: bool = False,
        tier: str = "ltm",
        ttl: str | int | float | timedelta | None = None,
        links: Sequence[Target] = (),
        supersedes: Target | Sequence[Target] | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        scope: str | None = None,
        session: str | None = None,
        turn: int | None = None,
        speaker: str | None = None,
        source: str | None = None,
        occurred_at: When | None = None,
        trust: str | None = None,
        force: bool = False,
    ) -> Receipt:
        """State something worth keeping. When this returns it is durable, and found by the very next recall.

        Stating a thing again confirms it. A new value of a key replaces the old one from `valid_from` on.

        Args:
            body: The text, up to 16,000 characters (note, resource, summary, skill: 1,000,000).
            title: Up to 120 characters; default the beginning of the body.
            kind: See `eunoe.domain.kinds`; default fact, or note for a long body.
            tags: Up to 12.
            paths: Up to 20 files or folders that it is about.
            key: Names a fact that changes (`deploy/current`), of `a-z 0-9 . _ / : -`, up to 80.
            value: The key's value, when the body is a sentence about it.
            importance: 0 to 1; default by kind.
            pinned: Always part of a briefing.
            tier: `ltm`, or `stm` for what expires.
            ttl: Life of an `stm` memory: `30m`, `24h` (default), `7d`, seconds or a timedelta.
            links: Memories it belongs with.
            supersedes: Memories that it takes the place of.
            valid_from: When it becomes true; default `occurred_at`, else now. A future one is scheduled.
            valid_to: When it stops being true.
            scope: `project` (default), or `user:<id>` for that user alone.
            session, turn, speaker: For messages: where and by whom it was said. Turns next to each other lend each
                other context in recall.
            source: Where it was read.
            occurred_at: When it happened; default now.
            trust: May only be lowered: stated, observed, inferred, imported, external (which waits for a person).
            force: Record it although a near-duplicate is there.

        Raises:
            Invalid: The statement cannot be taken; the message names the field. NotFound: a linked memory.
            Conflict: `near_duplicate` (pass `force=True`), `superseded`, `not_active`.
            Refused: `rejected`, `scope`, `trust`, `vault`.
        """
        return remember.remember(
            self._context,
            body,
            title=title,
            kind=kind,
            tags=tags,
            paths=paths,
            key=key,
            value=value,
            importance=importance,
            pinned=pinned,
            tier=tier,
            ttl=ttl,
            links=links,
            supersedes=supersedes,
            valid_from=valid_from,
            valid_to=valid_to,
            scope=scope,
            session=session,
            turn=turn,
            speaker=speaker,
            source=source,
            occurred_at=occurred_at,
            trust=trust,
            force=force,
        )

    def remember_many(self, items: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """State several things in one transaction: mappings with the fields of `remember`; receipts in order.

        An invalid item rolls all back; the error's `details["item"]` is its place. Near-duplicates are recorded and
        flagged in `Receipt.twins`.
        """
        return remember.remember_many(self._context, items)

    def recall(
        self,
        query: str | None = None,
        *,
        limit: int = recall.DEFAULT_LIMIT,
        budget_tokens: int | None = None,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        any_tags: Sequence[str] = (),
        paths: Sequence[str] = (),
        since: When | None = None,
        until: When | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        min_evidence: float = 0.0,
        min_score: float = 0.0,
        scope: str | None = None,
        session: str | None = None,
        order: str = "relevance",
        after: str | None = None,
        include_me: bool = False,
        explain: bool = False,
    ) -> recall.Recalled:
        """Return what bears on the query, best first; `recall(None)` browses.

        Args:
            query: Any text; no character of it is grammar. Blank is `Invalid`.
            limit: Hits at most, 0 to 1,000.
            budget_tokens: Fill `Recalled.text` with what an agent reads: the best hits in full, the others as lines,
                in at most so many o200k tokens.
            kinds, any_tags, paths: Any of them. A path also stands for everything below it.
            tags: All of them.
            since, until: First said in [since, until).
            as_of: What was true in the world then.
            known_at: What we had recorded by then.
            min_evidence, min_score: Floors, 0 to 1.
            scope: Only of one scope; default all that the user may read.
            session: Only of one session.
            order: `relevance` (browsing: pinned, importance, newest), `newest`, `oldest`.
            after: `next` of the page before.
            include_me: Look into the user's own project as well.
            explain: Fill `Hit.explanation`.
        """
        return recall.recall(
            self._context,
            query,
            limit=limit,
            budget_tokens=budget_tokens,
            kinds=kinds,
            tags=tags,
            any_tags=any_tags,
            paths=paths,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            min_evidence=min_evidence,
            min_score=min_score,
            scope=scope,
            session=session,
            order=order,
            after=after,
            include_me=include_me,
            explain=explain,
        )

    def briefing(
        self,
        budget_tokens: int = 1500,
        focus: str | None = None,
        paths: Sequence[str] = (),
        surface: str | None = None,
    ) -> Briefing:
        """Return what a session should know before it starts, as text within a budget of o200k tokens.

        The same in a session until the memory changes, so that a prompt that holds it stays cached.

        Args:
            budget_tokens: 0 to 100,000.
            focus: The task in any words: what bears on it comes right after what is pinned.
            paths: Files or folders that the task is about.
            surface: Where the session runs; skills that are meant for other surfaces are left out.
        """
        from eunoe.service.briefing import briefing

        return briefing(self._context, budget_tokens=budget_tokens, focus=focus, paths=paths, surface=surface)

    def related(self, target: Target, *, hops: int = 1, budget_tokens: int = 800) -> Related:
        """Walk the links of a memory, up to 3 hops: each neighbour once, at its shortest distance."""
        from eunoe.service.related import related

        return related(self._context, target, hops=hops, budget_tokens=budget_tokens)

    def count(self, **filters: Any) -> int:
        """Return how many memories pass the filters of `recall`; without any, how many are believed now."""
        return recall.count(self._context, **filters)

    def get(
        self,
        target: Target | None = None,
        *,
        key: str | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
    ) -> Believed:
        """Return one memory, whatever its status, by number, id, `me#12` or `key=`. Raises `NotFound`."""
        return read.get(self._context, target, key=key, as_of=as_of, known_at=known_at)

    def links(self, target: Target) -> list[Linked]:
        """Return the memories that a memory is linked to, by number."""
        return read.links(self._context, target)

    def history(self, target: Target | None = None, *, key: str | None = None) -> list[read.Step]:
        """Return everything that happened to a memory, or to all that ever held a key, oldest first."""
        return read.history(self._context, target, key=key)

    def why(self, target: Target, query: str | None = None) -> read.Why:
        """Explain a memory: where it comes from, and whether and why a query finds it."""
        return read.why(self._context, target, query)

    def update(self, target: Target, *, version: int | None = None, **changes: Any) -> Change:
        """Correct fields of a memory in a new version; None clears title, key, value, source, valid_to.

        Raises:
            Conflict: `held_key`, `stale_version` (with `version=`), `not_active`, `duplicate_text`.
        """
        return update.update(self._context, target, version=version, **changes)

    def confirm(self, target: Target) -> Change:
        """Say that a memory is true today: its age begins anew. Raises `Conflict`: `superseded`, `not_active`."""
        return freshness.confirm(self._context, target)

    def dispute(self, target: Target) -> Change:
        """Say that a memory is probably wrong; it is marked until it is confirmed or edited. Raises as `confirm`."""
        return freshness.dispute(self._context, target)

    def review(self) -> review.Review:
        """Return what needs tending: disputed, likely the same, stale, unread, unlinked; nothing is changed."""
        return review.review(self._context)

    def archive(self, target: Target) -> Change:
        """Put a memory away; its key is free again. `restore` brings it back."""
        return lifecycle.archive(self._context, target)

    def forget(self, target: Target | None = None, *, dry_run: bool = False, **filters: Any) -> Change:
        """Take a memory back, or all that pass filters; what it said does not return by itself. Reversible.

        Raises:
            Refused: `empty_filter`.
        """
        return lifecycle.forget(self._context, target, dry_run=dry_run, **filters)

    def restore(self, target: Target) -> Change:
        """Believe an archived or forgotten memory again. Raises `Conflict`: `superseded`, `held_key`."""
        return lifecycle.restore(self._context, target)

    def link(self, a: Target, b: Target, *, note: str | None = None) -> Change:
        """Link two memories that belong together."""
        return links.link(self._context, a, b, note=note)

    def unlink(self, a: Target, b: Target) -> Change:
        """Cut a link."""
        return links.unlink(self._context, a, b)

    def verify(self, *, since: str | Sequence[str] = (), progress: Progress | None = None) -> ledger.Verified:
        """Check the project's ledger, and with `since` that it continues heads kept elsewhere."""
        return ledger.verify(self._context, since=since, progress=progress)

    def head(self) -> tuple[str, ...]:
        """Return the heads of the project's chains, to keep elsewhere."""
        return ledger.head(self._context)

    def log(self, *, limit: int = 20, target: Target | None = None) -> list[ledger.LogEntry]:
        """Return the newest events, or those of one memory, newest first."""
        return ledger.log(self._context, limit=limit, target=target)

    def rebuild(self, *, dry_run: bool = False, progress: Progress | None = None) -> rebuilding.Rebuilt:
        """Rebuild every projection from the ledger, compare, and repair."""
        return rebuilding.rebuild(self._context, dry_run=dry_run, progress=progress)

    def flush(self, *, progress: Progress | None = None) -> Flushed:
        """Wait until everything that was written is embedded; without a model there is nothing to wait for."""
        from eunoe.service.flush import flush

        return flush(self._context, progress=progress)

    def reembed(self, *, everything: bool = False, progress: Progress | None = None) -> Reembedded:
        """Embed all projects of the store by this session's model, which then serves; old vectors serve until then.

        Raises:
            Unavailable: `no_model`, or the model failed. Conflict: `reembedding`.
        """
        from eunoe.service.reembed import reembed

        return reembed(self._context, everything=everything, progress=progress)

    def export(self, *, everyone: bool = False) -> dict[str, Any]:
        """Return the whole project as a document: events, history, numbers, everything."""
        return exporting.export(self._context, everyone=everyone)

    def import_(
        self, document: Mapping[str, Any] | str | bytes, *, progress: Progress | None = None
    ) -> importing.Imported:
        """Take in a document that `export` made, or its text: an empty project adopts it whole."""
        read = parse(document) if isinstance(document, str | bytes) else document
        return importing.import_document(self._context, read, progress=progress)

    def close(self) -> None:
        """Close the store. Closing twice is allowed."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
