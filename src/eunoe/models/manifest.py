"""The file in a model's folder that says what it is: how to use it, and the sums of its files.

It is written once, by the installation, before the folder gets its name; so a folder with a manifest is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from eunoe.errors import Unavailable

FILE = "eunoe-model.json"
PREPARED = "prepared.onnx"
"""The graph as the runtime rewrites it when it loads: the same numbers, 100 to 200 ms earlier."""

# Raised when this package changes what it makes of the same files: then older vectors may not be compared any more.
_RECIPE = 1
# Engine → the files that its vectors depend on; a licence, or a library of threads, does not change them.
_DECIDING = {"onnx": ("model.onnx", "tokenizer.json"), "e5": ("engine.so", "model.bin")}
_CHUNK_BYTES = 1 << 20
_LARGEST_BYTES = 1 << 20


class Kept(NamedTuple):
    """A file of an installed model."""

    sha256: str
    size: int


class Manifest(NamedTuple):
    """What an installed model is.

    Attributes:
        name: What people call it.
        task: `embed`, or `rerank`.
        engine: `onnx`, or `e5`.
        dim: Numbers in a vector; 0 for what makes none.
        pooling, query_prefix, passage_prefix, max_tokens: See `catalog.Known`.
        files: What lies beside the manifest.
        licence: SPDX identifier, or what its source says, or empty.
        source: Where it came from, for people.
        load_ms: Best of three cold starts in a fresh process, libraries included; None when it was not measured.
        prepared: The runtime and processor for which `PREPARED` was written, or empty; it is used with no other.
    """

    name: str
    task: str
    engine: str
    dim: int
    pooling: str
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    files: Mapping[str, Kept]
    licence: str
    source: str
    load_ms: float | None
    prepared: str = ""

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 over all that the vectors depend on; equal only where vectors may be compared."""
        files = [(name, self.files[name].sha256) for name in _DECIDING[self.engine]]
        facts = [_RECIPE, files, self.pooling, self.query_prefix, self.passage_prefix, self.max_tokens]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(kept.size for kept in self.files.values())


def hash_file(path: str) -> Kept:
    """Return the sum and size of a file, read in pieces."""
    sums, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while piece := file.read(_CHUNK_BYTES):
            sums.update(piece)
            size += len(piece)
    return Kept(sums.hexdigest(), size)


def find_manifest(folder: str) -> Manifest | None:
    """Return what a folder says it is, or None when it has no manifest.

    Raises:
        Unavailable: `model_failed`: there is one, but it cannot be read.
    """
    path = os.path.join(folder, FILE)
    try:
        with open(path, "rb") as file:
            return _parsed(json.loads(file.read(_LARGEST_BYTES)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise Unavailable("model_failed", f"{path} cannot be read ({exc}): install the model again") from exc


def write_manifest(folder: str, manifest: Manifest) -> None:
    """Write a manifest, 0600, through to the disk.

    The fingerprint stands in it for people. It is never read: it follows from the rest, and from this package.
    """
    files = {name: kept._asdict() for name, kept in manifest.files.items()}
    facts = manifest._asdict() | {"files": files, "fingerprint": manifest.fingerprint}
    handle = os.open(os.path.join(folder, FILE), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def find_damage(folder: str, manifest: Manifest, *, deeply: bool = False) -> str | None:
    """Return the name of the first file that is missing or not as it was, or None.

    Args:
        folder: Where the files lie.
        manifest: What they were.
        deeply: Hash them; else only their sizes are compared.
    """
    for name, kept in sorted(manifest.files.items()):
        path = os.path.join(folder, name)
        try:
            size = os.stat(path).st_size
        except OSError:
            return name
        if size != kept.size or (deeply and hash_file(path).sha256 != kept.sha256):
            return name
    return None


def _parsed(facts: Any) -> Manifest:
    files = {}
    for name, kept in facts["files"].items():
        if not name or os.path.basename(name) != name:
            raise ValueError(f"it names the file {name!r}")
        files[name] = Kept(str(kept["sha256"]), int(kept["size"]))
    missing = set(_DECIDING[facts["engine"]]) - set(files)
    if missing:
        raise ValueError(f"it does not name {sorted(missing)[0]!r}")
    load_ms = facts.get("load_ms")
    texts = ("name", "task", "engine", "pooling", "query_prefix", "passage_prefix", "licence", "source")
    return Manifest(
        **{name: str(facts[name]) for name in texts},
        dim=int(facts["dim"]),
        max_tokens=int(facts["max_tokens"]),
        files=files,
        load_ms=None if load_ms is None else float(load_ms),
        prepared=str(facts.get("prepared", "")) if PREPARED in files else "",
    )
