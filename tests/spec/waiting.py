"""The exchanges that need what is not built yet, by what they wait for; the list only shrinks."""

from collections.abc import Mapping

from tests.spec.exchanges import recorded

_GROUPS = {
    "webhooks": ("webhook",),
}


def waiting() -> Mapping[str, str]:
    """What each exchange that cannot be replayed yet waits for."""
    return {
        exchange.id: reason
        for reason, groups in _GROUPS.items()
        for exchange in recorded().values()
        if exchange.group in groups
    }
