"""What people do with models: list, install, remove, check. The models themselves are opened in `meaning`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from eunoe.config.settings import Settings, prepare_home
from eunoe.errors import NotFound, Unavailable
from eunoe.models.catalog import MODELS, find_known
from eunoe.models.opening import FOLDER, Choice, find, find_reranker, load

Progress = Callable[[int, int], None]


class Listed(NamedTuple):
    """A model that is known, or installed, or both.

    Attributes:
        name: What people call it.
        task: `embed`, or `rerank`.
        summary: What it is good for, or where it came from.
        is_installed: Whether all its files are there.
        problem: What is wrong with what is there, or empty.
        is_used: Whether this process would use it.
        size_bytes: What it takes, or would take, on disk.
        download_bytes: What is fetched to install it; None for one that is no known model.
        licence: Of the model.
        load_ms: How long loading takes here, or None when it is not installed.
        folder: Where it is or would be.
    """

    name: str
    task: str
    summary: str
    is_installed: bool
    problem: str
    is_used: bool
    size_bytes: int
    download_bytes: int | None
    licence: str
    load_ms: float | None
    folder: str


class Added(NamedTuple):
    """An installed model; `is_new` is False when the very same was there."""

    name: str
    folder: str
    size_bytes: int
    licence: str
    source: str
    load_ms: float | None
    fingerprint: str
    is_new: bool


class Checked(NamedTuple):
    """A model that works.

    Attributes:
        name: What people call it.
        folder: Where its files are, or empty.
        files: How many were hashed.
        dim: Numbers in a vector; 0 for a reranker.
        load_ms: Milliseconds of the best of three cold starts; for an endpoint None.
        first_ms: Wall milliseconds for the first text.
    """

    name: str
    folder: str
    files: int
    dim: int
    load_ms: float | None
    first_ms: float


def used_model(settings: Settings) -> Choice:
    """Return which model this process uses, and why; loads nothing."""
    return find(settings.model, settings.home)


def list_models(settings: Settings) -> list[Listed]:
    """Return the known models in the order of the catalogue, then others that are installed, by name."""
    used = used_model(settings)
    listed = []
    for known in MODELS:
        choice = find_reranker(settings.home) if known.task == "rerank" else find(known.name, settings.home)
        listed.append(
            Listed(
                name=known.name,
                task=known.task,
                summary=known.summary,
                is_installed=choice.state == "ready",
                problem=choice.reason if choice.state == "missing" and Path(choice.folder).is_dir() else "",
                is_used=_is_used(choice, used),
                size_bytes=known.installed_bytes if choice.manifest is None else choice.manifest.size,
                download_bytes=known.download_bytes,
                licence=known.licence,
                load_ms=choice.load_ms,
                folder=choice.folder,
            )
        )
    return listed + [_other(find(path, settings.home), used) for path in _others(settings, used)]


def add_model(
    settings: Settings,
    name: str | None,
    *,
    source: str | None,
    to: str | None,
    environ: Mapping[str, str],
    progress: Progress | None,
) -> Added:
    """Install a model. See `models.installing.install`."""
    from eunoe.models.installing import install  # noqa: PLC0415 - only this command needs it

    if to is None:
        prepare_home(settings.home)
    done = install(name, settings.home, source=source, to=to, environ=environ, progress=progress)
    manifest = done.manifest
    return Added(
        name=manifest.name,
        folder=done.folder,
        size_bytes=manifest.size,
        licence=manifest.licence,
        source=manifest.source,
        load_ms=manifest.load_ms,
        fingerprint=manifest.fingerprint,
        is_new=done.is_new,
    )


def remove_model(settings: Settings, name: str) -> str:
    """Remove an installed model, and return the folder that is gone. See `models.installing.remove`."""
    from eunoe.models.installing import remove  # noqa: PLC0415 - only this command needs it

    return remove(name, settings.home)


def check_model(settings: Settings, name: str | None, *, environ: Mapping[str, str]) -> Checked:
    """Hash a model's files, load it, and let it read a sentence.

    Args:
        settings: For the data directory, and the model when no name is given.
        name: What `EUNOE_MODEL` may be; default the one that is used.
        environ: Holds the key of an endpoint.

    Raises:
        NotFound: `not_installed`. Unavailable: `missing_extra`, `model_failed` (a file is not as it was, or the model
            does not run here), `model_unreachable`, `model_refused`.
    """
    choice = used_model(settings) if name is None else find(name, settings.home)
    known = find_known(name or "")
    if known is not None and known.task == "rerank":
        choice = find_reranker(settings.home)
    if choice.state != "ready":
        if Path(choice.folder).is_dir():
            raise Unavailable("model_failed", choice.reason)
        raise NotFound("not_installed", choice.reason)
    if choice.manifest is None:
        return _asked(choice, environ)
    from eunoe.models.manifest import find_damage  # noqa: PLC0415 - only this command needs these
    from eunoe.models.probing import probe  # noqa: PLC0415

    damaged = find_damage(choice.folder, choice.manifest, deeply=True)
    if damaged is not None:
        place = Path(choice.folder, damaged)
        raise Unavailable("model_failed", f"{place} is not as it was: eunoe model install {choice.name}")
    probed = probe(choice.folder)
    return Checked(choice.name, choice.folder, len(choice.manifest.files), *probed)


def _asked(choice: Choice, environ: Mapping[str, str]) -> Checked:
    """Return what a model that has no files answers."""
    model = load(choice, environ=environ)
    started = perf_counter()
    dim = len(model.query("Stripe webhooks need the raw body to check the signature").vector)
    return Checked(choice.name, "", 0, dim, None, round((perf_counter() - started) * 1000, 1))


def _is_used(choice: Choice, used: Choice) -> bool:
    return choice.state == used.state == "ready" and choice.folder == used.folder


def _others(settings: Settings, used: Choice) -> list[str]:
    """Return the folders of models that are not in the catalogue; the one that is used may be anywhere."""
    names = {known.name for known in MODELS}
    place = Path(settings.home, FOLDER)
    try:
        held = sorted(each for each in place.iterdir() if each.is_dir())
    except OSError:
        held = []
    folders = [str(each) for each in held if each.name not in names and not each.name.startswith(".")]
    elsewhere = used.manifest is not None and Path(used.folder).parent != place
    return [*folders, used.folder] if elsewhere else folders


def _other(choice: Choice, used: Choice) -> Listed:
    manifest = choice.manifest
    return Listed(
        name=choice.name,
        task="embed",
        summary="" if manifest is None else f"from {manifest.source}",
        is_installed=choice.state == "ready",
        problem="" if choice.state == "ready" else choice.reason,
        is_used=_is_used(choice, used),
        size_bytes=0 if manifest is None else manifest.size,
        download_bytes=None,
        licence="" if manifest is None else manifest.licence,
        load_ms=choice.load_ms,
        folder=choice.folder,
    )
