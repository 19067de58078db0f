"""The server over stdio, on the official SDK: both eras of the protocol, one list of tools.

Standard output carries JSON-RPC and nothing else: it is kept for the protocol, and whatever else is printed goes to
standard error. The server ends when its client closes standard input.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Mapping
from functools import partial
from typing import Any, BinaryIO

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ContentBlock, ListToolsResult, TextContent, ToolAnnotations
from mcp.types import Tool as Offered

from eunoe._version import __version__
from eunoe.errors import EunoeError, NotFound, shown
from eunoe.service.context import Context
from eunoe.surfaces.mcp import arguments
from eunoe.surfaces.mcp.door import Door
from eunoe.surfaces.mcp.tools import BY_NAME, INSTRUCTIONS, TOOLS, Tool, hints, input_schema

Answer = tuple[str, Mapping[str, Any]]

FACTS = "eunoe/facts"
"""Where a result's facts stand for clients that get no structured form."""

# Claude Code and Codex give their model the structured form in place of the text (docs/explanation/clients-seen.md).
_SHOW_FACTS_FOR_TEXT = ("claude-code", "codex")

# Reads run side by side; a write that waits for another process must not keep them waiting.
_READERS, _WRITERS = 4, 2
_ATTEMPTS, _SLACK = 6, 8


def serve(door: Door) -> None:
    """Serve one client until it closes standard input, or reads no longer."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a thread waits for input: only the system can end it
    try:
        anyio.run(_serve, server(door))
    finally:
        door.close()


def server(door: Door) -> Server[Any]:
    """Return the server, not yet connected to anything."""
    readers, writers = anyio.CapacityLimiter(_READERS), anyio.CapacityLimiter(_WRITERS)

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_offered(tool.name) for tool in TOOLS])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        client = ctx.session.client_params
        work = partial(answer, door, client and client.client_info.name, params.name, params.arguments)
        tool = BY_NAME.get(params.name)
        return await anyio.to_thread.run_sync(work, limiter=readers if tool is None or tool.reads else writers)

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
    reads_text = client is not None and client.startswith(_SHOW_FACTS_FOR_TEXT)
    try:
        tool = BY_NAME.get(name)
        if tool is None:
            raise NotFound("no_tool", f"there is no tool {shown(name)}; there are {' '.join(BY_NAME)}")
        asked = arguments.read(tool, given)
        text, facts = _answered(tool, door.context(client), asked, reads_text=reads_text)
    except EunoeError as exc:
        return _result(f"{exc.code}: {exc.message}", {"error": exc.to_dict()}, reads_text=reads_text, is_error=True)
    except Exception:  # noqa: BLE001 - the surface's boundary: the agent gets an answer, the person the traceback
        traceback.print_exc(file=sys.stderr)
        error = {"kind": "unexpected", "code": "unexpected", "message": "see the server's log", "retryable": False}
        told = f"unexpected: {name} failed; the server's log has the reason"
        return _result(told, {"error": error}, reads_text=reads_text, is_error=True)
    return _result(text, facts, reads_text=reads_text)


def _answered(tool: Tool, context: Context, asked: dict[str, Any], *, reads_text: bool) -> Answer:
    """Call the use case; an answer that is handed on as JSON keeps to its budget as JSON."""
    from eunoe.surfaces.mcp.answers import ANSWERS

    if not tool.tokens:
        return ANSWERS[tool.name](context, **asked)
    budget = room = asked.get("budget_tokens", tool.tokens)
    for _ in range(_ATTEMPTS):
        text, facts = ANSWERS[tool.name](context, **asked | {"budget_tokens": room})
        over = 0 if reads_text else context.tokens(json.dumps({"text": text, **facts}, ensure_ascii=False)) - budget
        if over <= 0 or not room:
            return text, facts
        room = max(room - over - _SLACK, 0)
    return text, {name: value for name, value in facts.items() if not isinstance(value, list)}


def _result(text: str, facts: Mapping[str, Any], *, reads_text: bool, is_error: bool = False) -> CallToolResult:
    """Return a result in the form in which the client's model reads the text, and reads it once.

    The structured form repeats the text, because a client may hand on that form alone. Those that are known to do so
    get no structured form: its JSON would be dearer, and a fence of one line.
    """
    content: list[ContentBlock] = [TextContent(type="text", text=text)]
    if reads_text:
        return CallToolResult(content=content, is_error=is_error, _meta={FACTS: dict(facts)})
    return CallToolResult(content=content, structured_content={"text": text, **facts}, is_error=is_error)


def _offered(name: str) -> Offered:
    tool = BY_NAME[name]
    marks = ToolAnnotations.model_validate(hints(tool))
    return Offered(name=name, description=tool.help, input_schema=input_schema(tool), annotations=marks)


async def _serve(running: Server[Any]) -> None:
    stdin, stdout = anyio.wrap_file(_Input(sys.stdin.buffer)), anyio.wrap_file(_Output(_claimed_output()))
    async with stdio_server(stdin=stdin, stdout=stdout) as (receive, send):
        await running.run(receive, send, running.create_initialization_options())


def _claimed_output() -> BinaryIO:
    """Keep standard output for the protocol; whatever else is printed goes to standard error."""
    wire = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return os.fdopen(wire, "wb")


class _Output(io.TextIOWrapper):
    """The wire, as UTF-8. A client that reads no longer is the end: nothing more can be answered."""

    def __init__(self, raw: BinaryIO) -> None:
        super().__init__(raw, encoding="utf-8", newline="\n")

    def flush(self) -> None:
        """Send what was written, or leave at once: another thread waits for input that may never come."""
        try:
            super().flush()
        except BrokenPipeError:
            os._exit(0)


class _Input(io.TextIOWrapper):
    """Standard input as UTF-8, line by line, in which half a surrogate pair is U+FFFD.

    A client that cuts a text in the middle of an emoji sends one; the SDK takes the line for no JSON and never answers.
    """

    def __init__(self, raw: Any) -> None:
        super().__init__(raw, encoding="utf-8", errors="replace")

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Return the next line, repaired."""
        line = super().readline(size)
        return _ESCAPE.sub(_whole, line) if "\\u" in line else line


# A whole pair of surrogates, half of one, or any other escape: read in order, so that an escaped backslash stays one.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def _whole(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape.lastgroup == "half" else escape.group()
