"""Show, add, change and confirm identity providers: the only module that writes settings."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import Integer, Select, cast, delete, exists, or_, select, update
from sqlalchemy.orm import Session, aliased

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, in_order
from app.domain.keys import PROVIDER_SECRET
from app.domain.single_sign_on import provider_settings, waiting_changes
from app.domain.single_sign_on.group_mapping import read_group_mapping
from app.domain.single_sign_on.providers import (
    DEFAULT_SLUG,
    Provider,
    is_slug,
    names_default,
    serves_any_client,
)
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.inputs import Seen, require_unchanged
from app.domain.values.pages import Page, PageRequest, empty_page, with_items
from app.domain.values.text_rules import line_problem
from app.ports import Ports, ReadSession
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, fresh_proof, requires
from app.services.identity.providers import (
    any_provider_of,
    find_provider,
    known_providers,
    to_provider,
    unknown_provider,
)
from app.services.lists.filters import contains_text, is_searchable
from app.services.lists.paging import Order, read_rows
from app.services.people.groups import remove_members
from app.services.single_sign_on.provider_coverage import prevent_lockout, signed_in_with

_SETTINGS = tuple(field.name for field in fields(Provider) if field.name not in ("id", "slug"))
_NOTHING_WAITS = Problem("INVALID", "Nothing waits for confirmation.", "provider")
_CHANGED = Problem(
    "INVALID", "The settings have been changed since. Check them again, then confirm.", "version"
)


@building_block
def next_settings(
    ports: Ports, actor: Actor, before: Provider, values: Mapping[str, Any]
) -> Provider:
    """Return ``before`` with the new ``values``, and with what waits for confirmation then."""
    changed = replace(before, **values)
    after = waiting_changes.with_waiting_changes(
        before, changed, waiting_changes.changer_of(actor), ports.clock.timestamp()
    )
    if after.audience or after.accepted_clients:
        after = replace(after, serves_staff_of_any_client=False)
    return after


@building_block
def store_settings(session: Session, stored: models.IdentityProvider, after: Provider) -> None:
    """Store what ``next_settings`` returned, in the transaction that read ``stored``.

    Links and sessions that the former settings made while they waited for confirmation count no
    more. Identities move to the issuer when a confirmed one becomes known.
    """
    before = to_provider(stored)
    for name in _SETTINGS:
        if getattr(before, name) != getattr(after, name):
            setattr(stored, name, getattr(after, name))
    if before.waits and before.trust_version != after.trust_version:
        _end_sessions(session, before)
    _move_identities(session, before, after)
    session.execute(
        update(models.Shop)
        .where(models.Shop.id == models.SHOP_ID)
        .values(providers_version=models.Shop.providers_version + 1)
    )


def _lock_provider(session: Session, slug: str) -> models.IdentityProvider | None:
    """Return the provider; changes of any wait until the transaction of ``session`` ends."""
    session.execute(
        select(models.Shop.id).where(models.Shop.id == models.SHOP_ID).with_for_update()
    )
    of_slug = models.IdentityProvider.slug == slug
    return session.scalar(select(models.IdentityProvider).where(of_slug))


@fresh_proof("You're about to confirm an identity provider's settings.")
@requires(Permission.MANAGE_PLUGINS)
def confirm_provider(ports: Ports, actor: Actor, slug: str, version: int) -> Provider:
    """Confirm the settings of a provider that wait, so that it can assert everything again.

    ``version`` is the provider's ``trust_version`` as it was shown. Refuses NOT_FOUND and, if
    nothing waits, INVALID on ``provider``; INVALID on ``version`` for settings that have changed
    since; OUT_OF_SCOPE_PERMISSION for anyone who doesn't hold every permission.
    """
    with ports.database.transaction() as session:
        stored = _lock_provider(session, slug)
        if stored is None:
            raise Refused(unknown_provider(slug))
        before = to_provider(stored)
        if waiting_changes.changer_of(actor) is not None:
            raise Refused(_missing_permissions(actor))
        if not before.waits:
            raise Refused(_NOTHING_WAITS)
        if before.trust_version != version:
            raise Refused(_CHANGED)
        _honour_links(session, before)
        after = waiting_changes.confirmed(before)
        store_settings(session, stored, after)
        _record_confirmation(ports, actor, session, before)
    return after


def _missing_permissions(actor: Actor) -> Problem:
    lacking = ", ".join(in_order(ALL_PERMISSIONS - actor.held_everywhere))
    if not lacking:
        return Problem("OUT_OF_SCOPE_PERMISSION", "Only staff can confirm this.", "provider")
    message = (
        "Only a superuser or staff with every permission can confirm this. You lack {lacking}."
    )
    values = {"lacking": lacking}
    return Problem("OUT_OF_SCOPE_PERMISSION", message, "provider", values=values)


def _honour_links(session: Session, provider: Provider) -> None:
    """Make the links of the settings that are confirmed now like any others."""
    identity = models.ExternalIdentity
    session.execute(
        update(identity).where(identity.waiting_mark == provider.link_mark).values(waiting_mark="")
    )


def _end_sessions(session: Session, provider: Provider) -> None:
    """End the sessions that the settings of ``provider`` opened while they waited."""
    marked = select(models.ExternalIdentity.id).where(
        models.ExternalIdentity.waiting_mark == provider.link_mark
    )
    session.execute(
        delete(models.Session)
        .where(models.Session.identity_id.in_(marked))
        .execution_options(synchronize_session=False)
    )


def _move_identities(session: Session, before: Provider, after: Provider) -> None:
    """Move identities to the provider's issuer when one that is confirmed becomes known."""
    known = waiting_changes.before_waiting(before)
    if known.issuer or not after.issuer or waiting_changes.waits_for(after, "issuer"):
        return
    other_identity, record_of = aliased(models.ExternalIdentity), models.ExternalIdentity
    for issuer in (*known.issuers_here(after.issuer), known.issuer_here("")):
        taken = exists().where(
            other_identity.issuer == after.issuer, other_identity.subject == record_of.subject
        )
        session.execute(
            update(record_of).where(record_of.issuer == issuer, ~taken).values(issuer=after.issuer)
        )


