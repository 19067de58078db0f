"""The projections and their columns."""

from __future__ import annotations

# Every projection and its columns, parents before children. Signals and reference tables are not among them.
TABLES: dict[str, tuple[str, ...]] = {
    "memories": (
        *("p", "id", "number", "version", "tier", "scope", "status", "trust", "origin", "session", "turn"),
        *("expires_at", "occurrences", "first_seen", "last_seen", "recorded_at", "confirmed_at", "disputed_at"),
        *("superseded_by", "seq", "fp", "words_fp", "key_fp", "value_fp"),
    ),
    "memory_versions": (
        *("p", "memory", "version", "seq", "kind", "title", "body", "tags", "paths", "key", "value", "source"),
        *("speaker", "importance", "pinned", "valid_from", "valid_to", "valid_to_at", "recorded_from", "recorded_to"),
        *("tokens_full", "tokens_line"),
    ),
    "keys": ("p", "scope", "key_fp", "valid_from", "recorded_from", "valid_to", "recorded_to", "memory", "value_fp"),
    "tags": ("p", "tag", "memory"),
    "paths": ("p", "path", "memory"),
    "links": ("p", "a", "b", "note", "made_at"),
    "evidence": ("p", "memory", "version", "source"),
    "subjects": ("p", "memory", "seq"),
    "rejections": ("p", "scope", "match", "fp", "memory", "by_person", "seq", "lifted_seq"),
    "contradictions": ("p", "a", "b", "rule", "state", "opened_seq", "resolved_seq"),
    "passages": (
        *(
            "p",
            "rid",
            "memory",
            "version",
            "ordinal",
            "live",
            "scope",
            "session",
            "turn",
            "length",
            "terms",
            "trust",
            "valid_from",
            "valid_to",
            "expires_at",
            "speaker",
            "shape",
        ),
    ),
    "term_stats": ("p", "scope", "term", "df"),
    "label_stats": ("p", "scope", "label", "n"),
    "scope_stats": ("p", "scope", "n", "length"),
}

# What else belongs to a project, and is copied when a store moves: the ledger, then what stands beside the projections.
LEDGER: dict[str, tuple[str, ...]] = {
    "events": (
        *("p", "seq", "id", "stream", "n", "type", "v", "origin", "occurred_at", "recorded_at", "received_at"),
        *("dedupe_key", "meta", "payload", "payload_key", "payload_hash", "prev_hash", "hash"),
    ),
    "heads": ("p", "stream", "n", "hash"),
}
BESIDE: dict[str, tuple[str, ...]] = {
    "accesses": ("p", "memory", "at", "n"),
    "vectors": ("p", "model", "rid", "generation", "first", "last", "scale", "quantised", "vector"),
    "vector_sets": ("p", "model", "generation", "removals"),
    "token_states": ("p", "model", "rid", "block", "scope", "ids", "states", "counts"),
    "state_sources": ("p", "source", "model", "block"),
    "state_stats": ("p", "model", "scope", "token", "df"),
    "embed_jobs": ("p", "rid", "attempts", "not_before", "error"),
}
# Named by no project. `leases` are taken anew, `store` and `migrations` are each database's own.
REFERENCE: dict[str, tuple[str, ...]] = {
    "projects": ("p", "uuid", "slug", "identity", "created_at"),
    "data_keys": ("p", "key_id", "wrapped", "fingerprint", "retired_at"),
    "models": ("id", "name", "fingerprint", "dim", "bound_at"),
}
