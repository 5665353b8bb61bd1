"""One search for everything: what the console's search box and palette offer while one types."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Select,
    String,
    case,
    cast,
    exists,
    func,
    literal,
    select,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from app import models
from app.domain.accounts.emails import normalize_email
from app.domain.accounts.search import end_of, read_search
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.sign_in_log import AccountType
from app.domain.urls.web_urls import masked_url
from app.domain.values.ids import parse_global_id, parse_key
from app.domain.values.ip_addresses import parse_address
from app.domain.values.pages import MAX_COUNTED
from app.ports import NamedRow, Ports
from app.ports.throttle import ThrottleUnavailable
from app.services.authorization.register import staff_only
from app.services.lists.filters import contains_text, is_reached

MAX_HITS_PER_KIND = 5
"""Of each kind so many are offered."""

MAX_SEARCH_LENGTH = 200
"""Characters that are searched for; a longer text finds nothing."""

_MAX_CANDIDATES = 2000
"""Of those that have the rarest word so many are looked at for the others."""

_MESSAGE = "msg_"
_Text = ColumnElement[str] | InstrumentedAttribute[str]
_Column = ColumnElement[Any] | InstrumentedAttribute[Any]


class HitKind(StrEnum):
    """The kinds of hits, in the order in which they are listed."""

    APP = "app"
    WEBHOOK = "webhook"
    DELIVERY = "delivery"
    STAFF = "staff"
    CUSTOMER = "customer"
    GROUP = "group"
    PROVIDER = "provider"
    OAUTH_CLIENT = "oauth client"
    ORDER = "order"
    IP_ADDRESS = "ip address"


class HitState(StrEnum):
    """The states of hits; those of orders and deliveries are their statuses instead."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    UNCONFIRMED = "unconfirmed"
    PAUSED = "paused"
    FAILING = "failing"
    WAITING = "waiting"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: ``title`` is its name, ``detail`` distinguishes it.

    The ``detail`` of an identity provider is its slug; the ``id`` of an order is its customer's, 0
    without one. ``count`` is of a delivery's attempts, a group's members, or sign-in attempts from
    an IP address, at most one more than ``MAX_COUNTED`` entries of the log.
    """

    kind: HitKind
    id: int
    title: str
    detail: str
    state: str = HitState.ACTIVE
    count: int = 0


@staff_only
def search_everything(ports: Ports, actor: Actor, text: str) -> tuple[Hit, ...]:
    """Return what matches ``text`` among what the caller can see, at most five of each kind.

    Apps for all staff; webhooks, OAuth clients, and a delivery by its ``webhook-id``, for
    MANAGE_APPS; staff and groups for MANAGE_STAFF; customers for MANAGE_USERS or MANAGE_ORDERS; an
    order by its number for MANAGE_ORDERS in its channel, also by its whole email; identity
    providers for MANAGE_PLUGINS; an IP address, if an attempt to sign in came from it or it is
    blocked, for those who see these attempts. Words match by their beginnings. An API ID finds its
    object, a number an order and a delivery. Two statements, three for several words. Never
    refuses.
    """
    words = read_search(text) if len(text) <= MAX_SEARCH_LENGTH else None
    if not words:
        return ()
    with ports.database.reading() as session:
        ordered = _rarest_first(session, words)
        parts = [*_searches(actor, text.strip(), ordered), *_ip_address(ports, actor, text)]
        rows = session.execute(union_all(*(select(part.subquery()) for part in parts))).all()
    hits = [_to_hit(row) for row in rows]
    places = list(HitKind)
    return tuple(sorted(hits, key=lambda hit: places.index(hit.kind)))


def _to_hit(row: NamedRow) -> Hit:
    kind = HitKind(row.kind)
    detail = masked_url(row.detail) if kind is HitKind.WEBHOOK else row.detail
    return Hit(kind, row.key, row.title, detail, row.state, row.count)


def _searches(actor: Actor, text: str, words: Sequence[str]) -> Iterator[Select[*tuple[Any, ...]]]:
    yield _apps(words)
    type_name, key = _api_id(text)
    if key is not None:
        yield from _with_id(actor, type_name, key)
    number = parse_key(text.removeprefix("#"))
    if number is not None:
        yield from _with_number(actor, number)
    if "@" in text and actor.holds(Permission.MANAGE_ORDERS):
        yield _orders(actor, models.Order.user_email == normalize_email(text))
    if actor.holds(Permission.MANAGE_APPS):
        yield _webhooks(words)
        client = models.OAuthClient
        called = client.name + literal(" ") + client.client_id
        yield _named(_OAUTH_CLIENT, called, words, client.name, client.id)
        if text.startswith(_MESSAGE):
            yield _delivery(models.Delivery.message_id == text)
    if actor.holds(Permission.MANAGE_STAFF):
        yield _people(HitKind.STAFF, words)
        yield _named(_GROUP, models.Group.name, words, models.Group.name)
    if actor.holds(Permission.MANAGE_USERS) or actor.holds(Permission.MANAGE_ORDERS):
        yield _people(HitKind.CUSTOMER, words)
    if actor.holds(Permission.MANAGE_PLUGINS):
        provider = models.IdentityProvider
        called = provider.name + literal(" ") + provider.slug
        yield _named(_PROVIDER, called, words, provider.name)


def _api_id(text: str) -> tuple[str, int | None]:
    type_name, key = parse_global_id(text) or ("", "")
    return type_name, parse_key(key)


def _with_id(actor: Actor, type_name: str, key: int) -> Iterator[Select[*tuple[Any, ...]]]:
    """Yield the search for the object of an API ID, for callers who can see it."""
    if type_name == "App":
        yield _APP.where(models.App.id == key, models.App.is_installed)
    elif type_name == "Webhook" and actor.holds(Permission.MANAGE_APPS):
        yield _WEBHOOK.where(models.Webhook.id == key)
    elif type_name == "EventDelivery" and actor.holds(Permission.MANAGE_APPS):
        yield _delivery(models.Delivery.id == key)
    elif type_name == "EventDeliveryAttempt" and actor.holds(Permission.MANAGE_APPS):
        attempt = models.DeliveryAttempt
        of_attempt = select(attempt.delivery_id).where(attempt.id == key).scalar_subquery()
        yield _delivery(models.Delivery.id == of_attempt)
    elif type_name == "Group" and actor.holds(Permission.MANAGE_STAFF):
        yield _GROUP.where(models.Group.id == key)
    elif type_name == "Order" and actor.holds(Permission.MANAGE_ORDERS):
        yield _orders(actor, models.Order.id == key)
    elif type_name == "User":
        yield from _people_queries(actor, models.User.id == key)
    elif type_name == "Address":
        address = models.Address
        of_address = select(address.user_id).where(address.id == key).scalar_subquery()
        yield from _people_queries(actor, models.User.id == of_address)


def _with_number(actor: Actor, number: int) -> Iterator[Select[*tuple[Any, ...]]]:
    if actor.holds(Permission.MANAGE_ORDERS):
        yield _orders(actor, models.Order.id == number)
    if actor.holds(Permission.MANAGE_APPS):
        yield _delivery(models.Delivery.id == number)


def _people_queries(
    actor: Actor, condition: ColumnElement[bool]
) -> Iterator[Select[*tuple[Any, ...]]]:
    if actor.holds(Permission.MANAGE_STAFF):
        yield _user(HitKind.STAFF).where(condition, models.User.is_staff)
    if actor.holds(Permission.MANAGE_USERS) or actor.holds(Permission.MANAGE_ORDERS):
        yield _user(HitKind.CUSTOMER).where(condition, models.User.is_staff.is_(False))


def _orders(actor: Actor, condition: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    order = models.Order
    customer = func.coalesce(order.user_id, 0)
    return (
        _hit(HitKind.ORDER, customer, cast(order.id, String), order.user_email, order.status)
        .where(condition, is_reached(actor, models.ORDER_CHANNEL))
        .order_by(order.id.desc())
        .limit(MAX_HITS_PER_KIND)
    )


def _apps(words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    word, app = models.AppWord, models.App
    keys = _keys(word.app_id, word.word, words)
    return (
        _APP.where(app.id.in_(keys), app.is_installed)
        .order_by(func.lower(app.name), app.id)
        .limit(MAX_HITS_PER_KIND)
    )


def _webhooks(words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    word, webhook = models.WebhookWord, models.Webhook
    keys = _keys(word.webhook_id, word.word, words)
    return (
        _WEBHOOK.where(webhook.id.in_(keys))
        .order_by(func.lower(webhook.name), webhook.id)
        .limit(MAX_HITS_PER_KIND)
    )


def _delivery(condition: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    delivery = models.Delivery
    texts = delivery.event, delivery.message_id, delivery.status
    return _hit(HitKind.DELIVERY, delivery.id, *texts, delivery.attempts).where(condition)


def _people(kind: HitKind, words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    word, user = models.UserWord, models.User
    is_staff = kind is HitKind.STAFF
    keys = _keys(word.user_id, word.word, words, word.is_staff == literal(is_staff, Boolean))
    return (
        _user(kind)
        .where(user.id.in_(keys), user.is_staff == literal(is_staff, Boolean))
        .order_by(func.lower(user.email))
        .limit(MAX_HITS_PER_KIND)
    )


def _user(kind: HitKind) -> Select[*tuple[Any, ...]]:
    user = models.User
    name = func.trim(user.first_name + " " + user.last_name)
    state = _first_of(
        (user.is_active.is_(False), HitState.INACTIVE),
        (user.is_confirmed.is_(False), HitState.UNCONFIRMED),
    )
    return _hit(kind, user.id, name, user.email, state)


def _named(
    query: Select[*tuple[Any, ...]], called: _Text, words: Sequence[str], *order: _Column
) -> Select[*tuple[Any, ...]]:
    # There are few of them: reading them all is quicker than any index would be.
    query = query.where(*(contains_text(called, word) for word in words))
    return query.order_by(*order).limit(MAX_HITS_PER_KIND)


def _ip_address(ports: Ports, actor: Actor, text: str) -> Iterator[Select[*tuple[Any, ...]]]:
    """Yield the search for an IP address with attempts to sign in, or which is blocked."""
    address = parse_address(text)
    sees_all = actor.holds(Permission.MANAGE_STAFF)
    if address is None or not (sees_all or actor.holds(Permission.MANAGE_USERS)):
        return
    event = models.SignInEvent
    conditions = [event.address == str(address)]
    if not sees_all:
        conditions.append(event.account_type == AccountType.CUSTOMER.value)
    newest = select(event.attempts).where(*conditions)
    newest = newest.order_by(event.at.desc(), event.id.desc()).limit(MAX_COUNTED)
    found = newest.subquery()
    attempts = select(cast(func.coalesce(func.sum(found.c.attempts), 0), BigInteger).label("sum"))
    counted = attempts.subquery()
    is_blocked = sees_all and _is_blocked(ports, str(address))
    state = literal(HitState.BLOCKED if is_blocked else HitState.ACTIVE, String)
    name = literal(str(address), String)
    yield _hit(HitKind.IP_ADDRESS, literal(0), name, literal(""), state, counted.c.sum).where(
        (counted.c.sum > 0) | literal(is_blocked, Boolean)
    )


def _is_blocked(ports: Ports, address: str) -> bool:
    """Return whether sign-ins from ``address`` are blocked; no, while the counters are away."""
    try:
        now = ports.throttle.timestamp(ports.shared_clock)
        held = ports.throttle.find(address, now)
    except ThrottleUnavailable:
        return False
    return held is not None and held.blocked_until > now


def _first_of(*states: tuple[ColumnElement[bool], HitState]) -> ColumnElement[str]:
    """Return the first of ``states`` whose condition is true, else that it is active."""
    cases = ((condition, literal(state.value, String)) for condition, state in states)
    return case(*cases, else_=literal(HitState.ACTIVE.value, String))


def _hit(
    kind: HitKind,
    key: _Column,
    title: _Text,
    detail: _Text,
    state: _Text,
    count: _Column | None = None,
) -> Select[*tuple[Any, ...]]:
    counted = literal(0) if count is None else count
    return select(
        literal(kind.value, String).label("kind"),
        key.label("key"),
        title.label("title"),
        detail.label("detail"),
        state.label("state"),
        counted.label("count"),
    )


_APP = _hit(
    HitKind.APP,
    models.App.id,
    models.App.name,
    models.App.identifier,
    _first_of((models.App.is_active.is_(False), HitState.INACTIVE)),
)
_WEBHOOK = _hit(
    HitKind.WEBHOOK,
    models.Webhook.id,
    models.Webhook.name,
    models.Webhook.target_url,
    _first_of(
        (models.Webhook.is_active.is_(False), HitState.INACTIVE),
        (models.Webhook.paused_at.is_not(None), HitState.PAUSED),
        (models.Webhook.failing_since.is_not(None), HitState.FAILING),
    ),
)
_GROUP = _hit(
    HitKind.GROUP,
    models.Group.id,
    models.Group.name,
    literal(""),
    literal(HitState.ACTIVE.value, String),
    select(func.count())
    .where(models.GroupMember.group_id == models.Group.id)
    .correlate(models.Group)
    .scalar_subquery(),
)
_PROVIDER = _hit(
    HitKind.PROVIDER,
    models.IdentityProvider.id,
    models.IdentityProvider.name,
    models.IdentityProvider.slug,
    _first_of(
        (models.IdentityProvider.waiting_changes != "", HitState.WAITING),
        (models.IdentityProvider.active.is_(False), HitState.INACTIVE),
    ),
)
_OAUTH_CLIENT = _hit(
    HitKind.OAUTH_CLIENT,
    models.OAuthClient.id,
    models.OAuthClient.name,
    models.OAuthClient.client_id,
    _first_of((models.OAuthClient.is_active.is_(False), HitState.INACTIVE)),
)


def _keys(
    key: InstrumentedAttribute[int],
    word: InstrumentedAttribute[str],
    words: Sequence[str],
    *conditions: ColumnElement[bool],
) -> Select[int]:
    """Return the keys with a word for each of ``words``, from a bounded part of the index.

    Only the first few thousand entries that begin with the first word are checked.
    """
    leading, *others = words
    earlier = aliased(key.class_)
    same_key, earlier_word = getattr(earlier, key.key), getattr(earlier, word.key)
    comes_earlier = exists().where(same_key == key, earlier_word >= leading, earlier_word < word)
    matching = (_begins(word, leading), *conditions, ~comes_earlier)
    near = select(key).where(*matching).order_by(word, key)
    if not others:
        # A few more than are shown: some can't be.
        return select(near.limit(MAX_HITS_PER_KIND * 4).subquery())
    found = near.limit(_MAX_CANDIDATES).subquery()
    query = select(found)
    for other in others:
        having = aliased(key.class_)
        same_key, other_word = getattr(having, key.key), getattr(having, word.key)
        query = query.where(
            select(same_key)
            .where(same_key == found.c[key.key], _begins(other_word, other))
            .exists()
        )
    return query


def _rarest_first(session: Session, words: Sequence[str]) -> Sequence[str]:
    """``words``, the one first that begins the fewest words of people: they are the most."""
    if len(words) == 1:
        return words
    counts = (
        select(func.count()).select_from(
            select(models.UserWord.user_id)
            # Both kinds, named one by one: the index of words begins with them.
            .where(
                models.UserWord.is_staff.in_((False, True)), _begins(models.UserWord.word, word)
            )
            .limit(_MAX_CANDIDATES)
            .subquery()
        )
        for word in words
    )
    found = session.execute(select(*(count.scalar_subquery() for count in counts))).one()
    return [word for _, word in sorted(zip(found, words, strict=True))]


def _begins(column: InstrumentedAttribute[str], beginning: str) -> ColumnElement[bool]:
    return (column >= beginning) & (column < end_of(beginning))
