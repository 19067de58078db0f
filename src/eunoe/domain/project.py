"""The rules of project names: what a slug, a user id and a remote address look like.

Not here: finding the identity of a folder (`eunoe.config.identity`) and giving a slug to one project only (the store).
Pure text in, text out. Loads neither `re` nor `urllib`, and `unicodedata` only for text that is not ASCII (4 ms),
because every command and every hook needs these rules.
"""

from __future__ import annotations

from eunoe.errors import Invalid, Refused, shown

SLUG_LIMIT = 128
USER_LIMIT = 128

_ALNUM = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_SLUG_CHARACTERS = _ALNUM | frozenset("._-")
_USER_CHARACTERS = _ALNUM | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ._:@-")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_FALLBACK = "project"
_GIT_FOLDERS = frozenset({".git", ".bare"})
_NETWORK_SCHEMES = frozenset({"https", "http", "ssh", "git", "git+ssh", "ssh+git", "git+https", "git+http"})
# The forges' documented SSH-over-443 hosts: the same repository under a second name.
_HOST_ALIASES = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}


def check_slug(slug: str) -> str:
    """Return `slug` unchanged if it may name an ordinary project.

    Such a name has parts of `[a-z0-9][a-z0-9._-]*` joined by `/`, at most 128 characters in all.

    Raises:
        Invalid: `reserved_slug` for `me`, `~…` and `_…`; `bad_slug` for anything else that breaks the rule.
    """
    if slug == "me" or slug[:1] in ("~", "_"):
        raise Invalid("reserved_slug", f"project {shown(slug)}: 'me', '~…' and '_…' are reserved; choose another name")
    if len(slug) > SLUG_LIMIT or not all(_is_slug_part(part) for part in slug.split("/")):
        raise Invalid(
            "bad_slug",
            f"project {shown(slug)} is not a project name: use a-z, 0-9, '.', '_' and '-', parts joined by '/', "
            f"each beginning with a letter or digit, at most {SLUG_LIMIT} characters, such as 'acme/api'",
        )
    return slug


def check_user(user: str) -> str:
    """Return `user` unchanged if it is a user id: 1 to 128 of `A-Z a-z 0-9 . _ : @ -`, case kept.

    Raises:
        Invalid: `bad_user`.
    """
    if not 1 <= len(user) <= USER_LIMIT or not _USER_CHARACTERS.issuperset(user):
        raise Invalid(
            "bad_user",
            f"user {shown(user)} is not a user id: use A-Z, a-z, 0-9 and . _ : @ -, at most {USER_LIMIT} characters",
        )
    return user


def own_project(user: str) -> str:
    """Return the name of a person's own project, `~<user>`.

    Raises:
        Invalid: `bad_user`.
    """
    return "~" + check_user(user)


def check_project_name(name: str, user: str | None) -> str:
    """Return the project that `user` means by `name`: an ordinary slug in lower case, or `~<user>`.

    `me` and the person's own `~<user>` both give `~<user>`; user ids are compared with their case.

    Raises:
        Invalid: `bad_slug`, `reserved_slug`, `bad_user`; `no_user` when the name needs a user and there is none.
        Refused: `other_users_project`.
    """
    lowered = name.lower()
    if lowered != "me" and not name.startswith("~"):
        return check_slug(lowered)
    if user is None:
        raise Invalid("no_user", f"project {shown(name)} belongs to a person, and none is named: set EUNOE_USER")
    own = own_project(user)
    if lowered != "me" and name != own:
        raise Refused(
            "other_users_project",
            f"project {shown(name)} is another person's own project; user {shown(user)} may use 'me'",
        )
    return own


def slug_for(identity: str) -> str:
    r"""Return the display name that an identity suggests; always passes `check_slug`, never unique by itself.

    `host/owner/name` gives `owner/name`; a path gives its last part, the folder around it for a `.git` folder.
    Accents are dropped, everything else outside the rule becomes `-`.

    >>> slug_for("github.com/acme/api"), slug_for("/w/shop/.git"), slug_for("D:\\work\\shop_2")
    ('acme/api', 'shop', 'shop_2')
    """
    parts = [part for part in (_slug_part(part) for part in _name_parts(identity)) if part]
    slug = "/".join(parts) or _FALLBACK
    while len(slug) > SLUG_LIMIT and "/" in slug:
        slug = slug.partition("/")[2]
    slug = slug[:SLUG_LIMIT].rstrip(".-")
    return f"{slug}-{_FALLBACK}" if slug == "me" else slug


def numbered(slug: str, n: int) -> str:
    """Return the name of the n-th project that would be called `slug`; the first keeps it, the length limit holds.

    >>> numbered("acme/api", 1), numbered("acme/api", 2)
    ('acme/api', 'acme/api-2')
    """
    if n < 2:
        return slug
    suffix = f"-{n}"
    return slug[: SLUG_LIMIT - len(suffix)].rstrip("/.-") + suffix


