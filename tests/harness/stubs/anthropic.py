"""The Messages API, streamed, as far as Claude Code needs it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.harness.stubs.server import Call, Json, Turn


class Messages:
    """`POST /v1/messages`; see `Dialect`."""

    path = "/v1/messages"

    def tools(self, body: Json) -> dict[str, Json]:
        """See `Dialect.tools`."""
        return {tool["name"]: tool for tool in body.get("tools", [])}

    def search(self, tool: str, body: Json) -> Call | None:
        """See `Dialect.search`. A deferred tool's full name is said somewhere in the conversation."""
        named = re.search(rf"mcp__\w*?__{re.escape(tool)}\b", json.dumps(body))
        if named is None or "ToolSearch" not in self.tools(body):
            return None
        return Call("ToolSearch", {"query": f"select:{named[0]}", "max_results": 5})

    def system(self, body: Json) -> str:
        """See `Dialect.system`."""
        said = [body.get("system") or ""]
        said += [message["content"] for message in body["messages"] if message["role"] == "system"]
        return "\n".join(_text(each) for each in said)

    def results(self, body: Json) -> list[str]:
        """See `Dialect.results`."""
        return [
            _text(block.get("content") or "")
            for message in body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]

    def answer(self, turn: Turn, number: int, body: Json) -> Iterator[tuple[str, Json | str]]:
        """See `Dialect.answer`."""
        usage = {"input_tokens": 10, "output_tokens": 5}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"]}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        events: list[Json] = [{"type": "message_start", "message": message}]
        if isinstance(turn, Call):
            block: Json = {"type": "tool_use", "id": f"toolu_{number}", "name": turn.tool, "input": {}}
            delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text}
        events.append({"type": "content_block_start", "index": 0, "content_block": block})
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
        events.append({"type": "content_block_stop", "index": 0})
        reason = "tool_use" if isinstance(turn, Call) else "end_turn"
        end = {"stop_reason": reason, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}})
        events.append({"type": "message_stop"})
        yield from ((event["type"], event) for event in events)


def _text(content: str | list[Json]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text") or json.dumps(block) for block in content)
