"""Nobody gets into another's account by an address that was not shown to be theirs.

Both directions: an account that somebody registered here under another's address, and an identity
that somebody has at the provider under another's address (contract, "Single sign-on").
"""

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.accounts.email_links import make_link
from app.services.accounts.password_changes import set_password
from app.services.sign_in.password_login import create_token
from tests.builders.people import NOBODY, PASSWORD, make_staff, make_user, sign_in
from tests.builders.providers import identities, set_up, user_called
from tests.servers.own_provider import OwnProvider, own_provider
from tests.services.provider_bearers import fault, who

EMAIL = "victim@sso.example"
DOUBTFUL = [False, None, "false", 1, "yes", [True], ...]
"""What a provider may say of an address without vouching for it."""


def token_of(provider: OwnProvider, sub: str = "victim", **person: object) -> str:
    token = provider.sign(provider.claims(sub, jti=str(len(provider.people))))
    provider.known(token, sub)
    claims = {**provider.people[token], "email": EMAIL, **person}
    provider.people[token] = {name: value for name, value in claims.items() if value is not ...}
    return token


def set_password_by_mail(ports: Ports) -> str:
    """The owner of the address opens a link that was mailed there; an access token of theirs."""
    with ports.database.transaction() as session:
        user = session.scalars(select(models.User).where(models.User.email == EMAIL)).one()
        link = make_link(ports, session, user, LinkPurpose.SET_PASSWORD)
    return set_password(ports, NOBODY, email=EMAIL, password=PASSWORD, token=link).access


@pytest.mark.one_of("email_verified")
@pytest.mark.parametrize("email_verified", DOUBTFUL, ids=repr)
def test_unverified_provider_email_does_not_open_an_account(
    ports: Ports, provider: OwnProvider, email_verified: object
) -> None:
    make_staff(ports, EMAIL, Permission.MANAGE_USERS)
    assert not who(
        ports, token_of(provider, "attacker", email_verified=email_verified)
    ).actor.is_user
    assert identities(ports) == []


def test_account_is_linked_by_an_email_verified_on_both_sides(
    ports: Ports, provider: OwnProvider
) -> None:
    user_id = make_user(ports, EMAIL)
    assert who(ports, token_of(provider)).actor.user_id == user_id
    assert create_token(ports, NOBODY, email=EMAIL, password=PASSWORD).access


def test_account_registered_with_anothers_email_is_not_linked(
    ports: Ports, provider: OwnProvider
) -> None:
    waiting = make_user(ports, EMAIL, is_confirmed=False)
    attackers = sign_in(ports, waiting).access

    assert not who(ports, token_of(provider)).actor.is_user
    assert identities(ports) == []

    # The way out is the mailbox: afterwards the account is its owner's alone.
    set_password_by_mail(ports)
    assert not who(ports, attackers).actor.is_user
    assert who(ports, token_of(provider)).actor.user_id == waiting


@pytest.mark.one_of("email_verified")
@pytest.mark.parametrize("email_verified", DOUBTFUL, ids=repr)
def test_unverified_identity_is_dropped_when_the_owner_confirms(
    ports: Ports, second_process: Ports, provider: OwnProvider, email_verified: object
) -> None:
    attackers = token_of(provider, "attacker", email_verified=email_verified)
    squatted = who(ports, attackers).actor.user_id
    assert squatted is not None
    user = user_called(ports, EMAIL)
    assert user is not None
    assert user.is_confirmed is False

    owners = set_password_by_mail(ports)

    assert who(ports, owners).actor.user_id == squatted
    for process in (ports, second_process):
        assert not who(process, attackers).actor.is_user
        token = token_of(provider, "attacker", email_verified=email_verified)
        assert not who(process, token).actor.is_user


def test_unverified_provider_account_does_not_block_the_owner(
    ports: Ports, provider: OwnProvider
) -> None:
    attackers = token_of(provider, "attacker", email_verified=False)
    squatted = who(ports, attackers).actor.user_id
    # The account has no password: the verified identity takes it over, and the other one goes.
    assert who(ports, token_of(provider)).actor.user_id == squatted
    assert not who(ports, attackers).actor.is_user
    assert len(identities(ports)) == 1


def test_identity_stays_once_the_provider_verifies_its_email(
    ports: Ports, provider: OwnProvider
) -> None:
    user_id = who(ports, token_of(provider, email_verified=False)).actor.user_id
    assert who(ports, token_of(provider)).actor.user_id == user_id
    set_password_by_mail(ports)
    assert who(ports, token_of(provider)).actor.user_id == user_id


def test_same_subject_of_another_issuer_is_another_person(
    ports: Ports, provider: OwnProvider, other_provider: OwnProvider
) -> None:
    set_up(ports, other_provider, "other")
    owner = who(ports, token_of(provider)).actor.user_id
    impostor = who(ports, token_of(other_provider, email="other@sso.example")).actor.user_id
    assert owner != impostor


@pytest.fixture
def rogue(ports: Ports, provider: OwnProvider) -> Iterator[OwnProvider]:
    """A second provider, whose issuer nobody has configured: it tells whatever it likes."""
    with own_provider(provider.clock) as running:
        set_up(ports, running, "rogue", issuer=None)
        yield running


def test_provider_cannot_sign_in_another_providers_users(
    ports: Ports, provider: OwnProvider, rogue: OwnProvider
) -> None:
    owner = who(ports, token_of(provider)).actor.user_id
    # It names the other's issuer: then the other's keys and the other's word count.
    stolen = rogue.sign(rogue.claims("victim", iss=provider.url, jti="rogue"))
    rogue.known(stolen, "victim", email=EMAIL)
    assert fault(ports, stolen) is not None
    # It names its own: then its "victim" is somebody of its own.
    token = token_of(rogue, email="rogue@sso.example")
    assert who(ports, token).actor.user_id not in (None, owner)
    assert [issuer for issuer, _, _ in identities(ports)] == [provider.url, f"rogue|{rogue.url}"]
