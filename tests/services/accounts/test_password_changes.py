"""Changing one's own password."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from typing_extensions import override

from app import models
from app.domain.accounts.email_links import NOT_ME_PURPOSES, LinkPurpose
from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import PermissionDenied, Problem, Refused, TokenFault, TokenRejected
from app.ports import Ports
from app.services.accounts.email_links import find_link, make_link
from app.services.accounts.password_changes import change_password
from app.services.sign_in.password_login import create_token
from tests.builders.audit import trail
from tests.builders.outbox import events, mails
from tests.builders.people import (
    ADDRESS,
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
from tests.builders.shop import set_mode
from tests.fakes.encryption import FailingEncryption
from tests.fakes.passwords import FakeHasher
from tests.fixtures.cases import cases

NEW = "nine lazy Störche by the sea"
SCRIPTS = (
    "zwölf große Störche fliegen",
    "пятнадцать лисиц 42",
    "七転び八起き七転び八起",
    "🦊🐻🐼🐨🐯🦁🐮🐷",
    "  blanks around it matter ",
    "e\u0301te\u0301 is not \u00e9t\u00e9",
    "nul \x00 and bell \x07 inside",
    "half a pair \ud83e is kept",
    "x" + "long " * 25 + "enough",
)


def refusal(ports: Ports, actor: Actor, old: str | None, new: str = NEW) -> list[Problem]:
    with pytest.raises(Refused) as refused:
        change_password(ports, actor, old_password=old, new_password=new)
    return list(refused.value.problems)


def codes(problems: list[Problem]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in problems]


def test_new_password_replaces_the_old_one(ports: Ports) -> None:
    user_id = make_user(ports)
    user = change_password(
        ports, actor_of(ports, user_id), old_password=PASSWORD, new_password=NEW
    )
    assert user.id == user_id
    assert create_token(ports, NOBODY, email="customer@example.com", password=NEW).access
    with pytest.raises(Refused):
        create_token(ports, NOBODY, email="customer@example.com", password=PASSWORD)


def test_password_is_stored_exactly_as_typed(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    email = "customer@example.com"
    for old, password in pairwise((PASSWORD, *SCRIPTS)):
        change_password(ports, actor, old_password=old, new_password=password)
        assert create_token(ports, NOBODY, email=email, password=password).access
        for other in {password.strip(), password.casefold(), password + " "} - {password}:
            with pytest.raises(Refused):
                create_token(
                    ports, replace(NOBODY, address="203.0.113.9"), email=email, password=other
                )
            ports.throttle.unblock("203.0.113.9")


def test_every_other_session_ends_and_the_callers_stays(ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    sign_in(ports, user_id, SessionOrigin.OIDC)
    stranger = make_user(ports, "stranger@example.com")
    sign_in(ports, stranger)
    actor = actor_of(ports, user_id)
    change_password(ports, actor, old_password=PASSWORD, new_password=NEW)
    assert [session.id for session in sessions_of(ports, user_id)] == [actor.session_id]
    assert len(sessions_of(ports, stranger)) == 1


def test_someone_signed_in_at_the_provider_keeps_that_token(ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    actor = replace(actor_of(ports, user_id), session_id=None, origin=SessionOrigin.OIDC)
    change_password(ports, actor, old_password=PASSWORD, new_password=NEW)
    assert sessions_of(ports, user_id) == []
    assert user_as_stored(ports, user_id).tokens_valid_after is None


def test_password_change_is_mailed_and_audited(ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    change_password(ports, actor_of(ports, user_id), old_password=PASSWORD, new_password=NEW)
    (mail,) = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.PASSWORD_CHANGED, "customer@example.com")
    assert mail.values == {
        "when": "2026-03-01 12:00 UTC",
        "at": "2026-03-01T12:00:00+00:00",
        "address": ADDRESS,
        "device": "Unknown device",
        "browser": "",
        "system": "",
        "not_me": mail.values["not_me"],
    }
    assert "/console/not-me?token=" in mail.values["not_me"]
    (row,) = trail(ports, "password.set")
    assert (row.actor_user_id, row.subject_id, row.address) == (user_id, str(user_id), ADDRESS)
    assert row.after == {"sessions_ended": 1}
    assert NEW not in repr((row.before, row.after))


def test_password_change_invalidates_every_link_but_those_of_notices(ports: Ports) -> None:
    user_id = make_user(ports)
    links = {purpose: _link(ports, user_id, purpose) for purpose in LinkPurpose}
    assert {purpose for purpose in links if _opens(ports, links, purpose)} == {*LinkPurpose}
    change_password(ports, actor_of(ports, user_id), old_password=PASSWORD, new_password=NEW)
    opening = {purpose for purpose in links if _opens(ports, links, purpose)}
    assert opening == {*NOT_ME_PURPOSES}


def test_wrong_or_missing_old_password_is_refused_on_its_field(ports: Ports) -> None:
    user_id = make_user(ports)
    before = user_as_stored(ports, user_id).password_hash

    @cases("old", [None, "wrong", "", PASSWORD.upper(), PASSWORD + " "])
    def check(old: str | None) -> None:
        problems = refusal(ports, actor_of(ports, user_id), old)
        assert codes(problems) == [("oldPassword", "INVALID_CREDENTIALS")]
        assert user_as_stored(ports, user_id).password_hash == before
        assert (mails(ports), events(ports), trail(ports, "password.set")) == ([], [], [])

    check()


def test_missing_old_password_is_reported_first(ports: Ports) -> None:
    problems = refusal(ports, actor_of(ports, make_user(ports)), None, "123")
    assert codes(problems) == [("oldPassword", "INVALID_CREDENTIALS")]


def test_weak_new_password_is_refused_with_the_reason(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports, first_name="Greta", last_name="Garbo"))

    @cases(
        ("new", "code"),
        [
            ("123", "PASSWORD_TOO_SHORT"),
            ("password1", "PASSWORD_TOO_COMMON"),
            ("Greta.Garbo", "PASSWORD_TOO_SIMILAR"),
            ("Customer@EXAMPLE", "PASSWORD_TOO_SIMILAR"),
            ("Latchkey shop", "PASSWORD_TOO_SIMILAR"),
            ("8203461957", "PASSWORD_ENTIRELY_NUMERIC"),
            ("x y" * 400, "INVALID"),
        ],
    )
    def check(new: str, code: str) -> None:
        problems = refusal(ports, actor, PASSWORD, new)
        assert codes(problems) == [("newPassword", code)]
        assert problems[0].message

    check()


def test_user_without_password_cannot_change_it(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports, password=None), SessionOrigin.OIDC)
    assert codes(refusal(ports, actor, PASSWORD)) == [("oldPassword", "INVALID_CREDENTIALS")]


def test_wrong_old_passwords_end_the_session(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    for _ in range(MAX_GUESSES):
        assert len(sessions_of(ports, user_id)) == 1
        refusal(ports, actor, "wrong")
    assert sessions_of(ports, user_id) == []
    (row,) = trail(ports, "session.end")
    assert row.subject_id == str(user_id)


def test_only_consecutive_wrong_passwords_end_a_session(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    for _ in range(2):
        for _ in range(MAX_GUESSES - 1):
            refusal(ports, actor, "wrong")
        change_password(ports, actor, old_password=PASSWORD, new_password=PASSWORD)
    assert len(sessions_of(ports, user_id)) == 1


def test_concurrent_password_change_is_refused(ports: Ports, hasher: FakeHasher) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    quicker = hasher.hash("set by somebody quicker")
    slow = replace(ports, passwords=_Interrupted(ports, user_id, quicker))
    problems = refusal(slow, actor, PASSWORD)
    assert codes(problems) == [("oldPassword", "INVALID_CREDENTIALS")]
    assert user_as_stored(ports, user_id).password_hash == quicker


@pytest.mark.parametrize("mode", [PasswordLoginMode.ENABLED, PasswordLoginMode.CUSTOMERS_ONLY])
def test_staff_can_change_their_password_in_every_mode_with_passwords(
    ports: Ports, mode: PasswordLoginMode
) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_USERS)
    set_mode(ports, mode)
    actor = actor_of(ports, staff)
    user = change_password(ports, actor, old_password=PASSWORD, new_password=NEW)
    assert user.is_staff is (mode is PasswordLoginMode.ENABLED)
    assert bool(user.permissions) is (mode is PasswordLoginMode.ENABLED)


def test_disabled_mode_is_refused_before_the_caller_is_checked(ports: Ports) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)
    broken = replace(NOBODY, fault=TokenFault.INVALID)
    app = replace(NOBODY, kind=ActorKind.APP, app_id=1)
    for caller in (NOBODY, broken, app):
        problems = refusal(ports, caller, PASSWORD)
        assert codes(problems) == [(None, "DISABLED_AUTHENTICATION_METHOD")]


def test_mode_change_during_hashing_takes_effect(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    slow = replace(ports, passwords=DisablingHasher(ports))
    assert codes(refusal(slow, actor, PASSWORD)) == [(None, "DISABLED_AUTHENTICATION_METHOD")]


def test_apps_and_anonymous_callers_cannot_change_a_password(ports: Ports) -> None:
    app = replace(NOBODY, kind=ActorKind.APP, app_id=1, permissions=frozenset(Permission))
    for caller in (NOBODY, app):
        with pytest.raises(PermissionDenied) as denied:
            change_password(ports, caller, old_password=PASSWORD, new_password=NEW)
        assert denied.value.required == ("AUTHENTICATED_USER",)
    with pytest.raises(TokenRejected):
        change_password(
            ports,
            replace(NOBODY, fault=TokenFault.SIGNATURE),
            old_password=PASSWORD,
            new_password=NEW,
        )


def test_app_that_acts_for_a_person_cannot_change_their_password(ports: Ports) -> None:
    extension = replace(actor_of(ports, make_user(ports)), app_id=7)
    with pytest.raises(PermissionDenied):
        change_password(ports, extension, old_password=PASSWORD, new_password=NEW)


def test_failed_change_stores_nothing(ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    actor = actor_of(ports, user_id)
    before = user_as_stored(ports, user_id).password_hash
    broken = replace(ports, encryption=FailingEncryption())
    with pytest.raises(ArithmeticError):
        change_password(broken, actor, old_password=PASSWORD, new_password=NEW)
    assert user_as_stored(ports, user_id).password_hash == before
    assert len(sessions_of(ports, user_id)) == 2
    assert (mails(ports), trail(ports, "password.set")) == ([], [])


def _link(ports: Ports, user_id: int, purpose: LinkPurpose) -> str:
    with ports.database.transaction() as session:
        return make_link(ports, session, session.get_one(models.User, user_id), purpose)


def _opens(ports: Ports, links: Mapping[LinkPurpose, str], purpose: LinkPurpose) -> bool:
    with ports.database.reading() as session:
        try:
            return bool(find_link(ports, session, [purpose], links[purpose]))
        except Refused:
            return False


class _Interrupted(FakeHasher):
    """A hasher that is so slow that somebody else sets the password meanwhile."""

    def __init__(self, ports: Ports, user_id: int, quicker: str) -> None:
        super().__init__(ports.database)
        self._ports = ports
        self._user_id = user_id
        self._quicker = quicker

    @override
    def hash(self, password: str) -> str:
        change_user(self._ports, self._user_id, password_hash=self._quicker)
        return super().hash(password)


class DisablingHasher(FakeHasher):
    """A hasher that is so slow that passwords are switched off meanwhile."""

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports.database)
        self._ports = ports

    @override
    def hash(self, password: str) -> str:
        set_mode(self._ports, PasswordLoginMode.DISABLED)
        return super().hash(password)
