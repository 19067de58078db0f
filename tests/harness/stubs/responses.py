"""The Responses API, streamed, as far as Codex needs it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.harness.stubs.server import Call, Json, Turn


class Responses:
    """`POST /v1/responses`; see `Dialect`. Tools of a namespace are named `<namespace>__<tool>` here."""

    path = "/v1/responses"

    def tools(self, body: Json) -> dict[str, Json]:
        """See `Dialect.tools`. What a tool search found counts as offered: its output holds the definitions."""
        found = [item.get("tools") or [] for item in body["input"] if item["type"] == "tool_search_output"]
        offered: dict[str, Json] = {}
        for tool in [*(body.get("tools") or []), *(tool for tools in found for tool in tools)]:
            if tool["type"] == "namespace":
                inner = {f"{tool['name']}__{each['name']}": each for each in tool["tools"]}
                offered |= {name: {**each, "namespace": tool["name"]} for name, each in inner.items()}
            else:
                offered[tool.get("name") or tool["type"]] = tool
        return offered

    def search(self, tool: str, body: Json) -> Call | None:
        """See `Dialect.search`."""
        searches = "tool_search" in self.tools(body)
        return Call("tool_search", {"query": f"eunoe {tool}", "limit": 8}) if searches else None

    def system(self, body: Json) -> str:
        """See `Dialect.system`."""
        said = [body.get("instructions") or ""]
        said += [_text(item["content"]) for item in body["input"] if item.get("role") in ("system", "developer")]
        return "\n".join(said)

    def results(self, body: Json) -> list[str]:
        """See `Dialect.results`."""
        return [_text(item["output"]) for item in body["input"] if item["type"].endswith("_call_output")]

    def answer(self, turn: Turn, number: int, body: Json) -> Iterator[tuple[str, Json | str]]:
        """See `Dialect.answer`."""
        if isinstance(turn, Call):
            tool = self.tools(body)[turn.tool]
            item: Json = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
            item |= {"name": tool.get("name"), "arguments": json.dumps(turn.arguments)}
            if "namespace" in tool:
                item["namespace"] = tool["namespace"]
            if tool["type"] == "tool_search":
                item = {"type": "tool_search_call", "id": f"ts_{number}", "call_id": f"call_{number}"}
                item |= {"execution": "client", "status": "completed", "arguments": turn.arguments}
        else:
            item = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
            item["content"] = [{"type": "output_text", "text": turn.text, "annotations": []}]
        usage: Json = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        done = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item], "usage": usage}
        events: list[Json] = [
            {"type": "response.created", "response": {"id": f"resp_{number}"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ]
        yield from ((event["type"], event) for event in events)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or json.dumps(part) for part in content)
