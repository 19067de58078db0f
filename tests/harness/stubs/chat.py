"""Chat completions, streamed, as far as OpenCode needs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.harness.stubs.server import Call, Json, Turn


class Chat:
    """`POST /v1/chat/completions`; see `Dialect`."""

    path = "/v1/chat/completions"

    def tools(self, body: Json) -> dict[str, Json]:
        """See `Dialect.tools`."""
        return {tool["function"]["name"]: tool["function"] for tool in body.get("tools") or []}

    def search(self, tool: str, body: Json) -> Call | None:
        """See `Dialect.search`."""
        return None

    def system(self, body: Json) -> str:
        """See `Dialect.system`."""
        return "\n".join(_text(each["content"]) for each in body["messages"] if each["role"] in ("system", "developer"))

    def results(self, body: Json) -> list[str]:
        """See `Dialect.results`."""
        return [_text(each["content"]) for each in body["messages"] if each["role"] == "tool"]

    def answer(self, turn: Turn, number: int, body: Json) -> Iterator[tuple[str, Json | str]]:
        """See `Dialect.answer`."""
        delta: Json = {"role": "assistant"}
        if isinstance(turn, Call):
            called = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
            delta["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function", "function": called}]
        else:
            delta["content"] = turn.text
        reason = "tool_calls" if isinstance(turn, Call) else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        chunk: Json = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        yield "", chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield "", chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
        yield "", "[DONE]"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or json.dumps(part) for part in content or [])
