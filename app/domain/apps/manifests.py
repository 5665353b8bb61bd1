"""Read manifests, with which apps describe themselves, and report every problem once.

Contract, "Apps": keys in camel case. Unknown keys are ignored.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nodesemver import make_range

from app.domain.apps.apps import APP_PAGE, DEFAULT_TARGET, grantable_problem
from app.domain.authorization.permissions import Permission, known_permissions
from app.domain.events import UNSENT_EVENTS, EventType
from app.domain.urls.web_urls import MAX_URL_LENGTH, is_path, is_same_origin, is_web_url
from app.domain.values.errors import Problem, refuse_any
from app.domain.values.installation import PLATFORM, SCHEMA_VERSION
from app.domain.values.json_values import is_keepable
from app.domain.values.text import Sentence
from app.domain.values.text_rules import line_problem, prose_problem
from app.domain.webhooks import headers_problem, sync_events_problem, unsent_events_problem

MAX_LINE_LENGTH = 256
_MAX_PROSE_LENGTH = 20_000


@dataclass(slots=True)
class Members:
    """The members of an object; their problems are added to ``problems``.

    ``field`` is the input at fault for a nested object (``webhooks``), and ``place`` names the
    part in messages (``webhooks[2]``). At the top each member is its own field.
    """

    values: Mapping[str, object]
    problems: list[Problem]
    field: str = ""
    place: str = ""

    def refuse(self, name: str, code: str, message: Sentence) -> None:
        """Add a problem of the member ``name`` whose message has no values."""
        self.add(name, Problem(code, message))

    def add(self, name: str, problem: Problem) -> None:
        """Add ``problem`` of the member ``name``, with its field and place."""
        place = f"{self.place}.{name}" if self.place else ""
        self.problems.append(replace(problem, field=self.field or name, place=place))

    def line(self, name: str, *, required: bool = False, max_length: int = MAX_LINE_LENGTH) -> str:
        """One line of text; empty when it is absent, which is refused where it is ``required``."""
        text = self._text(name, required=required)
        return self._unless(name, line_problem(text, name, max_length=max_length), text)

    def prose(self, name: str, *, required: bool = False) -> str:
        """Text of several lines."""
        text = self._text(name, required=required)
        return self._unless(name, prose_problem(text, name, max_length=_MAX_PROSE_LENGTH), text)

    def address(self, name: str, *, required: bool = False) -> str:
        """Return a whole address of HTTP."""
        text = self._text(name, required=required)
        if text and not is_web_url(text):
            message = (
                "Must be an http or https URL without a user name, such as https://example.com/."
            )
            self.refuse(name, "INVALID_URL_FORMAT", message)
            return ""
        return text

    def flag(self, name: str, *, otherwise: bool) -> bool:
        """Return a boolean."""
        value = self.values.get(name)
        if isinstance(value, bool):
            return value
        if value is not None:
            self.refuse(name, "INVALID", "Must be true or false.")
        return otherwise

    def names(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        values = self._list(name)
        texts = tuple(value for value in values if isinstance(value, str))
        if len(texts) != len(values):
            self.refuse(name, "INVALID", "Must be a list of names.")
        return texts

    def permissions(self, name: str = "permissions") -> frozenset[Permission]:
        """Return a list of permissions, of which every one must exist."""
        names = self.names(name)
        permissions = known_permissions(names)
        unknown = unknown_names(names, permissions, max_length=MAX_LINE_LENGTH)
        if unknown:
            self.add(name, _unknown_permissions(unknown))
        return permissions

    def mapping(self, name: str) -> Mapping[str, object]:
        """Return an object that is kept as it is."""
        value = self.values.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping) or not is_keepable(value):
            self.refuse(name, "INVALID", "Must be an object of plain values, not too deep.")
            return {}
        return value

    def parts(self, name: str, *, max_items: int) -> "tuple[Members, ...]":
        """Return the objects in a list, each to be read in its turn."""
        values = self._list(name)
        if len(values) > max_items:
            self.add(name, _too_many(max_items, len(values)))
            return ()
        read = []
        for number, value in enumerate(values):
            place = f"{name}[{number}]"
            if isinstance(value, Mapping):
                read.append(Members(value, self.problems, name, place))
            else:
                self.problems.append(Problem("INVALID", "Must be an object.", name, place=place))
        return tuple(read)

    def _list(self, name: str) -> Sequence[object]:
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.refuse(name, "INVALID", "Must be a list.")
            return ()
        return value

    def _text(self, name: str, *, required: bool) -> str:
        value = self.values.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if value is not None and not isinstance(value, str):
            self.refuse(name, "INVALID", "Must be a string.")
        elif required:
            self.refuse(name, "REQUIRED", "This is required.")
        return ""

    def _unless(self, name: str, problem: Problem | None, text: str) -> str:
        if problem is None:
            return text
        self.add(name, problem)
        return ""


def unknown_names(
    names: Iterable[str], known_names: Container[str], *, max_length: int
) -> list[str]:
    """Return those of ``names`` that aren't known, each once and cut to ``max_length``."""
    return [name[:max_length] for name in dict.fromkeys(names) if name not in known_names]


