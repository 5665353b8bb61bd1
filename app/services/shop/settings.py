"""Read and change the shop's settings and logo, and its two switches."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy import update as update_rows
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.addresses import (
    NO_DETAILS,
    AddressChange,
    AddressDetails,
    checked_address,
    one_line,
)
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import ShopMetadataUpdated
from app.domain.mails.design import LOGO_NAME_LENGTH, MAX_HEIGHT, MAX_LOGO_SIZE, MAX_WIDTH, Logo
from app.domain.shop import settings
from app.domain.shop.setting_table import SETTINGS, Setting, SettingKind, given_values, shop_facts
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.domain.values.inputs import Seen, Upload, require_unchanged
from app.domain.values.installation import INTERFACE_VERSION
from app.domain.values.metadata import Metadata, MetadataChange
from app.ports import NamedRow, Ports
from app.ports.database import SHOP
from app.ports.images import InvalidImage
from app.services.accounts.email_links import redirect_refusal
from app.services.accounts.stored_addresses import require_validation
from app.services.audit.log import Change, differing, record
from app.services.authorization.register import (
    building_block,
    fresh_proof,
    internal,
    public,
    requires,
    staff_and_apps,
)
from app.services.identity.stored_metadata import (
    Pairs,
    change_stored_metadata,
    private_metadata,
    public_metadata,
    save_sent_metadata,
)
from app.services.outbox.publisher import add_event


@requires(Permission.MANAGE_SETTINGS)
def show_settings(ports: Ports, actor: Actor) -> settings.ShopSettings:
    """Return every setting of the shop."""
    with ports.database.reading() as session:
        return settings_of(session.get_one(models.Shop, models.SHOP_ID))


@staff_and_apps
def show_version(ports: Ports, actor: Actor) -> str:
    """Return the level of the interface and, behind a plus sign, this software's own version."""
    return INTERFACE_VERSION


def _restricts(
    _ports: Ports, _actor: Actor, update: settings.ShopUpdate, **_metadata: Pairs
) -> str:
    if update.password_login_mode is settings.PasswordLoginMode.DISABLED:
        return "mode"
    if update.allow_storefront_traffic is False:
        return "storefront"
    return "second_factor" if settings.changes_second_factor(update) else ""


@fresh_proof(
    {
        "mode": "You're about to turn off password login.",
        "storefront": "You're about to close the storefront.",
        "second_factor": "You're about to change the rule about second factors.",
    },
    "when it turns off password login, closes the storefront, or changes the rule about second "
    "factors",
    _restricts,
)
@requires(Permission.MANAGE_SETTINGS)
def update_shop(
    ports: Ports,
    actor: Actor,
    update: settings.ShopUpdate,
    *,
    metadata: Pairs = (),
    private_metadata: Pairs = (),
) -> settings.ShopSettings:
    """Change settings (``shopSettingsUpdate``): all that ``update`` names or, if refused, none.

    ``metadata`` and ``private_metadata`` are keys to set; refused as ``changed_metadata`` does.

    Raises ``Refused`` with PASSWORD_AUTH_RESTRICTION on ``passwordLoginMode`` (contract, "Password
    login mode"), REQUIRED for a null mode, INVALID for a null switch and for unusable texts,
    INVALID on ``customerSetPasswordUrl`` for a host that ``ALLOWED_CLIENT_HOSTS`` doesn't list,
    INVALID for an unknown language or
    color, for a note or an opening time of an open storefront, or a time in the past, and INVALID
    on ``secondFactorGraceDays`` for a number out of range.
    """
    given_settings = tuple(given_values(update))
    problems = [_problem(ports, setting, value) for setting, value in given_settings]
    if isinstance(update.password_login_mode, settings.PasswordLoginMode):
        problems.append(settings.mode_change_problem(actor, update.password_login_mode))
    refuse_any(*problems)
    values: dict[str, Any] = {setting.name: value for setting, value in given_settings}
    with ports.database.transaction(SHOP) as session:
        before = settings_of(_locked(session))
        require_unchanged(update.seen, shop_facts(before))
        after = replace(before, **values)
        refuse_any(*settings.closing_problems(update, after, ports.clock.now()))
        after = settings.with_closing(before, update, after)
        if settings.changes_second_factor(update):
            after = settings.with_second_factor(before, after, ports.clock.now())
        _save(ports, actor, session, before, after)
        _save_metadata(ports, actor, session, after.name, metadata, private_metadata)
        return after


@public
def show_company_address(ports: Ports, _actor: Actor) -> AddressDetails:
    """Return the address of the shop's company (`Shop.companyAddress`), empty without one."""
    with ports.database.reading() as session:
        return _company_address(session.get_one(models.Shop, models.SHOP_ID))


