"""The settings of an identity provider as clients read and write them: texts, by name.

A provider's own description (OpenID Connect Discovery 1.0, 3) fills in most of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.domain.single_sign_on.group_mapping import parse_group_mapping
from app.domain.single_sign_on.provider_tokens import ALGORITHMS
from app.domain.single_sign_on.providers import DISCOVERY_PATH, SUBJECT_CLAIMS, Provider
from app.domain.urls.web_urls import is_web_url, normalize_url
from app.domain.values.errors import Problem
from app.domain.values.text import Sentence
from app.domain.values.text_rules import line_problem


class SettingType(StrEnum):
    """The type of a setting's value (`ConfigurationTypeFieldEnum`)."""

    STRING = "STRING"
    MULTILINE = "MULTILINE"
    BOOLEAN = "BOOLEAN"
    SECRET = "SECRET"
    PASSWORD = "PASSWORD"
    SECRETMULTILINE = "SECRETMULTILINE"
    OUTPUT = "OUTPUT"


class Scope(StrEnum):
    """The scope of a plugin's configuration; a provider's is the whole shop."""

    PER_CHANNEL = "PER_CHANNEL"
    GLOBAL = "GLOBAL"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name, how it is called, what it does, and what its value can be.

    ``choices`` are the only values, any if empty.
    """

    name: str
    label: Sentence
    help: Sentence
    type: SettingType = SettingType.STRING
    max_length: int = 2048
    choices: tuple[str, ...] = ()


MASK = "****"
"""What a secret reads back as; sent back, it leaves the secret as it is."""

SETTINGS = (
    Setting(
        "client_id", "Client ID", "The client ID registered at the provider.", max_length=1024
    ),
    Setting(
        "client_secret",
        "Client secret",
        "Authenticates token requests (client_secret_basic). Never shown again.",
        SettingType.SECRET,
        max_length=1024,
    ),
    Setting(
        "enable_refresh_token",
        "Enable refreshing tokens",
        "Ask for offline_access, so that sessions can be refreshed at the provider.",
        SettingType.BOOLEAN,
    ),
    Setting("oauth_authorization_url", "Authorization URL", "Where users sign in."),
    Setting("oauth_token_url", "Token URL", "URL for exchanging codes and refresh tokens."),
    Setting(
        "json_web_key_set_url",
        "JSON Web Key Set URL",
        "URL of the keys that verify the provider's tokens.",
    ),
    Setting("oauth_logout_url", "Logout URL", "URL that also signs people out at the provider."),
    Setting("user_info_url", "User info URL", "URL that returns the user of an access token."),
    Setting(
        "audience",
        "Audience",
        "The audience access tokens must have. Required if the provider grants permissions.",
        max_length=1024,
    ),
    Setting(
        "use_oauth_scope_permissions",
        "Use the service scope permissions",
        "Use permissions from the provider instead of those set in Latchkey.",
        SettingType.BOOLEAN,
    ),
    Setting(
        "staff_user_domains",
        "Staff user domains",
        "Email domains, separated by commas. People with a verified email at "
        "these domains become staff.",
    ),
    Setting(
        "default_group_name_for_new_staff_users",
        "Default permission group name for new staff users",
        "The permission group new staff join. Created without permissions if it doesn't exist.",
        max_length=150,
    ),
    Setting(
        "issuer", "Issuer", "The issuer in the provider's tokens. Checked if set.", max_length=900
    ),
    Setting(
        "trust_emails",
        "Trust emails from this provider",
        "Treat emails as verified if the provider doesn't send email_verified. Turn this on "
        "only if the provider verifies every email before it issues tokens.",
        SettingType.BOOLEAN,
    ),
    Setting(
        "scope_prefix",
        "Scope prefix",
        "What the provider's scopes begin with, before the colon. If empty, VENDOR in lower case.",
        max_length=64,
    ),
    Setting(
        "second_factor_amr",
        "Second factor by amr",
        "Values of the claim amr, separated by spaces, that mean that a second factor was used.",
        max_length=255,
    ),
    Setting(
        "second_factor_acr",
        "Second factor by acr",
        "Values of the claim acr, separated by spaces, that mean that a second factor was used.",
        max_length=1024,
    ),
    Setting(
        "subject_claim",
        "Subject claim",
        "The claim of access tokens that holds the user's subject: sub, or uid for Okta. Its "
        "value must equal the user info's sub.",
        choices=SUBJECT_CLAIMS,
    ),
    Setting(
        "accepted_clients",
        "Accepted clients",
        "IDs of the clients whose access tokens are accepted (azp, client_id, cid, appid), "
        "separated by spaces. The client ID above is always accepted. If this and the "
        "audience are empty, access tokens of any client are accepted without staff rights.",
    ),
    Setting(
        "groups_claim",
        "Groups claim",
        "The claim that holds a person's groups at the provider, in the ID token, the user "
        "info or the access token. It can be a path with dots, such as realm_access.roles.",
        max_length=255,
    ),
    Setting(
        "group_mapping",
        "Groups by claim",
        "The permission group of each value of the groups claim. People with one of these "
        "values and a verified email become staff. At each sign-in staff join the groups of "
        "their values and leave the other groups of this table. Members of a group whose row "
        "is removed stay in it. Not used while the provider grants permissions.",
        SettingType.MULTILINE,
        max_length=16_000,
    ),
)
"""In the order of the API. Saleor doesn't have ``issuer`` and those after it."""

