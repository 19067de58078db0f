"""The rules of project names, user ids and remote addresses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.project import (
    SLUG_LIMIT,
    check_project_name,
    check_slug,
    check_user,
    is_windows_path,
    normalise_remote,
    numbered,
    own_project,
    slug_for,
)
from eunoe.errors import Invalid, Refused

ANY_TEXT = st.text(max_size=300)
PATH_LIKE = st.lists(st.text(max_size=40), max_size=8).map("/".join)


@pytest.mark.parametrize("slug", ["a", "acme/api", "0", "a.b_c-d/e", "acme/export", "x" * SLUG_LIMIT, "a/me"])
def test_an_ordinary_slug_is_returned_unchanged(slug: str) -> None:
    assert check_slug(slug) == slug


@pytest.mark.parametrize(
    "slug",
    ["", "/", "a/", "/a", "a//b", "A", "a b", "a/../b", ".a", "-a", "é", "a\n", "a/_b", "٣", "x" * (SLUG_LIMIT + 1)],
)
def test_a_slug_outside_the_rule_is_invalid(slug: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_slug(slug)
    assert caught.value.code == "bad_slug"


@pytest.mark.parametrize("slug", ["me", "~", "~ann", "_store", "_"])
def test_reserved_names_are_no_ordinary_slugs(slug: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_slug(slug)
    assert caught.value.code == "reserved_slug"


@pytest.mark.parametrize("user", ["ann", "Ann.B@example.org", "u:1", "x" * 128])
def test_a_user_id_names_the_users_own_project(user: str) -> None:
    assert own_project(user) == f"~{check_user(user)}" == f"~{user}"


@pytest.mark.parametrize("user", ["", "a b", "a/b", "ä", "a\0", "x" * 129, "a\n"])
def test_a_user_id_outside_the_rule_is_invalid(user: str) -> None:
    with pytest.raises(Invalid) as caught:
        own_project(user)
    assert caught.value.code == "bad_user"


def test_a_project_name_is_read_in_lower_case() -> None:
    assert check_project_name("Acme/API", None) == "acme/api"


@pytest.mark.parametrize("name", ["me", "ME", "~Ann"])
def test_me_and_the_own_name_are_the_users_own_project(name: str) -> None:
    assert check_project_name(name, "Ann") == "~Ann"


@pytest.mark.parametrize("name", ["~bob", "~ann", "~", "~Ann/x"])
def test_another_persons_project_is_refused(name: str) -> None:
    with pytest.raises(Refused) as caught:
        check_project_name(name, "Ann")
    assert caught.value.code == "other_users_project"


@pytest.mark.parametrize("name", ["me", "~ann"])
def test_a_personal_project_without_a_user_is_invalid(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_project_name(name, None)
    assert caught.value.code == "no_user"


def test_an_internal_project_cannot_be_named() -> None:
    with pytest.raises(Invalid) as caught:
        check_project_name("_store", "ann")
    assert caught.value.code == "reserved_slug"


@pytest.mark.parametrize(
    ("identity", "slug"),
    [
        ("github.com/acme/api", "acme/api"),
        ("gitlab.com/a/b/c", "a/b/c"),
        ("2001:db8::1/acme/api", "acme/api"),
        ("host/api", "api"),
        ("/w/shop/.git", "shop"),
        ("/w/shop/.bare", "shop"),
        ("/w/Shop.git", "shop"),
        ("/w/shop", "shop"),
        ("/w/shop/.git/modules/lib", "lib"),
        (r"D:\work\shop_2", "shop_2"),
        (r"D:\work\shop_2\.git", "shop_2"),
        ("d:/work/shop_2/", "shop_2"),
        (r"\\server\share\shop", "shop"),
        ("/w/Crème Brûlée (v2)", "creme-brulee-v2"),
        ("/w/Straße", "strasse"),
        ("/w/商店", "project"),
        ("github.com/商店/api", "api"),
        ("/w/me", "me-project"),
        ("/w/.config", "config"),
        ("/w/shop.", "shop"),
        ("/", "project"),
        ("", "project"),
    ],
)
def test_an_identity_suggests_a_readable_slug(identity: str, slug: str) -> None:
    assert slug_for(identity) == slug


def test_a_slug_that_would_be_too_long_keeps_the_end_of_the_name() -> None:
    slug = slug_for("gitlab.com/" + "/".join(["group"] * 40) + "/api")
    assert len(slug) <= SLUG_LIMIT
    assert slug.endswith("/api")


@settings(max_examples=200, deadline=None)
@given(st.one_of(ANY_TEXT, PATH_LIKE))
def test_any_identity_gives_a_legal_slug(identity: str) -> None:
    slug = slug_for(identity)
    assert check_slug(slug) == slug
    assert not set(':\\*?"<>|') & set(slug)


@settings(max_examples=100, deadline=None)
@given(st.one_of(ANY_TEXT, PATH_LIKE).map(slug_for), st.integers(2, 10**9))
def test_a_numbered_slug_is_legal_and_says_its_number(slug: str, n: int) -> None:
    name = numbered(slug, n)
    assert check_slug(name) == name
    assert name.endswith(f"-{n}")


def test_the_first_project_of_a_name_has_no_number() -> None:
    assert [numbered("acme/api", n) for n in (1, 2, 3)] == ["acme/api", "acme/api-2", "acme/api-3"]


def test_a_number_on_the_longest_slug_never_ends_a_part_badly() -> None:
    for tail in ("/yz", ".yz", "-yz"):
        slug = check_slug("x" * (SLUG_LIMIT - 3) + tail)
        assert check_slug(numbered(slug, 2)) == "x" * (SLUG_LIMIT - 3) + "-2"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/api",
        "https://user:FAKE-token@GitHub.com:443/Acme/API.git",
        "http://github.com/acme/api/",
        "git@github.com:acme/api.git",
        "github.com:acme/api",
        "git@github.com:/acme/api.git/",
        "git@[github.com:22]:acme/api.git",
        "ssh://git@github.com:2222/acme/api.git",
        "ssh://git@ssh.github.com:443/acme/api.git",
        "git+ssh://git@github.com/acme/api",
        "git://github.com./acme//api.git",
        "HTTPS://github.com/acme/%61pi.git?ref=main#readme",
        "https://github.com/acme/web/../api",
        "  https://github.com/acme/api\n",
    ],
)
def test_every_spelling_of_a_remote_is_one_identity(url: str) -> None:
    assert normalise_remote(url) == "github.com/acme/api"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://gitlab.com/a/b/c.git", "gitlab.com/a/b/c"),
        ("ssh://git@[2001:db8::1]:22/acme/api", "2001:db8::1/acme/api"),
        ("git@[2001:db8::1]:acme/api", "2001:db8::1/acme/api"),
        ("git@host:~ann/api.git", "host/~ann/api"),
        ("https://host/a%20b/%zz", "host/a b/%zz"),
        ("https://host/%ff", "host/%ff"),
        ("https://host/caf%C3%A9", "host/café"),
        ("https://host/acme/.git", "host/acme"),
    ],
)
def test_unusual_remotes_keep_what_names_them(url: str, identity: str) -> None:
    assert normalise_remote(url) == identity


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api",
        "../api.git",
        "./a:b",
        "/srv/api.git",
        "/srv/a:b",
        "file:///srv/api.git",
        r"C:\srv\api",
        "C:/srv/api",
        "c:api",
        r"\\server\share\api",
        "https://localhost:3000/acme/api",
        "https://127.0.0.1/acme/api",
        "ssh://[::1]/acme/api",
        "codecommit::us-east-1://api",
        "ext::ssh host api",
        "s3://bucket/api",
        "https://github.com",
        "https://github.com/.git",
        "https:///acme/api",
        "https://ho st/acme/api",
        "https://host/a%00b",
    ],
)
def test_an_address_that_is_local_or_none_identifies_nothing(url: str) -> None:
    assert normalise_remote(url) is None


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        ANY_TEXT,
        st.tuples(st.sampled_from(["https://", "ssh://", "git@", ""]), ANY_TEXT).map("".join),
        st.tuples(st.text(max_size=20), st.sampled_from([":", "/", "@", "://", "]:"]), ANY_TEXT).map("".join),
    )
)
def test_any_text_is_read_as_a_remote_without_an_error(url: str) -> None:
    identity = normalise_remote(url)
    assert identity is None or (identity.isprintable() and slug_for(identity) == check_slug(slug_for(identity)))


NAME = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,12}", fullmatch=True)


@settings(max_examples=100, deadline=None)
@given(st.from_regex(r"[a-z0-9]{2,8}\.(com|org)", fullmatch=True), st.lists(NAME, min_size=1, max_size=4))
def test_the_two_common_spellings_agree_and_normalising_again_changes_nothing(host: str, names: list[str]) -> None:
    path = "/".join(names)
    identity = normalise_remote(f"https://{host}/{path}.git")
    assert identity == normalise_remote(f"git@{host}:{path}") == f"{host}/{path}".lower()
    assert normalise_remote(f"https://{identity}") == identity


@pytest.mark.parametrize("path", [r"D:\work", "d:/work", r"\\server\share"])
def test_windows_paths_are_known_everywhere(path: str) -> None:
    assert is_windows_path(path)


@pytest.mark.parametrize("path", ["", "/w", "D:", "D:work", "1:/x", "é:/x", "host:path", "/w/D:\\x"])
def test_other_paths_are_not_taken_for_windows_paths(path: str) -> None:
    assert not is_windows_path(path)
