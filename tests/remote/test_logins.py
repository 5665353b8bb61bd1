"""Logins on another instance: opened, renewed when they have expired, ended."""

from collections.abc import Iterable
from dataclasses import replace
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import pytest
from typing_extensions import override

from app.adapters.system import FileProfiles
from app.domain.values.errors import PermissionDenied, TokenRejected
from app.ports.instance import Profile
from app.remote.api import SavedLogin
from app.remote.instance import connect_by_profile, connect_by_token, sign_in_app, sign_in_person
from tests.remote.fake_instance import URL, Instance, answering, failing

EXPIRED = failing("ExpiredSignatureError")
NO_APPS = answering({"data": {"apps": {"edges": [], "pageInfo": {"hasNextPage": False}}}})


def no_code() -> str:
    raise AssertionError("The instance didn't ask for a code.")


def refreshed(**payload: object) -> dict[str, object]:
    return {"data": {"tokenRefresh": {"token": None, "errors": [], **payload}}}


@pytest.fixture
def profiles(tmp_path: Path) -> FileProfiles:
    saved = FileProfiles(tmp_path)
    saved.save(Profile(URL, "old", "refresh", "ann@example.com"))
    return saved


def test_expired_token_is_renewed_and_saved(profiles: FileProfiles) -> None:
    shop = Instance(EXPIRED, answering(refreshed(token="fresh")), NO_APPS)
    [profile] = profiles.list_profiles()
    assert connect_by_profile(shop, profiles, profile).apps() == ()
    assert shop.tokens == ["old", "", "fresh"]
    assert shop.sent(1)["variables"] == {"refreshToken": "refresh"}
    assert profiles.find(URL) == Profile(URL, "fresh", "refresh", "ann@example.com")


def test_new_refresh_token_replaces_the_old_one(profiles: FileProfiles) -> None:
    fresh = refreshed(token="fresh", refreshToken="next")
    shop = Instance(EXPIRED, answering(fresh), NO_APPS)
    [profile] = profiles.list_profiles()
    connect_by_profile(shop, profiles, profile).apps()
    assert "token refreshToken " in str(shop.sent(1)["query"])
    assert profiles.find(URL) == Profile(URL, "fresh", "next", "ann@example.com")


def test_renewed_login_never_replaces_a_newer_one(profiles: FileProfiles) -> None:
    """Nor does one come back that was forgotten; control: one that is still kept."""
    [old] = profiles.list_profiles()
    new = Profile(URL, "token", "refresh of Bob", "bob@example.com")
    for act, kept in (
        (lambda: profiles.save(new), new),
        (lambda: profiles.forget(URL), None),
        (lambda: None, replace(old, token="fresh")),
    ):
        profiles.save(old)
        api = connect_by_profile(
            Instance(EXPIRED, answering(refreshed(token="fresh")), NO_APPS), profiles, old
        )
        act()
        assert api.apps() == ()
        assert profiles.find(URL) == kept


def test_logins_are_written_by_one_process_at_a_time(tmp_path: Path) -> None:
    """Otherwise what one writes would be lost to another that had read the file before."""

    def is_locked() -> bool:
        with (tmp_path / "profiles.lock").open("w") as lock:
            try:
                flock(lock, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                return True
            return False

    class Observed(FileProfiles):
        @override
        def _write(self, profiles: Iterable[Profile]) -> None:
            locked_writes.append(is_locked())
            super()._write(profiles)

    locked_writes: list[bool] = []
    profiles = Observed(tmp_path)
    old = Profile(URL, "old", "refresh", "ann@example.com")
    profiles.save(old)
    login = SavedLogin(profiles, old)
    with login.renewal() as is_due:
        assert (is_due, is_locked()) == (True, True)
        login.renewed("fresh", "next")
    assert profiles.find(URL) == replace(old, token="fresh", refresh_token="next")
    profiles.check()
    assert profiles.forget(URL)
    assert locked_writes == [True] * 4
    assert not is_locked()


def test_ended_login_says_how_to_log_in_again(profiles: FileProfiles) -> None:
    error = {"field": "refreshToken", "message": "Signature has expired", "code": "JWT_X"}
    shop = Instance(EXPIRED, answering(refreshed(errors=[error])))
    [profile] = profiles.list_profiles()
    with pytest.raises(PermissionDenied, match="flask login"):
        connect_by_profile(shop, profiles, profile).apps()


def test_refused_token_is_renewed_only_once(profiles: FileProfiles) -> None:
    shop = Instance(EXPIRED, answering(refreshed(token="fresh")), EXPIRED)
    [profile] = profiles.list_profiles()
    with pytest.raises(TokenRejected):
        connect_by_profile(shop, profiles, profile).apps()
    assert len(shop.requests) == 3


def test_given_token_cannot_be_renewed() -> None:
    shop = Instance(EXPIRED)
    with pytest.raises(TokenRejected):
        connect_by_token(shop, URL, "theirs").apps()
    assert shop.tokens == ["theirs"]


def test_person_signs_in_by_email_and_password() -> None:
    payload = {"token": "access", "refreshToken": "refresh", "errors": []}
    shop = Instance(answering({"data": {"tokenCreate": payload}}))
    made = sign_in_person(shop, URL, "ann@example.com", "a sentence", no_code)
    assert made == Profile(URL, "access", "refresh", "ann@example.com")
    assert shop.sent(0)["variables"] == {"email": "ann@example.com", "password": "a sentence"}


def test_wrong_password_shows_the_instances_message() -> None:
    error = {"field": "email", "message": "Please, enter valid credentials", "code": "INVALID"}
    payload = {"token": None, "refreshToken": None, "errors": [error]}
    shop = Instance(answering({"data": {"tokenCreate": payload}}))
    with pytest.raises(PermissionDenied, match="valid credentials"):
        sign_in_person(shop, URL, "ann@example.com", "wrong", no_code)


def test_account_with_a_second_factor_is_asked_for_its_code() -> None:
    error = {"field": None, "message": "Enter a code.", "code": "SECOND_FACTOR_REQUIRED"}
    refused = {"token": None, "refreshToken": None, "errors": [error]}
    asked = {"secondFactorChallenge": {"challenge": "the challenge"}}
    opened = {"token": "access", "refreshToken": "refresh", "errors": []}
    shop = Instance(
        answering({"data": {"tokenCreate": refused}}),
        answering({"data": {"tokenCreate": asked}}),
        answering({"data": {"secondFactorVerify": opened}}),
    )
    made = sign_in_person(shop, URL, "ann@example.com", "a sentence", lambda: "123456")
    assert made == Profile(URL, "access", "refresh", "ann@example.com")
    assert shop.sent(2)["variables"] == {"challenge": "the challenge", "code": "123456"}


def test_app_token_is_checked_before_it_is_saved() -> None:
    accepting = Instance(answering({"data": {"app": {"id": "QXBwOjE=", "name": "Warehouse"}}}))
    assert sign_in_app(accepting, URL, "a token") == Profile(URL, "a token")
    assert accepting.tokens == ["a token"]
    with pytest.raises(PermissionDenied, match="No app at"):
        sign_in_app(Instance(answering({"data": {"app": None}})), URL, "a token")
