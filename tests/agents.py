"""Agents for tests: the official client, connected to a server in this process or in one of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from eunoe.surfaces.mcp.door import Door
from eunoe.surfaces.mcp.server import server

ERAS = ("2026-07-28", "legacy")
COMMAND = (sys.executable, "-m", "eunoe", "mcp")
PROJECT, USER = "acme/api", "kim"


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a server whose data lies in a folder."""
    named = {"EUNOE_HOME": str(home), "EUNOE_PROJECT": PROJECT, "EUNOE_USER": USER}
    return {**os.environ, **named, **more}


@asynccontextmanager
async def process(home: Path, era: str = ERAS[0], **more: str) -> AsyncIterator[Client]:
    """Yield a client of a server that runs as a process of its own."""
    parameters = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), env=environment(home, **more))
    async with Client(parameters, **_mode(era)) as client:
        yield client


@asynccontextmanager
async def agent(store: Path | str = ":memory:", era: str = ERAS[0], *, user: str = USER) -> AsyncIterator[Client]:
    """Yield a client of a server in this process, over the same messages."""
    door = Door(store=str(store), project=PROJECT, user=user)
    try:
        async with Client(server(door), **_mode(era)) as client:
            yield client
    finally:
        door.close()


async def call(client: Client, name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """Return the text and the facts of a call that must succeed."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return text_of(result), dict(result.structured_content or {})


async def facts(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Return the facts of a call that must succeed."""
    return (await call(client, name, **arguments))[1]


async def text(client: Client, name: str, **arguments: Any) -> str:
    """Return the text of a call that must succeed."""
    return (await call(client, name, **arguments))[0]


async def failure(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Return the error of a call that must fail."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result.content
    error: dict[str, Any] = dict(result.structured_content or {})["error"]
    assert text_of(result).startswith(f"{error['code']}: ")
    return error


def text_of(result: Any) -> str:
    """Return the one text of a result."""
    [content] = result.content
    return str(content.text)


def _mode(era: str) -> dict[str, Any]:
    return {"mode": "legacy"} if era == "legacy" else {}