def is_windows_path(path: str) -> bool:
    r"""Return whether `path` is an absolute Windows path (`D:\…`, `D:/…`, `\\server\share`), on any platform."""
    return path.startswith("\\\\") or (path[:1].isascii() and path[:1].isalpha() and path[1:3] in (":\\", ":/"))


def normalise_remote(url: str) -> str | None:
    """Return `host/owner/name` for a remote address: one spelling for every way to reach a repository.

    Lower case, without user, password, port, query, fragment, `.git` and trailing slash, percent-decoded; nested
    groups are kept. The result never holds a credential.

    Returns:
        None when the address identifies nothing beyond this machine: a local path, `file://`, a loopback host (behind
        its ports are unrelated servers), a remote helper, or text that is no address. Never raises.

    >>> normalise_remote("git@GitHub.com:Acme/API.git"), normalise_remote("../api")
    ('github.com/acme/api', None)
    """
    text = url.strip()
    scheme, found, rest = text.partition("://")
    if found:
        if scheme.lower() not in _NETWORK_SCHEMES:
            return None
        authority, _, path = rest.partition("#")[0].partition("?")[0].partition("/")
        path = _percent_decoded(path)
    else:
        authority, path = _scp_parts(text)
    host = _host(authority)
    segments = _segments(path)
    if host is None or not segments:
        return None
    return "/".join([host, *segments])


def _is_slug_part(part: str) -> bool:
    return part[:1] in _ALNUM and _SLUG_CHARACTERS.issuperset(part)


def _name_parts(identity: str) -> list[str]:
    """Split an identity into the parts that name the project."""
    if is_windows_path(identity):
        parts = [part for part in identity.replace("\\", "/").split("/") if part]
    else:
        parts = [part for part in identity.split("/") if part]
        if not identity.startswith("/"):
            return [_without_git(part) for part in (parts[1:] or parts)]
    if len(parts) > 1 and parts[-1].lower() in _GIT_FOLDERS:
        parts.pop()
    return [_without_git(part) for part in parts[-1:]]


def _slug_part(text: str) -> str:
    """Return the nearest legal part, or "" when nothing legal is left."""
    kept: list[str] = []
    for character in _without_marks(text.casefold()):
        if character in _SLUG_CHARACTERS:
            kept.append(character)
        elif kept[-1:] != ["-"]:
            kept.append("-")
    # Windows drops a final dot from a folder name, so two slugs would share one folder.
    return "".join(kept).lstrip("._-").rstrip(".-")


def _without_git(name: str) -> str:
    return name[:-4] if name.lower().endswith(".git") else name


def _without_marks(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata  # noqa: PLC0415 - 4 ms, rarely needed

    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _composed(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata  # noqa: PLC0415 - 4 ms, rarely needed

    return unicodedata.normalize("NFC", text)


def _percent_decoded(text: str) -> str:
    """Decode `%XX`; text that is no UTF-8 afterwards is kept as it was."""
    head, *rest = text.encode("utf-8", "surrogatepass").split(b"%")
    raw = bytearray(head)
    for piece in rest:
        code = piece[:2]
        is_code = len(code) == 2 and _HEX.issuperset(code)
        raw += bytes.fromhex(code.decode()) + piece[2:] if is_code else b"%" + piece
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return text


def _scp_parts(text: str) -> tuple[str, str]:
    """Split `user@host:path`, the short form that has no scheme; ("", "") when it is a local path."""
    if is_windows_path(text) or "::" in text.partition("/")[0].partition("[")[0]:
        return "", ""
    start = text.find("]:") + 1 if "[" in text.partition(":")[0] else 0
    colon = text.find(":", start)
    slash = text.find("/")
    # Two characters at least: `d:work` is a drive.
    if colon < 2 or -1 < slash < colon:
        return "", ""
    return text[:colon], text[colon + 1 :]


def _host(authority: str) -> str | None:
    """Return the host of `user:password@host:port`, or None when it is none or only this machine."""
    host = authority.rpartition("@")[2].lower()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
        if host.count(":") == 1:
            host = host.partition(":")[0]
    else:
        host = host.partition(":")[0]
    host = host.rstrip(".")
    if not all(character.isalnum() or character in ".-_:" for character in host):
        return None
    if host in ("", "localhost", "::1") or host.startswith("127.") or host.endswith(".localhost"):
        return None
    return _HOST_ALIASES.get(host, host)


def _segments(path: str) -> list[str]:
    """Return the parts of a repository's path; [] when it holds control characters."""
    # Lower case can undo a composition (İ), so normalise after it.
    text = _composed(path.lower())
    if not all(character.isprintable() for character in text):
        return []
    segments: list[str] = []
    for segment in text.split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    if segments:
        segments[-1] = _without_git(segments[-1])
    return [segment for segment in segments if segment]
