"""Shows a change of a file as a unified diff, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from eunoe.install.files import Change

_NO_FILE = "/dev/null"
_NO_LINE_END = "\\ No newline at end of file"


def action(change: Change) -> str:
    """Return what happens to the file: `create`, `change` or `remove`."""
    return "create" if change.before is None else "remove" if change.after is None else "change"


def unified(change: Change) -> Iterator[str]:
    """Yield the lines of the diff without line ends; a file that does not end in one is marked, as `diff` does."""
    old = _NO_FILE if change.before is None else str(change.path)
    new = _NO_FILE if change.after is None else str(change.path)
    for n, line in enumerate(unified_diff(_lines(change.before), _lines(change.after), old, new, lineterm="")):
        yield line.removesuffix("\n").removesuffix("\r")
        if n > 1 and line[:1] in "+- " and not line.endswith("\n"):
            yield _NO_LINE_END


def _lines(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8-sig")
    lines = text.split("\n")
    return [*(line + "\n" for line in lines[:-1]), *([lines[-1]] if lines[-1] else [])]
