"""Signing in with a provider, as the provider and the browser do it."""

from urllib.parse import parse_qs, urlsplit

import pytest

from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.sign_in.tokens import TokenPair
from app.services.single_sign_on.sign_in import begin_sign_in, finish_sign_in
from tests.builders.people import NOBODY
from tests.servers.own_provider import OwnProvider

PLUGIN = "latchkey.authentication.openidconnect"
REDIRECT = "http://localhost:3000/callback"
CODE = "a code"


def begin(ports: Ports, plugin: str = PLUGIN, redirect_uri: str = REDIRECT) -> dict[str, str]:
    """Return the parameters of the authorization URL."""
    url = begin_sign_in(ports, NOBODY, plugin_id=plugin, redirect_uri=redirect_uri)
    assert url is not None
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def finish(
    ports: Ports, state: str | None, code: str | None = CODE, plugin: str = PLUGIN
) -> TokenPair:
    tokens = finish_sign_in(ports, NOBODY, plugin_id=plugin, code=code, state=state)
    assert tokens is not None
    return tokens


def grant(
    provider: OwnProvider, parameters: dict[str, str], sub: str = "alice", **answer: object
) -> None:
    """Let the provider issue valid tokens for the code of that sign-in."""
    id_token = provider.sign(provider.id_claims(parameters["nonce"], sub))
    input_ = {"id_token": id_token, "refresh_token": "the first", **answer}
    provider.grant(CODE, **{name: value for name, value in input_.items() if value is not ...})


def sign_in(
    ports: Ports, provider: OwnProvider, sub: str = "alice", **answer: object
) -> TokenPair:
    """Sign in completely."""
    parameters = begin(ports)
    grant(provider, parameters, sub, **answer)
    return finish(ports, parameters["state"])


def codes(
    ports: Ports, state: str | None, code: str | None = CODE
) -> list[tuple[str | None, str]]:
    """Return field and code of the problems of the callback."""
    with pytest.raises(Refused) as refused:
        finish(ports, state, code)
    return [(problem.field, problem.code) for problem in refused.value.problems]