@requires(Permission.MANAGE_SETTINGS)
def update_company_address(
    ports: Ports, actor: Actor, change: AddressChange | None, seen: Seen | None = None
) -> settings.ShopSettings:
    """Change the company's address (`shopAddressUpdate`); ``None`` deletes it.

    Emails end with it if no legal line is set. Refuses as ``checked_address`` does. What isn't
    as ``seen`` anymore makes ``Stale``, by the names of ``AddressDetails``.
    """
    if change is not None:
        require_validation(actor, change)
    with ports.database.transaction(SHOP) as session:
        shop = _locked(session)
        before = _company_address(shop)
        require_unchanged(seen, asdict(before))
        after = NO_DETAILS
        if change is not None:
            details = change.applied_to(before)
            after = checked_address(details, skips_validation=change.skips_validation)
        if after != before:
            filled = {name: value for name, value in asdict(after).items() if value}
            shop.company_address = filled
            session.flush()
            old, new = one_line(before), one_line(after)
            values = ({"address": old}, {"address": new})
            record(
                ports,
                actor,
                session,
                Change("shop.address", "Shop", models.SHOP_ID, shop.name, *values),
            )
        return settings_of(shop)


@public
def shop_metadata(ports: Ports, _actor: Actor) -> Metadata:
    """Return the shop's public metadata (`Shop.metadata`)."""
    return public_metadata(ports, models.Shop, (models.SHOP_ID,))[models.SHOP_ID]


@requires(Permission.MANAGE_SETTINGS)
def private_shop_metadata(ports: Ports, _actor: Actor) -> Metadata:
    """Return the shop's private metadata (`Shop.privateMetadata`)."""
    return private_metadata(ports, models.Shop, (models.SHOP_ID,))[models.SHOP_ID]


@requires(Permission.MANAGE_SETTINGS)
def change_shop_metadata(
    ports: Ports, actor: Actor, shop_id: str, change: MetadataChange
) -> settings.ShopSettings:
    """Set or delete metadata of the shop (`updateMetadata`).

    Refuses NOT_FOUND on ``id`` for an ID of no shop, and as ``changed_metadata`` does.
    """
    if key_of(shop_id, "Shop") != models.SHOP_ID:
        raise Refused(Problem("NOT_FOUND", "There is no such shop.", "id"))
    with ports.database.transaction(SHOP) as session:
        shop = _locked(session)
        keys = change_stored_metadata(session, models.Shop, models.SHOP_ID, change)
        if keys:
            name = "private_metadata" if change.is_private else "metadata"
            _record_metadata(ports, actor, session, shop.name, {name: list(keys)})
        return settings_of(shop)


def _save_metadata(
    ports: Ports, actor: Actor, session: Session, name: str, public: Pairs, private: Pairs
) -> None:
    if public or private:
        changed = save_sent_metadata(session, models.Shop, models.SHOP_ID, public, private)
        if changed:
            _record_metadata(ports, actor, session, name, changed)


def _record_metadata(
    ports: Ports, actor: Actor, session: Session, name: str, changed: dict[str, object]
) -> None:
    """Record which keys differ, not their values, and tell webhooks."""
    add_event(ports, actor, session, ShopMetadataUpdated(models.SHOP_ID))
    change = Change("shop.update_metadata", "Shop", models.SHOP_ID, name, after=changed)
    record(ports, actor, session, change)


def _company_address(shop: models.Shop) -> AddressDetails:
    values: dict[str, Any] = shop.company_address
    return AddressDetails(**values)


@internal
def open_storefront_on_time(ports: Ports, actor: Actor) -> int:
    """Open a closed storefront whose time has come; return 0, for there is nothing more to do."""
    with ports.database.reading() as session:
        if not _is_due(ports, session.get_one(models.Shop, models.SHOP_ID)):
            return 0
    with ports.database.transaction() as session:
        shop = _locked(session)
        if _is_due(ports, shop):
            before = settings_of(shop)
            opening = settings.ShopUpdate(allow_storefront_traffic=True)
            after = settings.with_closing(
                before, opening, replace(before, allow_storefront_traffic=True)
            )
            _save(ports, actor, session, before, after)
    return 0


@building_block
def settings_of(shop: models.Shop) -> settings.ShopSettings:
    """Return the settings in the shop's row."""
    values: dict[str, Any] = {one.name: one.typed(getattr(shop, one.name)) for one in SETTINGS}
    return settings.ShopSettings(
        **values,
        second_factor_from=shop.second_factor_from,
        logo=shop.logo,
        company_address=_company_address(shop),
    )


def _locked(session: Session) -> models.Shop:
    """Lock the row, so that the audit log's "before" is the value that a change replaced."""
    return session.get_one(models.Shop, models.SHOP_ID, with_for_update=True)


