"""The server over stdio, on the official SDK: both eras of the protocol, one list of tools.

Standard output carries JSON-RPC and nothing else: the SDK keeps it for itself and sends whatever else is printed to
standard error. The server ends when its client closes standard input.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ContentBlock, ListToolsResult, TextContent, ToolAnnotations
from mcp.types import Tool as Offered

from eunoe._version import __version__
from eunoe.errors import EunoeError, NotFound
from eunoe.surfaces.mcp import arguments
from eunoe.surfaces.mcp.door import Door
from eunoe.surfaces.mcp.tools import BY_NAME, INSTRUCTIONS, TOOLS, hints, input_schema

Answer = tuple[str, Mapping[str, Any]]

FACTS = "eunoe/facts"
"""Where a result's facts stand for clients that get no structured form."""

# Claude Code and Codex give their model the structured form in place of the text (docs/explanation/clients-seen.md).
_SHOW_FACTS_FOR_TEXT = ("claude-code", "codex")

_THREADS = 4  # calls at a time; the store lets them read side by side


def serve(door: Door) -> None:
    """Serve one client until it closes standard input."""
    try:
        anyio.run(_serve, server(door))
    finally:
        door.close()


def server(door: Door) -> Server[Any]:
    """Return the server, not yet connected to anything."""
    threads = anyio.CapacityLimiter(_THREADS)

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_offered(tool.name) for tool in TOOLS])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        client = ctx.session.client_params
        work = partial(answer, door, client and client.client_info.name, params.name, params.arguments)
        return await anyio.to_thread.run_sync(work, limiter=threads)

    return Server(
        "eunoe",
        version=__version__,
        title="Eunoe memory",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def answer(door: Door, client: str | None, name: str, given: Mapping[str, Any] | None) -> CallToolResult:
    """Return what one call gives: text for the model, and its facts as an object. An error is an answer, too."""
    try:
        tool = BY_NAME.get(name)
        if tool is None:
            raise NotFound("no_tool", f"there is no tool {name!r}; there are {' '.join(BY_NAME)}")
        asked = arguments.read(tool, given)
        text, facts = _handler(name)(door.context(client), **asked)
    except EunoeError as exc:
        return _result(client, f"{exc.code}: {exc.message}", {"error": exc.to_dict()}, is_error=True)
    except Exception:  # noqa: BLE001 - the surface's boundary: the agent gets an answer, the person the traceback
        traceback.print_exc(file=sys.stderr)
        error = {"kind": "unexpected", "code": "unexpected", "message": "see the server's log", "retryable": False}
        told = f"unexpected: {name} failed; the server's log has the reason"
        return _result(client, told, {"error": error}, is_error=True)
    return _result(client, text, facts)


def _handler(name: str) -> Callable[..., Answer]:
    from eunoe.surfaces.mcp.answers import ANSWERS

    return ANSWERS[name]


def _result(client: str | None, text: str, facts: Mapping[str, Any], *, is_error: bool = False) -> CallToolResult:
    """Return a result in the form in which the client's model reads the text, and reads it once.

    The structured form repeats the text, because a client may hand on that form alone. Those that are known to do so
    get no structured form: its JSON would be dearer, and a fence of one line.
    """
    content: list[ContentBlock] = [TextContent(type="text", text=text)]
    if client is not None and client.startswith(_SHOW_FACTS_FOR_TEXT):
        return CallToolResult(content=content, is_error=is_error, _meta={FACTS: dict(facts)})
    return CallToolResult(content=content, structured_content={"text": text, **facts}, is_error=is_error)


def _offered(name: str) -> Offered:
    tool = BY_NAME[name]
    marks = ToolAnnotations.model_validate(hints(tool))
    return Offered(name=name, description=tool.help, input_schema=input_schema(tool), annotations=marks)


async def _serve(running: Server[Any]) -> None:
    async with stdio_server() as (receive, send):
        await running.run(receive, send, running.create_initialization_options())
