"""Abuse of the link "This wasn't me", and what it takes from a stranger in the account."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from app import models
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import SessionOrigin
from app.domain.mails.mail import MailKind
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.account_securing import SecuredAccount, secure_account
from app.services.accounts.email_changes import confirm_email_change
from app.services.accounts.password_changes import change_password, set_password
from app.services.identity.identify import identify
from app.services.outbox.security_notices import notify
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in.tokens import refresh_token
from tests.builders.links import link_for
from tests.builders.outbox import mails
from tests.builders.people import (
    NOBODY,
    PASSWORD,
    actor_of,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
    visit,
)
from tests.builders.second_factors import one_time_code
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.services.logins import EMAIL, OTHER, log_in
from tests.services.sign_in.second_factors import (
    challenged,
    make_protected,
    refusal_of_code,
    verify,
)

NEW = "nine lazy Störche by the sea"
THREADS = 6


def notice(ports: Ports, user_id: int) -> str:
    """Mail a notice to the account; return its link's token."""
    with ports.database.transaction() as session:
        notify(ports, NOBODY, session, user_id, MailKind.PASSWORD_CHANGED)
    return newest_token(ports)


def newest_token(ports: Ports) -> str:
    link = mails(ports)[-1].values["not_me"]
    (token,) = parse_qs(urlsplit(link).query)["token"]
    return token


def use(ports: Ports, token: str) -> SecuredAccount:
    return secure_account(ports, NOBODY, token=token)


def test_mailbox_alone_does_not_get_past_the_second_factor(ports: Ports, clock: FakeClock) -> None:
    user = make_protected(ports)
    clock.pass_(hours=1)
    secured = use(ports, notice(ports, user.id))
    with pytest.raises(SecondFactorRequired):
        set_password(ports, NOBODY, email=EMAIL, password=NEW, token=secured.password_token)
    assert sessions_of(ports, user.id) == []
    challenge = challenged(ports, password=NEW)
    assert refusal_of_code(ports, challenge.token, "000000")[1] == "INVALID_SECOND_FACTOR"
    assert sessions_of(ports, user.id) == []
    with ports.database.reading() as session:
        assert session.get_one(models.AuthenticatorApp, user.id).confirmed_at is not None
    owner = replace(NOBODY, address="198.51.100.8")
    challenge = challenged(ports, password=NEW, actor=owner)
    verify(ports, challenge.token, one_time_code(ports, user.secret), owner)
    assert len(sessions_of(ports, user.id)) == 1


def test_stranger_in_the_middle_of_a_sign_in_is_stopped(ports: Ports) -> None:
    user = make_protected(ports)
    waiting = challenged(ports)
    use(ports, notice(ports, user.id))
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, waiting.token, code) == ("challenge", "INVALID")
    with pytest.raises(Refused):
        log_in(ports, EMAIL, PASSWORD)


@pytest.mark.both_databases
@pytest.mark.parametrize("origin", [SessionOrigin.PASSWORD, SessionOrigin.OIDC])
def test_strangers_tokens_stop_working_at_once(ports: Ports, origin: SessionOrigin) -> None:
    user_id = make_user(ports)
    pair = sign_in(ports, user_id, origin)
    assert identify(ports, visit(pair.access)).actor.user_id == user_id
    use(ports, notice(ports, user_id))
    assert identify(ports, visit(pair.access)).actor.user_id is None
    with pytest.raises(Refused):
        refresh_token(ports, NOBODY, token=pair.refresh)


def test_stranger_cannot_end_the_link_by_changing_password_and_email(ports: Ports) -> None:
    user_id = make_user(ports)
    log_in(ports)
    stranger = actor_of(ports, user_id)
    change_password(ports, stranger, old_password=PASSWORD, new_password=NEW)
    for email in ("stranger@example.com", "stranger2@example.com"):
        token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, email)
        confirm_email_change(ports, actor_of(ports, user_id), token=token)
    to_owner = [mail for mail in mails(ports, MailKind.EMAIL_CHANGED) if mail.recipient == EMAIL]
    (link,) = [mail.values["not_me"] for mail in to_owner]
    secured = use(ports, parse_qs(urlsplit(link).query)["token"][0])
    assert (secured.email, user_as_stored(ports, user_id).email) == (EMAIL, EMAIL)
    assert sessions_of(ports, user_id) == []
    set_password(ports, NOBODY, email=EMAIL, password=NEW, token=secured.password_token)


def test_link_of_a_waiting_email_change_ends(ports: Ports) -> None:
    user_id = make_user(ports)
    waiting = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, "stranger@example.com")
    use(ports, notice(ports, user_id))
    with pytest.raises(Refused):
        confirm_email_change(ports, actor_of(ports, user_id), token=waiting)
    assert user_as_stored(ports, user_id).email == EMAIL


def test_link_of_one_account_does_nothing_to_another(ports: Ports) -> None:
    mine, theirs = make_user(ports, OTHER), make_user(ports)
    sign_in(ports, theirs)
    secured = use(ports, notice(ports, mine))
    with pytest.raises(Refused):
        set_password(ports, NOBODY, email=EMAIL, password=NEW, token=secured.password_token)
    assert len(sessions_of(ports, theirs)) == 1
    assert user_as_stored(ports, theirs).password_hash is not None
    assert user_as_stored(ports, mine).password_hash is None


@pytest.mark.both_databases
def test_parallel_uses_of_one_link_count_once(ports: Ports) -> None:
    token = notice(ports, make_user(ports))

    def attempt(_number: int) -> bool:
        try:
            use(ports, token)
        except Refused:
            return False
        return True

    with ThreadPoolExecutor(THREADS) as threads:
        results = list(threads.map(attempt, range(THREADS)))
    assert sum(results) == 1
    assert len(mails(ports, MailKind.ACCOUNT_SECURED)) == 1


def test_mails_of_the_report_give_no_second_link(ports: Ports) -> None:
    user_id = make_user(ports)
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, "new@example.com")
    confirm_email_change(ports, actor_of(ports, user_id), token=token)
    use(ports, newest_token(ports))
    reported = mails(ports, MailKind.ACCOUNT_SECURED, MailKind.EMAIL_CHANGED)[-2:]
    assert {mail.recipient for mail in reported} == {EMAIL, "new@example.com"}
    assert [mail.values["not_me"] for mail in reported] == ["", ""]


def test_report_cannot_be_repeated_after_a_new_password(ports: Ports) -> None:
    user_id = make_user(ports)
    links = [notice(ports, user_id) for _ in range(3)]
    secured = use(ports, links[0])
    set_password(ports, NOBODY, email=EMAIL, password=NEW, token=secured.password_token)
    for token in links:
        with pytest.raises(Refused):
            use(ports, token)
    assert log_in(ports, EMAIL, NEW, replace(NOBODY, address="198.51.100.8")).access


@pytest.fixture
def logging_ports(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


def test_secret_of_the_link_is_in_no_log(
    logging_ports: Ports, capsys: pytest.CaptureFixture[str]
) -> None:
    ports = logging_ports
    settings = Settings(app_env="production", access_log=True, public_url="https://shop.test")
    client = create_app(ports, settings).test_client()
    token = notice(ports, make_user(ports))
    for base in ("http://shop.test", "https://shop.test"):
        client.get(f"/console/not-me?token={token}", base_url=base, buffered=True)
    page = client.get("/console/not-me/account", base_url=base, buffered=True)
    assert page.status_code == 200
    assert token not in page.text
    written = capsys.readouterr()
    assert "/console/not-me" in written.err
    assert token not in written.err + written.out
