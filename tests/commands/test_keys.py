"""``flask keys``: what it shows, and how it ends."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from app.commands.keys import command
from app.composition.settings import Settings
from app.composition.wiring import make_installation
from app.domain.authorization.actor import OPERATOR
from app.ports import Ports
from app.services.keys import list_keys, ring
from app.web.installation import install
from tests.builders.people import make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.fakes.keys import ReadyKeyStore, pem, private_key
from tests.fakes.known_keys import KnownKeyStore
from tests.fixtures.ports import fake_ports


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Ports:
    with_fakes = fake_ports(sqlite_url, clock)
    return replace(with_fakes, keys=KnownKeyStore())


def run(ports: Ports, *arguments: str) -> Result:
    app = Flask(__name__)
    install(app, make_installation(ports, Settings()))
    with app.app_context():
        return CliRunner().invoke(command, arguments)


def test_listing_shows_every_key_and_what_it_does(ports: Ports, clock: FakeClock) -> None:
    shown = run(ports, "list", "--json")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout) == [
        {
            "kid": key.kid,
            "state": key.state.value,
            "publishedAt": clock.now().isoformat(),
            "activatedAt": None if key.activated_at is None else clock.now().isoformat(),
            "retiredAt": None,
            "verifiesUntil": None,
        }
        for key in list_keys(ports, OPERATOR)
    ]


def test_short_form_is_a_line_a_key(ports: Ports) -> None:
    upcoming, active = list_keys(ports, OPERATOR)
    shown = run(ports, "list", "--short")
    assert shown.stdout == f"{upcoming.kid}\tnext\n{active.kid}\tactive\n"


def test_rotating_shows_the_ring_as_it_is_then(ports: Ports, clock: FakeClock) -> None:
    upcoming, active = list_keys(ports, OPERATOR)
    clock.pass_(minutes=5)
    shown = run(ports, "rotate", "--short")
    assert shown.exit_code == 0
    _fresh, *rest = shown.stdout.splitlines()
    assert rest == [f"{upcoming.kid}\tactive", f"{active.kid}\tretired"]
    assert ring(ports).ring.active_kid == upcoming.kid


def test_rotation_that_is_too_early_is_refused_unless_forced(ports: Ports) -> None:
    before = list_keys(ports, OPERATOR)
    refused = run(ports, "rotate")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "Rotate in 300 s, or force the rotation." in refused.stderr
    assert list_keys(ports, OPERATOR) == before
    assert run(ports, "rotate", "--force").exit_code == 0
    assert ring(ports).ring.active_kid == before[0].kid


def test_refusal_is_json_where_json_was_asked_for(ports: Ports) -> None:
    fixed = replace(ports, keys=ReadyKeyStore(60, configured=pem(private_key(50))))
    refused = run(fixed, "rotate", "--json")
    assert refused.exit_code == 3
    (trouble,) = json.loads(refused.stdout)["errors"]
    assert trouble["code"] == "KEYS_FIXED"
    assert "RSA_PRIVATE_KEY" in trouble["message"]


def test_lost_secret_says_what_to_do_and_force_does_it(
    ports: Ports, sqlite_url: str, clock: FakeClock
) -> None:
    list_keys(ports, OPERATOR)
    changed = replace(
        fake_ports(sqlite_url, clock), keys=KnownKeyStore(100, secret="another secret")
    )
    refused = run(changed, "rotate")
    assert refused.exit_code == 3
    assert "Set SECRET_KEY back" in refused.stderr
    assert "flask keys rotate --force" in refused.stderr
    assert run(changed, "rotate", "--force").exit_code == 0
    changed.keys.sign(ring(changed).signer, {})
    changed.database.close()


def test_no_form_shows_a_private_part(ports: Ports) -> None:
    encrypted = ring(ports).signer.encrypted
    for form in ("--json", "--short"):
        assert encrypted not in run(ports, "list", form).output
    assert "PRIVATE" not in run(ports, "list").output


def test_withdrawal_counts_sessions_first_and_shows_the_ring(ports: Ports) -> None:
    upcoming, active = list_keys(ports, OPERATOR)
    sign_in(ports, make_user(ports))
    asked = run(ports, "withdraw", active.kid)
    assert asked.exit_code == 2
    assert "1 session ends." in asked.stderr
    assert "can keep the old key set for 5 minutes" in asked.stderr
    assert "pass --yes" in asked.stderr
    assert ring(ports).ring.active_kid == active.kid
    done = run(ports, "withdraw", active.kid, "--yes", "--short")
    assert done.exit_code == 0
    _fresh, *rest = done.stdout.splitlines()
    assert rest == [f"{upcoming.kid}\tactive", f"{active.kid}\twithdrawn"]


def test_withdrawal_of_a_configured_key_says_what_to_set(ports: Ports) -> None:
    fixed = replace(ports, keys=ReadyKeyStore(60, configured=pem(private_key(50))))
    (only,) = list_keys(fixed, OPERATOR)
    done = run(fixed, "withdraw", only.kid, "--yes")
    assert done.exit_code == 0
    assert "RSA_PRIVATE_KEY still holds a withdrawn key, which is ignored" in done.stderr


def test_key_whose_id_looks_like_an_option_is_withdrawn(ports: Ports) -> None:
    for kid in (f"-h{'A' * 41}", f"--{'B' * 41}"):
        done = run(ports, "withdraw", kid, "--yes", "--short")
        assert done.exit_code == 0, done.output
        assert f"{kid}\twithdrawn" in done.stdout
