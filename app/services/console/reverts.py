"""Revert changes that the audit log recorded, by the use cases that made them.

The person who reverts needs the rights for it, as if they made the change: granting limits, the
rule about login modes, fresh proofs and lockout guards apply. Secrets aren't in the log, so they
stay; so do deletions and ended sessions.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select

from app import models
from app.domain.audit import AuditEntry
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission, known_permissions
from app.domain.events import EventType
from app.domain.shop.lockouts import AccessChange
from app.domain.shop.setting_table import SETTINGS, read_back, shop_facts
from app.domain.shop.settings import ShopUpdate
from app.domain.single_sign_on.provider_settings import SETTINGS as PROVIDER_SETTINGS
from app.domain.single_sign_on.provider_settings import SettingType
from app.domain.urls.web_urls import MASK, masked_url
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import Seen, require_unchanged
from app.domain.webhooks import Webhook, editable_facts, facts_of
from app.ports import Ports
from app.services.apps.app_changes import (
    AppChange,
    activate_app,
    app_facts,
    deactivate_app,
    update_app,
)
from app.services.apps.app_lists import show_app
from app.services.audit.entries import names_of, show_entry
from app.services.authorization.register import can_call, requires_person
from app.services.people.groups import (
    GroupChanges,
    group_facts,
    list_members,
    show_group,
    update_group,
)
from app.services.people.staff import StaffChanges, update_staff
from app.services.people.user_status import activate_user, deactivate_user, show_person
from app.services.people.users import Details
from app.services.shop.lockout_guard import prevent_access_lockout
from app.services.shop.settings import show_settings, update_shop
from app.services.single_sign_on.provider_settings import (
    ProviderUpdate,
    save_provider,
    show_provider,
)
from app.services.webhooks.changes import WebhookInput, update_webhook
from app.services.webhooks.lists import show_webhook

Values = Mapping[str, object]

_GONE = Problem("NOT_FOUND", "The changed object doesn't exist anymore.", "id")
_NOT_REVERTIBLE = Problem("INVALID", "This entry can't be reverted.", "id")


@dataclass(frozen=True, slots=True)
class Revert:
    """What reverting an entry would do, by field, as the audit log has values.

    ``before`` are the values to go back to, ``after`` those that the entry left, ``current`` those
    of now. ``left_out`` are the changed fields that stay.
    """

    entry: AuditEntry
    before: Values
    after: Values
    current: Values
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of entries that can be reverted.

    ``read`` returns the current values of the subject with that key, which the use case takes as
    seen; ``write`` changes some of them with the use case ``by``.
    """

    fields: frozenset[str]
    by: Callable[..., object]
    read: Callable[[Ports, Actor, str], Values]
    write: Callable[[Ports, Actor, str, Values, Seen], object]


@requires_person(Permission.MANAGE_STAFF)
def show_revert(ports: Ports, actor: Actor, entry_id: int) -> Revert | None:
    """Return what reverting an entry would do; ``None`` if it can't be, or not by the caller.

    Refuses NOT_FOUND on ``id`` if the subject was deleted.
    """
    found = _find(ports, actor, entry_id)
    if found is None:
        return None
    revert, current = found
    with ports.database.reading() as session:
        known = names_of(session, revert.entry.before, revert.entry.after, current)
    return replace(revert, entry=replace(revert.entry, names=known))


def _find(ports: Ports, actor: Actor, entry_id: int) -> tuple[Revert, Values] | None:
    """Return the revert of an entry, with all current values of its subject."""
    entry = show_entry(ports, actor, entry_id)
    kind = None if entry is None else _KINDS.get(entry.action)
    if entry is None or kind is None or not can_call(actor, kind.by):
        return None
    changed = [name for name in entry.after if entry.after[name] != entry.before.get(name)]
    names = [name for name in changed if name in kind.fields and name in entry.before]
    names = [name for name in names if not _is_masked(entry, name)]
    if not names:
        return None
    current = kind.read(ports, actor, entry.subject_id)
    found = Revert(
        entry,
        before={name: entry.before[name] for name in names},
        after={name: entry.after[name] for name in names},
        current={name: current[name] for name in names},
        left_out=tuple(name for name in changed if name not in names),
    )
    return found, current


