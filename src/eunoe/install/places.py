"""Where programs keep their files on this machine: by their own variables first, then by the platform."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from eunoe.errors import Invalid, shown


class Places:
    """The folders of one person on one machine, and the folder of one project.

    Attributes:
        home: The person's home.
        root: The root of the repository, or the folder itself outside one.
    """

    def __init__(self, environ: Mapping[str, str], root: Path, *, platform: str = sys.platform) -> None:
        self._environ = environ
        self._platform = platform
        given = environ.get("USERPROFILE" if platform == "win32" else "HOME")
        home = Path(given or os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none
        if not home.is_absolute():
            raise Invalid("bad_home", f"HOME={shown(str(given or ''))} is no absolute path; set it to your home folder")
        self.home = home
        self.root = root

    def named(self, variable: str) -> Path | None:
        """Return the path that a variable names, or None when it is unset."""
        value = self._environ.get(variable, "").strip()
        if not value:
            return None
        return self.home / value[2:] if value.startswith(("~/", "~\\")) else Path(value).absolute()

    def xdg(self, name: str) -> Path:
        """Return a program's folder under `XDG_CONFIG_HOME`; the XDG rules have a relative one ignored."""
        base = self._environ.get("XDG_CONFIG_HOME", "")
        return (Path(base) if Path(base).is_absolute() else self.home / ".config") / name

    def application(self, name: str) -> Path:
        """Return a desktop program's folder: XDG, Application Support, or Roaming."""
        if self._platform == "win32":
            return self.roaming(name)
        if self._platform == "darwin":
            return self.home / "Library" / "Application Support" / name
        return self.xdg(name)

    def roaming(self, name: str) -> Path:
        """Return a program's folder in Windows' roaming profile."""
        return Path(self._environ.get("APPDATA") or self.home / "AppData" / "Roaming") / name

    @property
    def is_windows(self) -> bool:
        """Return whether paths are those of Windows."""
        return self._platform == "win32"

    @property
    def is_mac(self) -> bool:
        """Return whether this is macOS."""
        return self._platform == "darwin"

    def has_program(self, name: str) -> bool:
        """Return whether a program is on the path; it is not run."""
        return shutil.which(name, path=self._environ.get("PATH", "")) is not None
