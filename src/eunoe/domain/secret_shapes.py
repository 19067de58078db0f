"""The shapes of secrets: literal prefixes, names to which a secret is assigned, and what only looks like one.

Data for `redact`; searches are made there. Lean: hooks load it.
"""

from __future__ import annotations

# (literal prefix and prefilter, kind, the rest). A look-ahead wants one digit or capital, so that slugs stay; it is
# bounded because hyphens let the next attempt start inside the same run.
NOT_A_SLUG = r"(?=[a-z_-]{0,48}[A-Z0-9])"
PREFIXED = (
    ("sk-ant-", "anthropic-key", NOT_A_SLUG + r"[\w-]{16,}"),
    ("sk-", "openai-key", r"(?!ant-|learn)" + NOT_A_SLUG + r"[\w-]{20,}"),
    *((f"{letter}k_", "stripe-key", r"(?:live|test)_" + NOT_A_SLUG + r"[A-Za-z0-9]{10,}") for letter in "sr"),
    *((f"gh{letter}_", "github-token", r"\w{20,}(?:\.[\w-]{10,}){0,2}") for letter in "pousr"),
    ("github_pat_", "github-token", r"\w{20,}"),
    ("glpat-", "gitlab-token", NOT_A_SLUG + r"[\w-]{16,}(?:\.\d\d\.\w+)?"),
    *((f"A{letter}IA", "aws-access-key", r"[A-Z0-9]{16}(?![A-Za-z0-9])") for letter in "KS"),
    ("AIza", "google-api-key", r"[\w-]{30,}"),
    ("xox", "slack-token", r"[abeprs]-" + NOT_A_SLUG + r"[A-Za-z0-9-]{10,}"),
    ("hooks.slack.com/services/", "slack-token", r"(?P<secret>[\w/-]{8,})"),
    ("npm_", "npm-token", NOT_A_SLUG + r"[A-Za-z0-9]{20,}"),
    ("pypi-AgEI", "pypi-token", r"[\w-]{16,}"),
    ("hf_", "huggingface-token", NOT_A_SLUG + r"[A-Za-z0-9]{20,}"),
    ("dckr_pat_", "docker-token", NOT_A_SLUG + r"[\w-]{16,}"),
    ("shpat_", "shopify-token", r"[0-9a-fA-F]{32}"),
    ("dop_v1_", "digitalocean-token", r"[0-9a-f]{64}"),
    ("lin_api_", "linear-key", NOT_A_SLUG + r"[A-Za-z0-9]{32,}"),
    ("gsk_", "groq-key", NOT_A_SLUG + r"[A-Za-z0-9]{32,}"),
    ("whsec_", "webhook-secret", NOT_A_SLUG + r"[A-Za-z0-9+/=]{24,}"),
    ("AGE-SECRET-KEY-1", "age-key", r"[A-Z0-9]{40,}"),
    ("ya29.", "google-token", NOT_A_SLUG + r"[\w-]{24,}"),
    ("SG.", "sendgrid-key", r"[\w-]{16,}+\.[\w-]{16,}"),
    ("eyJ", "jwt", r"(?<!-eyJ)[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{4,}"),
    # A port is not a password, and the last @ before the path ends it; an unescaped slash is tolerated in a password
    # when the authority has no @ at all.
    (
        "://",
        "url-password",
        r"[^\s/:?#@\"'<>`]*+(?P<mail>@[^\s/:?#\"'<>`]*+)?+:(?!\d{1,5}(?:[/?#\s]|$))"
        r"(?P<secret>[^\s/?#\"'<>`]+(?=@[^\s@])|(?(mail)(?!))(?:[^\s@\"'<>`/]|/(?!/))++(?=@[^\s@]))",
    ),
)
TELEGRAM = r"(?:(?<!\w)|(?<=\\[nrt]))\d{8,10}:[\w-]{35}(?![\w-])"

TAG = r"<(/?)private\s{0,8}>"
PEM = r"-----%s [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
MARKER = r"\[masked:[a-z-]{1,32}\]"

