"""The ports `Beliefs` and `Memories` over one connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eunoe.domain.canonical import parse
from eunoe.domain.instants import from_us
from eunoe.domain.kinds import KINDS
from eunoe.domain.memory import Linked, Memory, display_title
from eunoe.ports.memories import Interval, Rejection, Stand
from eunoe.ports.text_index import Filter
from eunoe.stores.sql.connection import Connection, Row
from eunoe.stores.sql.filters import NOW, condition, names, values
from eunoe.stores.sql.statements import load

_SQL = load("memories")

_PICK_LIVE = "v.version = m.version"
_PICK_KNOWN = "v.recorded_from <= :known_at and (v.recorded_to is null or v.recorded_to > :known_at)"
_PICK_ALL = "v.version >= 1"
_AT_ONCE = 64

BELIEVED = f"""
join passages pa on pa.p = m.p and pa.memory = m.id and pa.version = m.version and pa.ordinal = 0 and {NOW}"""


class SqlBeliefs:
    """Implements `eunoe.ports.memories.Beliefs` for the project `p`."""

    def __init__(self, connection: Connection, p: int) -> None:
        self._connection = connection
        self._p = p

    def stand(self, ident: str) -> Stand | None:
        """See `Beliefs.stand`."""
        rows = self._run("stand", id=ident)
        return _stand(rows[0]) if rows else None

    def same_text(self, scope: str, fp: str) -> list[Stand]:
        """See `Beliefs.same_text`."""
        return self._newest_first(self._run("same_text", scope=scope, fp=fp))

    def alike(self, scope: str, fp: str, words_fp: str | None) -> tuple[list[Stand], list[Stand]]:
        """See `Beliefs.alike`."""
        rows = self._run("alike", scope=scope, fp=fp, words_fp=words_fp)
        same, words = ([(ident,) for ident, is_same in rows if is_same == wanted] for wanted in (1, 0))
        return self._newest_first(same), self._newest_first(words)

    def pending_value(self, scope: str, value_fp: str) -> Stand | None:
        """See `Beliefs.pending_value`."""
        return next(iter(self._newest_first(self._run("pending_value", scope=scope, value_fp=value_fp))), None)

    def followed_by(self, ident: str) -> list[Stand]:
        """See `Beliefs.followed_by`."""
        return self._newest_first(self._run("followed_by", id=ident))[::-1]

    def intervals(self, scope: str, key_fp: str) -> list[Interval]:
        """See `Beliefs.intervals`."""
        rows = self._run("intervals", scope=scope, key_fp=key_fp)
        return [Interval(memory=row[0], value_fp=row[1], valid_from=row[2], valid_to=row[3]) for row in rows]

    def rejections(self, scope: str, fps: Sequence[str]) -> list[Rejection]:
        """See `Beliefs.rejections`. At most two fingerprints."""
        first, last = fps[0], fps[-1]
        rows = self._run("rejections", scope=scope, fp0=first, fp1=last)
        return [Rejection(seq=row[0], match=row[1], memory=row[2], by_person=bool(row[3])) for row in sorted(rows)]

    def _newest_first(self, rows: list[Row]) -> list[Stand]:
        stands = filter(None, (self.stand(ident) for (ident,) in rows))
        return sorted(stands, key=lambda stand: -stand.number)

    def _run(self, name: str, **params: Any) -> list[Row]:
        return self._connection.run(_SQL[name], {"p": self._p, **params})


class SqlMemories:
    """Implements `eunoe.ports.memories.Memories` for the project `p`."""

    def __init__(self, connection: Connection, p: int) -> None:
        self._connection = connection
        self._p = p

    def find_id(self, *, number: int | None = None, ident: str | None = None, scopes: Sequence[str]) -> str | None:
        """See `Memories.find_id`."""
        rows = self._run("id_by_number", number=number) if number is not None else self._run("id_by_id", id=ident)
        return next((ident for ident, scope in rows if scope in scopes), None)

    def holders(
        self, scopes: Sequence[str], key_fps: Mapping[str, str], *, at: int | None = None, known_at: int | None = None
    ) -> list[str]:
        """See `Memories.holders`."""
        name, instants = "holders", {}
        if at is not None:
            name, instants = "holder", {"at": at}
            if known_at is not None:
                name, instants = "holder_known", {"at": at, "known_at": known_at}
        found = [self._run(name, scope=scope, key_fp=key_fps[scope], **instants) for scope in scopes]
        return list(dict.fromkeys(ident for rows in found for (ident,) in rows))

    def read(self, idents: Sequence[str], *, now: int, known_at: int | None = None) -> dict[str, Memory]:
        """See `Memories.read`."""
        pick, known = (_PICK_LIVE, {}) if known_at is None else (_PICK_KNOWN, {"known_at": known_at})
        found: dict[str, Memory] = {}
        for start in range(0, len(idents), _AT_ONCE):
            listed, given = self._connection.listed("id", _padded(idents[start : start + _AT_ONCE]))
            sql = _SQL["read"].format(pick=pick, ids=listed)
            for row in self._connection.run(sql, {"p": self._p, **known, **given}):
                found[row[0]] = hydrate(row, now, known_at)
        return {ident: found[ident] for ident in idents if ident in found}

    def versions(self, ident: str, *, now: int) -> list[Memory]:
        """See `Memories.versions`."""
        sql = _SQL["read"].format(pick=_PICK_ALL, ids=":id")
        rows = self._connection.run(sql, {"p": self._p, "id": ident})
        return [hydrate(row, now) for row in rows]

    def links(self, ident: str, scopes: Sequence[str], *, now: int | None = None) -> list[Linked]:
        """See `Memories.links`."""
        params = {"p": self._p, "id": ident} | ({} if now is None else {"now": now})
        sql = _SQL["links"].format(believed="" if now is None else BELIEVED)
        return [
            Linked(id=other, number=number, title=display_title(title, body), note=note)
            for other, number, title, body, note, scope in self._connection.run(sql, params)
            if scope in scopes
        ]

    def select(self, accept: Filter, *, limit: int) -> list[str]:
        """See `Memories.select`."""
        where = condition(accept)
        sql = _SQL["select"].format(visible=where.sql)
        rows = self._connection.run(sql, where.params | {"p": self._p, "limit": limit})
        return [row[0] for row in rows]

    def tally(self, scopes: Sequence[str]) -> dict[str, dict[str, int]]:
        """See `Memories.tally`."""
        sql = _SQL["tally"].format(scopes=names("scope", scopes))
        table: dict[str, dict[str, int]] = {}
        for kind, status, count in self._connection.run(sql, {"p": self._p, **values("scope", scopes)}):
            table.setdefault(kind, {})[status] = count
        return table

    def _run(self, name: str, **params: Any) -> list[Row]:
        return self._connection.run(_SQL[name], {"p": self._p, **params})


def _padded(idents: Sequence[str]) -> list[str]:
    """Repeat the last id up to the next power of two: few statements to prepare, whatever is asked."""
    size = 1
    while size < len(idents):
        size *= 2
    return [*idents, *[idents[-1]] * (size - len(idents))]


def _stand(row: Row) -> Stand:
    (ident, number, version, status, tier, scope, trust, expires_at, valid_from, valid_to, successor, key) = row[:12]
    key_fp, value_fp, fp, words_fp, pinned, origin = row[12:]
    return Stand(
        id=ident,
        number=number,
        version=version,
        status=status,
        tier=tier,
        scope=scope,
        trust=trust,
        expires_at=expires_at,
        valid_from=valid_from,
        valid_to=valid_to,
        superseded_by=successor,
        key=key,
        key_fp=key_fp,
        value_fp=value_fp,
        fp=fp,
        words_fp=words_fp,
        pinned=bool(pinned),
        by_person='"author_type":"agent"' not in origin,
    )


def hydrate(row: Row, now: int, known_at: int | None = None) -> Memory:
    """Return the memory of a row of the statement `read`, as it stands at `now` by what was known at `known_at`."""
    ident, number, tier, scope, status, trust, origin, session, turn, expires_at, occurrences = row[:11]
    first_seen, last_seen, recorded_at, confirmed_at, disputed_at, superseded_by, version, kind = row[11:19]
    title, body, tags, paths, key, value, source, speaker, importance, pinned = row[19:29]
    valid_from, valid_to, valid_to_at, recorded_from, recorded_to, event, slug, tokens_full, tokens_line = row[29:]
    if known_at is not None:
        # The version was believed then; what was learned of it later is left out.
        status = "pending" if trust == "external" else "active"
        if valid_to_at is not None and valid_to_at > known_at:
            valid_to = superseded_by = None
        if disputed_at is not None and disputed_at > known_at:
            disputed_at = None
    if status in ("active", "superseded") and superseded_by and valid_to is not None:
        status = "superseded" if valid_to <= now else "active"
    return Memory(
        id=ident,
        number=number,
        project=slug,
        version=version,
        kind=kind,
        type=KINDS[kind].type,
        tier=tier,
        title=display_title(title, body),
        body=body,
        tags=tuple(parse(tags)),
        paths=tuple(parse(paths)),
        key=key,
        value=value,
        importance=importance / 1000,
        pinned=bool(pinned),
        source=source,
        status=status,
        trust=trust,
        origin=parse(origin),
        scope=scope,
        speaker=speaker,
        session=session,
        turn=turn,
        valid_from=from_us(valid_from),
        valid_to=_when(valid_to),
        recorded_from=from_us(recorded_from),
        recorded_to=_when(recorded_to),
        created_at=from_us(recorded_at),
        confirmed_at=from_us(confirmed_at),
        disputed_at=_when(disputed_at),
        expires_at=_when(expires_at),
        occurrences=occurrences,
        first_seen=from_us(first_seen),
        last_seen=from_us(last_seen),
        superseded_by=superseded_by,
        event=event,
        tokens_full=tokens_full,
        tokens_line=tokens_line,
    )


def _when(us: int | None) -> Any:
    return None if us is None else from_us(us)
