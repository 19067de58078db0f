"""Sizes of a memory's fields, in characters or entries. Enforced by the gate, on every path. Lean."""

from __future__ import annotations

TITLE = 120
BODY = 16_000
LONG_BODY = 1_000_000  # kinds resource, note, summary, skill
TAGS = 12
TAG = 64
PATHS = 20
PATH = 512
KEY = 80
VALUE = 2_000
SOURCE = 1_000
SPEAKER = 120
SESSION = 200
NOTE = 400
LINKS_PER_CALL = 32
QUERY = 10_000
RESULTS = 1_000
BUDGET = 100_000  # tokens that one answer may be asked to fill
