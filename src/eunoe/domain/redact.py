"""Masks secrets and `<private>` spans in a text before anything stores it, and again on the way out.

What is masked: keys and tokens with a telltale prefix, private-key blocks, passwords inside URLs, values assigned to
a name such as *password*, *token* or *api key* (in prose and in code), and whatever stands in `<private>` tags. Only
the value goes; the name, the user, the host and the sentence stay.

Guarantees: linear time on any input, never an error on any `str`, and idempotence: a marker is opaque, no secret is
looked for inside or across one, and the text between markers is searched again until it is clean.

Hooks load this module on their way to the disk, so it imports nothing but its own tables; `re` (7 ms) is loaded the
first time a text holds a substring that some family of secrets cannot do without. An ordinary text costs about 3 µs.
"""

from __future__ import annotations

from eunoe.domain.secret_shapes import (
    AUTHORIZATION_TAIL,
    CODE,
    KEY_MARKERS,
    MARKER,
    NAMES,
    NO_PASSPHRASES,
    NO_VALUES,
    OPENINGS,
    PASS_MARKERS,
    PEM,
    PREFIXED,
    QUOTED,
    QUOTES,
    REFERENCE,
    RUN,
    TAG,
    TAIL,
    TELEGRAM,
    TELLING,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from re import Match, Pattern

ROUNDS = 6
"""Searches of the text between spans. Two settle a natural text; what a hostile one still hides is masked whole."""

SHORTEST = 7
"""Characters of the shortest text that can hold a secret: `://:x@h`."""

HEAD = 64
"""Leading characters by which a value is judged, so that one long run full of names stays linear."""


class Span:
    """One masked stretch of the original text: `text[start:end]`, in characters, and the kind of secret it is."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, start: int, end: int, kind: str) -> None:
        self.start = start
        self.end = end
        self.kind = kind

    def __repr__(self) -> str:
        return f"Span({self.start}, {self.end}, {self.kind!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return (self.start, self.end, self.kind) == (other.start, other.end, other.kind)

    def __hash__(self) -> int:
        return hash((self.start, self.end, self.kind))


class Redacted:
    """A text without its secrets, and where they were.

    Attributes:
        text: Each secret replaced by `[masked:<kind>]`; the very same object as the input when there was none.
        spans: Offsets into the original text, sorted, never overlapping.
    """

    __slots__ = ("spans", "text")

    def __init__(self, text: str, spans: tuple[Span, ...]) -> None:
        self.text = text
        self.spans = spans


def redact(text: str) -> Redacted:
    """Return `text` with every secret replaced by its marker; `redact(redact(t).text)` finds nothing."""
    spans = find_secrets(text)
    if not spans:
        return Redacted(text, ())
    parts: list[str] = []
    at = 0
    for span in spans:
        parts.append(text[at : span.start])
        parts.append(f"[masked:{span.kind}]")
        at = span.end
    parts.append(text[at:])
    return Redacted("".join(parts), tuple(spans))


def find_secrets(text: str) -> list[Span]:
    """Return the secrets of `text`, sorted, overlapping ones merged under the more telling kind; linear time."""
    folded = _folded(text)
    blocks = "<private" in folded or "PRIVATE KEY" in text
    if not (blocks or _may_prefix(text) or _may_assign(folded) or _may_telegram(text)):
        return []
    spans = _merged(_blocks(text, folded))
    markers = (Span(found.start(), found.end(), "") for found in _pattern(MARKER).finditer(text))
    families = [family for family in PREFIXED if family[0] in text]
    pieces = list(_outside(0, len(text), [*spans, *markers]))
    for _ in range(ROUNDS):
        unsettled: list[tuple[int, int]] = []
        for start, end in pieces:
            if end - start < SHORTEST:
                continue
            found = _merged(_in_piece(text[start:end], start, families))
            if found:
                spans += found
                unsettled += _outside(start, end, found)
        pieces = unsettled
        if not pieces:
            break
    # Each of the last rounds uncovered a new secret next to one just masked: nobody writes that by accident.
    spans += [Span(start, end, "secret") for start, end in pieces]
    return sorted(spans, key=lambda span: span.start)


def _folded(text: str) -> str:
    # "İ" is the only character whose lower case is longer; without it offsets are those of `text`.
    return text.replace("İ", "I").lower()


def _may_prefix(text: str) -> bool:
    # Ordinary prose has no underscore and few hyphens: the two stand for most of the families.
    return (
        ("-" in text and ("sk-" in text or "glpat-" in text or "xox" in text or "pypi-" in text or "AGE-" in text))
        or ("_" in text and any(family[0] in text for family in PREFIXED))
        or ("://" in text and ("@" in text or "hooks.slack" in text))
        or "eyJ" in text
        or "SG." in text
        or "ya29." in text
        or "AIza" in text
        or "AKIA" in text
        or "ASIA" in text
        or "hooks.slack" in text
    )


def _may_assign(folded: str) -> bool:
    return (
        "token" in folded
        or "secret" in folded
        or "pwd" in folded
        or ("pass" in folded and any(marker in folded for marker in PASS_MARKERS))
        or ("key" in folded and any(marker in folded for marker in KEY_MARKERS))
        or "bearer" in folded
        or "authorization" in folded
        or "kennwort" in folded
        or (not folded.isascii() and ("contraseña" in folded or "пароль" in folded or "密码" in folded))
    )


def _may_telegram(text: str) -> bool:
    at = text.find(":")
    while at >= 0:
        if at >= 8 and text[at - 8 : at].isdigit():
            return True
        at = text.find(":", at + 1)
    return False


_patterns: dict[str, Pattern[str]] = {}


def _pattern(source: str) -> Pattern[str]:
    pattern = _patterns.get(source)
    if pattern is None:
        import re  # noqa: PLC0415 - only texts that may hold a secret pay for it

        flags = re.ASCII | (re.VERBOSE if source in (TAIL, QUOTED, REFERENCE) else 0)
        pattern = _patterns[source] = re.compile(source, flags)
    return pattern


def _blocks(text: str, folded: str) -> Iterator[Span]:
    """Yield what is masked whole, existing markers included: `<private>` spans, nested ones too, and key blocks."""
    depth = start = 0
    if "<private" in folded:
        for tag in _pattern(TAG).finditer(folded):
            if _is_mentioned(folded, tag.start(), tag.end()):
                continue
            if not tag[1]:
                start = start if depth else tag.start()
                depth += 1
            elif depth:
                depth -= 1
                if not depth:
                    yield Span(start, tag.end(), "private")
    if depth:
        yield Span(start, len(text), "private")
    at = 0
    while "PRIVATE KEY" in text and (begin := _pattern(PEM % "BEGIN").search(text, at)):
        if _is_mentioned(text, begin.start(), begin.end()):
            at = begin.end()
            continue
        end = _pattern(PEM % "END").search(text, begin.end())
        at = end.end() if end else len(text)
        yield Span(begin.start(), at, "private-key")


def _is_mentioned(text: str, start: int, end: int) -> bool:
    """Tell whether a tag stands in backticks by itself: then it is spoken of, and hides nothing."""
    return text[start - 1 : start] == "`" == text[end : end + 1]


def _in_piece(text: str, offset: int, families: list[tuple[str, str, str]]) -> Iterator[Span]:
    """Yield the secrets of a text without markers, the more telling kinds first."""
    for prefix, kind, rest in families:
        if prefix not in text:
            continue
        literal = prefix.replace(".", r"\.")
        # The boundary is checked after the literal: a pattern that starts with one is searched at memory speed. The n
        # of an escaped line break is one too, for texts that are still JSON.
        before = r"[\w-]" if "-" in literal else r"\w"
        boundary = "" if prefix == "://" else rf"(?:(?<!{before}{literal})|(?<=\\[nrt]{literal}))"
        for match in _pattern(literal + boundary + rest).finditer(text):
            start, end = match.span("secret" if "secret" in match.re.groupindex else 0)
            if kind != "url-password" or not _is_reference(text[start : min(end, start + HEAD)], quoted=True):
                yield Span(offset + start, offset + end, kind)
    if _may_telegram(text):
        for match in _pattern(TELEGRAM).finditer(text):
            yield Span(offset + match.start(), offset + match.end(), "telegram-token")
    folded = _folded(text)
    if _may_assign(folded):
        for start, end, kind in _assigned(text, folded):
            yield Span(offset + start, offset + end, kind)


def _assigned(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
    names, quoted, bare = _pattern(NAMES), _pattern(QUOTED), _pattern(RUN)
    at = run_end = value_end = 0
    while name := names.search(folded, at):
        at = name.end()
        kind, tail = _kind_and_tail(name[0], folded, at)
        if not tail or ("flag" in tail.re.groupindex and tail["flag"] and not _is_option(folded, name.start())):
            continue
        start = at = tail.end()
        literal = quoted.match(text, at) if text[at : at + 1] in OPENINGS else None
        if literal and literal.lastindex:
            start, end = literal.span(literal.lastindex)
            while end > start and text[end - 1] == "\\":
                end -= 1
        else:
            start += text[at : at + 1] in QUOTES
            if start >= run_end:
                run = bare.match(text, start)
                run_end = run.end() if run else start
                value_end = _trimmed(text, start, run_end)
            end = value_end
        if end - start < 6:
            continue
        environment = text[name.start() : at].isupper() and (
            text[at - 1] == "=" or _is_setting(text, name.start(), end)
        )
        if _is_secret(text[start : min(end, start + HEAD)], kind, quoted=bool(literal), environment=environment):
            yield start, end, kind
            at = end


def _kind_and_tail(name: str, folded: str, at: int) -> tuple[str, Match[str] | None]:
    if name in ("authorization", "bearer"):
        return "bearer-token", _pattern(r" +" if name == "bearer" else AUTHORIZATION_TAIL).match(folded, at)
    if name.endswith("key"):
        kind = "aws-secret-key" if "access" in name and name.startswith("secret") else "api-key"
    else:
        kind = name if name in ("secret", "token") else "password"
    return kind, _pattern(TAIL).match(folded, at)


def _is_option(folded: str, start: int) -> bool:
    """Tell `--db-password value` from two words of a sentence."""
    _, dashes, stem = folded[max(0, start - 40) : start].rpartition("--")
    return bool(dashes) and (not stem or stem.replace("-", "").isalnum())


def _is_setting(text: str, start: int, end: int) -> bool:
    """Tell the line `DB_PASSWORD: value` of a settings file from a heading or a sentence."""
    return "_" in text[max(0, start - 1) : start + 1] and text[end : end + 1] in ("", "\n", "\r")


def _trimmed(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in ".,:;)]}*":
        end -= 1
    return end


def _is_secret(head: str, kind: str, *, quoted: bool, environment: bool) -> bool:
    """Tell a value from a word, a type, a variable or a call that stands where a value could."""
    if _is_reference(head, quoted=quoted):
        return False
    if quoted and kind != "bearer-token":
        words = head.casefold().split()
        return len(words) == 1 or (kind == "password" and bool(words) and words[0] not in NO_PASSPHRASES)
    if kind == "bearer-token" and len(head) < 8:
        return False
    if head.replace("-", "").isdigit():
        return kind == "password" or len(head) >= 12
    # DB_PASSWORD=swordfish: an environment assignment holds a value even when it is a plain word.
    return environment or _pattern(TELLING).search(head) is not None or (len(head) >= 20 and head.count("-") >= 3)


def _is_reference(head: str, *, quoted: bool) -> bool:
    if "..." in head or "…" in head or "${" in head or "{{" in head:
        return True
    if head.strip("!*_-.?").casefold() in NO_VALUES or _pattern(REFERENCE).match(head):
        return True
    return not quoted and _pattern(CODE).match(head) is not None


def _outside(start: int, end: int, spans: Iterable[Span]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of [start, end) that no span covers."""
    for span in sorted(spans, key=lambda span: span.start):
        if span.start > start:
            yield start, span.start
        start = max(start, span.end)
    if end > start:
        yield start, end


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Join overlapping spans under the kind that was found first."""
    ranked = sorted(enumerate(spans), key=lambda pair: pair[1].start)
    merged: list[tuple[int, Span]] = []
    for rank, span in ranked:
        if merged and span.start < merged[-1][1].end:
            best, last = merged[-1]
            kind = last.kind if best < rank else span.kind
            merged[-1] = (min(best, rank), Span(last.start, max(last.end, span.end), kind))
        else:
            merged.append((rank, span))
    return [span for _, span in merged]
