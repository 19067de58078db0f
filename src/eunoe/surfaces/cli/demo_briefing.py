"""The step of the demo in which a new session is told what it should know."""

from __future__ import annotations

from typing import Any

from eunoe.service.briefing import briefing

_TOKENS = 450
_TASK = "retry a failed label"
_SHOWN = 16  # lines of it


def briefs(story: Any) -> None:
    """Print the briefing of a session that knows nothing yet, and check its budget and its first match."""
    stage, context = story.stage, story.context
    stage.step("Begin a session: what it should know, in a budget of tokens")
    stage.command("briefing", _TASK, "--budget-tokens", str(_TOKENS))
    told = briefing(context, budget_tokens=_TOKENS, focus=_TASK)
    lines = told.text.splitlines()
    stage.say("\n".join(lines[:_SHOWN]))
    stage.say(f"… and {len(lines) - _SHOWN} lines more")
    fits = context.tokens(told.text) <= _TOKENS
    stage.check(
        fits and "A label is bought once" in told.text,
        f"{told.tokens} of {_TOKENS} tokens; what bears on the task is in it, {told.omitted} memories are left out",
    )