def _record_confirmation(ports: Ports, actor: Actor, session: Session, before: Provider) -> None:
    changes = waiting_changes.read_waiting(before.waiting_changes)
    was = {change.setting: change.was for change in changes if hasattr(before, change.setting)}
    now = {name: getattr(before, name) for name in was}
    secret = "client_secret"  # noqa: S105 - the name of a setting
    for values in (was, now):
        values.pop(secret, None)
    change = Change("provider.confirm", "IdentityProvider", before.id, before.name, was, now)
    record(ports, actor, session, change)


_RESERVED = Problem(
    "UNIQUE", "Plugin IDs with this name mean the default provider. Choose another.", "provider"
)
_TAKEN = Problem("UNIQUE", "This short name is already in use.", "provider")


class PluginSort(StrEnum):
    """The sort orders of providers: creation (the default one is the oldest), name, inactive."""

    AGE = "AGE"
    NAME = "NAME"
    IS_ACTIVE = "IS_ACTIVE"


_ORDERS = {
    PluginSort.AGE: Order((models.IdentityProvider.id,)),
    PluginSort.NAME: Order((models.IdentityProvider.name, models.IdentityProvider.id)),
    PluginSort.IS_ACTIVE: Order(
        (cast(models.IdentityProvider.active, Integer), models.IdentityProvider.id)
    ),
}


