"""The trust policy: what becomes true at once, and what waits for a person."""

from __future__ import annotations

from typing import Literal

from eunoe.admission.draft import Draft


def initial_status(draft: Draft) -> Literal["active", "pending"]:
    """Return `pending` for what came from the outside (web, tools), `active` for everything that was stated.

    What is pending is kept and shown to a person, and is part of no recall.
    """
    return "pending" if draft.trust == "external" else "active"