@requires_person(Permission.MANAGE_STAFF)
def revert_change(
    ports: Ports, actor: Actor, entry_id: int, names: Collection[str], seen: Seen
) -> None:
    """Set the fields ``names`` to what they were before an entry, if they still are as ``seen``.

    Raises ``Stale`` if they aren't. Refuses INVALID on ``id`` for an entry that can't be reverted,
    or not in these fields, and what the use case of the change does.
    """
    found = _find(ports, actor, entry_id)
    if found is None or not set(names) <= found[0].before.keys():
        raise Refused(_NOT_REVERTIBLE)
    revert, current = found
    require_unchanged(seen, current)
    values = {name: revert.before[name] for name in names}
    kind = _KINDS[revert.entry.action]
    kind.write(ports, actor, revert.entry.subject_id, values, current)


def _is_masked(entry: AuditEntry, name: str) -> bool:
    """Whether the log doesn't have the whole value, because it had a key in it."""
    sides = (entry.before.get(name), entry.after.get(name))
    return name == "target_url" and any(MASK in str(side) for side in sides)


def _read_shop(ports: Ports, actor: Actor, _key: str) -> Values:
    return shop_facts(show_settings(ports, actor))


def _write_shop(ports: Ports, actor: Actor, _key: str, values: Values, seen: Seen) -> None:
    settings = {setting.name: setting for setting in SETTINGS}
    typed: dict[str, Any] = {
        name: read_back(settings[name], value) for name, value in values.items()
    }
    switches = {name: typed[name] for name in _SWITCHES if name in typed}
    if switches:
        prevent_access_lockout(ports, actor, AccessChange(**switches))
    update_shop(ports, actor, ShopUpdate(seen=seen, **typed))


_SWITCHES = ("password_login_mode", "allow_storefront_traffic")


def _texts(values: object) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list) else []


def _permissions(values: object) -> frozenset[Permission]:
    return known_permissions(_texts(values))


def _events(values: object) -> tuple[EventType, ...]:
    return tuple(EventType(name) for name in _texts(values) if name in {*EventType})


_Types = Mapping[str, Callable[[Any], object]]
"""What makes each value of the log one that the use case takes."""


def _typed(values: Values, types: _Types) -> dict[str, Any]:
    return {name: types[name](value) for name, value in values.items()}


def _read_app(ports: Ports, actor: Actor, key: str) -> Values:
    app = show_app(ports, actor, int(key))
    if app is None:
        raise Refused(_GONE)
    return {**app_facts(app), "is_active": app.is_active}


_APP: _Types = {
    "name": str,
    "identifier": str,
    "permissions": _permissions,
    "contact_email": str,
    "client_credentials_only": bool,
}


def _write_app(ports: Ports, actor: Actor, key: str, values: Values, seen: Seen) -> None:
    known = {name: seen[name] for name in _APP}
    update_app(ports, actor, int(key), AppChange(seen=known, **_typed(values, _APP)))


def _switch_app(ports: Ports, actor: Actor, key: str, values: Values, _seen: Seen) -> None:
    switch = activate_app if values["is_active"] else deactivate_app
    switch(ports, actor, int(key))


def _read_group(ports: Ports, actor: Actor, key: str) -> Values:
    group = show_group(ports, actor, to_global_id("Group", int(key)))
    if group is None:
        raise Refused(_GONE)
    members = list_members(ports, actor, (group.id,))[group.id]
    return group_facts(group, [member.id for member in members])


def _write_group(ports: Ports, actor: Actor, key: str, values: Values, seen: Seen) -> None:
    changes = GroupChanges(seen=seen)
    if "name" in values:
        changes = replace(changes, name=str(values["name"]))
    if "permissions" in values:
        changes = replace(changes, **_permission_changes(seen, values))
    if "users" in values:
        added, removed = _difference(seen["users"], values["users"])
        changes = replace(
            changes, add_users=_ids("User", added), remove_users=_ids("User", removed)
        )
    update_group(ports, actor, to_global_id("Group", int(key)), changes)


def _read_person(ports: Ports, actor: Actor, key: str) -> Values:
    person = show_person(ports, actor, int(key))
    return {
        "groups": sorted(group.id for group in person.user.groups),
        "permissions": sorted(one.value for one in person.direct_permissions),
        "is_active": person.user.is_active,
    }


def _write_staff(ports: Ports, actor: Actor, key: str, values: Values, seen: Seen) -> None:
    changes = StaffChanges(Details(seen=seen))
    if "is_active" in values:
        details = replace(changes.details, is_active=bool(values["is_active"]))
        changes = replace(changes, details=details)
    if "groups" in values:
        added, removed = _difference(seen["groups"], values["groups"])
        changes = replace(
            changes, add_groups=_ids("Group", added), remove_groups=_ids("Group", removed)
        )
    if "permissions" in values:
        changes = replace(changes, **_permission_changes(seen, values))
    update_staff(ports, actor, to_global_id("User", int(key)), changes)


