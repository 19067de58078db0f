from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eunoe.domain.redact import Span, find_secrets, redact

FAKE = "FAKE"
# Values are put together here, so that no scanner takes this file for a leak.
STRIPE = "sk_" + "test_" + FAKE + "0" * 16
GITHUB = "ghp" + "_" + "FAKEfake" * 4 + "0000"
DATABASE_PASSWORD = "Fake-" + "Pass-1"
SPOKEN_PASSWORD = "Fern-Kettle-9-" + FAKE
PEM = "-----BEGIN " + "PRIVATE KEY-----\nFAKEfakeFAKE\n-----END " + "PRIVATE KEY-----"
JWT = ".".join(("eyJ" + FAKE * 4, FAKE * 4, FAKE * 4))

TOKENS = [
    ("openai-key", "sk-" + FAKE * 6),
    ("openai-key", "sk-proj-" + FAKE * 4 + "_" + FAKE * 2),
    ("anthropic-key", "sk-ant-" + "api03-" + FAKE * 5),
    ("stripe-key", STRIPE),
    ("stripe-key", "rk_" + "live_" + FAKE * 4),
    ("github-token", GITHUB),
    ("github-token", "gho_" + FAKE * 9),
    ("github-token", "ghu_" + FAKE * 9),
    ("github-token", "ghs_" + FAKE * 9),
    ("github-token", "ghr_" + FAKE * 9),
    ("github-token", "github_" + "pat_" + FAKE * 5 + "_" + FAKE * 5),
    ("gitlab-token", "glpat-" + FAKE * 5),
    ("aws-access-key", "AKIA" + FAKE * 4),
    ("aws-access-key", "ASIA" + FAKE * 4),
    ("google-api-key", "AIza" + FAKE * 8 + "abc"),
    ("slack-token", "xoxb-" + "0000-" + FAKE * 4),
    ("npm-token", "npm_" + FAKE * 9),
    ("pypi-token", "pypi-" + "AgEI" + FAKE * 8),
    ("huggingface-token", "hf_" + FAKE * 8),
    ("docker-token", "dckr_" + "pat_" + FAKE * 5),
    ("shopify-token", "shpat" + "_" + "0fa1" * 8),
    ("digitalocean-token", "dop_" + "v1_" + "0fa1" * 16),
    ("linear-key", "lin_" + "api_" + FAKE * 10),
    ("groq-key", "gsk" + "_" + FAKE * 13),
    ("webhook-secret", "whsec" + "_" + FAKE * 8),
    ("age-key", "AGE-SECRET-" + "KEY-1" + "FAKE0" * 11),
    ("google-token", "ya" + "29." + FAKE * 10),
    ("sendgrid-key", "SG." + FAKE * 5 + "." + FAKE * 10),
    ("telegram-token", "123456789:" + FAKE * 8 + "abc"),
    ("jwt", JWT),
    ("private-key", PEM),
    ("private-key", PEM.replace("PRIVATE", "OPENSSH PRIVATE")),
    ("private-key", PEM.replace("KEY", "KEY BLOCK").replace("PRIVATE", "PGP PRIVATE")),
    ("private", "<private>my therapist is Fake Name</private>"),
    ("private", "<PRIVATE>a <private>b</private> c</Private>"),
]

ASSIGNMENTS = [
    ("my db password is {}.", "password", SPOKEN_PASSWORD),
    ("password is {}", "password", "hunter2" + "secret"),
    ("my password's {} by the way", "password", "hunter2" + "secret"),
    ("The password for the staging DB is {}, not the old one", "password", "hunter2" + "secret"),
    ("Passwort ist {}", "password", "hunter2" + "secret"),
    ("**Password:** {}", "password", "Fake1pass"),
    ("password is {}", "password", "hunter2" + "_secret"),
    ("password is {}", "password", "MyFakeSecret" + "1"),
    ("password = '{}'", "password", "MyFake" + "Password"),
    ("PASSWORD={}", "password", "swordfish"),
    ("DB_PASSWORD={}", "password", "swordfish"),
    ("      POSTGRES_PASSWORD: {}\n      POSTGRES_USER: app", "password", "swordfish"),
    ("db_password: {}", "password", "Fake1pass"),
    ("private_key_password = {}", "password", "Fake1pass"),
    ("db_passwd = '{}'", "password", "swordfish"),
    ("DB_PASSPHRASE='{}'", "password", "correct horse fake"),
    ("user_passcode: {}", "password", "99fake7"),
    ("SMTP_PASS={}", "password", "swordfish"),
    ("secret_key_base: {}", "api-key", "FAKE0123abcd"),
    ("passwd: '{}'", "password", "swordfish"),
    ("passphrase is '{}'", "password", "correct horse fake"),
    ('pwd = "{}"', "password", "swordfish"),
    ("mysql --password {} --host db", "password", "hunter2" + "secret"),
    ("<password>{}</password>", "password", "hunter2" + "secret"),
    ('{{"user": "bob", "password": "{}"}}', "password", "swordfish"),
    ('{{\\"password\\": \\"{}\\"}}', "password", "swordfish"),
    ("api_key = '{}'", "api-key", "FAKEvalue"),
    ("curl https://api.example/?api_key={}&page=2", "api-key", "FAKE0123abcd"),
    ("export PAYMENT_API_KEY={}", "api-key", "FAKE0123abcd"),
    ("secret_key: {}", "api-key", "FAKE0123abcd"),
    ("aws_secret_access_key = {}", "aws-secret-key", "FAKE/" + "fake+" * 7 + "0"),
    ("client_secret={}", "secret", "FAKE-0123-abcd"),
    ("access_token: {}", "token", "FAKE0123abcd"),
    ("auth_token => '{}'", "token", "FAKE0123"),
    ("Authorization: Bearer {}", "bearer-token", "FAKE0123abcd"),
    ("sent as bearer {} again", "bearer-token", "FAKE0123abcd"),
    ("postgres://svc:{}@db.example.internal/app", "url-password", DATABASE_PASSWORD),
    ("postgres://svc:{}@db.example.internal/app?owner=a@b.example", "url-password", "p/w"),
    ("smtp://me@x.example:{}@smtp.example", "url-password", "Fake1pw"),
    ("see https://hooks.slack.com/services/{} for it", "slack-token", "T00/B00/" + FAKE),
]

