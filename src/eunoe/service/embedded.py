"""What a store holds of meaning: by which model, how much, and what is still to be done."""

from __future__ import annotations

from typing import Any, NamedTuple

from eunoe.ports.store import Store


class Held(NamedTuple):
    """The state of a store's vectors.

    Attributes:
        model: The model that serves, or None while nothing is embedded.
        texts: Texts and parts that have a vector.
        states: Texts and parts that have token states.
        bytes: What both take on disk.
        waiting, dead, error: Of the queue.
    """

    model: str | None
    texts: int
    states: int
    bytes: int
    waiting: int
    dead: int
    error: str | None

    def facts(self) -> dict[str, Any]:
        """Return it as `doctor` shows it."""
        each = f", {self.bytes / self.texts / 1024:.1f} KB each" if self.texts else ""
        return {
            "bound to": self.model or "nothing yet",
            "embedded": f"{self.texts} texts, {self.states} with token states{each}",
            "waiting": self.waiting,
        }


def held(store: Store) -> Held:
    """Return what a store holds of meaning, over all its projects."""
    with store.reading() as view:
        bound = view.models.bound()
        waiting, dead, error = view.jobs.counts()
        sizes = [view.vectors(p, bound.id).sizes() for p in view.projects.numbers()] if bound else []
    return Held(
        model=bound.name if bound else None,
        texts=sum(each["vectors"] for each in sizes),
        states=sum(each["states"] for each in sizes),
        bytes=sum(each["vector_bytes"] + each["state_bytes"] for each in sizes),
        waiting=waiting,
        dead=dead,
        error=error,
    )
