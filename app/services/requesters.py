"""Who asked for something that is done later: kept with it, for audit and events."""

from collections.abc import Mapping
from dataclasses import replace

from app.domain.actor import Actor, ActorKind
from app.domain.permissions import Permission, known
from app.domain.webhook_rights import Saver, saver_of
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
        "permissions": sorted(one.value for one in actor.permissions),
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


@part
def requesting_saver(kept: Mapping[str, object], *, granted: frozenset[Permission]) -> Saver:
    """Whoever asked, as the saver of the webhooks that come of it.

    What they held was not always kept; then it is what they ``granted``, for nobody grants more
    than they hold.
    """
    held = known(kept["permissions"]) if "permissions" in kept else granted
    return saver_of(replace(requester(kept), permissions=held))
