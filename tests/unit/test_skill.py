"""What a skill says of where it applies."""

from __future__ import annotations

import pytest

from eunoe.domain.skill import applies_to


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("no front matter", None),
        ("---\nname: x\n---\napplies_to: [cli]\n", None),
        ("---\nname: x\napplies_to: [cli, mcp]\n---\n", ("cli", "mcp")),
        ('---\napplies_to: "cli"\n---\n', ("cli",)),
        ("---\napplies_to:\n  - cli\n  - 'mcp'\nname: x\n---\n", ("cli", "mcp")),
        ("---\napplies_to: []\n---\n", ()),
        ("---\napplies_to:\n---\n", ()),
        ("---\nnever closed", None),
        ("", None),
    ],
)
def test_applies_to(body: str, expected: tuple[str, ...] | None) -> None:
    assert applies_to(body) == expected