def _unknown_permissions(names: Sequence[str]) -> Problem:
    return Problem(
        "INVALID_PERMISSION",
        "Unknown permission: {names}.",
        plural="Unknown permissions: {names}.",
        values={"count": len(names), "names": ", ".join(names)},
    )


def _too_many(max_items: int, count: int) -> Problem:
    return Problem(
        "INVALID",
        "Use at most {max_items} items; this has {count}.",
        values={"max_items": max_items, "count": count},
    )


@dataclass(slots=True)
class Identifiers:
    """Those that have been met so far in one list."""

    met: set[str] = field(default_factory=set)

    def is_new(self, identifier: str) -> bool:
        """Whether the identifier is new in this list; an empty one always is."""
        if identifier in self.met:
            return False
        if identifier:
            self.met.add(identifier)
        return True


_MAX_RANGE_LENGTH = 256
_LONG_NUMBER = re.compile(r"\d{7,}")
_SUFFIX = re.compile(r"(?<=[\dxX*])[-+][0-9A-Za-z.+-]*")


def is_version_within(version: str, text: str) -> bool:
    """Return whether ``version`` (such as ``3.23``) is in the range ``text``.

    Pre-releases and builds in a range count as the release they belong to, unlike in npm: the
    interface has no pre-releases. Raises ``ValueError`` if ``text`` is not a range.
    """
    if len(text) > _MAX_RANGE_LENGTH:
        raise ValueError(f"a version range has at most {_MAX_RANGE_LENGTH} characters")
    if _LONG_NUMBER.search(text):
        raise ValueError(f"{text!r} is not a version range: a number has at most 6 digits")
    try:
        range_ = make_range(_SUFFIX.sub("", text), loose=False)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a version range") from error
    return bool(range_.test(_with_three_numbers(version)))


def _with_three_numbers(version: str) -> str:
    return version + ".0" * (2 - version.count("."))


MAX_EXTENSIONS = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}")
POST_SETTINGS = {"NEW_TAB": ("newTabTarget",), "WIDGET": ("widgetTarget", "homeWidgetTarget")}
"""The targets that the dashboard may open by POST, and the settings that ask for it."""


@dataclass(frozen=True, slots=True)
class ManifestExtension:
    """One entry; ``mount`` and ``target`` in capitals, ``url`` an address or a path."""

    label: str
    url: str
    mount: str
    target: str
    identifier: str
    permissions: frozenset[Permission]
    settings: Mapping[str, object]


def read_extensions(
    members: Members, app_url: str | None, permissions: frozenset[Permission] | None
) -> tuple[ManifestExtension, ...]:
    """Read the extensions of a manifest with ``app_url`` and ``permissions``.

    ``app_url`` is empty if there is none; each argument is ``None`` if it was refused, and
    problems that follow from that aren't reported.
    """
    identifiers = Identifiers()
    return tuple(
        _read_extension(part, app_url, permissions, identifiers)
        for part in members.parts("extensions", max_items=MAX_EXTENSIONS)
    )


