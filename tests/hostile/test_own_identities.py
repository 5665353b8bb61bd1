"""Staff link an SSO identity to their own account; nobody gets into another account by it."""

from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs, urlsplit

import pytest

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, ProofRequired, Refused
from app.ports import Ports
from app.services.accounts.account_securing import secure_account, show_reported_notice
from app.services.keys import ring
from app.services.single_sign_on.own_identities import (
    begin_own_link,
    finish_own_link,
    list_own_providers,
    unlink_own_identity,
)
from tests.builders.audit import trail
from tests.builders.outbox import mails
from tests.builders.people import (
    NOBODY,
    actor_of,
    change_user,
    make_staff,
    make_user,
    sessions_of,
    user_as_stored,
)
from tests.builders.providers import identities, user_called
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.fakes.interrupted_database import InterruptedDatabase
from tests.hostile.revocations import INVALID, deactivate, end_session, refusal_of
from tests.servers.own_provider import OwnProvider
from tests.services.provider_logins import CODE, PLUGIN, REDIRECT, codes, finish, grant, sign_in
from tests.services.provider_logins import begin as begin_sign_in_there

WORTHLESS = "This sign-in has expired, was already used or wasn't started here."
TAKEN = "This SSO identity is already linked to another account. Nothing was changed."


def begin(ports: Ports, actor: Actor) -> dict[str, str]:
    """Return the parameters of the authorization URL to which a link leads."""
    begun = begin_own_link(ports, actor, plugin_id=PLUGIN, redirect_uri=REDIRECT)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(begun.url).query).items()}
    assert asked["prompt"] == "login"
    assert asked["state"] == begun.state
    return asked


def link(ports: Ports, provider: OwnProvider, actor: Actor, sub: str = "alice") -> str:
    asked = begin(ports, actor)
    grant(provider, asked, sub)
    return finish_own_link(ports, actor, plugin_id=PLUGIN, code=CODE, state=asked["state"])


def problem(ports: Ports, actor: Actor, state: str) -> str:
    """Return why a callback with ``state`` links nothing."""
    before = identities(ports)
    with pytest.raises(Refused) as refused:
        finish_own_link(ports, actor, plugin_id=PLUGIN, code=CODE, state=state)
    assert identities(ports) == before
    return refused.value.problems[0].message


def test_linked_identity_signs_in_to_the_account_and_never_changes_it(
    ports: Ports, provider: OwnProvider
) -> None:
    staff = make_staff(ports, "me@example.com")
    actor = actor_of(ports, staff)
    assert [known.identities for known in list_own_providers(ports, actor)] == [()]
    name = link(ports, provider, actor)
    assert sign_in(ports, provider).user.id == staff
    stored = user_as_stored(ports, staff)
    assert (stored.email, stored.first_name) == ("me@example.com", "")
    [entry] = trail(ports, "user.link")
    assert (entry.actor_user_id, entry.subject_id) == (staff, str(staff))
    [mail] = mails(ports, MailKind.IDENTITY_LINKED)
    assert (mail.recipient, mail.values["provider"]) == ("me@example.com", name)
    # Linked twice, nothing is changed or mailed again.
    link(ports, provider, actor)
    assert len(trail(ports, "user.link")) == len(mails(ports, MailKind.IDENTITY_LINKED)) == 1


def test_identity_of_another_account_is_not_linked(ports: Ports, provider: OwnProvider) -> None:
    victim = make_staff(ports, "alice@sso.example")
    assert sign_in(ports, provider).user.id == victim
    actor = actor_of(ports, make_staff(ports, "attacker@example.com"))
    asked = begin(ports, actor)
    grant(provider, asked)
    assert problem(ports, actor, asked["state"]) == TAKEN
    assert sign_in(ports, provider).user.id == victim


def test_callback_of_another_session_links_nothing(ports: Ports, provider: OwnProvider) -> None:
    """A person who is lured to it would link the attacker's identity to their account."""
    attacker = actor_of(ports, make_staff(ports, "attacker@example.com"))
    victim = make_staff(ports, "victim@example.com")
    asked = begin(ports, attacker)
    grant(provider, asked, "attacker")
    assert problem(ports, actor_of(ports, victim), asked["state"]) == WORTHLESS
    # It was used up by that; so it is for the other sessions of the same person.
    assert problem(ports, attacker, asked["state"]) == WORTHLESS
    asked = begin(ports, attacker)
    again = actor_of(ports, attacker.user_id or 0)
    assert problem(ports, again, asked["state"]) == WORTHLESS


def test_link_signs_nobody_in_and_a_sign_in_links_nothing(
    ports: Ports, provider: OwnProvider
) -> None:
    actor = actor_of(ports, make_staff(ports, "me@example.com"))
    asked = begin(ports, actor)
    grant(provider, asked)
    assert codes(ports, asked["state"]) == [("state", "INVALID")]
    asked = begin_sign_in_there(ports)
    grant(provider, asked)
    assert problem(ports, actor, asked["state"]) == WORTHLESS
    assert user_called(ports, "alice@sso.example") is None
    # The control: the same answers work where they belong.
    link(ports, provider, actor)
    asked = begin_sign_in_there(ports)
    grant(provider, asked)
    assert finish(ports, asked["state"]).user.id == actor.user_id


