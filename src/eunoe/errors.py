"""Every error Eunoe raises on purpose, and nothing else.

::

    EunoeError
    ├── Invalid       what was given can never work: blank text, a bad limit, an unknown filter
    ├── NotFound      well formed, but there is no such memory, project or event
    ├── Conflict      it clashes with what is there: a held key, a near-duplicate, a stale version
    ├── Refused       a rule says no: a scope, a rejection, something only a person may do
    └── Unavailable   the store cannot do it now: locked, read-only, full, damaged, made by a newer Eunoe

One class per question a caller asks ("did I misuse it, is it missing, does it clash, may I, is the store well?").
`code` is stable and names the exact case; the message is for people, names the value, the setting and the fix, and
may change. Loads nothing but itself, because the recall path of hooks imports it.
"""

from __future__ import annotations

# `typing.TYPE_CHECKING` would import `typing` (9 ms); a type checker treats this name the same way.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SHOWN_CHARACTERS = 80


def shown(value: object) -> str:
    """Return a value as an error message may show it: quoted, control characters escaped, at most 80 characters."""
    text = repr(value) if not isinstance(value, str) else ascii(value) if not value.isprintable() else repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


class EunoeError(Exception):
    """The base of all errors of this package.

    Attributes:
        code: Stable, machine-readable, `snake_case`; tests and clients rely on it.
        retryable: True when the same call may succeed later without any change.
        details: More facts by name, JSON-compatible; for example `{"twins": [12]}`.
    """

    kind = "error"
    retryable = False

    def __init__(self, code: str, message: str, *, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.details: dict[str, object] = dict(details or {})

    @property
    def message(self) -> str:
        """Return the sentence for people."""
        return str(self.args[0])

    def to_dict(self) -> dict[str, object]:
        """Return the error as surfaces send it: kind, code, message, retryable, details."""
        return {
            "kind": self.kind,
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
            "details": self.details,
        }


class Invalid(EunoeError):  # noqa: N818 - public name, fixed by the design
    """What was given can never work; nothing was written."""

    kind = "invalid"


class NotFound(EunoeError):  # noqa: N818 - public name
    """There is no such thing within what the caller may read; nothing was written."""

    kind = "not_found"


class Conflict(EunoeError):  # noqa: N818 - public name
    """It clashes with what is already there; nothing was written."""

    kind = "conflict"


class Refused(EunoeError):  # noqa: N818 - public name
    """A rule forbids it for this caller; nothing was written."""

    kind = "refused"


class Unavailable(EunoeError):  # noqa: N818 - public name
    """The store cannot do it now; nothing was written, and nothing that was acknowledged is lost."""

    kind = "unavailable"

    def __init__(
        self, code: str, message: str, *, retryable: bool = False, details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(code, message, details=details)
        self.retryable = retryable
