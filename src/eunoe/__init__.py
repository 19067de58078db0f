"""Eunoe: one memory for every AI agent. Local first; no key, no LLM, no daemon; corrections stick.

>>> from eunoe import Memory
>>> with Memory.open(":memory:", project="acme/api") as m:
...     m.remember("Stripe webhooks need the raw body").outcome
'recorded'

Names load when they are first used, so that `import eunoe` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe._version import __version__
    from eunoe.bootstrap import resolve_project
    from eunoe.errors import Conflict, EunoeError, Invalid, NotFound, Refused, Unavailable
    from eunoe.surfaces.library import Memory

__all__ = [
    "Conflict",
    "EunoeError",
    "Invalid",
    "Memory",
    "NotFound",
    "Refused",
    "Unavailable",
    "__version__",
    "resolve_project",
]

_HOMES = {
    "Conflict": "eunoe.errors",
    "EunoeError": "eunoe.errors",
    "Invalid": "eunoe.errors",
    "Memory": "eunoe.surfaces.library",
    "NotFound": "eunoe.errors",
    "Refused": "eunoe.errors",
    "Unavailable": "eunoe.errors",
    "__version__": "eunoe._version",
    "resolve_project": "eunoe.bootstrap",
}


def __getattr__(name: str) -> object:
    """Load a public name from its home."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'eunoe' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
