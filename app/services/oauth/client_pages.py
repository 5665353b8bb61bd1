"""What the console shows of OAuth clients: their list, who uses each, and their logos."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select

from app import models
from app.domain.apps.apps import LOGO_NAME_LENGTH, LOGO_SIZES, MAX_LOGO_SIZE
from app.domain.authorization.actor import Actor, holds_all_permissions
from app.domain.authorization.permissions import Permission
from app.domain.oauth import USE_KEPT, OAuthClient
from app.domain.values.errors import Refused
from app.domain.values.inputs import Upload
from app.domain.values.pages import Page, PageRequest, empty_page
from app.ports import NamedRow, Ports
from app.ports.images import InvalidImage
from app.services.audit.log import Change, record
from app.services.authorization.register import fresh_proof, public, requires_person
from app.services.identity.users import NEEDED
from app.services.lists.filters import contains_text, is_searchable
from app.services.lists.paging import Order, columns_for, read_page
from app.services.oauth.clients import (
    CLIENT,
    client_with_secrets,
    is_privileged,
    locked_client,
    to_client,
)


@dataclass(frozen=True, slots=True)
class ClientFilter:
    """Conditions on clients: ``search`` in name or client ID."""

    search: str = ""
    is_active: bool | None = None
    is_first_party: bool | None = None


@dataclass(frozen=True, slots=True)
class ClientUser:
    """A person of whom a client got tokens in the last 30 days."""

    id: int
    email: str
    is_staff: bool
    used_at: datetime


@dataclass(frozen=True, slots=True)
class ClientUse:
    """Who uses a client: how many people it got tokens of in the last 30 days, and the latest.

    ``consents`` are of people who allowed a third party something. ``latest`` are those whom the
    caller can see.
    """

    people: int
    consents: int
    sessions: int
    latest: tuple[ClientUser, ...]


@dataclass(frozen=True, slots=True)
class ClientDetails:
    """A client; ``is_editable`` by the caller, ``is_on`` while the hosted pages are on."""

    client: OAuthClient
    is_editable: bool
    is_on: bool


_ALL = ClientFilter()
_CLIENTS = select(
    *columns_for(OAuthClient, models.OAuthClient),
    func.coalesce(models.App.name, "").label("app_name"),
).outerjoin(models.App, models.App.id == models.OAuthClient.app_id)
_MAX_USERS = 20


@requires_person(Permission.MANAGE_APPS)
def find_clients(
    ports: Ports, actor: Actor, page: PageRequest, filter_: ClientFilter = _ALL
) -> Page[OAuthClient]:
    """Return a page of the clients by name, without their secrets."""
    if not is_searchable(filter_.search):
        return empty_page()
    text, query = filter_.search.strip(), _CLIENTS
    if text:
        # There are few clients: reading them all is quicker than an index would be.
        called = contains_text(models.OAuthClient.name, text)
        query = query.where(or_(called, contains_text(models.OAuthClient.client_id, text)))
    for column, wanted in (
        (models.OAuthClient.is_active, filter_.is_active),
        (models.IS_FIRST_PARTY, filter_.is_first_party),
    ):
        if wanted is not None:
            query = query.where(column.is_(wanted))
    order = Order((models.OAuthClient.name, models.OAuthClient.id))
    whole = select(models.OAuthClient.id)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, page, _listed_client, whole)


@requires_person(Permission.MANAGE_APPS)
def show_client_details(ports: Ports, actor: Actor, key: int) -> ClientDetails | None:
    """Return the client of a key with its secrets; ``None`` for none."""
    is_on = (
        select(models.Shop.hosted_pages).where(models.Shop.id == models.SHOP_ID).scalar_subquery()
    )
    query = _CLIENTS.add_columns(is_on.label("is_on")).where(models.OAuthClient.id == key)
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
        if row is None:
            return None
        client = replace(client_with_secrets(ports, session, row), app_name=row.app_name)
    is_editable = holds_all_permissions(actor) or not is_privileged(client)
    return ClientDetails(client, is_editable=is_editable, is_on=row.is_on)


@requires_person(Permission.MANAGE_APPS)
def show_client_use(ports: Ports, actor: Actor, key: int) -> ClientUse:
    """Return who uses a client: customers for MANAGE_USERS, staff for MANAGE_STAFF."""
    use, since = models.OAuthUse, ports.clock.now() - USE_KEPT
    recent = (use.client_id == key, use.used_at > since)
    consent, session_ = models.OAuthConsent, models.Session
    counts = select(
        select(func.count()).select_from(use).where(*recent).scalar_subquery().label("people"),
        _number(consent.client_id == key).label("consents"),
        _number(session_.oauth_client_id == key, session_.expires_at > ports.clock.now()).label(
            "sessions"
        ),
    )
    seen = [is_staff for is_staff, permission in NEEDED.items() if actor.holds(permission)]
    people = (
        select(models.User.id, models.User.email, models.User.is_staff, use.used_at)
        .join(use, use.user_id == models.User.id)
        .where(*recent, models.User.is_staff.in_(seen))
        .order_by(use.used_at.desc(), models.User.id)
        .limit(_MAX_USERS)
    )
    with ports.database.reading() as session:
        row = session.execute(counts).one()
        latest = session.execute(people).all() if seen else ()
    users = tuple(ClientUser(one.id, one.email, one.is_staff, one.used_at) for one in latest)
    return ClientUse(row.people, row.consents, row.sessions, users)


def _number(*conditions: ColumnElement[bool]) -> Any:
    return select(func.count()).where(*conditions).scalar_subquery()


def _listed_client(row: NamedRow) -> OAuthClient:
    return to_client(row, (), row.app_name)


@fresh_proof("You're about to change the logo of an OAuth client.")
@requires_person(Permission.MANAGE_APPS)
def update_client_logo(ports: Ports, actor: Actor, client_id: str, image: Upload) -> OAuthClient:
    """Show a logo where people allow a client to see their account.

    The image is encoded anew from its pixels. Refuses FILE_SIZE_LIMIT_EXCEEDED and INVALID on
    ``image``, else as ``update_client`` does.
    """
    image.require_at_most(MAX_LOGO_SIZE)
    try:
        drawn = ports.images.shrink(image.data, LOGO_SIZES)
    except InvalidImage as reason:
        raise Refused(reason.problem) from None
    return _replace_logo(ports, actor, client_id, drawn)


@fresh_proof("You're about to remove the logo of an OAuth client.")
@requires_person(Permission.MANAGE_APPS)
def delete_client_logo(ports: Ports, actor: Actor, client_id: str) -> OAuthClient:
    """Show a client without a logo; refuses as ``update_client`` does."""
    return _replace_logo(ports, actor, client_id, {})


@public
def show_client_logo(ports: Ports, actor: Actor, name: str, size: int) -> bytes | None:
    """Return the file of a client's logo: WebP by size, PNG for 0; ``None`` if there is none."""
    logo = models.OAuthClientLogo
    query = select(logo.data).where(logo.name == name, logo.size == size)
    with ports.database.reading() as session:
        return session.scalar(query)


def _replace_logo(
    ports: Ports, actor: Actor, client_id: str, drawn: Mapping[int, bytes]
) -> OAuthClient:
    name = ports.randomness.token(LOGO_NAME_LENGTH) if drawn else ""
    with ports.database.transaction() as session:
        stored, client = locked_client(ports, actor, session, client_id)
        logo = models.OAuthClientLogo
        session.execute(delete(logo).where(logo.client_id == stored.id))
        session.add_all(
            logo(name=name, size=size, client_id=stored.id, data=data)
            for size, data in drawn.items()
        )
        before, stored.logo = stored.logo, name
        if before or name:
            old, new = {"logo": bool(before)}, {"logo": bool(name)}
            entry = Change("oauth_client.update", CLIENT, stored.id, client.name, old, new)
            record(ports, actor, session, entry)
        return replace(client, logo=name)
