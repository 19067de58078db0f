"""Which model a process uses, told cheaply; and the model itself, loaded when it is asked for.

`find` opens at most one small file and imports nothing heavy, so that a command which needs no model pays nothing.
Whether there is a model is never an error: without one, search goes by words.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from eunoe.errors import EunoeError, Invalid, Unavailable, shown
from eunoe.models.catalog import DEFAULT, MODELS, Known, find_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eunoe.models.manifest import Manifest
    from eunoe.ports.embedder import Embedder
    from eunoe.ports.reranker import Reranker

FOLDER = "models"
KEY = "EUNOE_MODEL_KEY"
_ENDPOINT = "openai:"
_FAKE = "fake"


class Choice(NamedTuple):
    """What was found out about the model to use, without loading it.

    Attributes:
        state: `off` (none is wanted), `missing` (wanted, or merely possible, but not there), or `ready`.
        name: What people call it; empty when it is off.
        reason: One sentence for people: why this one, or what to do.
        engine: `onnx`, `e5`, `endpoint`, `fake`, or empty when it is not ready.
        folder: Where its files are, or would be; empty for what has none.
        address: Of an endpoint, else empty.
        manifest: What the folder says, or None.
    """

    state: str
    name: str
    reason: str
    engine: str = ""
    folder: str = ""
    address: str = ""
    manifest: Manifest | None = None

    def __repr__(self) -> str:
        """Show everything but the address, which may hold a password, and the manifest."""
        return f"Choice({self.state!r}, {self.name!r}, {self.reason!r}, {self.engine!r}, {self.folder!r})"

    @property
    def load_ms(self) -> float | None:
        """Return how long loading takes on this machine, or None when nobody measured it."""
        return None if self.manifest is None else self.manifest.load_ms

    @property
    def fingerprint(self) -> str | None:
        """Return the model's fingerprint where it is known without loading the model."""
        return None if self.manifest is None else self.manifest.fingerprint


def folder_of(home: str, name: str) -> str:
    """Return where a model of this name is installed."""
    return os.path.join(home, FOLDER, name)


def find(chosen: str | None, home: str) -> Choice:
    """Return which model is meant, and whether it can be loaded.

    Args:
        chosen: `none`; the name or alias of a known model; the name under which another was installed; a folder;
            `openai:MODEL@URL`; `fake`; or None for the default model, when it is installed.
        home: The data directory.

    Raises:
        Invalid: `bad_model`: an address without a model or without a place.
    """
    if chosen is None:
        return _installed(DEFAULT, folder_of(home, DEFAULT), "the default")
    wanted = chosen.strip()
    if wanted.lower() == "none":
        return Choice("off", "", "no model is wanted")
    if wanted == _FAKE or wanted.startswith(_FAKE + ":"):
        return Choice("ready", wanted, "a model for tests, without meaning", engine=_FAKE)
    if wanted.startswith(_ENDPOINT):
        model, url = _endpoint(wanted)
        return Choice(
            "ready",
            model,
            f"served at {url.rpartition('@')[2].removeprefix('https://').removeprefix('http://')}",
            engine="endpoint",
            address=url,
        )
    if is_folder(wanted):
        folder = os.path.abspath(os.path.expanduser(wanted))
        return _installed(os.path.basename(folder), folder, "a folder")
    known = find_known(wanted)
    name = wanted if known is None else known.name
    return _installed(name, folder_of(home, name), "chosen by name")


def find_reranker(home: str) -> Choice:
    """Return whether the model that reads a question and a text together is installed."""
    known = find_known("reranker")
    name = "" if known is None else known.name
    return _installed(name, folder_of(home, name), "the reranker", task="rerank")


def load(choice: Choice, *, environ: Mapping[str, str]) -> Embedder:
    """Return the model of a choice that is `ready`. Takes up to half a second of processor time; keep it.

    Args:
        choice: From `find`.
        environ: Holds the key of an endpoint.

    Raises:
        Unavailable: `no_model` (the choice is not `ready`), `missing_extra`, `model_failed`.
    """
    if choice.state != "ready":
        raise Unavailable("no_model", choice.reason)
    try:
        return _load(choice, environ)
    except ImportError as exc:
        raise _missing_extra(choice, exc) from exc