SECRET_NAMES = frozenset(entry.name for entry in SETTINGS if entry.type is SettingType.SECRET)

_BY_NAME = {setting.name: setting for setting in SETTINGS}
_DEFAULTS: Mapping[str, str | bool] = {
    setting.name: getattr(Provider(0, "", "", active=False), setting.name) for setting in SETTINGS
}
_FLAGS = {"true": True, "false": False}
_SCOPE_CHARACTERS = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
"""What a scope can consist of (RFC 6749, 3.3)."""

_NO_SCOPE = "Use printable ASCII characters without spaces, quotes and backslashes: latchkey"
_PLAIN_URL = "Use a full URL: https://id.example.com/path"

_NO_ISSUER = (
    "This is the URL of the discovery document. Discover the provider from it, or enter the "
    "document's issuer."
)

_CLIENT = ("client_id",)
_SIGN_IN_ONLY = (*_CLIENT, "oauth_authorization_url", "oauth_token_url")
FOR_SIGN_IN = (*_SIGN_IN_ONLY, "json_web_key_set_url")
FOR_TOKENS = ("json_web_key_set_url", "user_info_url")
_REQUIRED_FOR_SIGN_IN = "{label} is required to sign people in with this provider."
_REQUIRED_FOR_TOKENS = "{label} is required to accept the provider's access tokens."


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A setting as it reads back: a secret as ``MASK``, ``None`` where it is not set."""

    setting: Setting
    value: str | None


def read_setting(name: str, value: str | None) -> str | bool | Problem | None:
    """Read ``value`` for the setting ``name``; ``None`` keeps it.

    Null and an empty text clear a setting. Refuses INVALID on the name.
    """
    setting = _BY_NAME.get(name)
    if setting is None:
        return Problem("INVALID", "Unknown setting {name}.", name, values={"name": name})
    text = (value or "").strip()
    if setting.type is SettingType.SECRET and text == MASK:
        return None
    if not text:
        return _DEFAULTS[name]
    if setting.type is SettingType.BOOLEAN:
        flag = _FLAGS.get(text.lower())
        return Problem("INVALID", "Say true or false.", name) if flag is None else flag
    if setting.choices:
        return text if text in setting.choices else _choice_problem(setting)
    problem = line_problem(text, name, max_length=setting.max_length)
    if problem is None and name.endswith("_url") and not is_web_url(text):
        problem = Problem("INVALID", _PLAIN_URL, name)
    if problem is None and name == "issuer" and DISCOVERY_PATH in text:
        problem = Problem("INVALID", _NO_ISSUER, name)
    if problem is None and name == "scope_prefix" and not _SCOPE_CHARACTERS.fullmatch(text):
        problem = Problem("INVALID", _NO_SCOPE, name)
    return problem or (parse_group_mapping(text) if name == "group_mapping" else text)


_OWN_PATHS = (
    "",
    "/graphql/",
    "/.well-known/jwks.json",
    "/oauth/authorize",
    "/oauth/token",
    "/oauth/userinfo",
)


def own_url_problem(name: str, text: str, public_url: str) -> Problem | None:
    """Return why a setting can't name the provider that this installation is itself.

    Its people would sign in with their own sessions, whatever the login mode says.
    """
    own = {f"{public_url}{path}".rstrip("/") for path in _OWN_PATHS}
    is_url = name == "issuer" or name.endswith("_url")
    if not (public_url and is_url and normalize_url(text).partition("?")[0].rstrip("/") in own):
        return None
    message = "This is this installation itself, which can't be its own identity provider."
    return Problem("INVALID", message, name)


def _choice_problem(setting: Setting) -> Problem:
    values = {"choices": ", ".join(setting.choices)}
    return Problem("INVALID", "Choose one of: {choices}.", setting.name, values=values)


def show_settings(provider: Provider) -> tuple[SettingValue, ...]:
    """Return every setting of ``provider`` as it reads back."""
    return tuple(
        SettingValue(setting, _shown_value(setting, getattr(provider, setting.name)))
        for setting in SETTINGS
    )


def activation_problems(provider: Provider, *, needs_client: bool = False) -> tuple[Problem, ...]:
    """Why ``provider`` can't be active: PLUGIN_MISCONFIGURED on the name of each missing setting.

    Empty if it can. The settings are those of the flow that has been begun to be set up.
    ``needs_client``: a client ID is needed also where only access tokens are accepted.
    """
    takes_tokens = provider.takes_tokens and (provider.client_id != "" or not needs_client)
    if not provider.active or provider.signs_in or takes_tokens:
        return ()
    names: tuple[str, ...] = (*_CLIENT, *FOR_TOKENS) if needs_client else FOR_TOKENS
    message = _REQUIRED_FOR_TOKENS
    if not provider.user_info_url and any(getattr(provider, name) for name in _SIGN_IN_ONLY):
        names, message = FOR_SIGN_IN, _REQUIRED_FOR_SIGN_IN
    return tuple(
        Problem("PLUGIN_MISCONFIGURED", message, name, values={"label": _BY_NAME[name].label})
        for name in names
        if not getattr(provider, name)
    )


def _shown_value(setting: Setting, value: str | bool) -> str | None:  # noqa: FBT001 - a value of either kind
    if isinstance(value, bool):
        return "true" if value else "false"
    if not value:
        return None
    return MASK if setting.type is SettingType.SECRET else value


_ENDPOINTS = {
    "oauth_authorization_url": "authorization_endpoint",
    "oauth_token_url": "token_endpoint",
    "json_web_key_set_url": "jwks_uri",
    "user_info_url": "userinfo_endpoint",
    "oauth_logout_url": "end_session_endpoint",
}
_NEEDED = ("oauth_authorization_url", "oauth_token_url", "json_web_key_set_url")

_CHOICES: Mapping[str, tuple[frozenset[str], tuple[str, ...]]] = {
    # member: what we can do, and what its absence means
    "response_types_supported": (frozenset({"code"}), ("code",)),
    "code_challenge_methods_supported": (frozenset({"S256"}), ("S256",)),
    "token_endpoint_auth_methods_supported": (
        frozenset({"client_secret_basic", "none"}),
        ("client_secret_basic",),
    ),
    "id_token_signing_alg_values_supported": (ALGORITHMS, ("RS256",)),
}


def issuer_in(text: str) -> str:
    """Return the issuer in ``text``, which can be the whole URL of its discovery document."""
    return text.strip().partition(DISCOVERY_PATH)[0]


def discovery_url(text: str) -> str:
    """Return the URL of the discovery document of an issuer, or ``text`` if it is that URL."""
    url = text.strip()
    return url if DISCOVERY_PATH in url else f"{url.rstrip('/')}{DISCOVERY_PATH}"


def read_description(
    document: Mapping[str, object], issuer: str
) -> tuple[dict[str, str], list[Problem]]:
    """Read the settings in a discovery ``document``, and its problems: INVALID on ``issuer``.

    Its issuer must be ``issuer``, except for a trailing slash (4.3). A document fetched by HTTPS
    must not contain HTTP URLs.
    """
    document_issuer = document.get("issuer")
    if not isinstance(document_issuer, str) or document_issuer.rstrip("/") != issuer.rstrip("/"):
        message = "The configuration is for another issuer: {issuer}."
        return {}, [_problem(message, issuer=repr(document_issuer))]
    settings, problems = {"issuer": document_issuer}, []
    for name, member in _ENDPOINTS.items():
        url = document.get(member)
        if url is None and name not in _NEEDED:
            continue
        read = read_setting(name, url) if isinstance(url, str) and url else None
        if not isinstance(read, str):
            problems.append(_problem("{member} is missing or isn't a URL.", member=member))
        elif document_issuer.startswith("https:") and not read.startswith("https:"):
            message = "{member} changes from https to {url}."
            problems.append(_problem(message, member=member, url=read))
        else:
            settings[name] = read
    for member, (usable, default) in _CHOICES.items():
        offered = document.get(member)
        offered = default if offered is None else offered
        if not isinstance(offered, (list, tuple)) or not usable.intersection(map(str, offered)):
            message, names = "{member} supports none of {usable}.", ", ".join(sorted(usable))
            problems.append(_problem(message, member=member, usable=names))
    return settings, problems


def _problem(message: Sentence, **values: object) -> Problem:
    return Problem("INVALID", message, "issuer", values=values)
