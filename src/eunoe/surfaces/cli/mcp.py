"""`eunoe mcp`: the server that an agent's harness starts."""

from __future__ import annotations

import gc

from eunoe.errors import Unavailable
from eunoe.surfaces.cli.options import define, given


def _mcp() -> int:
    try:
        from eunoe.surfaces.mcp.door import Door
        from eunoe.surfaces.mcp.server import serve
    except ModuleNotFoundError as exc:
        if exc.name is None or exc.name.startswith("eunoe"):
            raise
        raise Unavailable(
            "no_mcp", f"`eunoe mcp` needs the package {exc.name}; install Eunoe with: pip install 'eunoe[mcp]'"
        ) from exc
    # `__main__` stopped the collector for start-up; what is there by now stays for good and is never looked at again.
    gc.freeze()
    gc.enable()
    asked = given()
    serve(Door(store=asked.store, project=asked.project, user=asked.user))
    return 0


COMMANDS = {
    "mcp": define(
        "mcp",
        "Serve one agent over standard input and output (MCP)",
        _mcp,
        more="A harness starts this; `eunoe setup` writes it into the harness's configuration. It ends when the "
        "harness closes standard input.",
    )
}