@dataclass(frozen=True, slots=True)
class Plugin:
    """A provider with its settings as they read back; ``id`` is the one it was asked for by.

    ``waiting`` are the changes that aren't confirmed, of the settings at ``version``.
    ``serves_staff_of_any_client``: its access tokens have staff rights, of whatever client. The
    audit log names it by ``key``. ``maps_groups``: a claim decides groups, as for ``Provider``.
    """

    id: str
    slug: str
    name: str
    active: bool
    settings: tuple[provider_settings.SettingValue, ...]
    waiting: tuple[waiting_changes.WaitingChange, ...] = ()
    version: int = 0
    serves_staff_of_any_client: bool = False
    key: int = 0
    maps_groups: bool = False

    @property
    def facts(self) -> dict[str, str | bool | None]:
        """The audit log's view: no secrets."""
        settings = {shown.setting.name: shown.value for shown in self.settings}
        return {"active": self.active, "name": self.name, **settings}

    @property
    def values(self) -> dict[str, str]:
        """The settings by name, and ``active``; empty for what isn't set or on."""
        settings = {shown.setting.name: shown.value or "" for shown in self.settings}
        return {"active": "true" if self.active else "", **settings}


@dataclass(frozen=True, slots=True)
class ProviderUpdate:
    """A change of a provider: ``None`` keeps ``active`` and ``name``.

    Absent ``settings`` stay; null and an empty text clear. ``asks_first`` raises
    ``LockoutRefused`` for what no one could undo. ``needs_client``: it can't be active without a
    client ID, as for Saleor's clients. ``is_new``: the provider must not exist yet.
    ``needs_group``: another default group must exist. ``removes_members``: people who have signed
    in with the provider leave the groups about which no claim decides anymore, as rows of the
    table were removed, the provider was disabled or it grants the permissions
    (``use_oauth_scope_permissions``); otherwise they stay, and other changes remove no one. What
    isn't as ``seen`` anymore makes ``Stale``, by the names of ``Plugin.facts``.
    """

    settings: Mapping[str, str | None]
    active: bool | None = None
    name: str | None = None
    asks_first: bool = False
    needs_client: bool = False
    is_new: bool = False
    needs_group: bool = False
    removes_members: bool = False
    seen: Seen = field(default_factory=dict, compare=False)


@requires(Permission.MANAGE_PLUGINS)
def list_plugins(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    sort: PluginSort = PluginSort.AGE,
    *,
    search: str = "",
    descending: bool = False,
) -> Page[Plugin]:
    """The providers, the default one first unless sorted otherwise; secrets don't read back.

    ``search`` looks for a part of the name.
    """
    whole: Select[*tuple[object, ...]] = select(models.IdentityProvider.slug)
    query, order = whole, replace(_ORDERS[sort], descending=descending)
    if not is_searchable(search):
        return empty_page()
    if search:
        query = query.where(contains_text(models.IdentityProvider.name, search))
    with ports.database.reading() as session:
        found = read_rows(ports, session, query, order, page, whole)
    # No provider is ever deleted, so those read after the rows are all among them.
    providers = {provider.slug: provider for provider in known_providers(ports)}
    vendor = ports.configuration.vendor
    listed = [providers[row.slug] for row in found.items]
    return with_items(
        found, [_plugin(provider, provider.plugin_id(vendor)) for provider in listed]
    )


@requires(Permission.MANAGE_PLUGINS)
def show_plugin(ports: Ports, actor: Actor, plugin_id: str) -> Plugin | None:
    """The provider that answers to that plugin id, active or not; ``None`` for any other id."""
    provider = any_provider_of(ports, plugin_id)
    return None if provider is None else _plugin(provider, plugin_id)


@requires(Permission.MANAGE_PLUGINS)
def show_provider(ports: Ports, actor: Actor, slug: str) -> Plugin:
    """The provider with exactly that slug, active or not; refuses NOT_FOUND on ``provider``."""
    provider = find_provider(ports, slug)
    return _plugin(provider, provider.plugin_id(ports.configuration.vendor))


