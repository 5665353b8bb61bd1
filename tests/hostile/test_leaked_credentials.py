"""A credential of ours that we don't recognise is never sent to an identity provider."""

import pytest

from app.domain.apps.apps import TOKEN_PREFIX, TOKEN_RANDOM_LENGTH, make_app_token
from app.domain.authorization.actor import OPERATOR
from app.domain.single_sign_on.provider_users import MappedTo
from app.ports import Ports
from app.services.single_sign_on.provider_checks import preview_mapping
from tests.builders.people import make_user, sign_in
from tests.servers.own_provider import OwnProvider
from tests.services.provider_bearers import EMAIL, calls, fault, who

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def _credentials(ports: Ports) -> dict[str, str]:
    app_token = make_app_token("x" * TOKEN_RANDOM_LENGTH)
    access = sign_in(ports, make_user(ports)).access
    header, claims, _ = access.split(".")
    return {
        "unknown app token": app_token,
        "incomplete app token": app_token[:-1],
        "app token in capitals": TOKEN_PREFIX.upper() + app_token[len(TOKEN_PREFIX) :],
        "quoted app token": f'"{app_token}"',
        "webhook secret": "whsec_c2VjcmV0",
        "access token without its signature": f"{header}.{claims}",
        "access token with a fourth part": f"{access}.x",
        "claims of an access token": claims,
    }


def test_our_credentials_are_not_sent_to_the_provider(ports: Ports, provider: OwnProvider) -> None:
    sent = []
    for kind, credential in _credentials(ports).items():
        before = calls(ports)
        assert fault(ports, credential) is not None
        sent += [kind] if calls(ports) > before else []
    assert sent == []


def test_our_credentials_pasted_into_the_mapping_preview_are_not_sent(
    ports: Ports, provider: OwnProvider
) -> None:
    sent = []
    for kind, credential in _credentials(ports).items():
        before = calls(ports)
        preview = preview_mapping(ports, OPERATOR, "default", credential)
        assert preview.outcome is MappedTo.NOBODY
        sent += [kind] if calls(ports) > before else []
    assert sent == []


def test_opaque_tokens_of_the_provider_sign_in(ports: Ports, provider: OwnProvider) -> None:
    encrypted = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..iv.text.tag"
    for token in ("an-opaque-token", "ya29.a0AfH6SMBx", encrypted):
        assert who(ports, provider.known(token)).actor.name == EMAIL
