"""Channels: listed, made and changed, and those of carts and orders."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from sqlalchemy import ColumnElement, Select, delete, exists, false, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce import channels
from app.domain.commerce.money import CURRENCY
from app.domain.events import (
    ChannelCreated,
    ChannelDeleted,
    ChannelMetadataUpdated,
    ChannelStatusChanged,
    ChannelUpdated,
)
from app.domain.values.errors import PermissionDenied, Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.domain.values.inputs import Absent, present, require_unchanged
from app.domain.values.metadata import Metadata, MetadataChange
from app.domain.values.pages import Page, PageRequest, empty_page
from app.domain.values.text_rules import is_storable
from app.ports import NamedRow, Ports, ReadSession
from app.services.audit.log import Change, differing, record
from app.services.authorization.register import building_block, public, requires, staff_and_apps
from app.services.identity.stored_metadata import (
    Pairs,
    change_stored_metadata,
    private_metadata,
    public_metadata,
    save_sent_metadata,
)
from app.services.lists.filters import contains_text, is_searchable
from app.services.lists.paging import Order, columns_for, read_page, record_from
from app.services.outbox.publisher import add_event

_UNIQUE = Problem("UNIQUE", "Channel with this slug already exists.", "slug")
_MISSING = Problem("NOT_FOUND", "There is no such channel.", "id")

CHANNELS: Select[*tuple[object, ...]] = select(*columns_for(channels.Channel, models.Channel))
"""What ``to_channel`` expects."""


@building_block
def to_channel(row: NamedRow) -> channels.Channel:
    """Return the channel in a row of ``CHANNELS``."""
    return record_from(channels.Channel, row)


@staff_and_apps
def list_channels(ports: Ports, actor: Actor) -> tuple[channels.Channel, ...]:
    """Return all channels by slug (`channels`)."""
    return all_channels(ports)


@building_block
def all_channels(ports: Ports) -> tuple[channels.Channel, ...]:
    """Return all channels by slug."""
    with ports.database.reading() as session:
        rows = session.execute(CHANNELS.order_by(models.Channel.slug))
        return tuple(map(to_channel, rows))


@dataclass(frozen=True, slots=True)
class ChannelFilter:
    """Conditions on channels: ``search`` in name or slug."""

    search: str = ""
    is_active: bool | None = None


_ALL = ChannelFilter()


@requires(Permission.MANAGE_CHANNELS)
def find_channels(
    ports: Ports, actor: Actor, page: PageRequest, filter_: ChannelFilter = _ALL
) -> Page[channels.Channel]:
    """Return a page of the channels by slug."""
    if not is_searchable(filter_.search):
        return empty_page()
    text = filter_.search.strip()
    # There are at most MAX_CHANNELS: reading them all is quicker than an index would be.
    query = CHANNELS.where(
        contains_text(models.Channel.name, text) | contains_text(models.Channel.slug, text)
    )
    if filter_.is_active is not None:
        query = query.where(models.Channel.is_active.is_(filter_.is_active))
    order = Order((models.Channel.slug, models.Channel.id))
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, to_channel, select(models.Channel.id))


@public
def show_channel(
    ports: Ports, actor: Actor, *, channel_id: str | None = None, slug: str | None = None
) -> channels.Channel | None:
    """Return the channel of a global ID or a slug (`channel`).

    Inactive ones are for staff and apps. Refuses GRAPHQL_ERROR unless exactly one of the two is
    given, NOT_FOUND for an ID of another type.
    """
    if (channel_id is None) == (slug is None):
        raise Refused(Problem("GRAPHQL_ERROR", "Pass either `id` or `slug`.", "id"))
    with ports.database.reading() as session:
        if channel_id is not None:
            condition: ColumnElement[bool] = models.Channel.id == key_of(channel_id, "Channel")
        else:
            condition = _has_slug(slug or "")
        row = session.execute(CHANNELS.where(condition)).one_or_none()
    if row is None:
        return None
    channel = to_channel(row)
    sees_inactive = actor.is_staff or actor.is_app or actor.is_trusted
    return channel if channel.is_active or sees_inactive else None


@staff_and_apps
def show_channel_details(
    ports: Ports, actor: Actor, channel: channels.Channel
) -> channels.Channel:
    """Return what only staff and apps see of a channel: all but its slug and public metadata."""
    return channel


@public
def public_metadata_of_channels(
    ports: Ports, actor: Actor, keys: Collection[int]
) -> Mapping[int, Metadata]:
    """Return the public metadata of channels that the caller sees, in one statement."""
    return public_metadata(ports, models.Channel, keys)


@requires(Permission.MANAGE_CHANNELS)
def private_metadata_of_channels(
    ports: Ports, actor: Actor, keys: Collection[int]
) -> Mapping[int, Metadata]:
    """Return the private metadata of channels, in one statement."""
    return private_metadata(ports, models.Channel, keys)


@requires(Permission.MANAGE_CHANNELS)
def change_channel_metadata(
    ports: Ports, actor: Actor, channel_id: str, change: MetadataChange
) -> channels.Channel:
    """Set or delete metadata of the channel of a global ID; return the channel.

    Refuses NOT_FOUND on ``id``, and as ``changed_metadata`` does; raises ``PermissionDenied`` for
    a channel that the caller has no access to.
    """
    key = key_of(channel_id, "Channel")
    with ports.database.transaction() as session:
        stored = _locked(session, actor, key)
        keys = change_stored_metadata(session, models.Channel, key, change)
        if keys:
            add_event(ports, actor, session, ChannelMetadataUpdated(key))
            after: dict[str, object] = {"private" if change.is_private else "public": list(keys)}
            entry = Change("channel.update_metadata", "Channel", key, stored.slug, after=after)
            record(ports, actor, session, entry)
        return _loaded(session, key)


@requires(Permission.MANAGE_CHANNELS)
def channels_with_orders(ports: Ports, actor: Actor) -> frozenset[int]:
    """Return the keys of the channels that have orders (`Channel.hasOrders`)."""
    has_orders = exists().where(models.Channel.id == models.ORDER_CHANNEL)
    with ports.database.reading() as session:
        return frozenset(session.scalars(select(models.Channel.id).where(has_orders)))


@dataclass(frozen=True, slots=True)
class ChannelUse:
    """What depends on a channel: orders, open carts, and groups that are limited to channels."""

    orders: int
    carts: int
    groups: int


@requires(Permission.MANAGE_CHANNELS)
def show_channel_use(ports: Ports, actor: Actor, channel_id: str) -> ChannelUse:
    """Count what depends on the channel of a global ID, in one statement.

    Raises ``PermissionDenied`` for a channel that the caller has no access to.
    """
    key = key_of(channel_id, "Channel")
    _require_access(actor, key)
    is_open = models.Checkout.completed_at.is_(None)
    counted = (
        (models.Order, _is(models.ORDER_CHANNEL, key)),
        (models.Checkout, _is(models.CHECKOUT_CHANNEL, key) & is_open),
        (models.GroupChannel, models.GroupChannel.channel_id == key),
    )
    counts = (
        select(func.count()).select_from(kind).where(condition).scalar_subquery()
        for kind, condition in counted
    )
    with ports.database.reading() as session:
        return ChannelUse(*session.execute(select(*counts)).one())


@requires(Permission.MANAGE_CHANNELS)
def create_channel(
    ports: Ports, actor: Actor, new: channels.NewChannel, public: Pairs = (), private: Pairs = ()
) -> channels.Channel:
    """Make a channel (`channelCreate`).

    Refuses REQUIRED and INVALID on ``name``, ``slug``, ``currencyCode`` and ``defaultCountry``,
    UNIQUE on ``slug``, INVALID when there are ``MAX_CHANNELS``, and as ``save_sent_metadata``
    does.
    """
    new = replace(new, name=new.name.strip(), slug=new.slug.strip())
    refuse_any(
        channels.name_problem(new.name),
        channels.slug_problem(new.slug),
        channels.currency_problem(new.currency),
        channels.country_problem(new.country),
    )
    with _slugs_unique(ports, new.slug), ports.database.transaction() as session:
        if (
            session.scalar(select(func.count()).select_from(models.Channel)) or 0
        ) >= channels.MAX_CHANNELS:
            message = "There can be at most {max_channels} channels."
            values = {"max_channels": channels.MAX_CHANNELS}
            raise Refused(Problem("INVALID", message, None, values=values))
        _require_free(session, new.slug)
        stored = models.Channel(**asdict(new))
        session.add(stored)
        session.flush()
        after = _state(stored) | save_sent_metadata(
            session, models.Channel, stored.id, public, private
        )
        add_event(ports, actor, session, ChannelCreated(stored.id))
        change = Change("channel.create", "Channel", stored.id, stored.slug, after=after)
        record(ports, actor, session, change)
        return _loaded(session, stored.id)


@requires(Permission.MANAGE_CHANNELS)
def update_channel(
    ports: Ports,
    actor: Actor,
    channel_id: str,
    changes: channels.ChannelChanges,
    public: Pairs = (),
    private: Pairs = (),
) -> channels.Channel:
    """Change a channel (`channelUpdate`).

    Refuses NOT_FOUND on ``id``, REQUIRED and INVALID on ``name``, ``slug`` and
    ``defaultCountry``, UNIQUE on ``slug``, and as ``save_sent_metadata`` does; raises
    ``PermissionDenied`` for a channel that the caller has no access to.
    """
    key = key_of(channel_id, "Channel")
    changes = replace(changes, name=_stripped(changes.name), slug=_stripped(changes.slug))
    refuse_any(
        None if isinstance(changes.name, Absent) else channels.name_problem(changes.name),
        None if isinstance(changes.slug, Absent) else channels.slug_problem(changes.slug),
        None if isinstance(changes.country, Absent) else channels.country_problem(changes.country),
    )
    unique = _slugs_unique(ports, present(changes.slug, ""))
    with unique, ports.database.transaction() as session:
        stored = _locked(session, actor, key)
        before = _state(stored)
        require_unchanged(changes.seen, before)
        if present(changes.slug, stored.slug) != stored.slug:
            _require_free(session, present(changes.slug, ""))
        stored.name = present(changes.name, stored.name)
        stored.slug = present(changes.slug, stored.slug)
        stored.country = present(changes.country, stored.country)
        stored.is_active = present(changes.is_active, stored.is_active)
        session.flush()
        saved = save_sent_metadata(session, models.Channel, key, public, private)
        _record_update(ports, actor, session, stored, before, saved)
        return _loaded(session, key)


@requires(Permission.MANAGE_CHANNELS)
def set_channel_active(
    ports: Ports, actor: Actor, channel_id: str, *, active: bool
) -> channels.Channel:
    """Activate or deactivate a channel (`channelActivate`, `channelDeactivate`).

    Refuses NOT_FOUND on ``id``, and INVALID if it already is so, as Saleor does.
    """
    key = key_of(channel_id, "Channel")
    with ports.database.transaction() as session:
        stored = _locked(session, actor, key)
        if stored.is_active is active:
            state = "activated" if active else "deactivated"
            message = "This channel is already {state}."
            raise Refused(Problem("INVALID", message, "id", values={"state": state}))
        before = _state(stored)
        stored.is_active = active
        _record_update(ports, actor, session, stored, before, {})
        return _loaded(session, key)


@requires(Permission.MANAGE_CHANNELS)
def delete_channel(
    ports: Ports, actor: Actor, channel_id: str, target_id: str | None = None
) -> channels.Channel:
    """Delete a channel (`channelDelete`) and return what it was.

    Its orders and open carts move to the channel ``target_id``, which must have its currency.
    Refuses NOT_FOUND on ``id`` and ``channelId``; CHANNEL_WITH_ORDERS on ``id`` for one with
    orders, without a target; INVALID on ``channelId`` for itself; on ``id`` for the last one;
    CHANNELS_CURRENCY_MUST_BE_THE_SAME on ``channelId``. Carts are deleted without a target.
    """
    key = key_of(channel_id, "Channel")
    target = None if target_id is None else key_of(target_id, "Channel", field="channelId")
    if target == key:
        message = "Orders can't move to the channel that is deleted."
        raise Refused(Problem("INVALID", message, "channelId"))
    with ports.database.transaction() as session:
        _require_another(session)
        stored = _locked(session, actor, key)
        if target is None:
            _require_no_orders(session, key)
        else:
            _require_target(session, actor, stored, target)
        _move(session, key, target)
        gone = _loaded(session, key)
        snapshot = asdict(gone)
        session.delete(stored)
        add_event(ports, actor, session, ChannelDeleted(key, snapshot=snapshot))
        before = snapshot | ({} if target is None else {"orders_moved_to": target})
        record(ports, actor, session, Change("channel.delete", "Channel", key, gone.slug, before))
        return gone


@staff_and_apps
def find_by_slug(ports: Ports, actor: Actor, slug: str) -> channels.Channel:
    """Return the channel of a slug; refuses NOT_FOUND on ``slug``."""
    with ports.database.reading() as session:
        channel = find_channel(session, slug)
    if channel is None:
        message = "Channel {slug} not found."
        raise Refused(Problem("NOT_FOUND", message, "slug", values={"slug": repr(slug)}))
    return channel


@building_block
def find_channel(session: ReadSession, slug: str) -> channels.Channel | None:
    """Return the channel of that slug."""
    row = session.execute(CHANNELS.where(_has_slug(slug))).one_or_none()
    return None if row is None else to_channel(row)


def _has_slug(slug: str) -> ColumnElement[bool]:
    """Return the condition that finds the channel of a slug."""
    # No database can be asked for what it cannot hold.
    return models.Channel.slug == slug if is_storable(slug) else false()


@building_block
def is_in_channel(channel_id: ColumnElement[int], slug: str) -> ColumnElement[bool]:
    """Return the condition that an object is in the channel of that slug."""
    return channel_id == select(models.Channel.id).where(_has_slug(slug)).scalar_subquery()


@building_block
def channel_of(session: Session, stored: models.Order | models.Checkout) -> int:
    """Return the channel of an order or a cart."""
    key = stored.channel_id
    return session.scalars(select(models.FIRST_CHANNEL)).one() if key is None else key


@building_block
def keep_channel_of_cart(session: Session, token: str) -> None:
    """Lock the channel of the cart with that token against deletion.

    Before the cart itself, in the order that deletions of channels use.
    """
    channel = (
        select(models.CHECKOUT_CHANNEL).where(models.Checkout.token == token).scalar_subquery()
    )
    session.execute(
        select(models.Channel.id)
        .where(models.Channel.id == channel)
        .with_for_update(read=True, key_share=True)
    )


@building_block
def selling_channel(session: Session, slug: str) -> int:
    """Return the key of the channel a new cart is in, locked against deletion.

    Without a ``slug`` it is the only active one. Refuses on ``channel`` MISSING_CHANNEL_SLUG if
    there are several, NOT_FOUND, CHANNEL_INACTIVE, and INVALID for one with another currency than
    that of the shop's prices.
    """
    condition = _has_slug(slug) if slug else models.Channel.is_active.is_(True)
    query = select(models.Channel).where(condition).order_by(models.Channel.id).limit(2)
    found = session.scalars(query.with_for_update(read=True, key_share=True)).all()
    if not found:
        raise Refused(Problem("NOT_FOUND", "There is no such channel.", "channel"))
    if len(found) > 1:
        message = "Pass the slug of a channel: there are several."
        raise Refused(Problem("MISSING_CHANNEL_SLUG", message, "channel"))
    (channel,) = found
    if not channel.is_active:
        raise Refused(Problem("CHANNEL_INACTIVE", "This channel isn't active.", "channel"))
    if channel.currency != CURRENCY:
        message = "This channel sells in {currency}, but products have prices in {other}."
        values = {"currency": channel.currency, "other": CURRENCY}
        raise Refused(Problem("INVALID", message, "channel", values=values))
    return channel.id


@contextmanager
def _slugs_unique(ports: Ports, slug: str) -> Iterator[None]:
    """Refuse UNIQUE on ``slug`` if another transaction took it first."""
    try:
        yield
    except IntegrityError:
        with ports.database.reading() as session:
            if find_channel(session, slug) is not None:
                raise Refused(_UNIQUE) from None
        raise


def _stripped(text: str | Absent) -> str | Absent:
    return text if isinstance(text, Absent) else text.strip()


def _state(stored: models.Channel) -> dict[str, object]:
    return {
        "name": stored.name,
        "slug": stored.slug,
        "currency": stored.currency,
        "country": stored.country,
        "is_active": stored.is_active,
    }


def _record_update(
    ports: Ports,
    actor: Actor,
    session: Session,
    stored: models.Channel,
    before: Mapping[str, object],
    saved: Mapping[str, object],
) -> None:
    old, new = differing(before, _state(stored))
    if not new and not saved:
        return
    if new.keys() - {"is_active"}:
        add_event(ports, actor, session, ChannelUpdated(stored.id))
    if saved:
        add_event(ports, actor, session, ChannelMetadataUpdated(stored.id))
    if "is_active" in new:
        add_event(ports, actor, session, ChannelStatusChanged(stored.id))
    change = Change("channel.update", "Channel", stored.id, stored.slug, old, {**new, **saved})
    record(ports, actor, session, change)


def _locked(session: Session, actor: Actor, key: int) -> models.Channel:
    stored = session.get(models.Channel, key, with_for_update=True)
    if stored is None:
        raise Refused(_MISSING)
    _require_access(actor, key)
    return stored


def _require_access(actor: Actor, key: int) -> None:
    if not actor.reaches_channel(key):
        raise PermissionDenied(message="You don't have access to this channel.")


def _loaded(session: Session, key: int) -> channels.Channel:
    session.flush()
    return to_channel(session.execute(CHANNELS.where(models.Channel.id == key)).one())


def _require_free(session: Session, slug: str) -> None:
    if session.scalar(select(models.Channel.id).where(models.Channel.slug == slug)) is not None:
        raise Refused(_UNIQUE)


def _require_another(session: Session) -> None:
    # Locks all, so that two deletions of the last two can't both go on.
    query = select(models.Channel.id).order_by(models.Channel.id).with_for_update()
    _one, *others = session.scalars(query)
    if not others:
        message = "A shop has at least one channel: create another one first."
        raise Refused(Problem("INVALID", message, "id"))


def _require_no_orders(session: Session, key: int) -> None:
    of_channel = select(models.Order.id).where(_is(models.ORDER_CHANNEL, key))
    if session.scalar(of_channel.limit(1)) is not None:
        message = "This channel has orders. Pass the channel that they move to."
        raise Refused(Problem("CHANNEL_WITH_ORDERS", message, "id"))


def _require_target(session: Session, actor: Actor, stored: models.Channel, target: int) -> None:
    other = session.get(models.Channel, target)
    if other is None or not actor.reaches_channel(target):
        raise Refused(replace(_MISSING, field="channelId"))
    if other.currency != stored.currency:
        message = "Orders can only move to a channel with the same currency, {currency}."
        code = "CHANNELS_CURRENCY_MUST_BE_THE_SAME"
        raise Refused(Problem(code, message, "channelId", values={"currency": stored.currency}))


def _is(channel: ColumnElement[int], key: int) -> ColumnElement[bool]:
    return channel.in_([key])


def _move(session: Session, key: int, target: int | None) -> None:
    """Move a channel's orders and carts; without a target there are only open carts to delete."""
    if target is None:
        session.execute(delete(models.Checkout).where(_is(models.CHECKOUT_CHANNEL, key)))
        return
    session.execute(
        update(models.Order).where(_is(models.ORDER_CHANNEL, key)).values(channel_id=target)
    )
    session.execute(
        update(models.Checkout).where(_is(models.CHECKOUT_CHANNEL, key)).values(channel_id=target)
    )
