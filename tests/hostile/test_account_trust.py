"""An account that becomes trusted keeps no identity whose email the provider hasn't verified."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.email_changes import confirm_email_change
from app.services.accounts.password_changes import set_password
from app.services.people.customers import update_customer
from app.services.people.staff import NewStaff, StaffChanges, create_staff, update_staff
from app.services.people.users import Details
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.second_factor_sign_in import challenge_passkey, verify_passkey
from tests.builders.audit import trail
from tests.builders.links import link_for
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import (
    NOBODY,
    PASSWORD,
    actor_of,
    change_user,
    make_group,
    make_user,
    sessions_of,
    sign_in,
)
from tests.builders.providers import identities, set_up, user_called
from tests.builders.second_factors import make_authenticator_app, make_recovery_codes
from tests.fakes.clock import FakeClock
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import who
from tests.services.provider_logins import CODE, begin, finish, grant

EMAIL = "boss@sso.example"
NEW = "nine lazy Störche by the sea"
HELD = Permission.MANAGE_STAFF
Trust = Callable[[Ports, int], None]


def _token(provider: OwnProvider, *, email_verified: object = False) -> str:
    """A new token of the same person there; ``...`` leaves ``email_verified`` out."""
    token = provider.sign(provider.claims("attacker", jti=str(len(provider.people))))
    provider.known(token, "attacker", email=EMAIL, email_verified=email_verified)
    if email_verified is ...:
        del provider.people[token]["email_verified"]
    return token


def _sign_in(ports: Ports, provider: OwnProvider) -> str:
    """An access token of ours, by the provider's login."""
    parameters = begin(ports)
    claims = {"email": EMAIL, "email_verified": False}
    id_token = provider.sign(provider.id_claims(parameters["nonce"], "attacker", **claims))
    grant(provider, parameters, "attacker", id_token=id_token)
    provider.known(f"access for {CODE}", "attacker", **claims)
    return finish(ports, parameters["state"]).access


def _account(ports: Ports, provider: OwnProvider, *, email_verified: object = False) -> int:
    """The account that the first token makes."""
    user_id = who(ports, _token(provider, email_verified=email_verified)).actor.user_id
    assert user_id is not None
    return user_id


def _promote(ports: Ports, _user_id: int) -> None:
    group = to_global_id("Group", make_group(ports, "managers", HELD))
    create_staff(ports, OPERATOR, NewStaff(EMAIL, groups=(group,)))


def _confirm(ports: Ports, user_id: int) -> None:
    update_customer(ports, OPERATOR, to_global_id("User", user_id), Details(is_confirmed=True))


SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
TRUST_CHANGES = pytest.mark.parametrize(
    "trust", [_promote, _confirm], ids=["promoted", "confirmed"]
)


@pytest.mark.both_databases
@TRUST_CHANGES
def test_trusted_account_drops_unverified_identity(
    ports: Ports, second_process: Ports, clock: FakeClock, provider: OwnProvider, trust: Trust
) -> None:
    seen = _token(provider)
    user_id = who(ports, seen).actor.user_id
    assert user_id is not None
    session = _sign_in(ports, provider)
    assert who(ports, session).actor.user_id == user_id

    trust(ports, user_id)

    clock.pass_(seconds=5)
    assert identities(ports) == []
    assert sessions_of(ports, user_id) == []
    [row] = trail(ports, "user.unlink")
    assert (row.subject_id, row.before) == (str(user_id), {"subjects": ["attacker"]})
    for process in (ports, second_process):
        for credential in (seen, session, _token(provider), _token(provider, email_verified=...)):
            assert not who(process, credential).actor.is_user


@SQLITE
@TRUST_CHANGES
def test_trusted_account_keeps_verified_identity(
    ports: Ports, clock: FakeClock, provider: OwnProvider, trust: Trust
) -> None:
    set_up(ports, provider, audience=AUDIENCE)
    user_id = _account(ports, provider, email_verified=True)
    change_user(ports, user_id, is_confirmed=False)
    trust(ports, user_id)
    clock.pass_(seconds=5)
    actor = who(ports, _token(provider, email_verified=True)).actor
    assert actor.user_id == user_id
    assert (HELD in actor.permissions) is (trust is _promote)


@SQLITE
@TRUST_CHANGES
def test_trusted_account_keeps_identity_of_provider_whose_emails_are_trusted(
    ports: Ports, clock: FakeClock, provider: OwnProvider, trust: Trust
) -> None:
    set_up(ports, provider, trust_emails="true")
    user_id = _account(ports, provider, email_verified=...)
    trust(ports, user_id)
    clock.pass_(seconds=5)
    assert who(ports, _token(provider, email_verified=...)).actor.user_id == user_id
    assert [verified for _, _, verified in identities(ports)] == [True]


@SQLITE
def test_trusting_a_provider_restores_dropped_identities(
    ports: Ports, clock: FakeClock, provider: OwnProvider
) -> None:
    user_id = _account(ports, provider, email_verified=...)
    _promote(ports, user_id)
    clock.pass_(seconds=5)
    change_user(ports, user_id, is_confirmed=True)  # as by the link of the invitation
    assert not who(ports, _token(provider, email_verified=...)).actor.is_user

    set_up(ports, provider, audience=AUDIENCE, trust_emails="true")
    assert who(ports, _token(provider, email_verified=...)).actor.permissions == {HELD}


