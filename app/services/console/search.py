"""One search for everything: what the console's search box and palette offer while one types."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Select,
    String,
    cast,
    exists,
    func,
    literal,
    select,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from app.domain.accounts.search import end_of, read_search
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.urls.web_urls import masked_url
from app.domain.values.ids import parse_global_id, parse_key
from app.models import (
    AppRecord,
    AppWordRecord,
    DeliveryRecord,
    GroupRecord,
    IdentityProviderRecord,
    OrderRecord,
    UserRecord,
    UserWordRecord,
    WebhookRecord,
    WebhookWordRecord,
)
from app.models.commerce import ORDER_CHANNEL
from app.ports import NamedRow, Ports
from app.services.authorization.register import staff_only
from app.services.lists.filters import contains_text, is_reached

MAX_HITS_PER_KIND = 5
"""Of each kind so many are offered."""

MAX_SEARCH_LENGTH = 200
"""Characters that are searched for; a longer text finds nothing."""

_MAX_CANDIDATES = 2000
"""Of those that have the rarest word so many are looked at for the others."""

_MESSAGE = "msg_"


class HitKind(StrEnum):
    """The kinds of hits, in the order in which they are listed."""

    APP = "app"
    WEBHOOK = "webhook"
    DELIVERY = "delivery"
    STAFF = "staff"
    CUSTOMER = "customer"
    GROUP = "group"
    PROVIDER = "provider"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: ``title`` is its name, ``detail`` distinguishes it.

    The ``detail`` of an identity provider is its slug; the ``id`` of an order is its customer's, 0
    without one.
    """

    kind: HitKind
    id: int
    title: str
    detail: str
    is_active: bool


@staff_only
def search_everything(ports: Ports, actor: Actor, text: str) -> tuple[Hit, ...]:
    """Return what matches ``text`` among what the caller can see, at most five of each kind.

    Apps for all staff; webhooks, and a delivery by its ``webhook-id``, for MANAGE_APPS; staff and
    groups for MANAGE_STAFF; customers for MANAGE_USERS or MANAGE_ORDERS; an order by its number
    for MANAGE_ORDERS in its channel; identity providers for MANAGE_PLUGINS. Words match by their
    beginnings. An API ID finds its object. One statement, two for several words. Never refuses.
    """
    words = read_search(text) if len(text) <= MAX_SEARCH_LENGTH else None
    if not words:
        return ()
    with ports.database.reading() as session:
        ordered = _rarest_first(session, words)
        parts = list(_searches(actor, text.strip(), ordered))
        rows = session.execute(union_all(*(select(part.subquery()) for part in parts))).all()
    hits = [_to_hit(row) for row in rows]
    places = list(HitKind)
    return tuple(sorted(hits, key=lambda hit: places.index(hit.kind)))


def _to_hit(row: NamedRow) -> Hit:
    kind = HitKind(row.kind)
    detail = masked_url(row.detail) if kind is HitKind.WEBHOOK else row.detail
    return Hit(kind, row.key, row.title, detail, row.is_active)


def _searches(actor: Actor, text: str, words: Sequence[str]) -> Iterator[Select[*tuple[Any, ...]]]:
    yield _apps(words)
    type_name, key = _api_id(text)
    if key is not None:
        yield from _with_id(actor, type_name, key)
    number = key if type_name == "Order" else parse_key(text.removeprefix("#"))
    if number is not None and actor.holds(Permission.MANAGE_ORDERS):
        yield _order(actor, number)
    if actor.holds(Permission.MANAGE_APPS):
        yield _webhooks(words)
        if text.startswith(_MESSAGE):
            yield _delivery(text)
    if actor.holds(Permission.MANAGE_STAFF):
        yield _people(HitKind.STAFF, words)
        yield _groups(words)
    if actor.holds(Permission.MANAGE_USERS) or actor.holds(Permission.MANAGE_ORDERS):
        yield _people(HitKind.CUSTOMER, words)
    if actor.holds(Permission.MANAGE_PLUGINS):
        yield _providers(words)


def _api_id(text: str) -> tuple[str, int | None]:
    type_name, key = parse_global_id(text) or ("", "")
    return type_name, parse_key(key)


def _with_id(actor: Actor, type_name: str, key: int) -> Iterator[Select[*tuple[Any, ...]]]:
    """Yield the search for the object of an API ID, for callers who can see it."""
    app, webhook, delivery, group = AppRecord, WebhookRecord, DeliveryRecord, GroupRecord
    if type_name == "App":
        active = app.is_active
        by_id = _hit(HitKind.APP, app.id, app.name, app.identifier, active)
        yield by_id.where(app.id == key, app.is_installed)
    elif type_name == "Webhook" and actor.holds(Permission.MANAGE_APPS):
        active = webhook.is_active
        by_id = _hit(HitKind.WEBHOOK, webhook.id, webhook.name, webhook.target_url, active)
        yield by_id.where(webhook.id == key)
    elif type_name == "EventDelivery" and actor.holds(Permission.MANAGE_APPS):
        always = literal(value=True)
        found = _hit(HitKind.DELIVERY, delivery.id, delivery.event, delivery.message_id, always)
        yield found.where(delivery.id == key)
    elif type_name == "Group" and actor.holds(Permission.MANAGE_STAFF):
        named = _hit(HitKind.GROUP, group.id, group.name, literal(""), literal(value=True))
        yield named.where(group.id == key)
    elif type_name == "User":
        yield from _person(actor, key)


