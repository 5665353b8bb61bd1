"""Who asked for something that is done later: kept with it, for audit and events."""

from collections.abc import Mapping

from app.domain.actor import Actor, ActorKind
from app.services.access import part


@part
def kept_requester(actor: Actor) -> dict[str, object]:
    """What is kept of whoever asks."""
    return {
        "kind": actor.kind.value,
        "user_id": actor.user_id,
        "app_id": actor.app_id,
        "name": actor.name,
        "address": actor.address,
        "issuer": actor.issuer,
    }


@part
def requester(kept: Mapping[str, object]) -> Actor:
    """Whoever asked, as far as audit and events tell of them; without any right."""
    user_id, app_id, address = kept["user_id"], kept["app_id"], kept["address"]
    return Actor(
        ActorKind(str(kept["kind"])),
        user_id=user_id if isinstance(user_id, int) else None,
        app_id=app_id if isinstance(app_id, int) else None,
        name=str(kept["name"]),
        address=None if address is None else str(address),
        issuer=str(kept["issuer"]),
    )
