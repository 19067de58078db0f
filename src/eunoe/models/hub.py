"""The files of a model on a hub that speaks as Hugging Face's does, by the standard library alone."""

from __future__ import annotations

import http.client
import io
import os
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import IO, Any
from urllib.parse import quote

from eunoe.errors import Invalid, Unavailable, shown
from eunoe.models.failing import said
from eunoe.models.staging import GRAPHS, Progress

PREFIX = "hf:"
_DEFAULT = "https://huggingface.co"
_TIMEOUT_S = 30
_NAME = re.compile(r"(?!\.)[\w.-]+/(?!\.)[\w.-]+")
_REVISION = re.compile(r"(?!\.)[\w./-]+")
_GONE = (403, 404, 410)  # some hubs answer 403 for a file that a repository does not have


class Hub:
    """One repository of a hub at one revision.

    Attributes:
        source: `hf:ORG/NAME@REVISION`, with the commit as soon as the hub told it.
    """

    def __init__(self, asked: str, *, environ: Mapping[str, str], progress: Progress | None) -> None:
        """Keep what is asked; nothing is opened yet.

        Raises:
            Invalid: `bad_model`: not `hf:ORG/NAME[@REVISION]`, or `HF_ENDPOINT` is no web address.
        """
        name, _, revision = asked.removeprefix(PREFIX).partition("@")
        self._name, self._revision = name, revision or "main"
        if not _NAME.fullmatch(name) or not _REVISION.fullmatch(self._revision) or ".." in asked:
            raise Invalid("bad_model", f"{shown(asked)} must be hf:ORG/NAME or hf:ORG/NAME@REVISION")
        self._base = (environ.get("HF_ENDPOINT") or _DEFAULT).rstrip("/")
        if not self._base.startswith(("https://", "http://")):
            raise Invalid("bad_model", f"HF_ENDPOINT={shown(self._base)} is no web address")
        self._progress = progress
        self.source = f"{PREFIX}{name}@{self._revision}"

    def open(self, file: str) -> IO[bytes]:
        """Open one file.

        Raises:
            FileNotFoundError: The repository has no such file.
            Unavailable: `download_failed` (retryable).
        """
        url = f"{self._base}/{self._name}/resolve/{quote(self._revision)}/{file}"
        try:
            request = urllib.request.Request(url, headers={"User-Agent": "eunoe"})  # noqa: S310 - http(s), see above
            answer = urllib.request.urlopen(request, timeout=_TIMEOUT_S)  # noqa: S310
        except urllib.error.HTTPError as exc:
            exc.close()
            if exc.code in _GONE:
                raise FileNotFoundError(file) from exc
            raise self.failed(file, f"HTTP {exc.code}") from exc
        except (OSError, http.client.HTTPException) as exc:
            raise self.failed(file, said(exc)) from exc
        commit = answer.headers.get("X-Repo-Commit")
        if commit and _REVISION.fullmatch(commit):
            self.source = f"{PREFIX}{self._name}@{commit}"
        return io.BufferedReader(_Body(answer, self, file, self._progress if file in GRAPHS else None), 1 << 16)

    def failed(self, file: str, why: str) -> Unavailable:
        """Return the error for a file that did not come."""
        place = self._base.partition("://")[2].rpartition("@")[2]
        return Unavailable(
            "download_failed",
            f"{file} of {self._name} cannot be fetched from {place}: {why}; HF_ENDPOINT names another hub, "
            "and a folder with the files can be given with --from FOLDER",
            retryable=True,
        )


class _Body(io.RawIOBase):
    """What a hub sends, as a file; it must come whole."""

    def __init__(self, answer: http.client.HTTPResponse, hub: Hub, file: str, progress: Progress | None) -> None:
        super().__init__()
        self._answer, self._hub, self._file, self._progress = answer, hub, file, progress
        length = answer.headers.get("Content-Length", "")
        self._total = int(length) if length.isdigit() else 0
        self._done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            size = self._answer.readinto(buffer)
        except (OSError, http.client.HTTPException) as exc:
            raise self._hub.failed(self._file, said(exc)) from exc
        self._done += size
        if size == 0 and self._done < self._total:
            raise self._hub.failed(self._file, f"{self._done} of {self._total} bytes came")
        if self._progress is not None and self._total:
            self._progress(self._done, self._total)
        return size

    def close(self) -> None:
        self._answer.close()
        super().close()


def name_of(asked: str) -> str:
    """Return the name under which a repository's model is installed."""
    return os.path.basename(asked.removeprefix(PREFIX).partition("@")[0])