@SQLITE
def test_email_that_the_provider_calls_unverified_is_not_trusted_by_the_setting(
    ports: Ports, clock: FakeClock, provider: OwnProvider
) -> None:
    set_up(ports, provider, trust_emails="true")
    user_id = _account(ports, provider, email_verified=False)
    _promote(ports, user_id)
    clock.pass_(seconds=5)
    assert not who(ports, _token(provider, email_verified=False)).actor.is_user


@SQLITE
def test_identity_left_by_an_older_release_does_not_open_a_trusted_account(
    ports: Ports, provider: OwnProvider
) -> None:
    """The rows as promotion left them: nothing dropped, whatever way made the account staff."""
    user_id = _account(ports, provider)
    change_user(ports, user_id, is_staff=True)
    assert not who(ports, _token(provider)).actor.is_user
    change_user(ports, user_id, is_staff=False, is_confirmed=True)
    assert not who(ports, _token(provider)).actor.is_user
    change_user(ports, user_id, is_confirmed=False)
    assert who(ports, _token(provider)).actor.user_id == user_id


@SQLITE
def test_verified_email_of_another_account_does_not_make_an_identity_trusted(
    ports: Ports, provider: OwnProvider
) -> None:
    user_id = _account(ports, provider)
    change_user(ports, user_id, is_staff=True)
    token = provider.sign(provider.claims("attacker", jti="mine"))
    provider.known(token, "attacker", email="attacker@sso.example")
    assert not who(ports, token).actor.is_user
    assert user_called(ports, EMAIL) is not None


@SQLITE
def test_group_of_a_person_made_staff_by_scopes_gives_nothing_to_an_unverified_identity(
    ports: Ports, provider: OwnProvider
) -> None:
    rules = {"audience": AUDIENCE, "use_oauth_scope_permissions": "true"}
    set_up(ports, provider, **rules)
    token = provider.sign(provider.claims("attacker", scope="openid latchkey:manage_products"))
    provider.known(token, "attacker", email=EMAIL, email_verified=False)
    actor = who(ports, token).actor
    assert (actor.is_staff, actor.permissions) == (True, frozenset({Permission.MANAGE_PRODUCTS}))
    group = to_global_id("Group", make_group(ports, "managers", HELD))
    staff = to_global_id("User", actor.user_id or 0)
    update_staff(ports, OPERATOR, staff, StaffChanges(add_groups=(group,)))
    assert HELD not in who(ports, token).actor.permissions

    set_up(ports, provider, use_oauth_scope_permissions="false")
    assert not who(ports, _token(provider)).actor.is_user


@SQLITE
def test_email_change_confirmed_by_mail_drops_unverified_identity(
    ports: Ports, provider: OwnProvider
) -> None:
    user_id = _account(ports, provider)
    change_user(ports, user_id, password_hash=ports.passwords.hash(PASSWORD))
    owner: Actor = actor_of(ports, user_id)
    link = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, "new@sso.example")
    confirm_email_change(ports, owner, token=link)
    assert identities(ports) == []


@SQLITE
def test_customer_with_an_unverified_identity_signs_in_while_the_account_is_not_trusted(
    ports: Ports, provider: OwnProvider
) -> None:
    user_id = _account(ports, provider)
    assert who(ports, _token(provider)).actor.user_id == user_id
    assert identities(ports) == [(provider.url, "attacker", False)]


def _set_password(ports: Ports, user_id: int) -> None:
    token = link_for(ports, user_id, LinkPurpose.SET_PASSWORD)
    with suppress(SecondFactorRequired):
        set_password(ports, NOBODY, email=EMAIL, password=NEW, token=token)


def _with_factors(ports: Ports, *, is_confirmed: bool) -> tuple[int, SoftwareAuthenticator]:
    """Store an account with a factor of each kind; return its passkey, too."""
    user_id, passkey = make_user(ports, EMAIL, is_confirmed=is_confirmed), SoftwareAuthenticator()
    make_passkey(ports, user_id, passkey)
    make_authenticator_app(ports, user_id)
    make_recovery_codes(ports, user_id)
    return user_id, passkey


def _sign_in_with_passkey(ports: Ports, authenticator: SoftwareAuthenticator) -> str:
    asked = challenge_passkey(ports, NOBODY, challenge=None)
    credential = authenticator.get(asked.options)
    return verify_passkey(ports, NOBODY, challenge=asked.token, credential=credential).access


@pytest.mark.parametrize(
    "trust", [_promote, _confirm, _set_password], ids=["promoted", "confirmed", "owner"]
)
def test_trusted_account_keeps_no_passkey_from_before_it_was_confirmed(
    ports: Ports, clock: FakeClock, trust: Trust
) -> None:
    """A provider that rules permissions let a stranger into the console, who added a passkey."""
    user_id, passkey = _with_factors(ports, is_confirmed=False)
    session = sign_in(ports, user_id, amr=("hwk", "mfa")).access
    assert who(ports, session).actor.user_id == user_id

    trust(ports, user_id)

    with ports.database.reading() as reading:
        assert not read_factors(reading, user_id).is_active
    assert not who(ports, session).actor.is_user
    with pytest.raises(Refused):
        _sign_in_with_passkey(ports, passkey)
    [row] = trail(ports, "second_factor.reset")
    assert row.before == {"passkeys": 1, "authenticator_app": True}


def test_confirmed_account_keeps_its_passkeys(ports: Ports) -> None:
    """The control: nothing that makes an account trusted takes the factors of its owner."""
    user_id, passkey = _with_factors(ports, is_confirmed=True)
    for trust in (_confirm, _set_password, _promote):
        trust(ports, user_id)
        with ports.database.reading() as reading:
            assert read_factors(reading, user_id).is_active, trust.__name__
    assert _sign_in_with_passkey(ports, passkey)
