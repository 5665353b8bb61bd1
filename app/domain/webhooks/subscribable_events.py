"""The events that an app can't receive, whatever its webhooks subscribe to."""

from collections.abc import Collection, Mapping

from app.domain.events import EVENTS, EventType


def required_permission(event: str) -> str | None:
    """Return the permission that an app needs to receive an event; ``None`` if unknown.

    ``ANY_EVENTS`` needs none: it means the events that the app is permitted.
    """
    return EVENTS[EventType(event)].permission.value if event in EVENTS else None


def not_permitted(
    events: Collection[str], permissions: Collection[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return those of ``events`` that an app isn't permitted, by the missing permission.

    An event is delivered only while the app holds its permission (contract, "Webhooks"). Unknown
    events of other versions are left out. ``ANY_EVENTS`` means the permitted ones, and is reported
    only if there are none.
    """
    is_any = EventType.ANY_EVENTS.value in events
    found: dict[str, tuple[str, ...]] = {}
    for name, event in EVENTS.items():
        permission = event.permission.value
        if not (is_any or name.value in events):
            continue
        if permission not in permissions:
            found[permission] = (*found.get(permission, ()), name.value)
        elif is_any:
            return {}
    return found


def receives_nothing(events: Collection[str], permissions: Collection[str]) -> bool:
    """Whether an app with those permissions receives none of these events."""
    names = {name for group in not_permitted(events, permissions).values() for name in group}
    return bool(names) and (EventType.ANY_EVENTS.value in events or names.issuperset(events))
