"""Logins in a file."""

import stat
from pathlib import Path

import pytest

from app.adapters.system import FileProfiles
from app.domain.values.installation import Fault
from app.ports.instance import Profile
from tests.fixtures.cases import cases

URL = "https://shop.example.com/graphql/"
ANN = Profile(URL, "access", "refresh", "ann@example.com")


def test_missing_file_means_no_saved_login(tmp_path: Path) -> None:
    profiles = FileProfiles(tmp_path / "nowhere")
    assert profiles.list_profiles() == ()
    assert profiles.find(URL) is None
    assert not profiles.forget(URL)
    assert not (tmp_path / "nowhere").exists()


def test_login_is_saved_found_and_deleted(tmp_path: Path) -> None:
    other = Profile("https://a.example.com/graphql/", "a token")
    FileProfiles(tmp_path).save(ANN)
    FileProfiles(tmp_path).save(other)
    assert FileProfiles(tmp_path).list_profiles() == (other, ANN)
    assert FileProfiles(tmp_path).find(URL) == ANN
    assert FileProfiles(tmp_path).forget(URL)
    assert FileProfiles(tmp_path).list_profiles() == (other,)


def test_second_login_replaces_the_first(tmp_path: Path) -> None:
    FileProfiles(tmp_path).save(ANN)
    FileProfiles(tmp_path).save(Profile(URL, "another"))
    assert FileProfiles(tmp_path).list_profiles() == (Profile(URL, "another"),)


def test_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "latchkey"
    FileProfiles(folder).save(ANN)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    file = folder / "profiles.json"
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}
    file.chmod(0o644)
    FileProfiles(folder).save(ANN)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@cases("text", ["", "{", "[7]", '[{"name": "x"}]', "\x00"])
def test_damaged_file_error_says_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / "profiles.json").write_text(text)
    with pytest.raises(Fault, match="flask login URL"):
        FileProfiles(tmp_path).list_profiles()


def test_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file")
    with pytest.raises(Fault, match="Can't write"):
        FileProfiles(tmp_path / "config" / "latchkey").save(ANN)
    (tmp_path / "profiles.json").mkdir()
    with pytest.raises(Fault, match="Can't read"):
        FileProfiles(tmp_path).save(ANN)


def test_repr_shows_no_token(tmp_path: Path) -> None:
    assert "access" not in repr(ANN)
    assert "refresh" not in repr(ANN)


def test_check_keeps_every_login_and_takes_its_turn(tmp_path: Path) -> None:
    FileProfiles(tmp_path).check()
    assert (tmp_path / "profiles.lock").exists(), "it waits for others who write"
    FileProfiles(tmp_path).save(ANN)
    FileProfiles(tmp_path).check()
    assert FileProfiles(tmp_path).list_profiles() == (ANN,)
