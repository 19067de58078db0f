"""Who calls, as the runtime knows it; never settable by what is called with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from eunoe.domain.canonical import canonical

Author = Literal["person", "agent", "application", "import"]

PROJECT_SCOPE = "project"


class Caller(NamedTuple):
    """The user, and what speaks for them.

    Attributes:
        author: `person` at a terminal or in a hook's prompt, `agent`, `application` (library code, which acts for
            its application and may do what a person may), or `import`.
        surface: `library`, `cli`, …
    """

    user: str | None = None
    author: Author = "application"
    surface: str = "library"
    details: Mapping[str, str] = MappingProxyType({})

    @property
    def scopes(self) -> tuple[str, ...]:
        """Return the scopes the caller may read and write, the shared one first."""
        return (PROJECT_SCOPE,) if self.user is None else (PROJECT_SCOPE, f"user:{self.user}")

    @property
    def is_agent(self) -> bool:
        """Tell whether this is neither a person nor an application acting for one."""
        return self.author in ("agent", "import")

    def origin(self) -> str:
        """Return the canonical origin of an event that this caller causes."""
        facts = {"user": self.user, "author_type": self.author, "surface": self.surface, **self.details}
        return canonical({name: value for name, value in facts.items() if value is not None})
