"""A fake of the identity service: each credential names its caller."""

from app.domain.authorization.actor import Actor, ActorKind, anonymous
from app.domain.shop.settings import PasswordLoginMode, PublicShop
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.identify import Identity, Visitor

EXPIRED = "expired"
FORGED = "forged"
STAFF = "staff"
CUSTOMER = "customer"
APP = "app"

_KNOWN = {
    STAFF: Actor(ActorKind.USER, user_id=1, name=STAFF, is_staff=True),
    CUSTOMER: Actor(ActorKind.USER, user_id=2, name=CUSTOMER),
    APP: Actor(ActorKind.APP, app_id=1, name=APP),
    EXPIRED: anonymous(fault=TokenFault.EXPIRED),
    FORGED: anonymous(fault=TokenFault.SIGNATURE),
}


class Callers:
    """Identifies callers and counts its calls in ``calls``.

    ``good_for`` says of a credential after how many questions it is worth nothing any more.
    """

    def __init__(self) -> None:
        self.traffic_allowed = True
        self.calls = 0
        self.good_for: dict[str, int] = {}

    def identify(self, _ports: Ports, visitor: Visitor) -> Identity:
        self.calls += 1
        shop = PublicShop("Library", "", PasswordLoginMode.ENABLED, self.traffic_allowed)
        return Identity(self._actor(visitor.credential), shop)

    def _actor(self, credential: str | None) -> Actor:
        if credential is None:
            return anonymous()
        if self.calls > self.good_for.get(credential, self.calls):
            return anonymous(fault=TokenFault.INVALID)
        return _KNOWN.get(credential) or anonymous(fault=TokenFault.INVALID)
