"""Pictures of a report: the reliability diagram, and what a floor lets through and costs. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from io import BytesIO
from typing import Any

from eunoe.errors import Unavailable

_SIZE = (5.0, 5.0)
_DOTS_PER_INCH = 120


def check_matplotlib() -> None:
    """Raise `Unavailable` (`no_plots`) when matplotlib is not installed."""
    _new_figure()


def pictures(report: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield file names and PNG images of what the report has of calibration and answerability.

    Raises:
        Unavailable: `no_plots`.
    """
    for prefix, section in (("", report), ("locomo-", report.get("locomo", {}))):
        if "calibration" in section:
            yield f"{prefix}reliability.png", _reliability(section["calibration"])
        if "answerability" in section:
            yield f"{prefix}floors.png", _floors(section["answerability"])


def _reliability(calibrated: Mapping[str, Any]) -> bytes:
    figure = _new_figure()
    axes = figure.add_subplot(xlabel="evidence", ylabel="share of hits that are right", xlim=(0, 1), ylim=(0, 1))
    axes.plot((0, 1), (0, 1), color="grey", linestyle=":", label="perfect")
    for half, told in calibrated.items():
        held = [each for each in told["bins"] if each["hits"]]
        axes.plot([each["evidence"] for each in held], [each["right"] for each in held], marker="o", label=half)
    return _png(figure, axes)


def _floors(judged: Mapping[str, Any]) -> bytes:
    figure = _new_figure()
    axes = figure.add_subplot(xlabel="floor", ylabel="share of questions", xlim=(0, 1), ylim=(0, 1))
    half, kinds = next(iter(judged["halves"].items()))
    for kind, told in kinds.items():
        floors = [each["floor"] for each in told["floors"]]
        axes.plot(floors, [each["false_injection"] for each in told["floors"]], label=f"false injection, {kind}")
    told = next(iter(kinds.values()))
    floors = [each["floor"] for each in told["floors"]]
    axes.plot(floors, [each["miss"] for each in told["floors"]], linestyle="--", label="miss")
    axes.set_title(half)
    return _png(figure, axes)


def _png(figure: Any, axes: Any) -> bytes:
    axes.legend()
    made = BytesIO()
    figure.savefig(made, format="png", metadata={"Software": None})
    return made.getvalue()


def _new_figure() -> Any:
    """Return an empty figure, without the state that `pyplot` keeps."""
    try:
        figure = import_module("matplotlib.figure").Figure
    except ModuleNotFoundError as exc:
        if exc.name is None or not exc.name.startswith("matplotlib"):
            raise
        raise Unavailable("no_plots", "pictures need matplotlib; install it with: pip install 'eunoe[plots]'") from exc
    return figure(figsize=_SIZE, dpi=_DOTS_PER_INCH, layout="constrained")