def _is_due(ports: Ports, shop: models.Shop) -> bool:
    """Whether a closed storefront is to open by now."""
    opens_at = shop.storefront_opens_at
    is_closed = not shop.allow_storefront_traffic
    return is_closed and opens_at is not None and opens_at <= ports.clock.now()


def _save(
    ports: Ports,
    actor: Actor,
    session: Session,
    before: settings.ShopSettings,
    after: settings.ShopSettings,
) -> None:
    """Write what differs, with its entry in the audit log."""
    changed = [setting for setting in SETTINGS if setting.read(after) != setting.read(before)]
    if changed:
        values: dict[str, object] = {setting.name: setting.read(after) for setting in changed}
        if after.allow_storefront_traffic is not before.allow_storefront_traffic:
            closed_at = None if after.allow_storefront_traffic else ports.clock.now()
            values |= {"storefront_closed_at": closed_at, "storefront_rejections": 0}
        values["second_factor_from"] = after.second_factor_from
        session.execute(update_rows(models.Shop).values(values))
        sides = differing(shop_facts(before), shop_facts(after))
        change = Change("shop.update", "Shop", models.SHOP_ID, after.name, *sides)
        record(ports, actor, session, change)


def _problem(ports: Ports, setting: Setting, value: object) -> Problem | None:
    problem = setting.problem(value)
    if problem is None and setting.kind is SettingKind.REDIRECT_URL and value:
        problem = redirect_refusal(ports, str(value), setting.api_name)
    return problem


@dataclass(frozen=True, slots=True)
class Closing:
    """A closed storefront; ``closed_at`` is ``None`` if it was closed by an older version.

    ``opens_at`` is when it opens by itself, ``None`` for never.
    """

    note: str
    closed_at: datetime | None
    opens_at: datetime | None


@building_block
def closing_columns() -> tuple[ColumnElement[Any], ...]:
    """Return the columns of the shop that ``read_closing`` reads."""
    return (
        models.Shop.allow_storefront_traffic.label("storefront"),
        models.Shop.storefront_note.label("closing_note"),
        models.Shop.storefront_closed_at.label("closed_at"),
        models.Shop.storefront_opens_at.label("opens_at"),
    )


@building_block
def read_closing(row: NamedRow) -> Closing | None:
    """Return the closing in a row that has ``closing_columns``; ``None`` while open."""
    if row.storefront:
        return None
    return Closing(row.closing_note, row.closed_at, row.opens_at)


@requires(Permission.MANAGE_SETTINGS)
def update_logo(ports: Ports, actor: Actor, image: Upload) -> settings.ShopSettings:
    """Replace the logo (`shopLogoUpdate`).

    The image is scaled down where needed and encoded anew from its pixels. Refuses
    FILE_SIZE_LIMIT_EXCEEDED on ``image``, and INVALID for a file that is not an image or has too
    many pixels.
    """
    image.require_at_most(MAX_LOGO_SIZE)
    try:
        drawn = ports.images.fit(image.data, MAX_WIDTH, MAX_HEIGHT)
    except InvalidImage as reason:
        raise Refused(reason.problem) from None
    name = ports.randomness.token(LOGO_NAME_LENGTH)
    logo = models.Logo(name=name, width=drawn.width, height=drawn.height, data=drawn.data)
    return _replace(ports, actor, logo)


@requires(Permission.MANAGE_SETTINGS)
def delete_logo(ports: Ports, actor: Actor) -> settings.ShopSettings:
    """Show the shop's name instead of a logo (`shopLogoDelete`); none is no problem."""
    return _replace(ports, actor, None)


@public
def show_logo(ports: Ports, actor: Actor, name: str) -> bytes | None:
    """Return the logo of that name as PNG; ``None`` if it doesn't exist."""
    with ports.database.reading() as session:
        return session.scalar(select(models.Logo.data).where(models.Logo.name == name))


@building_block
def read_logo(session: Session, name: str) -> Logo | None:
    """Return the logo ``name``, ``None`` for "" or one that was replaced meanwhile."""
    if not name:
        return None
    columns = (models.Logo.name, models.Logo.width, models.Logo.height, models.Logo.data)
    row = session.execute(select(*columns).where(models.Logo.name == name)).one_or_none()
    return None if row is None else Logo(*row)


def _replace(ports: Ports, actor: Actor, logo: models.Logo | None) -> settings.ShopSettings:
    with ports.database.transaction(SHOP) as session:
        shop = _locked(session)
        before, shop.logo = bool(shop.logo), "" if logo is None else logo.name
        session.execute(delete(models.Logo))
        if logo is not None:
            session.add(logo)
        if before or logo is not None:
            after = {"logo": logo is not None}
            change = Change(
                "shop.logo", "Shop", models.SHOP_ID, shop.name, {"logo": before}, after
            )
            record(ports, actor, session, change)
        return settings_of(shop)
