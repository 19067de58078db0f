"""Fusion: several lanes, one order. Lean."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eunoe.ports.lane import Found

DIGITS = 9


def min_max_sum(lanes: Mapping[str, Sequence[Found]], weights: Mapping[str, float]) -> dict[str, float]:
    """Return memory id → the weighted sum of its lanes' raw numbers, each lane stretched to 0–1.

    A lane that did not find a memory adds nothing to it; a lane whose numbers are all equal gives each of them 1.
    The order in which lanes are given has no influence. Sums lie in [0, sum of weights].

    Why not reciprocal ranks: over conversations this sum found more (physics.md §4: 77.5 against 73.9 R@10).

    Cost: O(hits).
    """
    sums: dict[str, float] = {}
    for name in sorted(lanes):
        found = lanes[name]
        if not found:
            continue
        low, high = min(each.raw for each in found), max(each.raw for each in found)
        spread = high - low
        for each in found:
            share = (each.raw - low) / spread if spread > 0 else 1.0
            ident = each.passage.memory
            sums[ident] = sums.get(ident, 0.0) + weights.get(name, 0.0) * share
    return {ident: round(total, DIGITS) for ident, total in sums.items()}
