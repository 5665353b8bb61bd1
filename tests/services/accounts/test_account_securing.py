"""The link "This wasn't me" ends what a stranger has, and only that."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import SessionOrigin
from app.domain.mails.mail import Mail, MailKind
from app.domain.second_factors import ChallengePurpose
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.account_securing import (
    SecuredAccount,
    secure_account,
    show_reported_notice,
)
from app.services.accounts.email_changes import confirm_email_change
from app.services.accounts.password_changes import change_password, set_password
from app.services.outbox.security_notices import notify
from app.services.people.user_status import activate_user, deactivate_user
from app.services.second_factors.challenges import ask
from tests.builders.audit import trail
from tests.builders.links import link_for
from tests.builders.outbox import events, mails
from tests.builders.people import (
    NOBODY,
    PASSWORD,
    actor_of,
    change_user,
    make_staff,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
)
from tests.builders.second_factors import make_authenticator_app
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.services.logins import log_in

OLD, NEW_EMAIL, THIRD = "customer@example.com", "new@example.com", "third@example.com"
NEW = "nine lazy Störche by the sea"
DAYS = 24


def token_of(mail: Mail) -> str:
    (token,) = parse_qs(urlsplit(mail.values["not_me"]).query)["token"]
    return token


def notice(
    ports: Ports, user_id: int, kind: MailKind = MailKind.PASSWORD_CHANGED, **values: str
) -> str:
    """Mail a notice; return its link's token."""
    with ports.database.transaction() as session:
        notify(ports, NOBODY, session, user_id, kind, values)
    return token_of(mails(ports)[-1])


def move(ports: Ports, user_id: int, email: str) -> str:
    """Change the email as the owner does; return the token that the old email got."""
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, email)
    confirm_email_change(ports, actor_of(ports, user_id), token=token)
    return token_of(mails(ports, MailKind.EMAIL_CHANGED)[-1])


def use(ports: Ports, token: str) -> SecuredAccount:
    return secure_account(ports, NOBODY, token=token)


def is_refused(ports: Ports, token: str) -> bool:
    """Whether the link is refused, by the page and by its button alike."""
    for act in (show_reported_notice, secure_account):
        with pytest.raises(Refused) as refused:
            act(ports, NOBODY, token=token)
        assert [(one.field, one.code) for one in refused.value.problems] == [("token", "INVALID")]
    return True


def test_sessions_challenges_links_and_password_end(ports: Ports) -> None:
    user_id, other = make_user(ports), make_user(ports, "other@example.com")
    for owner in (user_id, other):
        sign_in(ports, owner)
        sign_in(ports, owner, SessionOrigin.OIDC)
        link_for(ports, owner, LinkPurpose.SET_PASSWORD)
        with ports.database.transaction() as session:
            ask(ports, session, ChallengePurpose.SIGN_IN, user_id=owner)
    secured = use(ports, notice(ports, user_id))
    assert (sessions_of(ports, user_id), len(sessions_of(ports, other))) == ([], 2)
    assert user_as_stored(ports, user_id).tokens_valid_after == ports.clock.now()
    assert user_as_stored(ports, user_id).password_hash is None
    assert user_as_stored(ports, other).password_hash is not None
    with ports.database.reading() as session:
        waiting = session.scalars(select(models.SecondFactorChallenge.user_id)).all()
        links = session.execute(
            select(models.AccountLink.user_id, models.AccountLink.purpose)
        ).all()
    assert waiting == [other]
    assert sorted(map(tuple, links)) == [(user_id, "set_password"), (other, "set_password")]
    pair = set_password(ports, NOBODY, email=OLD, password=NEW, token=secured.password_token)
    assert pair.user.id == user_id
    with pytest.raises(Refused):
        log_in(ports, OLD, PASSWORD, replace(NOBODY, address="198.51.100.1"))