def load_reranker(choice: Choice) -> Reranker:
    """Return the model of a choice from `find_reranker`. Raises as `load` does."""
    if choice.manifest is None or choice.manifest.task != "rerank":
        raise Unavailable("no_model", choice.reason)
    try:
        from eunoe.models.rerank import OnnxReranker  # noqa: PLC0415 - NumPy and the runtime

        return OnnxReranker(choice.folder, choice.manifest)
    except ImportError as exc:
        raise _missing_extra(choice, exc) from exc


def is_folder(chosen: str) -> bool:
    """Return whether a setting is a path; a bare word is a name."""
    return chosen.startswith((".", "~")) or os.sep in chosen or "/" in chosen


def _load(choice: Choice, environ: Mapping[str, str]) -> Embedder:
    # Each of these brings NumPy (100 ms) and a runtime, so none is imported before it is needed.
    if choice.engine == _FAKE:
        from eunoe.models.fake import FakeEmbedder  # noqa: PLC0415

        return FakeEmbedder(variant=choice.name.partition(":")[2])
    if choice.engine == "endpoint":
        from eunoe.models.endpoint import EndpointEmbedder  # noqa: PLC0415

        return EndpointEmbedder(choice.name, choice.address, key=environ.get(KEY) or None)
    if choice.manifest is None:
        raise Unavailable("no_model", choice.reason)
    if choice.engine == "e5":
        from eunoe.models.e5 import E5Embedder  # noqa: PLC0415

        return E5Embedder(choice.folder, choice.manifest)
    from eunoe.models.onnx import OnnxEmbedder  # noqa: PLC0415

    return OnnxEmbedder(choice.folder, choice.manifest)


def _missing_extra(choice: Choice, exc: ImportError) -> Unavailable:
    extras = {"endpoint": "endpoint", "e5": "multilingual"}
    extra = extras.get(choice.engine, "local")
    return Unavailable(
        "missing_extra",
        f"the model {choice.name} needs a library that cannot be imported ({exc}): pip install 'eunoe[{extra}]'",
    )


def _installed(name: str, folder: str, why: str, *, task: str = "embed") -> Choice:
    """Return the choice of a folder, `missing` unless all its files are there."""
    if not os.path.isdir(folder):
        return Choice("missing", name, _to_do(name, folder), folder=folder)
    # With `json`; where no model is installed, nothing is loaded.
    from eunoe.models.manifest import find_damage, find_manifest  # noqa: PLC0415

    try:
        manifest = find_manifest(folder)
    except EunoeError as exc:
        return Choice("missing", name, exc.message, folder=folder)
    if manifest is None:
        return Choice(
            "missing", name, f"{folder} was not made by Eunoe: eunoe model install --from {folder}", folder=folder
        )
    if manifest.task != task:
        return Choice("missing", name, f"{manifest.name} makes no vectors: it is a reranker", folder=folder)
    damaged = find_damage(folder, manifest)
    if damaged is not None:
        reason = f"{os.path.join(folder, damaged)} is missing or cut: eunoe model install {manifest.name}"
        return Choice("missing", manifest.name, reason, folder=folder)
    return Choice("ready", manifest.name, why, engine=manifest.engine, folder=folder, manifest=manifest)


def _to_do(name: str, folder: str) -> str:
    known = find_known(name)
    if known is not None and os.path.basename(folder) == name:
        return f"{known.name} is not installed: eunoe model install {_shortest(known)}".rstrip()
    if is_folder(name) or os.path.basename(os.path.dirname(folder)) != FOLDER:
        return f"there is no folder {folder}"
    names = ", ".join(each.name for each in MODELS if each.task == "embed")
    return f"no model {shown(name)} is installed, and none is known by that name; known are {names}"


def _shortest(known: Known) -> str:
    """Return what to type after `install`: nothing for the default."""
    return "" if known.name == DEFAULT else known.aliases[0]


def _endpoint(wanted: str) -> tuple[str, str]:
    """Return the model and the address of `openai:MODEL@URL`; a model's name may hold an @."""
    model, found, url = wanted[len(_ENDPOINT) :].rpartition("@http")
    address = "http" + url
    if not found or not model or not address.startswith(("http://", "https://")) or not address.partition("://")[2]:
        raise Invalid("bad_model", "EUNOE_MODEL=openai:… must be openai:MODEL@URL, as openai:bge-m3@https://host/v1")
    return model, address.rstrip("/")
