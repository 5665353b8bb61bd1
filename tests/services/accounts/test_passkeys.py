"""Adding, renaming and deleting one's own passkeys."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product

import pytest

from app import models
from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.mails.mail import MailKind
from app.domain.second_factors import CHALLENGE_LIFETIME, RECOVERY_CODES
from app.domain.values.errors import PermissionDenied, ProofRequired, Refused
from app.ports import Ports
from app.services.accounts.authenticator_apps import AddedFactor
from app.services.accounts.passkeys import (
    MAX_PASSKEYS,
    add_passkey,
    begin_passkey,
    delete_passkey,
    list_passkeys,
    rename_passkey,
    show_passkey,
)
from app.services.second_factors.stored_factors import FactorCounts, read_factors
from tests.builders.audit import trail
from tests.builders.outbox import mails
from tests.builders.passkeys import (
    SYNCABLE,
    USER_PRESENT,
    VERIFIED,
    SoftwareAuthenticator,
    encoded,
    make_passkey,
)
from tests.builders.people import NOBODY, actor_of, make_staff, make_user, sessions_of
from tests.builders.shop import configure_shop
from tests.fakes.clock import FakeClock

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"


def add(
    ports: Ports,
    actor: Actor,
    authenticator: SoftwareAuthenticator | None = None,
    name: str = "Laptop",
) -> AddedFactor:
    begun = begin_passkey(ports, actor)
    answer = (authenticator or SoftwareAuthenticator()).create(begun.options)
    return add_passkey(ports, actor, challenge=begun.challenge, credential=answer, name=name)


def refused(act: Callable[[], object]) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refusal:
        act()
    return [(problem.field, problem.code) for problem in refusal.value.problems]


def factors_of(ports: Ports, user_id: int) -> FactorCounts:
    with ports.database.reading() as session:
        return read_factors(session, user_id)


def test_passkey_counts_once_the_browser_made_it(ports: Ports, clock: FakeClock) -> None:
    user = make_user(ports, first_name="Ann", last_name="Lee")
    actor = replace(actor_of(ports, user), user_agent=CHROME)
    begun = begin_passkey(ports, actor)
    assert not factors_of(ports, user).is_active
    assert begun.name == "Chrome on Linux"
    assert begun.challenge not in repr(begun)
    asked = json.loads(begun.options)
    assert (asked["rp"]["id"], asked["user"]["displayName"]) == ("localhost", "Ann Lee")

    authenticator = SoftwareAuthenticator()
    answer = authenticator.create(begun.options)
    added = add_passkey(
        ports, actor, challenge=begun.challenge, credential=answer, name="  Laptop "
    )

    assert factors_of(ports, user) == FactorCounts(passkeys=1, recovery_codes=RECOVERY_CODES)
    assert len(added.recovery_codes) == RECOVERY_CODES
    (passkey,) = list_passkeys(ports, actor)
    assert (passkey.name, passkey.device, passkey.is_synced) == (
        "Laptop",
        "Chrome on Linux",
        False,
    )
    assert (passkey.created_at, passkey.last_used_at) == (clock.now(), None)
    (entry,) = trail(ports, "second_factor.add")
    assert entry.after == {"type": "PASSKEY", "name": "Laptop"}
    (mail,) = mails(ports, MailKind.SECOND_FACTOR_ADDED)
    assert mail.values["factor"] == 'Passkey "Laptop"'


def test_session_has_used_a_passkey_from_then_on(ports: Ports) -> None:
    user = make_user(ports)
    first, second = (
        actor_of(ports, user, origin) for origin in (SessionOrigin.PASSWORD, SessionOrigin.OIDC)
    )
    add(ports, first)
    add(ports, second, SoftwareAuthenticator(flags=VERIFIED | SYNCABLE))
    assert [row.amr for row in sessions_of(ports, user)] == ["pwd hwk mfa", "swk mfa"]


def test_second_passkey_excludes_the_first_and_shows_no_codes(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    first, second = SoftwareAuthenticator(), SoftwareAuthenticator()
    assert add(ports, actor, first).recovery_codes
    begun = begin_passkey(ports, actor)
    excluded = json.loads(begun.options)["excludeCredentials"]
    assert [known["id"] for known in excluded] == [encoded(first.credential_id)]
    assert add(ports, actor, second, "Key").recovery_codes == ()
    assert first.user_handle == second.user_handle
    assert [passkey.name for passkey in list_passkeys(ports, actor)] == ["Laptop", "Key"]


def test_user_handles_differ_and_name_nobody(ports: Ports) -> None:
    handles = set()
    for email in ("a@example.com", "b@example.com"):
        begun = begin_passkey(ports, actor_of(ports, make_user(ports, email)))
        handles.add(json.loads(begun.options)["user"]["id"])
    assert len(handles) == 2
    assert not any("example" in handle for handle in handles)


def test_answer_works_once_in_its_own_session_and_in_time(ports: Ports, clock: FakeClock) -> None:
    user = make_user(ports)
    mine, other = actor_of(ports, user), actor_of(ports, user)
    begun = begin_passkey(ports, mine)
    answer = SoftwareAuthenticator().create(begun.options)

    def send(actor: Actor, name: str = "Laptop") -> AddedFactor:
        return add_passkey(ports, actor, challenge=begun.challenge, credential=answer, name=name)

    assert refused(lambda: send(other)) == [("challenge", "INVALID")]
    send(mine)
    assert refused(lambda: send(mine)) == [("challenge", "INVALID")]
    begun = begin_passkey(ports, mine)
    answer = SoftwareAuthenticator().create(begun.options)
    clock.pass_(seconds=CHALLENGE_LIFETIME.total_seconds())
    assert refused(lambda: send(mine)) == [("challenge", "INVALID")]
    assert len(list_passkeys(ports, mine)) == 1


def test_wrong_answer_adds_nothing(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    wrong = [("credential", "INVALID_SECOND_FACTOR")]
    for name, authenticator in {
        "origin": SoftwareAuthenticator(origin="https://evil.example"),
        "RP ID": SoftwareAuthenticator(rp_id="evil.example"),
        "not verified": SoftwareAuthenticator(flags=USER_PRESENT),
        "type": SoftwareAuthenticator(client_type="webauthn.get"),
    }.items():
        assert refused(partial(add, ports, actor, authenticator)) == wrong, name
        assert not factors_of(ports, user).is_active, name
    assert add(ports, actor).recovery_codes


def test_answer_to_another_challenge_adds_nothing(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    first, second = begin_passkey(ports, actor), begin_passkey(ports, actor)
    answer = SoftwareAuthenticator().create(first.options)
    assert refused(
        lambda: add_passkey(
            ports, actor, challenge=second.challenge, credential=answer, name="Key"
        )
    ) == [("credential", "INVALID_SECOND_FACTOR")]


def test_passkey_of_another_account_is_not_added(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    make_passkey(ports, make_user(ports, "other@example.com"), authenticator)
    user = make_user(ports)
    actor = actor_of(ports, user)
    assert refused(lambda: add(ports, actor, authenticator)) == [("credential", "UNIQUE")]
    assert factors_of(ports, user) == FactorCounts()


@pytest.mark.both_databases
def test_parallel_answers_add_one_passkey(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    begun = begin_passkey(ports, actor)
    answer = SoftwareAuthenticator().create(begun.options)

    def send(_number: int) -> bool:
        try:
            add_passkey(ports, actor, challenge=begun.challenge, credential=answer, name="Key")
        except Refused:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(send, range(4))) == [False, False, False, True]
    assert len(list_passkeys(ports, actor)) == 1


def test_number_of_passkeys_is_limited(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    for _ in range(MAX_PASSKEYS - 1):
        make_passkey(ports, user, SoftwareAuthenticator())
    begun = begin_passkey(ports, actor)
    add(ports, actor)
    assert refused(lambda: begin_passkey(ports, actor)) == [(None, "INVALID")]
    answer = SoftwareAuthenticator().create(begun.options)
    assert refused(
        lambda: add_passkey(
            ports, actor, challenge=begun.challenge, credential=answer, name="One more"
        )
    ) == [(None, "INVALID")]
    assert len(list_passkeys(ports, actor)) == MAX_PASSKEYS


def test_name_is_one_readable_line(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    key = make_passkey(ports, user, SoftwareAuthenticator())
    for name in ("", "  ", "x" * 101, "a\nb", "\u202eabc", "\ud800"):
        ((field, _code),) = refused(partial(add, ports, actor, name=name))
        assert field == "name", name
        rename = partial(rename_passkey, ports, actor, passkey_id=key, name=name)
        ((field, _code),) = refused(rename)
        assert field == "name", name
    assert [passkey.name for passkey in list_passkeys(ports, actor)] == ["Key"]


def test_passkey_is_renamed(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    key = make_passkey(ports, user, SoftwareAuthenticator())
    rename_passkey(ports, actor, passkey_id=key, name="Office")
    rename_passkey(ports, actor, passkey_id=key, name="Office")
    assert show_passkey(ports, actor, key).name == "Office"
    (entry,) = trail(ports, "second_factor.rename")
    assert (entry.before, entry.after) == ({"name": "Key"}, {"name": "Office"})


def test_last_passkey_takes_the_recovery_codes_along(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    add(ports, actor)
    add(ports, actor, name="Key")
    first, second = (passkey.id for passkey in list_passkeys(ports, actor))
    delete_passkey(ports, actor, passkey_id=first)
    assert factors_of(ports, user) == FactorCounts(1, recovery_codes=RECOVERY_CODES)
    delete_passkey(ports, actor, passkey_id=second)
    assert factors_of(ports, user) == FactorCounts()
    assert [entry.before["name"] for entry in trail(ports, "second_factor.remove")] == [
        "Laptop",
        "Key",
    ]
    assert len(mails(ports, MailKind.SECOND_FACTOR_REMOVED)) == 2


def test_last_passkey_stays_while_staff_need_one(ports: Ports) -> None:
    user = make_staff(ports)
    actor = actor_of(ports, user)
    key = make_passkey(ports, user, SoftwareAuthenticator())
    configure_shop(ports, staff_second_factor="REQUIRED")
    assert refused(lambda: delete_passkey(ports, actor, passkey_id=key)) == [(None, "REQUIRED")]
    assert factors_of(ports, user).passkeys == 1
    assert mails(ports, MailKind.SECOND_FACTOR_REMOVED) == []


def test_passkeys_of_others_are_not_found(ports: Ports) -> None:
    other = make_user(ports, "other@example.com")
    key = make_passkey(ports, other, SoftwareAuthenticator())
    actor = actor_of(ports, make_user(ports))
    missing = [(None, "NOT_FOUND")]
    assert list_passkeys(ports, actor) == ()
    assert refused(lambda: show_passkey(ports, actor, key)) == missing
    assert refused(lambda: rename_passkey(ports, actor, passkey_id=key, name="x")) == missing
    assert refused(lambda: delete_passkey(ports, actor, passkey_id=key)) == missing
    with ports.database.reading() as session:
        assert session.get_one(models.Passkey, key).name == "Key"


def test_no_passkey_is_made_on_an_ip_address(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    by_ip = replace(actor, issuer="http://127.0.0.1:8000/graphql/")
    assert refused(lambda: begin_passkey(ports, by_ip)) == [(None, "INVALID")]


CHANGES: list[Callable[[Ports, Actor], object]] = [
    begin_passkey,
    lambda ports, actor: add_passkey(ports, actor, challenge="", credential="", name="x"),
    lambda ports, actor: delete_passkey(ports, actor, passkey_id=1),
]
OTHERS: list[Callable[[Ports, Actor], object]] = [
    list_passkeys,
    lambda ports, actor: rename_passkey(ports, actor, passkey_id=1, name="x"),
]


def test_changes_need_a_fresh_proof(ports: Ports) -> None:
    actor = replace(actor_of(ports, make_user(ports)), proof_is_old=True)
    for change in CHANGES:
        with pytest.raises(ProofRequired):
            change(ports, actor)


def test_only_the_owner_manages_passkeys(ports: Ports) -> None:
    extension = replace(actor_of(ports, make_user(ports)), app_id=7)
    app = Actor(kind=ActorKind.APP, app_id=7)
    for change, actor in product((*CHANGES, *OTHERS), (extension, app, NOBODY)):
        with pytest.raises(PermissionDenied):
            change(ports, actor)


def test_session_of_a_provider_token_adds_no_passkey(ports: Ports) -> None:
    actor = replace(actor_of(ports, make_user(ports)), session_id=None)
    with pytest.raises(PermissionDenied):
        begin_passkey(ports, actor)