def _person(actor: Actor, key: int) -> Iterator[Select[*tuple[Any, ...]]]:
    user = UserRecord
    name = func.trim(user.first_name + " " + user.last_name)
    if actor.holds(Permission.MANAGE_STAFF):
        staff = _hit(HitKind.STAFF, user.id, name, user.email, user.is_active)
        yield staff.where(user.id == key, user.is_staff)
    if actor.holds(Permission.MANAGE_USERS) or actor.holds(Permission.MANAGE_ORDERS):
        customer = _hit(HitKind.CUSTOMER, user.id, name, user.email, user.is_active)
        yield customer.where(user.id == key, user.is_staff.is_(False))


def _order(actor: Actor, number: int) -> Select[*tuple[Any, ...]]:
    order = OrderRecord
    customer = func.coalesce(order.user_id, 0)
    title = cast(order.id, String)
    return _hit(HitKind.ORDER, customer, title, order.user_email, literal(value=True)).where(
        order.id == number, is_reached(actor, ORDER_CHANNEL)
    )


def _apps(words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    word, app = AppWordRecord, AppRecord
    keys = _keys(word.app_id, word.word, words)
    return (
        _hit(HitKind.APP, app.id, app.name, app.identifier, app.is_active)
        .where(app.id.in_(keys), app.is_installed)
        .order_by(func.lower(app.name), app.id)
        .limit(MAX_HITS_PER_KIND)
    )


def _webhooks(words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    word, webhook = WebhookWordRecord, WebhookRecord
    keys = _keys(word.webhook_id, word.word, words)
    return (
        _hit(HitKind.WEBHOOK, webhook.id, webhook.name, webhook.target_url, webhook.is_active)
        .where(webhook.id.in_(keys))
        .order_by(func.lower(webhook.name), webhook.id)
        .limit(MAX_HITS_PER_KIND)
    )


def _delivery(text: str) -> Select[*tuple[Any, ...]]:
    delivery = DeliveryRecord
    return _hit(
        HitKind.DELIVERY, delivery.id, delivery.event, delivery.message_id, literal(value=True)
    ).where(delivery.message_id == text)


def _people(kind: HitKind, words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    word, user = UserWordRecord, UserRecord
    is_staff = kind is HitKind.STAFF
    keys = _keys(word.user_id, word.word, words, word.is_staff == literal(is_staff, Boolean))
    name = func.trim(user.first_name + " " + user.last_name)
    return (
        _hit(kind, user.id, name, user.email, user.is_active)
        .where(user.id.in_(keys), user.is_staff == literal(is_staff, Boolean))
        .order_by(func.lower(user.email))
        .limit(MAX_HITS_PER_KIND)
    )


def _groups(words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    # There are few groups: reading them all is quicker than any index would be.
    group = GroupRecord
    return (
        _hit(HitKind.GROUP, group.id, group.name, literal(""), literal(value=True))
        .where(*(contains_text(group.name, word) for word in words))
        .order_by(group.name)
        .limit(MAX_HITS_PER_KIND)
    )


def _providers(words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    provider = IdentityProviderRecord
    called = provider.name + literal(" ") + provider.slug
    return (
        _hit(HitKind.PROVIDER, provider.id, provider.name, provider.slug, provider.active)
        .where(*(contains_text(called, word) for word in words))
        .order_by(provider.name)
        .limit(MAX_HITS_PER_KIND)
    )


def _hit(
    kind: HitKind,
    key: ColumnElement[Any] | InstrumentedAttribute[int],
    title: ColumnElement[str] | InstrumentedAttribute[str],
    detail: ColumnElement[str] | InstrumentedAttribute[str],
    is_active: ColumnElement[bool] | InstrumentedAttribute[bool],
) -> Select[*tuple[Any, ...]]:
    return select(
        literal(kind.value, String).label("kind"),
        key.label("key"),
        title.label("title"),
        detail.label("detail"),
        is_active.label("is_active"),
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
            select(UserWordRecord.user_id)
            # Both kinds, named one by one: the index of words begins with them.
            .where(UserWordRecord.is_staff.in_((False, True)), _begins(UserWordRecord.word, word))
            .limit(_MAX_CANDIDATES)
            .subquery()
        )
        for word in words
    )
    found = session.execute(select(*(count.scalar_subquery() for count in counts))).one()
    return [word for _, word in sorted(zip(found, words, strict=True))]


def _begins(column: InstrumentedAttribute[str], beginning: str) -> ColumnElement[bool]:
    return (column >= beginning) & (column < end_of(beginning))
