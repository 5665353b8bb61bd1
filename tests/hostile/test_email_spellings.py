"""The same email in Unicode and in Punycode, as browsers' email fields send it, is one account."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from app.domain.accounts.search import UserFilter
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.mails.mail import MailKind
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.installation import CheckState
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.accounts.email_changes import request_email_change
from app.services.accounts.password_changes import set_password
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from app.services.accounts.registration import NewAccount, register_account
from app.services.operations.health_checks import email_twin_findings
from app.services.people.customers import NewCustomer, create_customer, update_customer
from app.services.people.directory import find_user, list_customers
from app.services.people.erasure import erase_person
from app.services.people.staff import NewStaff, create_staff
from app.services.people.users import Details
from tests.builders.outbox import mails, token_in
from tests.builders.people import NOBODY, PASSWORD, actor_of, make_user, user_as_stored
from tests.builders.providers import identities, user_called
from tests.fakes.clock import FakeClock
from tests.fixtures.one_of_each import InTurn
from tests.servers.own_provider import OwnProvider
from tests.services.logins import code_of, log_in
from tests.services.provider_logins import begin, codes, finish, grant

UNICODE, PUNYCODE = "anna@bücher.example", "anna@xn--bcher-kva.example"
PAGE = "http://localhost:3000/"
OTHER_PASSWORD = "nine lazy storks by the sea"


def twins(ports: Ports) -> tuple[int, int]:
    """Store two accounts, from when the spellings were different emails."""
    return make_user(ports, UNICODE), make_user(ports, PUNYCODE, password=OTHER_PASSWORD)


def spelled(provider: OwnProvider, parameters: dict[str, str]) -> str:
    """Return an ID token with the email in Punycode."""
    return provider.sign(provider.id_claims(parameters["nonce"], email=PUNYCODE))


@pytest.mark.parametrize("stored", [UNICODE, PUNYCODE])
def test_either_spelling_finds_the_account(
    ports: Ports, clock: FakeClock, stored: str, in_turn: InTurn
) -> None:
    key, spellings = make_user(ports, stored), (UNICODE, PUNYCODE, "Anna@BÜCHER.example")
    for typed in spellings:
        assert log_in(ports, typed).user.id == key
        assert find_user(ports, OPERATOR, typed).id == key
    for typed in in_turn([one for one in spellings if one != stored]):
        request_password_reset(ports, NOBODY, email=typed, redirect_url=PAGE)
        answer_reset_requests(ports, WORKER)
        token = token_in(mails(ports, MailKind.PASSWORD_RESET)[-1])
        pair = set_password(ports, NOBODY, email=typed, token=token, password=OTHER_PASSWORD)
        assert pair.user.id == key
        clock.pass_(hours=1)


@pytest.mark.parametrize("stored", [UNICODE, PUNYCODE])
def test_no_second_account_gets_the_email(ports: Ports, stored: str) -> None:
    key = make_user(ports, stored)
    other = make_user(ports, "other@example.com")
    id_ = to_global_id("User", other)
    for typed in (UNICODE, PUNYCODE):
        register_account(ports, NOBODY, NewAccount(typed, OTHER_PASSWORD, redirect_url=PAGE))
        attempts: tuple[Callable[[], object], ...] = (
            partial(create_customer, ports, OPERATOR, NewCustomer(typed)),
            partial(update_customer, ports, OPERATOR, id_, Details(email=typed)),
        )
        for attempt in attempts:
            with pytest.raises(Refused) as refused:
                attempt()
            assert [problem.code for problem in refused.value.problems] == ["UNIQUE"]
        request_email_change(
            ports, actor_of(ports, other), new_email=typed, password=PASSWORD, redirect_url=PAGE
        )
        assert {mail.recipient for mail in mails(ports)} == {stored}
        page = list_customers(ports, OPERATOR, PageRequest(10), UserFilter(search=typed))
        assert [user.id for user in page.items] == ([key] if stored == UNICODE else [])
    other_spelling = PUNYCODE if stored == UNICODE else UNICODE
    assert create_staff(ports, OPERATOR, NewStaff(other_spelling)).id == key


def test_new_account_is_stored_in_unicode(ports: Ports) -> None:
    assert create_customer(ports, OPERATOR, NewCustomer(PUNYCODE)).email == UNICODE


def test_twins_sign_in_only_by_their_own_spelling(ports: Ports) -> None:
    first, second = twins(ports)
    assert log_in(ports, UNICODE).user.id == first
    assert log_in(ports, PUNYCODE, OTHER_PASSWORD).user.id == second
    elsewhere = replace(NOBODY, address="198.51.100.7")
    assert code_of(ports, PUNYCODE, PASSWORD, elsewhere) == "INVALID_CREDENTIALS"
    ports.throttle.unblock("198.51.100.7")
    assert code_of(ports, UNICODE, OTHER_PASSWORD, elsewhere) == "INVALID_CREDENTIALS"


def test_what_is_done_to_a_twin_is_done_to_that_one(ports: Ports) -> None:
    first, second = twins(ports)
    id_ = to_global_id("User", second)
    named = update_customer(ports, OPERATOR, id_, Details(first_name="Bea", email=PUNYCODE))
    assert (named.first_name, named.email) == ("Bea", PUNYCODE)
    assert create_staff(ports, OPERATOR, NewStaff(PUNYCODE)).id == second
    assert not user_as_stored(ports, first).is_staff
    assert erase_person(ports, OPERATOR, PUNYCODE).user_id == second
    assert user_as_stored(ports, first).email == UNICODE
    # Resolved: either spelling is the one that is left.
    assert find_user(ports, OPERATOR, PUNYCODE).id == first


def test_twins_are_reported_until_they_are_resolved(ports: Ports) -> None:
    _, second = twins(ports)
    make_user(ports, "bob@xn--mnchen-3ya.example")
    [finding] = email_twin_findings(ports)
    assert finding.state is CheckState.WARNING
    assert UNICODE in finding.message
    assert PUNYCODE in finding.message
    update_customer(
        ports, OPERATOR, to_global_id("User", second), Details(email="anna@example.com")
    )
    assert list(email_twin_findings(ports)) == []


def test_sign_on_links_no_twin(ports: Ports, provider: OwnProvider) -> None:
    """The provider's spelling doesn't tell which of them it means."""
    twins(ports)
    parameters = begin(ports)
    grant(provider, parameters, id_token=spelled(provider, parameters))
    assert codes(ports, parameters["state"]) == [(None, "INVALID")]
    assert identities(ports) == []


def test_sign_on_links_the_account_in_either_spelling(ports: Ports, provider: OwnProvider) -> None:
    key = make_user(ports, UNICODE)
    parameters = begin(ports)
    grant(provider, parameters, id_token=spelled(provider, parameters))
    assert finish(ports, parameters["state"]).user.id == key
    assert user_called(ports, UNICODE) is not None
