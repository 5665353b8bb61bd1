"""Replays an exchange against the server, with values from earlier responses."""

from dataclasses import dataclass, field

from tests.builders.people import PASSWORD
from tests.spec.client import Answer, Client
from tests.spec.exchanges import Exchange, fill
from tests.spec.forged_tokens import Forger
from tests.spec.recorded_shop import RecordedShop
from tests.spec.single_sign_on import token_of

WRONG_PASSWORD = "not the password"
NEW_PASSWORD = "quite another horse"
_PASSWORDS = {"PASSWORD": PASSWORD, "WRONG_PASSWORD": WRONG_PASSWORD, "NEW_PASSWORD": NEW_PASSWORD}

GIVEN = ("<ACCESS>", "<REFRESH>", "<APP_TOKEN>", "<APP_USER_JWT>")
"""Values from responses that later requests use."""


@dataclass(slots=True)
class Replay:
    """``given`` has the current values of ``<ACCESS>``, ``<REFRESH>`` and ``<JWT>``.

    ``foreign`` has the provider's tokens by person. All requests of a person send the same one:
    one that is signed a second after the end of all sessions is newer than that, and accepted.
    """

    client: Client
    shop: RecordedShop
    given: dict[str, str] = field(default_factory=dict)
    foreign: dict[str, str] = field(default_factory=dict)

    def play(self, exchange: Exchange) -> Answer:
        """Send the request and save the tokens of the response."""
        body = fill(exchange.body, self._meaning)
        headers = {
            name: str(fill(value, self._meaning)) for name, value in exchange.headers.items()
        }
        response = self.client.send(exchange.method, exchange.path, body, headers)
        self._remember(exchange.answer, response.body)
        return response

    def _meaning(self, placeholder: str) -> str:
        kind, _, who = placeholder.partition(":")
        if placeholder in self.given:
            return self.given[placeholder]
        if kind == "ACCESS":
            return self.shop.access(who)
        if kind == "REFRESH":
            return self.shop.refresh(who)
        if kind.startswith("APP_"):
            return self.shop.app_token(kind.removeprefix("APP_").removesuffix("_TOKEN"))
        if kind in ("OIDC", "JWT"):
            return self._foreign(kind, who)
        return _PASSWORDS[placeholder]

    def _foreign(self, kind: str, who: str) -> str:
        """Return a token that this installation didn't issue."""
        if kind == "OIDC":
            if who not in self.foreign:
                self.foreign[who] = token_of(self.shop.provider, who)
            return self.foreign[who]
        return Forger(self.shop).make(who)

    def _remember(self, recorded: object, actual: object) -> None:
        if isinstance(recorded, dict) and isinstance(actual, dict):
            for name in recorded.keys() & actual.keys():
                self._remember(recorded[name], actual[name])
        elif recorded in GIVEN and isinstance(actual, str):
            self.given[str(recorded)[1:-1]] = actual