def _switch_person(ports: Ports, actor: Actor, key: str, values: Values, _seen: Seen) -> None:
    switch = activate_user if values["is_active"] else deactivate_user
    switch(ports, actor, int(key))


def _read_webhook(ports: Ports, actor: Actor, key: str) -> Values:
    return _webhook_values(_shown_webhook(ports, actor, key))


def _shown_webhook(ports: Ports, actor: Actor, key: str) -> Webhook:
    webhook = show_webhook(ports, actor, int(key))
    if webhook is None:
        raise Refused(_GONE)
    return webhook


def _webhook_values(webhook: Webhook) -> Values:
    return {**facts_of(webhook), "target_url": masked_url(webhook.target_url)}


def _write_webhook(ports: Ports, actor: Actor, key: str, values: Values, seen: Seen) -> None:
    webhook = _shown_webhook(ports, actor, key)
    require_unchanged(seen, _webhook_values(webhook))
    change = WebhookInput(seen=editable_facts(webhook), **_typed(values, _WEBHOOK))
    if "query" in values:
        change = replace(change, drops_query=not values["query"])
    update_webhook(ports, actor, to_global_id("Webhook", webhook.id), "", change)


_WEBHOOK: _Types = {
    "name": str,
    "identifier": str,
    "target_url": str,
    "is_active": bool,
    "is_paused": bool,
    "max_rate": int,
    "query": str,
    "events": _events,
}


def _slug(ports: Ports, key: str) -> str:
    provider = models.IdentityProvider
    with ports.database.reading() as session:
        slug = session.scalar(select(provider.slug).where(provider.id == int(key)))
    if slug is None:
        raise Refused(_GONE)
    return slug


def _read_provider(ports: Ports, actor: Actor, key: str) -> Values:
    return show_provider(ports, actor, _slug(ports, key)).facts


def _write_provider(ports: Ports, actor: Actor, key: str, values: Values, seen: Seen) -> None:
    settings = {
        name: None if value is None else str(value)
        for name, value in values.items()
        if name not in ("active", "name")
    }
    active, name = values.get("active"), values.get("name")
    changes = ProviderUpdate(
        settings,
        active=None if active is None else bool(active),
        name=None if name is None else str(name),
        asks_first=True,
        seen=seen,
    )
    save_provider(ports, actor, _slug(ports, key), changes)


def _difference(current: object, wanted: object) -> tuple[list[str], list[str]]:
    """Return what is added and what is removed to go from ``current`` to ``wanted``."""
    now, then = _texts(current), _texts(wanted)
    return [one for one in then if one not in now], [one for one in now if one not in then]


def _permission_changes(seen: Seen, values: Values) -> dict[str, Any]:
    added, removed = _difference(seen["permissions"], values["permissions"])
    return {"add_permissions": _permissions(added), "remove_permissions": _permissions(removed)}


def _ids(type_name: str, keys: list[str]) -> tuple[str, ...]:
    return tuple(to_global_id(type_name, int(key)) for key in keys)


_ACTIVE = frozenset({"is_active"})
_KINDS: Mapping[str, _Kind] = {
    "shop.update": _Kind(
        frozenset(setting.name for setting in SETTINGS), update_shop, _read_shop, _write_shop
    ),
    "app.update": _Kind(frozenset(_APP), update_app, _read_app, _write_app),
    "app.activate": _Kind(_ACTIVE, activate_app, _read_app, _switch_app),
    "app.deactivate": _Kind(_ACTIVE, deactivate_app, _read_app, _switch_app),
    "group.update": _Kind(
        frozenset({"name", "permissions", "users"}), update_group, _read_group, _write_group
    ),
    "staff.update": _Kind(
        frozenset({"groups", "permissions", "is_active"}), update_staff, _read_person, _write_staff
    ),
    "user.activate": _Kind(_ACTIVE, activate_user, _read_person, _switch_person),
    "user.deactivate": _Kind(_ACTIVE, deactivate_user, _read_person, _switch_person),
    "webhook.update": _Kind(frozenset(_WEBHOOK), update_webhook, _read_webhook, _write_webhook),
    "provider.update": _Kind(
        frozenset({"active", "name"})
        | {one.name for one in PROVIDER_SETTINGS if one.type is not SettingType.SECRET},
        save_provider,
        _read_provider,
        _write_provider,
    ),
}