@requires(Permission.MANAGE_PLUGINS)
def update_plugin(ports: Ports, actor: Actor, plugin_id: str, changes: ProviderUpdate) -> Plugin:
    """Change the settings of a provider (`pluginUpdate`); all of ``changes`` or nothing.

    Refuses NOT_FOUND on ``id``, INVALID on the name of a setting, and PLUGIN_MISCONFIGURED on the
    name of each setting without which the provider can't be active. With ``asks_first``, raises
    ``LockoutRefused`` (INVALID on ``active``, ``issuer`` or ``client_id``) for a change that no
    one could undo. With ``removes_members``, refuses on ``group_mapping`` as ``update_group``
    does.
    """
    provider = any_provider_of(ports, plugin_id)
    if provider is None:
        raise Refused(Problem("NOT_FOUND", "There is no such plugin.", "id"))
    changes = replace(changes, needs_client=True)
    return _plugin(change_provider(ports, actor, provider.slug, changes), plugin_id)


def _act(ports: Ports, _actor: Actor, slug: str, changes: ProviderUpdate) -> str:
    if changes.active is not None:
        return "switch"
    is_known = any(provider.slug == slug for provider in known_providers(ports))
    return "change" if is_known else "add"


@fresh_proof(
    {
        "add": "You're about to add an identity provider.",
        "change": "You're about to change an identity provider.",
        "switch": "You're about to enable or disable an identity provider.",
    },
    when=_act,
)
@requires(Permission.MANAGE_PLUGINS)
def save_provider(ports: Ports, actor: Actor, slug: str, changes: ProviderUpdate) -> Provider:
    """Change the settings of the provider ``slug``, or add it.

    Refuses INVALID on ``provider`` for a slug that can't be part of a URL, UNIQUE for a new one
    that names the default provider or, with ``is_new``, exists, and what ``update_plugin`` does.
    """
    if not is_slug(slug):
        message = "Use lowercase letters, digits and hyphens. Start with a letter or digit."
        raise Refused(Problem("INVALID", message, "provider"))
    return change_provider(ports, actor, slug, changes)


@building_block
def change_provider(ports: Ports, actor: Actor, slug: str, changes: ProviderUpdate) -> Provider:
    """Change or add the provider ``slug``; the caller has been checked."""
    values = _read(ports, changes)
    with ports.database.transaction() as session:
        stored = _lock_provider(session, slug)
        if changes.is_new and (
            stored is not None or names_default(slug, ports.configuration.vendor)
        ):
            raise Refused(_TAKEN)
        if stored is None:
            if slug != DEFAULT_SLUG and names_default(slug, ports.configuration.vendor):
                raise Refused(_RESERVED)
            stored = models.IdentityProvider(slug=slug, name=slug)
            session.add(stored)
            session.flush()
        before = to_provider(stored)
        require_unchanged(changes.seen, _plugin(before, slug).facts)
        after = next_settings(ports, actor, before, values)
        was_without = before.active and not before.client_id
        needs_client = changes.needs_client and not was_without
        unknown = _group_problem(session, before, after) if changes.needs_group else None
        unmapped = _mapping_problem(session, before, after)
        refuse_any(
            unknown,
            unmapped,
            *provider_settings.activation_problems(after, needs_client=needs_client),
        )
        guarded = prevent_lockout(ports, actor, session, before, after)
        with guarded if changes.asks_first else nullcontext():
            store_settings(session, stored, after)
        _record_change(ports, actor, session, before, after)
        if changes.removes_members:
            _remove_members(ports, actor, session, before, after)
    return after


def _remove_members(
    ports: Ports, actor: Actor, session: Session, before: Provider, after: Provider
) -> None:
    """Remove the people of a provider from the groups that it no longer decides about.

    ``_lock_provider`` locks grants as well.
    """
    decided = after.mapped_groups if after.active else frozenset()
    names = before.mapped_groups - decided
    members = (
        select(models.Group.id, models.GroupMember.user_id)
        .join(models.GroupMember, models.GroupMember.group_id == models.Group.id)
        .join(models.User, models.User.id == models.GroupMember.user_id)
        .where(models.Group.name.in_(names), or_(*map(signed_in_with, (before, after))))
        .order_by(models.Group.id)
    )
    people: dict[int, list[int]] = {}
    for group_id, user_id in session.execute(members):
        people.setdefault(group_id, []).append(user_id)
    for group_id, users in people.items():
        remove_members(ports, actor, session, group_id, users, "group_mapping")