HARMLESS = [
    "the password is required",
    "DB_PASSWORD: obtained from the vault at boot",
    "DB_PASSWORD: required",
    "TOKEN: opaque",
    "password is stored in the vault",
    "The password is case-sensitive and the token is short-lived",
    "password is 12-character minimum",
    "password (see below)",
    "`password` must be at least 8 characters",
    '{"password": "must contain at least 8 characters"}',
    '"type": "password"',
    "token: the JWT of the session",
    "token: RS256-signed",
    "token: https://auth.example/oauth2/token",
    "the token is 4096, max_tokens = 128000, token count: 123456",
    "secret: see docs",
    "secret: /run/secrets/db_password2",
    "DB_PASSWORD_FILE=/run/secrets/x1",
    "The secret ingredient is cinnamon; the secretary: Bob2",
    'password=os.environ["DB_PASSWORD"]',
    'password = os.getenv("DB_PASSWORD")',
    "password = get_password()",
    "password = process.env.DB_PASSWORD",
    "password: Optional[str] = Field(...)",
    "password: SecretStr",
    "password: HiddenText | None",
    "assert type(token) is _TokenType",
    "secret_key = settings.SECRET_KEY",
    "if token == previous_token:",
    "token = authToken",
    "token=None",
    "token: str",
    "token: Token::new(x1)",
    "api key: OPENAI_API_KEY",
    "password=${PASSWORD} or $PASSWORD or <password>",
    "password=$PASSWORD",
    "password=<password>",
    "password: ****",
    "postgres://user:${DB_PASSWORD}@localhost/app",
    "http://localhost:8080/users/@me",
    "git+ssh://git@github.com:org/repo.git@v1.2",
    "sk-learn, scikit, sk-learn-compatible-estimators-everywhere1, ghp_ and npm_config_registry",
    "commit 3f2504e04f8911d39a0c0305e82c3301deadbeef, 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "sha256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= of src/eunoe/domain/ids.py v1.2.3",
    "Bearer of bad news",
]


@pytest.mark.parametrize("before", ["", "db_", "DB-", "my ", "user.", "X_"])
@pytest.mark.parametrize(
    "name",
    ["password", "passwd", "pwd", "passphrase", "passcode", "PASSWORD", "secret", "secret_key", "token", "api_key"],
)
def test_a_name_is_known_whatever_stands_before_it(before: str, name: str) -> None:
    assert masked_value(f"{before}{name}: Fake1pass9") == "Fake1pass9"


def masked_value(text: str) -> str:
    (span,) = find_secrets(text)
    return text[span.start : span.end]


@pytest.mark.parametrize(("kind", "token"), TOKENS)
def test_a_token_is_masked_and_its_sentence_survives(kind: str, token: str) -> None:
    assert redact(f"use {token} for now").text == f"use [masked:{kind}] for now"


@pytest.mark.parametrize(("sentence", "kind", "value"), ASSIGNMENTS)
def test_only_the_value_of_an_assignment_is_masked(sentence: str, kind: str, value: str) -> None:
    assert redact(sentence.format(value)).text == sentence.format(f"[masked:{kind}]")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_resembles_a_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == []
    assert redact(text).text is text


def test_none_of_the_values_pasted_into_a_session_survives() -> None:
    turns = [
        f"export PAYMENT_API_KEY={STRIPE} ;",
        GITHUB,
        f"postgres://svc:{DATABASE_PASSWORD}@db.example.internal/app",
        PEM,
        f"'my db password is {SPOKEN_PASSWORD}'",
    ]
    kept = redact(" ; ".join(turns)).text
    for value in (STRIPE, GITHUB, DATABASE_PASSWORD, "FAKEfakeFAKE", SPOKEN_PASSWORD):
        assert value not in kept
    assert "PAYMENT_API_KEY" in kept
    assert "svc:[masked:url-password]@db.example.internal/app" in kept