def test_report_is_mailed_and_audited(ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    use(ports, notice(ports, user_id))
    mail = mails(ports)[-1]
    assert (mail.kind, mail.recipient, mail.values["not_me"]) == (
        MailKind.ACCOUNT_SECURED,
        OLD,
        "",
    )
    (row,) = trail(ports, "account.secure")
    assert (row.actor_kind, row.subject_id, row.address) == (
        "anonymous",
        str(user_id),
        NOBODY.address,
    )
    assert row.after == {"notice": "password_changed", "sessions_ended": 1}


def test_link_survives_later_changes_of_the_password(ports: Ports) -> None:
    user_id = make_user(ports)
    token = notice(ports, user_id)
    change_password(ports, actor_of(ports, user_id), old_password=PASSWORD, new_password=NEW)
    assert show_reported_notice(ports, NOBODY, token=token).kind is MailKind.PASSWORD_CHANGED
    use(ports, token)


def test_link_works_once_and_ends_the_others(ports: Ports) -> None:
    user_id = make_user(ports)
    first, second = notice(ports, user_id), notice(ports, user_id)
    use(ports, first)
    assert is_refused(ports, first)
    assert is_refused(ports, second)


def test_link_expires_after_seven_days(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    token = notice(ports, user_id)
    clock.pass_(hours=7 * DAYS - 1)
    assert show_reported_notice(ports, NOBODY, token=token).email == OLD
    clock.pass_(hours=1)
    assert is_refused(ports, token)
    assert user_as_stored(ports, user_id).password_hash is not None


def test_link_of_a_deactivated_account_does_nothing(ports: Ports) -> None:
    user_id = make_user(ports)
    token = notice(ports, user_id)
    change_user(ports, user_id, is_active=False)
    assert is_refused(ports, token)
    change_user(ports, user_id, is_active=True)
    use(ports, token)


def test_link_for_another_purpose_is_refused(ports: Ports) -> None:
    user_id = make_user(ports)
    for purpose in LinkPurpose:
        if purpose not in ("not_me", "restore_email"):
            assert is_refused(ports, link_for(ports, user_id, purpose)), purpose


def test_link_sets_no_password_by_itself(ports: Ports) -> None:
    token = notice(ports, make_user(ports))
    with pytest.raises(Refused):
        set_password(ports, NOBODY, email=OLD, password=NEW, token=token)


@pytest.mark.parametrize(
    ("mode", "offered"), [(mode, mode != "DISABLED") for mode in PasswordLoginMode]
)
def test_password_is_offered_if_passwords_sign_in(
    ports: Ports, mode: PasswordLoginMode, *, offered: bool
) -> None:
    token = notice(ports, make_user(ports))
    set_mode(ports, mode)
    assert bool(use(ports, token).password_token) is (mode is not PasswordLoginMode.DISABLED)


def test_account_without_a_password_is_offered_none(ports: Ports) -> None:
    token = notice(ports, make_user(ports, password=None))
    assert use(ports, token).password_token == ""


def test_email_is_restored(ports: Ports) -> None:
    user_id = make_user(ports, OLD)
    token = move(ports, user_id, NEW_EMAIL)
    shown = show_reported_notice(ports, NOBODY, token=token)
    assert (shown.email, shown.restores) == (NEW_EMAIL, OLD)
    secured = use(ports, token)
    assert (secured.email, secured.restored, secured.taken) == (OLD, OLD, "")
    assert user_as_stored(ports, user_id).email == OLD
    told = [(mail.kind, mail.recipient, mail.values["not_me"]) for mail in mails(ports)[-2:]]
    assert told == [(MailKind.EMAIL_CHANGED, NEW_EMAIL, ""), (MailKind.ACCOUNT_SECURED, OLD, "")]
    (row,) = trail(ports, "account.secure")
    assert (row.before, row.after["email"]) == ({"email": NEW_EMAIL}, OLD)
    assert [event.type for event in events(ports)[-2:]] == [
        "ACCOUNT_EMAIL_CHANGED",
        "CUSTOMER_UPDATED",
    ]


def test_email_that_another_account_uses_now_is_not_restored(ports: Ports) -> None:
    user_id = make_user(ports, OLD)
    token = move(ports, user_id, NEW_EMAIL)
    squatter = make_user(ports, OLD)
    sign_in(ports, user_id)
    secured = use(ports, token)
    assert (secured.email, secured.restored, secured.taken) == (NEW_EMAIL, "", OLD)
    assert (user_as_stored(ports, squatter).email, sessions_of(ports, user_id)) == (OLD, [])
    assert user_as_stored(ports, user_id).password_hash is None


def test_first_of_several_email_changes_wins(ports: Ports) -> None:
    user_id = make_user(ports, OLD)
    owners, strangers = move(ports, user_id, NEW_EMAIL), move(ports, user_id, THIRD)
    assert use(ports, strangers).email == NEW_EMAIL
    assert use(ports, owners).email == OLD
    assert is_refused(ports, strangers)


def test_restored_email_ends_links_of_the_strangers_mailbox(ports: Ports) -> None:
    user_id = make_user(ports, OLD)
    owners = move(ports, user_id, NEW_EMAIL)
    strangers = [move(ports, user_id, THIRD), notice(ports, user_id)]
    use(ports, owners)
    assert all(is_refused(ports, token) for token in strangers)
    assert user_as_stored(ports, user_id).email == OLD


def test_old_email_of_a_customer_is_not_restored_to_a_staff_account(ports: Ports) -> None:
    user_id = make_user(ports, OLD)
    token = move(ports, user_id, NEW_EMAIL)
    change_user(ports, user_id, is_staff=True)
    assert is_refused(ports, token)


def test_second_factors_stay(ports: Ports) -> None:
    user_id = make_staff(ports, OLD)
    make_authenticator_app(ports, user_id)
    use(ports, notice(ports, user_id))
    with ports.database.reading() as session:
        assert session.get_one(models.AuthenticatorApp, user_id).confirmed_at is not None


def test_reported_device_is_new_again(ports: Ports) -> None:
    make_staff(ports, OLD)
    strange = replace(NOBODY, address="198.51.100.4", user_agent="curl/8.5.0")
    log_in(ports, OLD)
    log_in(ports, OLD, actor=strange)
    use(ports, token_of(mails(ports, MailKind.NEW_DEVICE)[-1]))
    with ports.database.reading() as session:
        left = session.scalars(select(models.KnownDevice.network)).all()
    assert left == ["203.0.113.0/24"]


def test_deactivation_and_activation_by_a_manager_keep_the_link(ports: Ports) -> None:
    user_id = make_user(ports)
    manager = actor_of(
        ports, make_user(ports, "boss@example.com", is_superuser=True, is_staff=True)
    )
    token = notice(ports, user_id)
    deactivate_user(ports, manager, user_id)
    assert is_refused(ports, token)
    activate_user(ports, manager, user_id)
    use(ports, token)