def _read_extension(
    part: Members,
    app_url: str | None,
    permissions: frozenset[Permission] | None,
    identifiers: Identifiers,
) -> ManifestExtension:
    settings = part.mapping("options" if "options" in part.values else "settings")
    target = _name(part, "target") or DEFAULT_TARGET
    extension = ManifestExtension(
        label=part.line("label", required=True),
        url=_url(part, target, app_url, settings),
        mount=_name(part, "mount", required=True),
        target=target,
        identifier=part.line("identifier"),
        permissions=part.permissions(),
        settings=settings,
    )
    if not identifiers.is_new(extension.identifier):
        part.refuse(
            "identifier",
            "DUPLICATED_EXTENSION_IDENTIFIER",
            "Another extension has this identifier.",
        )
    if permissions is not None and not extension.permissions <= permissions:
        part.add("permissions", _out_of_scope(extension.permissions - permissions))
    return extension


def _out_of_scope(permissions: frozenset[Permission]) -> Problem:
    names = sorted(permission.value for permission in permissions)
    return Problem(
        "OUT_OF_SCOPE_PERMISSION",
        "The app itself doesn't request {names}.",
        permissions=tuple(names),
        values={"names": ", ".join(names)},
    )


def is_place_name(text: str) -> bool:
    """Whether ``text`` can name where an extension appears or how it opens."""
    return _NAME.fullmatch(text) is not None


def _name(part: Members, name: str, *, required: bool = False) -> str:
    text = part.line(name, required=required)
    if text and not is_place_name(text):
        part.refuse(name, "INVALID", "Use letters, digits and underscores.")
        return ""
    return text.upper()


def _url(part: Members, target: str, app_url: str | None, settings: Mapping[str, object]) -> str:
    url = part.line("url", required=True, max_length=MAX_URL_LENGTH)
    message = extension_url_message(url, target, app_url, settings) if url else ""
    if message:
        part.refuse("url", "INVALID_URL_FORMAT", message)
        return ""
    return url


def extension_url_message(
    url: str, target: str, app_url: str | None, settings: Mapping[str, object]
) -> Sentence:
    """Return why an extension can't open ``url``; empty if it can."""
    if is_path(url):
        return "A path needs an appUrl in the manifest." if app_url == "" else ""
    if not is_web_url(url):
        return "Must be a path such as /settings, or an http or https URL."
    if target == APP_PAGE:
        return "The target APP_PAGE opens inside the app; use a path."
    # The dashboard would post the extension's token there.
    if app_url is not None and _is_posted(target, settings) and not is_same_origin(url, app_url):
        return (
            "Must have the same origin as the manifest's appUrl, because it is opened with POST."
        )
    return ""


def _is_posted(target: str, settings: Mapping[str, object]) -> bool:
    return any(_asks_for_post(settings.get(name)) for name in POST_SETTINGS.get(target, ()))


def _asks_for_post(options: object) -> bool:
    method = options.get("method") if isinstance(options, Mapping) else None
    return isinstance(method, str) and method.upper() == "POST"


MAX_WEBHOOKS = 100


@dataclass(frozen=True, slots=True)
class ManifestWebhook:
    """One webhook. Without ``events`` it is about those that its ``query`` is about.

    Whether the query makes sense is for those who know the schema to say; ``place`` names the
    webhook in what they say.
    """

    name: str
    identifier: str
    target_url: str
    query: str
    events: tuple[EventType, ...]
    is_active: bool
    custom_headers: Mapping[str, str]
    place: str


def read_webhooks(members: Members) -> tuple[ManifestWebhook, ...]:
    """Return the webhooks of a manifest."""
    identifiers = Identifiers()
    return tuple(
        _read_webhook(part, identifiers)
        for part in members.parts("webhooks", max_items=MAX_WEBHOOKS)
    )


def _read_webhook(part: Members, identifiers: Identifiers) -> ManifestWebhook:
    identifier = part.line("identifier")
    if not identifiers.is_new(identifier):
        part.refuse(
            "identifier", "DUPLICATED_WEBHOOK_IDENTIFIER", "Another webhook has this identifier."
        )
    problem = sync_events_problem(part.names("syncEvents"))
    if problem is not None:
        part.add("syncEvents", problem)
    return ManifestWebhook(
        name=part.line("name", required=True),
        identifier=identifier,
        target_url=part.address("targetUrl", required=True),
        query=part.prose("query", required=True),
        events=_events(part),
        is_active=part.flag("isActive", otherwise=True),
        custom_headers=_headers(part),
        place=part.place,
    )


