"""What a SKILL.md says of itself in its front matter. Lean."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = "---"


def applies_to(body: str) -> tuple[str, ...] | None:
    """Return the surfaces for which a skill is meant: None for all of them, an empty tuple for none.

    Reads `applies_to: [cli, mcp]`, `applies_to: cli` and a list of `- cli` lines.
    """
    lines = iter(body.splitlines())
    if next(lines, "").strip() != _FENCE:
        return None
    for line in lines:
        if line.strip() == _FENCE:
            return None
        name, colon, value = line.partition(":")
        if colon and name.strip() == "applies_to":
            return _listed(value.strip()) if value.strip() else _below(lines)
    return None


def _listed(value: str) -> tuple[str, ...]:
    return tuple(entry for part in value.strip("[]").split(",") if (entry := part.strip(" \"'")))


def _below(lines: Iterator[str]) -> tuple[str, ...]:
    found = []
    for line in lines:
        if not line.lstrip().startswith("- "):
            break
        found.append(line.strip()[2:].strip(" \"'"))
    return tuple(found)
