"""Measuring side by side: what is compared runs in turns in one process, because machines are noisy."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import mean, median
from typing import Any


def cpu_ms(function: Callable[[], Any]) -> float:
    """Return the CPU milliseconds of one call."""
    started = time.process_time_ns()
    function()
    return (time.process_time_ns() - started) / 1e6


def in_turns(pairs: Sequence[tuple[Callable[[], Any], ...]]) -> list[list[float]]:
    """Return the CPU milliseconds of every call, one list for each place in the tuples; the order alternates."""
    times: list[list[float]] = [[] for _ in pairs[0]]
    for at, pair in enumerate(pairs):
        order = range(len(pair)) if at % 2 == 0 else reversed(range(len(pair)))
        for place in order:
            times[place].append(cpu_ms(pair[place]))
    return times


def summary(times: Sequence[float]) -> dict[str, float]:
    """Return median, mean and the 99th percentile, in milliseconds."""
    ordered = sorted(times)
    return {
        "p50": round(median(ordered), 4),
        "mean": round(mean(ordered), 4),
        "p99": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 4),
    }
