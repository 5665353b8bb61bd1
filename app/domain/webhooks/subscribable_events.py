"""What an app is never told of, whatever its webhooks ask for."""

from collections.abc import Collection, Mapping

from app.domain.events import EVENTS, EventType
from app.domain.webhooks.webhooks import AsyncEvent


def required_permission(event: str) -> str | None:
    """The permission that an app must hold to hear of it; ``None`` for one that nobody here knows.

    ``ANY_EVENTS`` needs none of its own: an app hears of those that it may.
    """
    return EVENTS[EventType(event)].permission.value if event in EventType.__members__ else None


def not_permitted(events: Collection[str], held: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Those of ``events`` that an app is not told of, by the permission that it lacks for them.

    An event is delivered only while the app holds its permission (contract, "Webhooks"). Names
    that another version has are left out, for nobody here knows what they need. Whoever asks for
    ``ANY_EVENTS`` means those that the app may hear of: nothing is amiss unless there are none.
    """
    is_any = AsyncEvent.ANY_EVENTS.value in events
    found: dict[str, tuple[str, ...]] = {}
    for name, event in EVENTS.items():
        permission = event.permission.value
        if not (is_any or name.value in events):
            continue
        if permission not in held:
            found[permission] = (*found.get(permission, ()), name.value)
        elif is_any:
            return {}
    return found


def receives_nothing(events: Collection[str], held: Collection[str]) -> bool:
    """Whether an app with those permissions is told of none of these events."""
    names = {name for group in not_permitted(events, held).values() for name in group}
    return bool(names) and (AsyncEvent.ANY_EVENTS.value in events or names.issuperset(events))