# Searched in folded text. "pass" alone is too ordinary a word; as the end of a variable name it is not.
PASS_MARKERS = ("passw", "passphrase", "passcode", "_pass", "mot de passe")
KEY_MARKERS = tuple(
    f"{word}{gap}key"
    for word in ("api", "access", "private", "encryption", "signing", "auth")
    for gap in ("", " ", "_", "-")
)
# Every alternative starts with a literal and nothing is captured: that is what makes the search for names fast. None is
# the beginning of another from one character before it, as `_pass` of `_password` would be: the first found wins.
NAMES = (
    r"authorization|bearer|password|passwort|kennwort|passwd|passphrase|passcode|pwd|_pass(?!w|phrase|code)"
    r"|contraseña|mot de passe|пароль|密码|api[ _-]?key|access[ _-]?key|private[ _-]?key|encryption[ _-]?key"
    r"|signing[ _-]?key|auth[ _-]?key|secret(?:[ _-]?access)?(?:[ _-]?key)?|token"
)
TAIL = r"""
(?:_?\d{1,2}|_(?:production|prod|staging|test|live|dev|base|value))?(?!\w)
(?:[\\"'`)\]*]{0,4}
    (?:\s{0,4}(?P<sign>[!:]?={1,3}>?|->|:(?![:/])|：)\s{0,4}\*{0,2}[ ]?
      | >(?=[^\s<>]{1,128}</)
      | [ ]?[是为][ ]?
      | (?:[ ](?:for|of|to|on|in|at)(?:[ ][\w./-]{1,24}){1,5}?)?
        (?:[ ](?:is|was|ist|war|es|est|will[ ]be|set[ ]to|changed[ ]to|updated[ ]to)|['’]s)
        (?:[ ](?:now|still|currently|set[ ]to|changed[ ]to))?[ ]?:?\s{1,3}\*{0,2})
  | (?P<flag>[ ]{1,4}))"""
AUTHORIZATION_TAIL = r"""[\\"']{0,3} ?[:=] ?[\\"']{0,3}(?:(?:bearer|basic|token|digest) +)?"""

QUOTED = r"""[fbruFBRU]{0,2}(?:\\+"([^"\n]*+)"|\\+'([^'\n]*+)'|"((?:[^"\\\n]|\\.)*+)"|'((?:[^'\\\n]|\\.)*+)'
|`([^`\n]*+)`|“([^”\n]*+)”|‘([^’\n]*+)’)"""
QUOTES = frozenset("\"'`")
OPENINGS = frozenset("\"'`“‘\\fFbBrRuU")
# A comma, semicolon or ampersand belongs to the value unless the next field starts there. Nothing here looks back, so
# a run scanned from its middle ends where it ends when scanned from its start.
RUN = r"""(?:[^\s"'`<>,;&\\“”\u00a0\u3000-\u3002\uff0c]|\\(?![nrt"'\\])|[,;&](?!\s|$|[\w.-]{1,32}\s?[=:]))++"""

REFERENCE = r"""
\$[A-Za-z_({] | \$\$ | [\[{<(%]                        # a variable, a template, an option
| [*•.xX_#?-]+$                                        # stars and dots
| (?i:your|change[_-]?me|example|placeholder|redacted|replace)(?![a-z0-9])
| (?:~|\.{1,2})?/[\w.-]+(?:/|$) | [A-Za-z]:\\ | [a-z][a-z0-9+]*://     # a path, a URL
| v?\d+(?:\.\d+)+(?![\w@!#]) | \d{4}-\d\d-\d\d | \d{1,4}(?:-[a-z]+)+$  # a version, a date, "12-character"
| (?i:sha-?\d+|md5|base(?:64|32)|aes-?\d*|[rehp]s256|utf-?8|oauth2?|argon2i?d?|pbkdf2|1password)(?![A-Za-z0-9])
| (?:[A-Za-z_]*_)?(?i:password|passwd|pwd|secret|token|key|credential)s?_?\d?$   # another name for it"""
# What stands for a value only without quotes: a call, an attribute, a camel-case name or type.
CODE = (
    r"[A-Za-z_$][\w.$]*(?:(?:::|->)\w+)*\??[(\[]|[A-Za-z_]+\d{0,2}(?:\??(?:\.|::|->)[A-Za-z_]+\d{0,2})+$"
    r"|_?[A-Za-z]*[a-z](?:P(?:assword|asswd|wd)|Token|Secret|Key|Credentials?|Text|Str|String|Type|Kind|Input|Value)s?$"
    r"|(?:[Tt]oken|[Pp]assword|[Ss]ecret|[Aa]uth|[Aa]ccess|[Aa]pi)(?:[A-Z][a-z]+)+$"
)
TELLING = r"[0-9A-Z!@#$%^&*+=~](?:(?<=[0-9])|(?<=[a-z][A-Z])|(?<!^.)(?<=[!@#$%^&*+=~])[!@#$%^&*+=~]*[A-Za-z0-9])"

WORDS = """
required optional string number boolean integer secret secretstr password passwort passphrase hidden masked redacted
invalid missing incorrect expired undefined default disabled enabled unknown changed private public function object
varchar charfield stored refresh access bearer github gitlab openai javascript typescript postgresql keycloak bitbucket
bcrypt scrypt
"""
SENTENCE_STARTS = """
a an the this that it is are was must should may can cannot please enter see use at in on for from your my our not no to
be contains password token secret invalid missing incorrect wrong forgot reset
"""
NO_VALUES = frozenset(WORDS.split())
NO_PASSPHRASES = frozenset(SENTENCE_STARTS.split())