def test_only_staff_with_a_fresh_proof_link(ports: Ports, provider: OwnProvider) -> None:
    staff, customer = make_staff(ports, "me@example.com"), make_user(ports, "you@example.com")
    actor = actor_of(ports, staff)
    asked = begin(ports, actor)
    with pytest.raises(ProofRequired):
        begin(ports, replace(actor, proof_is_old=True))
    with pytest.raises(PermissionDenied):
        begin(ports, actor_of(ports, customer))
    with pytest.raises(PermissionDenied):
        begin(ports, replace(actor, app_id=1))
    # In a restricted mode, a password is no way to get staff access back.
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    limited = replace(actor_of(ports, staff), session_id=actor.session_id)
    grant(provider, asked)
    for caller in (limited, actor):
        with pytest.raises(PermissionDenied):
            finish_own_link(ports, caller, plugin_id=PLUGIN, code=CODE, state=asked["state"])
    assert identities(ports) == []


def test_link_expires(ports: Ports, provider: OwnProvider, clock: FakeClock) -> None:
    actor = actor_of(ports, make_staff(ports, "me@example.com"))
    asked = begin(ports, actor)
    clock.pass_(minutes=11)
    grant(provider, asked)
    assert problem(ports, actor, asked["state"]) == WORTHLESS


def test_owner_unlinks_what_they_linked_unless_they_are_signed_in_with_it(
    ports: Ports, provider: OwnProvider
) -> None:
    staff = make_staff(ports, "me@example.com")
    actor = actor_of(ports, staff)
    link(ports, provider, actor)
    [[own]] = [known.identities for known in list_own_providers(ports, actor)]
    stranger = actor_of(ports, make_staff(ports, "other@example.com"))
    for caller, code in ((stranger, "NOT_FOUND"), (signed_in(ports, provider, staff), "INVALID")):
        with pytest.raises(Refused) as refused:
            unlink_own_identity(ports, caller, identity_id=own.id)
        assert refused.value.problems[0].code == code
    unlink_own_identity(ports, actor, identity_id=own.id)
    assert identities(ports) == []
    assert all(one.identity_id is None for one in sessions_of(ports, staff))
    assert trail(ports, "user.unlink")[-1].actor_user_id == staff


def signed_in(ports: Ports, provider: OwnProvider, user_id: int) -> Actor:
    """Return the person, who has signed in with the provider."""
    sign_in(ports, provider)
    opened = sessions_of(ports, user_id)[-1]
    return replace(actor_of(ports, user_id, SessionOrigin.OIDC), session_id=opened.id)


def test_reported_link_is_undone(ports: Ports, provider: OwnProvider) -> None:
    staff = make_staff(ports, "me@example.com")
    link(ports, provider, actor_of(ports, staff))
    sign_in(ports, provider)
    [mail] = mails(ports, MailKind.IDENTITY_LINKED)
    token = parse_qs(urlsplit(mail.values["not_me"]).query)["token"][0]
    assert show_reported_notice(ports, NOBODY, token=token).unlinks
    secure_account(ports, NOBODY, token=token)
    assert (identities(ports), sessions_of(ports, staff)) == ([], [])


def test_session_that_ended_meanwhile_neither_links_nor_unlinks(
    ports: Ports, second_process: Ports, provider: OwnProvider
) -> None:
    """The provider takes its time, and the owner may have reported the session by then."""
    staff = make_staff(ports, "me@example.com")
    ring(ports)  # the first use makes it, in a transaction of its own
    database = InterruptedDatabase(ports.database)
    interrupted = replace(ports, database=database)
    for revoke in (end_session, deactivate):
        actor = actor_of(ports, staff)
        asked = begin(ports, actor)
        grant(provider, asked)
        database.before[database.begun + 2] = partial(revoke, second_process, actor)
        finish_there = partial(finish_own_link, interrupted, actor, plugin_id=PLUGIN, code=CODE)
        assert refusal_of(partial(finish_there, state=asked["state"])) == INVALID
        assert identities(ports) == []
        change_user(ports, staff, is_active=True)
    link(ports, provider, actor_of(ports, staff))
    actor = actor_of(ports, staff)
    [[own]] = [known.identities for known in list_own_providers(ports, actor)]
    database.before[database.begun + 1] = partial(end_session, second_process, actor)
    unlink = partial(unlink_own_identity, interrupted, actor, identity_id=own.id)
    assert refusal_of(unlink) == INVALID
    assert len(identities(ports)) == 1


def test_identity_that_the_provider_did_not_ask_about_again_is_not_linked(
    ports: Ports, provider: OwnProvider
) -> None:
    """A browser that was left signed in there links the identity of whoever used it before."""
    actor = actor_of(ports, make_staff(ports, "me@example.com"))
    for ago, is_linked in ((301, False), (60, True)):
        asked = begin(ports, actor)
        claims = provider.id_claims(asked["nonce"], "alice", auth_time=provider.now() - ago)
        provider.grant(CODE, id_token=provider.sign(claims))
        if not is_linked:
            refused = "The identity provider didn't ask you to sign in again."
            assert problem(ports, actor, asked["state"]).startswith(refused)
            continue
        finish_own_link(ports, actor, plugin_id=PLUGIN, code=CODE, state=asked["state"])
        assert len(trail(ports, "user.link")) == 1