def _group_problem(session: Session, before: Provider, after: Provider) -> Problem | None:
    """Return why another default group can't be meant: no group has its name."""
    name = after.default_group_name_for_new_staff_users
    if not name or name == before.default_group_name_for_new_staff_users:
        return None
    if not missing_groups(session, {name}):
        return None
    return Problem(
        "INVALID",
        "There is no group “{name}”. Enter the name of a group, or confirm that it will be "
        "created.",
        "default_group_name_for_new_staff_users",
        values={"name": name},
    )


@building_block
def missing_groups(session: Session | ReadSession, names: set[str]) -> list[str]:
    if not names:
        return []
    known = session.scalars(select(models.Group.name).where(models.Group.name.in_(names)))
    return sorted(names.difference(known))


def _mapping_problem(session: Session, before: Provider, after: Provider) -> Problem | None:
    """Return why groups that are new in the table can't be meant: none have their names."""
    was, now = map(read_group_mapping, (before.group_mapping, after.group_mapping))
    named = {row.group for row in now} - {row.group for row in was}
    missing = missing_groups(session, named)
    if not missing:
        return None
    values = {"names": ", ".join(missing)}
    return Problem("INVALID", "There are no groups {names}.", "group_mapping", values=values)


@requires(Permission.MANAGE_PLUGINS)
def list_mappable_groups(ports: Ports, actor: Actor) -> tuple[str, ...]:
    """Return the names of the permission groups that claims can be mapped to."""
    with ports.database.reading() as session:
        return tuple(session.scalars(select(models.Group.name).order_by(models.Group.name)))


def _plugin(provider: Provider, plugin_id: str) -> Plugin:
    return Plugin(
        plugin_id,
        provider.slug,
        provider.name,
        provider.active,
        provider_settings.show_settings(provider),
        waiting_changes.read_waiting(provider.waiting_changes),
        provider.trust_version,
        serves_any_client(provider),
        provider.id,
        provider.maps_groups,
    )


def _read(ports: Ports, changes: ProviderUpdate) -> dict[str, Any]:
    """Return the values to store, by column; refuses those that cannot be used."""
    read = {
        name: provider_settings.read_setting(name, value)
        for name, value in changes.settings.items()
    }
    problems: list[Problem | None] = [
        value for value in read.values() if isinstance(value, Problem)
    ]
    base = ports.configuration.public_url
    problems += (
        provider_settings.own_url_problem(name, str(value), base) for name, value in read.items()
    )
    name = (changes.name or "").strip()
    if changes.name is not None:
        problems.append(line_problem(name, "name"))
    refuse_any(*problems)
    values: dict[str, Any] = {name: value for name, value in read.items() if value is not None}
    for secret in provider_settings.SECRET_NAMES:
        if values.get(secret):
            values[secret] = ports.encryption.encrypt(PROVIDER_SECRET, str(values[secret]))
    if changes.active is not None:
        values["active"] = changes.active
    if name:
        values["name"] = name
    return values


def _record_change(
    ports: Ports, actor: Actor, session: Session, before: Provider, after: Provider
) -> None:
    was, now = _plugin(before, before.slug).facts, _plugin(after, after.slug).facts
    changed = [name for name in now if was[name] != now[name]]
    if before.client_secret != after.client_secret and "client_secret" not in changed:
        now["client_secret"] = f"{provider_settings.MASK} (another)"
        changed.append("client_secret")
    if changed:
        change = Change(
            "provider.update",
            "IdentityProvider",
            after.id,
            after.name,
            {name: was[name] for name in changed},
            {name: now[name] for name in changed},
        )
        record(ports, actor, session, change)
