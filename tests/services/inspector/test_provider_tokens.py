"""The token inspector on tokens of identity providers."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.inspector import CheckName, CheckOutcome, Inspection, KeyStatus, TokenKind
from app.ports import Ports
from app.services.inspector.inspect import inspect_token
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.people import ISSUER, change_user
from tests.builders.providers import identities, user_called
from tests.fakes.clock import FakeClock
from tests.servers.own_provider import OwnProvider
from tests.services.provider_bearers import EMAIL, calls, who

INSPECTOR = replace(OPERATOR, issuer=ISSUER)


def inspect(ports: Ports, token: str) -> Inspection:
    return inspect_token(ports, INSPECTOR, token)


def last(found: Inspection) -> tuple[CheckName, CheckOutcome]:
    return found.checks[-1].name, found.checks[-1].outcome


def test_provider_token_is_inspected_without_signing_anyone_in(
    ports: Ports, provider: OwnProvider
) -> None:
    found = inspect(ports, provider.access_token())
    assert found.kind is TokenKind.PROVIDER
    assert last(found) == (CheckName.PERSON, CheckOutcome.UNKNOWN)
    assert found.key is not None
    assert found.key.status is KeyStatus.PROVIDER
    assert found.claims["iss"] == provider.url
    assert identities(ports) == []
    assert user_called(ports, EMAIL) is None


def test_known_person_of_a_provider_token_is_shown(ports: Ports, provider: OwnProvider) -> None:
    token = provider.access_token()
    user_id = who(ports, token).actor.user_id
    assert user_id is not None
    found = inspect(ports, token)
    assert found.is_valid
    assert found.bearer is not None
    assert (found.bearer.id, found.bearer.email) == (user_id, EMAIL)
    assert (found.rights, found.effective) == ((), ())
    change_user(ports, user_id, is_active=False)
    assert last(inspect(ports, token)) == (CheckName.PERSON, CheckOutcome.FAILED)
    change_user(ports, user_id, is_active=True, tokens_valid_after=ports.clock.now())
    assert last(inspect(ports, token)) == (CheckName.SESSION, CheckOutcome.FAILED)


def test_provider_scopes_are_shown_as_permissions(ports: Ports, provider: OwnProvider) -> None:
    settings: dict[str, str | None] = {"use_oauth_scope_permissions": "true", "audience": "shop"}
    save_provider(ports, OPERATOR, "default", ProviderUpdate(settings))
    token = provider.access_token(aud="shop", scope="openid latchkey:manage_orders")
    who(ports, token)
    found = inspect(ports, token)
    assert found.effective == (Permission.MANAGE_ORDERS,)
    (right,) = found.rights or ()
    assert (right.by_person, right.by_provider) == (False, True)


def test_inspection_fetches_keys_no_more_often_than_requests(
    ports: Ports, provider: OwnProvider
) -> None:
    token = provider.access_token()
    inspect(ports, token)
    before = calls(ports)
    inspect(ports, token)
    assert calls(ports) == before


def test_invalid_provider_token_is_explained(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    token = provider.access_token()
    inspect(ports, token)
    forged = f"{token[:-8]}AAAAAAAA"
    assert last(inspect(ports, forged)) == (CheckName.SIGNATURE, CheckOutcome.FAILED)
    save_provider(ports, OPERATOR, "default", ProviderUpdate({"audience": "another"}))
    wrong = inspect(ports, token)
    assert last(wrong) == (CheckName.CLAIMS, CheckOutcome.FAILED)
    assert wrong.checks[-1].text == "The token is meant for another audience."
    save_provider(ports, OPERATOR, "default", ProviderUpdate({"audience": ""}))
    clock.pass_(hours=2)
    assert last(inspect(ports, token)) == (CheckName.TIME, CheckOutcome.FAILED)
    save_provider(ports, OPERATOR, "default", ProviderUpdate({}, active=False))
    assert last(inspect(ports, token)) == (CheckName.ISSUER, CheckOutcome.FAILED)


def test_token_of_an_unknown_issuer_is_foreign(
    ports: Ports, provider: OwnProvider, other_provider: OwnProvider
) -> None:
    found = inspect(ports, other_provider.access_token())
    assert found.kind is TokenKind.FOREIGN
    assert last(found) == (CheckName.ISSUER, CheckOutcome.FAILED)
    assert found.claims["iss"] == other_provider.url


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/keys"])
def test_unreachable_provider_leaves_the_token_unverified(
    ports: Ports, provider: OwnProvider, url: str
) -> None:
    token = provider.access_token()
    save_provider(ports, OPERATOR, "default", ProviderUpdate({"json_web_key_set_url": url}))
    assert last(inspect(ports, token)) == (CheckName.KEY, CheckOutcome.UNKNOWN)
