"""Links die when what they depend on has changed, and with nothing else."""

from dataclasses import replace
from datetime import UTC, datetime

from app.domain.accounts.email_links import (
    LIFETIMES,
    AccountState,
    LinkPurpose,
    digest_of,
    format_lifetime,
    state_of,
)
from tests.fixtures.cases import cases

ACCOUNT = AccountState(
    email="ann@example.com",
    password_hash="a hash",
    is_active=True,
    is_confirmed=False,
    is_staff=False,
)
CHANGED = {
    "email": replace(ACCOUNT, email="anna@example.com"),
    "password": replace(ACCOUNT, password_hash="another hash"),
    "activity": replace(ACCOUNT, is_active=False),
    "confirmation": replace(ACCOUNT, is_confirmed=True),
    "role": replace(ACCOUNT, is_staff=True),
    "sessions": replace(ACCOUNT, signed_out_at=datetime(2026, 3, 1, tzinfo=UTC)),
}


@cases(
    ("purpose", "ended_by"),
    [
        (LinkPurpose.SET_PASSWORD, {"email", "password", "activity"}),
        (LinkPurpose.INVITATION, {"email", "password", "activity"}),
        (LinkPurpose.CONFIRM_ACCOUNT, {"email", "activity", "confirmation"}),
        (LinkPurpose.CHANGE_EMAIL, {"email", "password", "activity", "role", "sessions"}),
        (LinkPurpose.DELETE_ACCOUNT, {"email", "password", "activity", "role", "sessions"}),
    ],
)
def test_link_is_invalidated_by_account_changes(purpose: LinkPurpose, ended_by: set[str]) -> None:
    before = state_of(purpose, ACCOUNT)
    assert before == state_of(purpose, replace(ACCOUNT))
    assert {name for name, now in CHANGED.items() if state_of(purpose, now) != before} == ended_by


def test_link_state_differs_by_purpose() -> None:
    assert len({state_of(purpose, ACCOUNT) for purpose in LinkPurpose}) == len(LinkPurpose)


def test_account_without_a_password_has_a_link_state() -> None:
    without = replace(ACCOUNT, password_hash=None)
    assert state_of(LinkPurpose.SET_PASSWORD, without) != state_of(
        LinkPurpose.SET_PASSWORD, ACCOUNT
    )


def test_link_token_is_stored_as_its_digest() -> None:
    assert len(digest_of("sesame")) == 64
    assert "sesame" not in digest_of("sesame")
    assert digest_of("\ud800") != digest_of("sesame")


@cases(
    ("purpose", "words"),
    [
        (LinkPurpose.SET_PASSWORD, "1 hour"),
        (LinkPurpose.CHANGE_EMAIL, "1 day"),
        (LinkPurpose.CONFIRM_ACCOUNT, "3 days"),
        (LinkPurpose.INVITATION, "7 days"),
    ],
)
def test_mails_say_how_long_a_link_works(purpose: LinkPurpose, words: str) -> None:
    assert format_lifetime(purpose) == words


def test_every_purpose_has_a_lifetime() -> None:
    assert set(LIFETIMES) == set(LinkPurpose)
