"""An app, and a client of the tests' own provider that is linked to it."""

from dataclasses import dataclass

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.apps.app_tokens import ClientLink, NewClientLink, link_app_client
from tests.builders.apps import make_app
from tests.builders.providers import set_up
from tests.servers.own_provider import AUDIENCE, Claims, OwnProvider

CLIENT_ID, SUBJECT = "stock-sync", "account-of-stock-sync"
NEW = NewClientLink("default", CLIENT_ID, SUBJECT)
ORDERS = Permission.MANAGE_ORDERS


@dataclass(frozen=True, slots=True)
class Linked:
    """The app's key, its link, and the provider."""

    app_id: int
    link: ClientLink
    provider: OwnProvider

    def claims(self, /, **changes: object) -> Claims:
        """Return the claims of a token that the client gets for itself."""
        own = {"scope": ..., "azp": CLIENT_ID, "client_id": CLIENT_ID, **changes}
        return self.provider.claims(str(changes.get("sub", SUBJECT)), **own)

    def token(self, /, **changes: object) -> str:
        """Return a token that the client gets for itself; user info knows nothing of it."""
        return self.provider.sign(self.claims(**changes), typ="at+jwt")


def link_client(ports: Ports, provider: OwnProvider, *permissions: Permission) -> Linked:
    """Link a client to a new app that holds ``permissions``."""
    set_up(ports, provider, audience=AUDIENCE)
    app_id, _ = make_app(ports, "Stock", *(permissions or (ORDERS,)))
    return Linked(app_id, link_app_client(ports, OPERATOR, app_id, NEW), provider)