@pytest.mark.parametrize("opening", ["-----BEGIN RSA " + "PRIVATE KEY-----\nFAKE", "<private>my name"])
def test_a_block_that_is_never_closed_is_masked_to_the_end(opening: str) -> None:
    masked = redact(f"before {opening}\nand\n[masked:token] more")
    assert masked.text in ("before [masked:private-key]", "before [masked:private]")


def test_overlapping_finds_become_one_span_of_the_more_telling_kind() -> None:
    text = f"token={GITHUB}"
    assert find_secrets(text) == [Span(6, len(text), "github-token")]


@pytest.mark.parametrize("token", [GITHUB, JWT, STRIPE, "sk-" + FAKE * 6, "123456789:" + FAKE * 8 + "abc"])
def test_a_token_after_an_escaped_line_break_is_masked(token: str) -> None:
    assert FAKE not in redact(f"line\\n{token}\\nline").text


def test_markers_are_never_masked_again() -> None:
    text = "password is [masked:password] = hunter2 and token=[masked:github-token]"
    assert redact(text).text is text


@pytest.mark.parametrize("text", ["", "\ud800 password is \udfff", "\x00", "İ password is hunter2" + "secret"])
def test_no_text_is_an_error(text: str) -> None:
    assert "hunter2" not in redact(text).text


def test_offsets_hold_after_a_letter_whose_lower_case_is_longer() -> None:
    value = "hunter2" + "secret"
    text = f"İİİ password is {value} İ"
    assert [text[span.start : span.end] for span in find_secrets(text)] == [value]


PIECES = st.sampled_from(
    [token for _, token in TOKENS]
    + [
        "password",
        "token",
        "secret",
        "api_key",
        "bearer ",
        "authorization: ",
        " is ",
        "=",
        ": ",
        '"',
        "'",
        "\\",
        "-",
        "_",
    ]
    + [
        "<private>",
        "</private>",
        "[masked:",
        "[masked:token]",
        "]",
        "://",
        "@",
        "a",
        "Z9",
        " ",
        "\n",
        ",",
        "eyJ",
        "sk-",
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=12).map("".join)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_a_second_pass_finds_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once).text is once


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_spans_are_sorted_disjoint_and_not_empty(text: str) -> None:
    masked = redact(text)
    at = 0
    kept = []
    for span in masked.spans:
        assert at <= span.start < span.end <= len(text)
        kept += [text[at : span.start], f"[masked:{span.kind}]"]
        at = span.end
    assert masked.text == "".join([*kept, text[at:]])


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="abcdefghijlmnoqrvwxyz ABCDEFGHJLMNOPQRTUVWXY.,;!?()éß\n", max_size=200))
def test_a_text_without_any_telltale_comes_back_as_the_same_object(text: str) -> None:
    masked = redact(text)
    assert masked.text is text
    assert masked.spans == ()


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "sk-",
            "xoxb-",
            "eyJ-eyJ",
            "eyJaaaaaaaa.",
            "SG.a",
            "ghs_" + "a" * 20 + "." + "a" * 10 + ".",
            "://a:",
            "://a:b@",
        ),
        *("token=", "token=_", "$token=", "token      ", "token=,a", "token=\"token='", 'password is \\"a', "--a-a-"),
        *("password for password for ", "bearer ", "authorization=", "12345678:", "[masked:", "token=a1b2c3 "),
        *("<private>", "</private>", "-----BEGIN PRIVATE KEY ", "token=" + "." * 50, "password is )"),
    ],
)
def test_cost_grows_with_length_not_with_its_square(unit: str) -> None:
    def cost(length: int) -> float:
        text = ("token sk- " + unit * length)[:length]
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            redact(text)
            best = min(best, time.process_time() - begun)
        return best

    cost(1_000)
    # Eight times the text: 8 when linear, 64 when quadratic.
    assert cost(64_000) < 24 * max(cost(8_000), 0.0005)


def test_an_ordinary_text_does_not_load_the_regular_expressions() -> None:
    program = (
        "import sys; from eunoe.domain.redact import redact; redact('Lunch with Ada at 12:30, then the museum.');"
        "sys.exit(any(name in sys.modules for name in ('re', 'typing', 'dataclasses', 'json', 'pathlib')))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}"]
        ).returncode
        == 0
    )


def test_a_tag_that_is_only_spoken_of_hides_nothing() -> None:
    said = "Wrap it in `<private>` and `</private>`; a key begins with `-----BEGIN PRIVATE KEY-----` and goes on."
    assert redact(said).text == said
    assert redact(f"{said} <private>Fern-Kettle-FAKE</private> end").text == f"{said} [masked:private] end"
