"""What takes an email without proof that it is the caller's does the same work for every one.

The answers are compared elsewhere, the times by ``python -m benchmarks timing``; here it is what
reaches the database, and how many passwords are compared and hashed.
"""

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest

from app.domain.authorization.actor import Actor
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.email_changes import confirm_account, request_email_change
from app.services.accounts.password_changes import set_password
from app.services.accounts.password_resets import request_password_reset
from app.services.accounts.registration import NewAccount, register_account
from tests.builders.people import NOBODY, PASSWORD, actor_of, change_user, make_user
from tests.builders.shop import configure_shop
from tests.fakes.passwords import FakeHasher
from tests.fixtures.statements import recorded_statements

PAGE = "http://localhost:3000/"
KINDS = ("unknown", "known", "told", "inactive", "locked", "sso")
"""Whose address it may be; *told* are those who had a mail about it a moment ago."""
_KIND = re.compile(r"(?:\w+ ){0,2}\w+")

Act = Callable[[Ports, Actor, str], object]


def move(ports: Ports, actor: Actor, email: str) -> None:
    request_email_change(ports, actor, new_email=email, password=PASSWORD, redirect_url=PAGE)


def register(ports: Ports, actor: Actor, email: str) -> None:
    register_account(ports, actor, NewAccount(email, PASSWORD, redirect_url=PAGE))


def reset(ports: Ports, actor: Actor, email: str) -> None:
    request_password_reset(ports, actor, email=email, redirect_url=PAGE)


def set_by_a_bad_link(ports: Ports, actor: Actor, email: str) -> None:
    set_password(ports, actor, email=email, password=PASSWORD, token="bad")


def confirm_by_a_bad_link(ports: Ports, actor: Actor, email: str) -> None:
    confirm_account(ports, actor, email=email, token="bad")


@pytest.mark.parametrize("act", [move, register, reset, set_by_a_bad_link, confirm_by_a_bad_link])
def test_work_is_the_same_for_every_email(ports: Ports, hasher: FakeHasher, act: Act) -> None:
    for name in ("known", "told", "inactive"):
        make_user(ports, f"{name}@example.com", is_active=name != "inactive")
    make_user(ports, "sso@example.com", password=None)
    locked = make_user(ports, "locked@example.com")
    change_user(ports, locked, reset_requested_at=ports.clock.now())
    actors = {kind: actor_of(ports, make_user(ports, f"by-{kind}@example.com")) for kind in KINDS}
    with suppress(Refused):
        act(ports, actors["told"], "told@example.com")
    done = {kind: work(ports, hasher, act, actors[kind], kind) for kind in KINDS}
    assert all(steps == done["known"] for steps in done.values()), done


def test_registration_work_is_equal_without_confirmation(ports: Ports, hasher: FakeHasher) -> None:
    configure_shop(ports, enable_account_confirmation_by_email=False)
    for name in ("known", "told", "inactive", "locked"):
        make_user(ports, f"{name}@example.com", is_active=name != "inactive")
    make_user(ports, "sso@example.com", password=None)
    register(ports, NOBODY, "told@example.com")
    done = {kind: work(ports, hasher, register, NOBODY, kind) for kind in KINDS}
    assert all(steps == done["known"] for steps in done.values()), done


def work(ports: Ports, hasher: FakeHasher, act: Act, actor: Actor, kind: str) -> Counter[str]:
    """How often each kind of statement was sent, and what was done with passwords."""
    before = hasher.verifications, hasher.hashes
    with recorded_statements() as statements, suppress(Refused):
        act(ports, actor, f"{kind}@example.com")
    done = Counter(map(kind_of, statements))
    done["passwords compared"] = hasher.verifications - before[0]
    done["passwords hashed"] = hasher.hashes - before[1]
    return done


def kind_of(statement: str) -> str:
    """What a statement does, without the values that it does it with."""
    if statement.startswith("SAVEPOINT"):
        return "savepoint"
    if statement.startswith(("RELEASE", "ROLLBACK TO")):
        return "savepoint kept or not"
    found = _KIND.match(statement.strip())
    return statement if found is None else found[0]
