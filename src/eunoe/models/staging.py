"""Files on their way into a model's folder: copied in pieces, hashed as they pass, and given up when a sum is wrong."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple

from eunoe.errors import Invalid, Unavailable
from eunoe.models.catalog import Known
from eunoe.models.failing import said

Progress = Callable[[int, int], None]
Opener = Callable[[str], IO[bytes]]

# Where exports put the graph, the smallest first.
GRAPHS = ("onnx/model_quantized.onnx", "onnx/model.onnx", "model.onnx")
TOKENIZER = "tokenizer.json"
# What may say how the model is used; each is read when it is there.
CONFIGS = (
    "config.json",
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
    "eunoe.json",
    "eunoe-model.json",
)
NOTICES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "NOTICE", "NOTICE.txt", "COPYING")

_CARD = "README.md"
_CHUNK_BYTES = 1 << 20
_CONFIG_BYTES = 1 << 20
_MAX_TOKENS = 512
# These count positions from the padding token on, so two of the table's rows are never used.
_OFFSET = ("roberta", "camembert", "mpnet")
_POOLINGS = ("cls", "mean")


class Usage(NamedTuple):
    """How a model is used, by its own files.

    Attributes:
        pooling, query_prefix, passage_prefix, max_tokens: See `catalog.Known`.
        licence: As its source says it, or empty.
    """

    pooling: str
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    licence: str


def copy(source: IO[bytes], path: str, *, report: Callable[[int], None] | None = None) -> str:
    """Write a stream to a new file, 0600, through to the disk, and return its SHA-256.

    Args:
        source: Is read to its end, not closed.
        path: Must not exist.
        report: Is told the bytes of each piece.
    """
    sums = hashlib.sha256()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while piece := source.read(_CHUNK_BYTES):
            file.write(piece)
            sums.update(piece)
            if report is not None:
                report(len(piece))
        file.flush()
        os.fsync(file.fileno())
    return sums.hexdigest()


def check_sum(name: str, found: str, expected: str, *, origin: str) -> None:
    """Compare two sums.

    Raises:
        Unavailable: `checksum`: they differ.
    """
    if found != expected:
        raise Unavailable(
            "checksum",
            f"{name} from {origin} has the SHA-256 {found}, not {expected}; nothing was installed",
            details={"file": name, "expected": expected, "found": found},
        )


def take_parts(known: Known, opener: Opener, folder: str, *, origin: str, by_member: bool = True) -> None:
    """Copy the files of a known model into a folder, and check each.

    Args:
        known: The model.
        opener: Opens one file for reading; raises `KeyError` or `OSError` for what is not there.
        folder: Where they go.
        origin: What is opened, for people.
        by_member: Whether to ask for the names in the package; else for those that the files have in a model's folder.

    Raises:
        Invalid: `not_a_model`: one is missing. Unavailable: `checksum`.
    """
    for part in known.parts:
        try:
            source = opener(part.member if by_member else part.name)
        except (KeyError, OSError) as exc:
            raise Invalid(
                "not_a_model", f"{origin} does not hold {part.member if by_member else part.name} of {known.name}"
            ) from exc
        with source:
            found = copy(source, os.path.join(folder, part.name))
        check_sum(part.name, found, part.sha256, origin=origin)


def take_any(opener: Opener, folder: str, *, origin: str) -> Usage:
    """Copy the files of any sentence model into a folder, and return how it is used.

    Raises:
        Invalid: `not_a_model`: graph or tokenizer are missing.
    """
    for name, places in (("model.onnx", GRAPHS), (TOKENIZER, (TOKENIZER,))):
        with _first(opener, places, origin) as source:
            copy(source, os.path.join(folder, name))
    for name in NOTICES:
        with _perhaps(opener, name) as source:
            if source is not None:
                copy(source, os.path.join(folder, name))
    configs = {name: config(_read(opener, name)) for name in CONFIGS}
    found = usage(configs, origin=origin)
    return found if found.licence else found._replace(licence=_licence_on(_read(opener, _CARD)))


def config(raw: bytes) -> dict[str, Any]:
    """Return a configuration file's object; what cannot be read says nothing."""
    try:
        facts = json.loads(raw)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def usage(configs: dict[str, dict[str, Any]], *, origin: str) -> Usage:
    """Return how a model is used, from the files in `CONFIGS`; a later one wins. Without any word it is the mean.

    Raises:
        Invalid: `not_a_model`: a pooling that is neither `cls` nor `mean`.
    """
    named = {key: value for name in CONFIGS for key, value in configs.get(name, {}).items()}
    pooler = configs.get("1_Pooling/config.json", {})
    prompts = configs.get("config_sentence_transformers.json", {}).get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    pooling = str(named.get("pooling") or ("cls" if pooler.get("pooling_mode_cls_token") is True else "mean"))
    if pooling not in _POOLINGS:
        raise Invalid("not_a_model", f"{origin} wants the pooling {pooling!r}; only cls and mean are known")
    return Usage(
        pooling=pooling,
        query_prefix=str(named.get("query_prefix", prompts.get("query", ""))),
        passage_prefix=str(named.get("passage_prefix", prompts.get("passage", prompts.get("document", "")))),
        max_tokens=_longest(named),
        licence=str(named.get("licence") or named.get("license") or ""),
    )


@contextmanager
def open_wheel(path: str) -> Iterator[zipfile.ZipFile]:
    """Open a wheel.

    Raises:
        Invalid: `not_a_model`: it cannot be read, or is no wheel.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except zipfile.BadZipFile as exc:
        raise Invalid("not_a_model", f"{path} is no wheel: {said(exc)}") from exc
    except OSError as exc:
        raise Invalid("not_a_model", f"{path} cannot be read: {exc.strerror or said(exc)}") from exc


@contextmanager
def _first(opener: Opener, places: tuple[str, ...], origin: str) -> Iterator[IO[bytes]]:
    for place in places:
        with _perhaps(opener, place) as source:
            if source is not None:
                yield source
                return
    raise Invalid("not_a_model", f"{origin} holds no {' or '.join(places)}")


@contextmanager
def _perhaps(opener: Opener, name: str) -> Iterator[IO[bytes] | None]:
    source = None
    with suppress(KeyError, FileNotFoundError, NotADirectoryError, IsADirectoryError):
        source = opener(name)
    if source is None:
        yield None
    else:
        with source:
            yield source


def _read(opener: Opener, name: str) -> bytes:
    with _perhaps(opener, name) as source:
        return b"" if source is None else source.read(_CONFIG_BYTES)


def _longest(named: dict[str, Any]) -> int:
    """Return the longest input: what the files say, at most 512."""
    kind = str(named.get("model_type", ""))
    for name, unused in (("max_tokens", 0), ("max_position_embeddings", 2 if any(map(kind.count, _OFFSET)) else 0)):
        found = named.get(name)
        if isinstance(found, int) and found > unused:
            return min(found - unused, _MAX_TOKENS)
    return _MAX_TOKENS


def _licence_on(card: bytes) -> str:
    """Return the licence that stands at the head of a model's card, or nothing."""
    head = card.decode("utf-8", "replace").split("\n---", 1)[0] if card.startswith(b"---") else ""
    for line in head.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "license":
            return value.strip().strip("\"'")
    return ""