def _events(part: Members) -> tuple[EventType, ...]:
    names = part.names("asyncEvents")
    problem = unsent_events_problem(name for name in names if name in UNSENT_EVENTS)
    if problem is not None:
        part.add("asyncEvents", problem)
    unknown = unknown_names(names, {*EventType, *UNSENT_EVENTS}, max_length=80)
    if unknown:
        part.add("asyncEvents", _unknown_events(unknown))
    return tuple(event for event in EventType if event.value in names)


def _unknown_events(names: Sequence[str]) -> Problem:
    return Problem(
        "INVALID",
        "Unknown event: {names}.",
        plural="Unknown events: {names}.",
        values={"count": len(names), "names": ", ".join(names)},
    )


def _headers(part: Members) -> Mapping[str, str]:
    headers = part.mapping("customHeaders")
    problem = headers_problem(headers)
    if problem is not None:
        part.add("customHeaders", problem)
        return {}
    return {name: str(value) for name, value in headers.items()}


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest in which everything makes sense; what it left out is empty.

    Without ``token_target_url`` the app has no back end that would want a token.
    """

    identifier: str
    name: str
    version: str
    about: str
    author: str
    audience: str
    permissions: frozenset[Permission]
    app_url: str
    token_target_url: str
    data_privacy_url: str
    homepage_url: str
    support_url: str
    extensions: tuple[ManifestExtension, ...]
    webhooks: tuple[ManifestWebhook, ...]
    configuration_url: str = ""
    data_privacy: str = ""
    logo_url: str = ""
    required_version: str = ""


def read_manifest(document: Mapping[str, object], vendor: str) -> Manifest:
    """Read the manifest in a JSON object; ``vendor`` is the first word of our names.

    The version that it requires goes by the vendor's name or the platform's.

    Refuses all problems at once, each by its key: REQUIRED, INVALID, INVALID_URL_FORMAT,
    INVALID_PERMISSION, OUT_OF_SCOPE_PERMISSION, INVALID_CUSTOM_HEADERS,
    DUPLICATED_EXTENSION_IDENTIFIER, DUPLICATED_WEBHOOK_IDENTIFIER, UNSUPPORTED_SALEOR_VERSION.
    """
    problems: list[Problem] = []
    members = Members(document, problems)
    app_url = members.address("appUrl")
    home = None if problems else app_url
    problem_count = len(problems)
    permissions = members.permissions()
    valid_permissions = None if len(problems) > problem_count else permissions
    too_much = grantable_problem(permissions)
    if too_much is not None:
        problems.append(too_much)
    required = [
        _checked_version(members, f"required{owner}Version")
        for owner in dict.fromkeys((vendor.capitalize(), PLATFORM.capitalize()))
    ]
    manifest = Manifest(
        identifier=members.line("id", required=True),
        name=members.line("name", required=True),
        version=members.line("version", required=True),
        about=members.prose("about"),
        author=members.line("author"),
        audience=members.line("audience"),
        permissions=permissions,
        app_url=app_url,
        token_target_url=members.address("tokenTargetUrl"),
        data_privacy_url=members.address("dataPrivacyUrl"),
        homepage_url=members.address("homepageUrl"),
        support_url=members.address("supportUrl"),
        configuration_url=members.address("configurationUrl"),
        data_privacy=members.prose("dataPrivacy"),
        logo_url=_logo_url(members),
        required_version=next(filter(None, required), ""),
        extensions=read_extensions(members, home, valid_permissions),
        webhooks=read_webhooks(members),
    )
    refuse_any(*problems)
    return manifest


def _logo_url(members: Members) -> str:
    brand = Members(members.mapping("brand"), members.problems, "brand", "brand")
    logo = Members(brand.mapping("logo"), members.problems, "brand", "brand.logo")
    return logo.address("default")


def _checked_version(members: Members, name: str) -> str:
    """Return the version that the app requires, and refuse one that this isn't."""
    required = members.line(name)
    try:
        fits = not required or is_version_within(SCHEMA_VERSION, required)
    except ValueError:
        members.refuse(name, "INVALID", "Enter a version range, such as ^3.20.")
        return ""
    if not fits:
        problem = Problem(
            "UNSUPPORTED_SALEOR_VERSION",
            "The app requires API version {required}; this is version {version}.",
            values={"required": required, "version": SCHEMA_VERSION},
        )
        members.add(name, problem)
    return required
