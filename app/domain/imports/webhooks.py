"""Turn Saleor's webhooks into Latchkey's.

What can't be sent here as it was sent there is imported disabled, so that a person looks at it
before it sends. A webhook that can't be stored here at all is left out: its endpoint isn't an http
or https URL.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.imports.fitting import SourceRow, listed
from app.domain.imports.runs import Converted, Outcome
from app.domain.urls.web_urls import MAX_URL_LENGTH, is_web_url, target_problem
from app.domain.values.errors import Problem
from app.domain.values.ip_addresses import Network
from app.domain.webhooks import MAX_HEADERS, headers_problem, not_permitted, query_problem

WEBHOOKS = "webhook_webhook"

_MAX_LINE_LENGTH = 256
_MAX_SCHEME_LENGTH = 20


@dataclass(frozen=True, slots=True)
class ImportedWebhook:
    """A webhook as it is stored here; its secret is still to be encrypted.

    The source doesn't know when it was created, so it counts as created when it is imported.
    """

    id: int
    app_id: int
    name: str
    identifier: str
    target_url: str
    is_active: bool
    query: str
    events: tuple[EventType, ...]
    custom_headers: Mapping[str, str] = field(repr=False)
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class WebhookSurroundings:
    """What other tables have for a webhook, and the rules of this installation.

    ``event_names`` are as the source stores them. ``app_permissions`` are its app's as imported,
    ``taken_identifiers`` those of the app's other webhooks. ``check_query`` returns why a
    subscription query can't be run here.
    """

    event_names: Collection[str]
    app_permissions: frozenset[Permission]
    check_query: Callable[[str], Problem | None]
    allowed_networks: Sequence[Network] = ()
    taken_identifiers: Collection[str] = ()


def convert_webhook(
    source: Mapping[str, object], around: WebhookSurroundings
) -> Converted[ImportedWebhook]:
    """Return the webhook of a row of ``webhook_webhook``; ``None`` if it can't be stored here."""
    row = SourceRow(WEBHOOKS, source)
    target_url = row.text("target_url")
    if not is_web_url(target_url):
        return _refused_target(row, target_url)
    events = _events(row, around.event_names)
    query = row.text("subscription_query")
    checks = (
        _may_send_to(row, target_url, around.allowed_networks),
        _is_unfiltered(row),
        _can_run(row, query, around.check_query),
        bool(events) or not around.event_names,
    )
    if not checks[-1]:
        row.add("NO_EVENT_LEFT", Outcome.DISABLED, "None of its events is sent here.")
    _report_permissions(row, events, around.app_permissions)
    webhook = ImportedWebhook(
        id=row.key,
        app_id=row.number("app_id"),
        name=row.line("name", max_length=_MAX_LINE_LENGTH),
        identifier=_identifier(row, around.taken_identifiers),
        target_url=target_url,
        is_active=row.flag("is_active") and all(checks),
        query=query,
        events=events,
        custom_headers=_headers(row),
        secret=str(source.get("secret_key") or ""),
    )
    return row.converted(webhook)


def _refused_target(row: SourceRow, target_url: str) -> Converted[ImportedWebhook]:
    """Say why the endpoint can't be stored; never the URL, which can hold credentials."""
    scheme, separator, _ = target_url.partition(":")
    if separator and scheme.lower() not in ("http", "https"):
        return row.refused(
            "TARGET_SCHEME_UNSUPPORTED",
            "Events aren't sent to {scheme} endpoints here, only to http and https URLs.",
            scheme=repr(scheme[:_MAX_SCHEME_LENGTH]),
        )
    return row.refused(
        "TARGET_URL_INVALID",
        "The endpoint URL isn't an http or https URL of at most {max_length} characters without a"
        " user name.",
        max_length=MAX_URL_LENGTH,
    )


def _may_send_to(row: SourceRow, target_url: str, allowed: Sequence[Network]) -> bool:
    problem = target_problem(target_url, allowed)
    if problem is not None:
        row.add("TARGET_PRIVATE", Outcome.DISABLED, "{problem}", problem=problem.message)
    return problem is None


def _is_unfiltered(row: SourceRow) -> bool:
    channels = row.values.get("filterable_channel_slugs")
    if not isinstance(channels, Collection) or not channels:
        return True
    row.add(
        "FILTERED_BY_CHANNEL",
        Outcome.DISABLED,
        "The webhook only receives events of the channels {channels}. Webhooks here can't be"
        " limited to channels, so it would receive more.",
        channels=listed(map(str, channels)),
    )
    return False


def _can_run(row: SourceRow, query: str, check: Callable[[str], Problem | None]) -> bool:
    problem = (query_problem(query) or check(query)) if query else None
    if problem is not None:
        row.add("QUERY_REFUSED", Outcome.DISABLED, "Query: {problem}", problem=problem.message)
    return problem is None


def _events(row: SourceRow, names: Iterable[str]) -> tuple[EventType, ...]:
    upper = {name.upper() for name in names}
    unsupported = sorted(upper - set(EventType.__members__))
    if unsupported:
        row.add(
            "EVENT_NOT_SUPPORTED",
            Outcome.LEFT_OUT,
            "Events that aren't sent here: {events}.",
            events=listed(unsupported),
        )
    return tuple(event for event in EventType if event.value in upper)


def _report_permissions(
    row: SourceRow, events: Collection[EventType], permissions: frozenset[Permission]
) -> None:
    missing = not_permitted([event.value for event in events], permissions)
    if missing and EventType.ANY_EVENTS in events:
        template = "The app has no permission that events need, so it won't receive any."
        row.add("EVENT_NOT_PERMITTED", Outcome.NO_EFFECT, template)
        return
    for permission, names in missing.items():
        row.add(
            "EVENT_NOT_PERMITTED",
            Outcome.NO_EFFECT,
            "The app doesn't have {permission}, so it won't receive {events}.",
            permission=permission,
            events=listed(names),
        )


def _headers(row: SourceRow) -> dict[str, str]:
    stored = row.values.get("custom_headers")
    kept: dict[str, object] = {}
    refused = []
    for name, value in stored.items() if isinstance(stored, Mapping) else ():
        if headers_problem(kept | {name: value}) is None:
            kept[name] = value
        else:
            refused.append(repr(str(name)[:80]))
    if refused:
        row.add(
            "HEADER_REFUSED",
            Outcome.LEFT_OUT,
            "Headers that aren't sent here, or more than {most}: {headers}.",
            most=MAX_HEADERS,
            headers=listed(refused),
        )
    return {name: str(value) for name, value in kept.items()}


def _identifier(row: SourceRow, taken: Collection[str]) -> str:
    identifier = row.line("identifier", max_length=_MAX_LINE_LENGTH)
    if not identifier or identifier not in taken:
        return identifier
    row.add(
        "IDENTIFIER_TAKEN",
        Outcome.CHANGED,
        "Another webhook of the app has the identifier {identifier}. The webhook is imported"
        " without one.",
        identifier=identifier,
    )
    return ""
