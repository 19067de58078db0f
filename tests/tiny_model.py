"""A sentence model of a few kilobytes, for tests: real ONNX, a real tokenizer, made by hand.

Its states are `table[token] + mean of all rows`, so they depend on the token and on its surroundings.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

DIM = 8
WORDS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "a", "of", "and", "is", ".", ",", "?", "'", "s", "##s"),
    *(
        "cat",
        "dog",
        "fish",
        "eat",
        "raw",
        "body",
        "stripe",
        "webhook",
        "need",
        "query",
        "passage",
        ":",
        "deploy",
        "main",
    ),
)
CLS, SEP = 2, 3


def table(seed: int = 0) -> np.ndarray:
    """Return the rows of the model's vocabulary."""
    return np.random.default_rng(seed).standard_normal((len(WORDS), DIM)).astype(np.float32)


def write_model(folder: Path, *, seed: int = 0, config: Mapping[str, object] | None = None) -> Path:
    """Write `model.onnx`, `tokenizer.json`, `LICENSE`, and a configuration when there is one; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(graph(seed))
    tokenizer = Tokenizer(WordPiece({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", SEP), ("[CLS]", CLS))
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.enable_padding(length=64)  # what exports often leave switched on
    tokenizer.enable_truncation(32)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "LICENSE").write_text("do what you like\n", encoding="utf-8")
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def write_wheel(path: Path, members: Mapping[str, bytes]) -> Path:
    """Write a wheel that pip accepts, with these files in it."""
    name, version = path.name.split("-")[:2]
    info = f"{name}-{version}.dist-info"
    files = {
        **members,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nLicense: MIT\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)
        archive.writestr(f"{info}/RECORD", "".join(f"{member},,\n" for member in (*files, f"{info}/RECORD")))
    return path


def sha256(content: bytes) -> str:
    """Return 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def graph(seed: int = 0) -> bytes:
    """Return the model as ONNX: gather, mean over the tokens, add."""
    rows = table(seed)
    weights = _packed(
        (1, len(WORDS)), (1, DIM), (2, 1), (8, b"table"), (9, rows.tobytes())
    )  # TensorProto: dims, float, name, raw data
    axes = _packed((1, b"axes"), (8, 1), (20, 7))  # AttributeProto: name, ints, INTS
    nodes = (
        _packed((1, b"table"), (1, b"input_ids"), (2, b"rows"), (4, b"Gather")),
        _packed((1, b"rows"), (2, b"mean"), (4, b"ReduceMean"), (5, axes)),
        _packed((1, b"rows"), (1, b"mean"), (2, b"last_hidden_state"), (4, b"Add")),
    )
    inputs = (_tensor(name, 7, ("batch", "tokens")) for name in ("input_ids", "attention_mask"))
    output = _tensor("last_hidden_state", 1, ("batch", "tokens", DIM))
    body = _packed(
        *((1, node) for node in nodes),
        (2, b"tiny"),
        (5, weights),
        *((11, each) for each in inputs),
        (12, output),
    )
    return _packed((1, 8), (7, body), (8, _packed((1, b""), (2, 13))))


def _tensor(name: str, kind: int, shape: Iterable[str | int]) -> bytes:
    dims = [(1, _packed((2, each.encode()) if isinstance(each, str) else (1, each))) for each in shape]
    return _packed((1, name.encode()), (2, _packed((1, _packed((1, kind), (2, _packed(*dims)))))))


def _packed(*fields: tuple[int, int | bytes]) -> bytes:
    """Return a message of protocol buffers."""
    return b"".join(
        _varint(number << 3) + _varint(value)
        if isinstance(value, int)
        else _varint(number << 3 | 2) + _varint(len(value)) + value
        for number, value in fields
    )


def _varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found += struct.pack("B", value & 0x7F | 0x80)
        value >>= 7
    return found + struct.pack("B", value)
