"""Setting up an authenticator app, moving it to a new phone and turning it off."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product

import pytest
from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.mails.mail import MailKind
from app.domain.second_factors import RECOVERY_CODES, SecondFactorType
from app.domain.values.errors import PermissionDenied, ProofRequired, Refused
from app.ports import Ports
from app.services.accounts.authenticator_apps import (
    AddedFactor,
    cancel_app_setup,
    confirm_app_setup,
    replace_own_recovery_codes,
    show_app_setup,
    start_app_setup,
    turn_off_app,
)
from app.services.second_factors.factor_checks import check_code
from app.services.second_factors.stored_factors import FactorCounts, read_factors
from tests.builders.audit import trail
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, actor_of, make_staff, make_user, sessions_of
from tests.builders.second_factors import (
    make_authenticator_app,
    make_recovery_codes,
    one_time_code,
)
from tests.builders.shop import configure_shop
from tests.fakes.clock import FakeClock

APP, RECOVERY = SecondFactorType.AUTHENTICATOR_APP, SecondFactorType.RECOVERY_CODES
ORIGINS = (SessionOrigin.PASSWORD, SessionOrigin.OIDC)
WRONG = [("code", "INVALID_SECOND_FACTOR")]
ENDED = [(None, "INVALID")]
ONLY_APP = FactorCounts(has_authenticator_app=True, recovery_codes=RECOVERY_CODES)


def secret_shown(ports: Ports, actor: Actor) -> str:
    """Return the secret of the setup that the page shows."""
    setup = show_app_setup(ports, actor)
    assert setup is not None
    return setup.key.replace(" ", "")


def set_up(ports: Ports, actor: Actor) -> tuple[str, AddedFactor]:
    """Set up an app; return its secret and what was shown."""
    start_app_setup(ports, actor)
    secret = secret_shown(ports, actor)
    return secret, confirm_app_setup(ports, actor, code=one_time_code(ports, secret))


def refused(act: Callable[[], object]) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refusal:
        act()
    return [(problem.field, problem.code) for problem in refusal.value.problems]


def factors_of(ports: Ports, user_id: int) -> FactorCounts:
    with ports.database.reading() as session:
        return read_factors(session, user_id)


def test_app_counts_once_its_code_was_entered(ports: Ports, clock: FakeClock) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    assert show_app_setup(ports, actor) is None
    start_app_setup(ports, actor)
    secret = secret_shown(ports, actor)
    assert not factors_of(ports, user).is_active
    assert check_code(ports, NOBODY, user, one_time_code(ports, secret)) is None

    added = confirm_app_setup(ports, actor, code=one_time_code(ports, secret))
    assert factors_of(ports, user) == ONLY_APP
    assert len(added.recovery_codes) == RECOVERY_CODES
    assert check_code(ports, NOBODY, user, added.recovery_codes[0]) is RECOVERY
    clock.pass_(seconds=30)
    assert check_code(ports, NOBODY, user, one_time_code(ports, secret)) is APP
    assert len(trail(ports, "second_factor.add")) == 1
    assert len(mails(ports, MailKind.SECOND_FACTOR_ADDED)) == 1


def test_code_that_confirmed_the_app_cannot_be_used_again(ports: Ports) -> None:
    user = make_user(ports)
    secret, _ = set_up(ports, actor_of(ports, user))
    assert check_code(ports, NOBODY, user, one_time_code(ports, secret)) is None


def test_confirmed_secret_is_never_shown_again(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    secret, _ = set_up(ports, actor)
    assert show_app_setup(ports, actor) is None
    start_app_setup(ports, actor)
    assert secret_shown(ports, actor) != secret


def test_secrets_are_stored_encrypted_and_not_in_reprs(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    start_app_setup(ports, actor)
    secret = secret_shown(ports, actor)
    setup = show_app_setup(ports, actor)
    assert setup is not None
    assert secret[:4] not in repr(setup)
    assert setup.qr_code.path not in repr(setup)
    added = confirm_app_setup(ports, actor, code=one_time_code(ports, secret))
    assert not any(code in repr(added) for code in added.recovery_codes)
    with ports.database.reading() as session:
        stored = session.scalars(select(models.AuthenticatorApp)).one()
    assert secret not in f"{stored.secret} {stored.pending_secret}"
    (entry,) = trail(ports, "second_factor.add")
    assert (entry.before, entry.after) == ({}, {"type": "AUTHENTICATOR_APP"})


def test_session_has_used_a_second_factor_from_then_on(ports: Ports) -> None:
    user = make_user(ports)
    by_password, by_provider = (actor_of(ports, user, origin) for origin in ORIGINS)
    set_up(ports, by_password)
    set_up(ports, by_provider)
    assert [row.amr for row in sessions_of(ports, user)] == ["pwd otp mfa", "otp mfa"]


def test_other_sessions_are_counted_and_stay(ports: Ports) -> None:
    user = make_user(ports)
    actors = [actor_of(ports, user) for _ in range(3)]
    _, added = set_up(ports, actors[0])
    assert added.other_sessions == 2
    assert [row.amr for row in sessions_of(ports, user)] == ["pwd otp mfa", "", ""]


def test_wrong_code_turns_nothing_on(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    start_app_setup(ports, actor)
    for code in ("", "abc", "12345", "\ud800", "000000"):
        assert refused(partial(confirm_app_setup, ports, actor, code=code)) == WRONG, code
        assert not factors_of(ports, user).is_active, code
    secret = secret_shown(ports, actor)
    assert confirm_app_setup(ports, actor, code=one_time_code(ports, secret)).recovery_codes


def test_setup_belongs_to_the_session_that_began_it(ports: Ports) -> None:
    user = make_user(ports)
    mine, other = actor_of(ports, user), actor_of(ports, user)
    start_app_setup(ports, other)
    known = secret_shown(ports, other)
    assert show_app_setup(ports, mine) is None
    code = one_time_code(ports, known)
    assert refused(lambda: confirm_app_setup(ports, mine, code=code)) == ENDED

    start_app_setup(ports, mine)
    assert secret_shown(ports, mine) != known
    assert refused(lambda: confirm_app_setup(ports, other, code=code)) == ENDED
    code = one_time_code(ports, secret_shown(ports, mine))
    assert confirm_app_setup(ports, mine, code=code).recovery_codes


def test_setup_goes_on_in_its_session(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    start_app_setup(ports, actor)
    secret = secret_shown(ports, actor)
    start_app_setup(ports, actor)
    assert secret_shown(ports, actor) == secret


def test_setup_that_cannot_be_decrypted_is_begun_again(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    start_app_setup(ports, actor)
    with ports.database.transaction() as session:
        session.execute(update(models.AuthenticatorApp).values(pending_secret="of another key"))
    assert show_app_setup(ports, actor) is None
    assert refused(lambda: confirm_app_setup(ports, actor, code="000000")) == ENDED
    start_app_setup(ports, actor)
    assert secret_shown(ports, actor)


def test_canceled_setup_cannot_be_confirmed(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    start_app_setup(ports, actor)
    code = one_time_code(ports, secret_shown(ports, actor))
    cancel_app_setup(ports, actor)
    assert refused(lambda: confirm_app_setup(ports, actor, code=code)) == ENDED
    assert not factors_of(ports, user).is_active


def test_app_moves_to_a_new_phone(ports: Ports, clock: FakeClock) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    old, added = set_up(ports, actor)
    clock.pass_(minutes=5)
    start_app_setup(ports, actor)
    new = secret_shown(ports, actor)
    assert check_code(ports, NOBODY, user, one_time_code(ports, new)) is None
    assert check_code(ports, NOBODY, user, one_time_code(ports, old)) is APP

    moved = confirm_app_setup(ports, actor, code=one_time_code(ports, new))
    assert moved.recovery_codes == ()
    clock.pass_(minutes=5)
    assert check_code(ports, NOBODY, user, one_time_code(ports, old)) is None
    assert check_code(ports, NOBODY, user, one_time_code(ports, new)) is APP
    assert check_code(ports, NOBODY, user, added.recovery_codes[0]) is RECOVERY
    assert len(trail(ports, "second_factor.replace")) == 1


def test_canceled_move_leaves_the_app_on(ports: Ports, clock: FakeClock) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    secret, _ = set_up(ports, actor)
    start_app_setup(ports, actor)
    cancel_app_setup(ports, actor)
    clock.pass_(seconds=30)
    assert show_app_setup(ports, actor) is None
    assert check_code(ports, NOBODY, user, one_time_code(ports, secret)) is APP


def test_app_is_turned_off_with_its_recovery_codes(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    _, added = set_up(ports, actor)
    turn_off_app(ports, actor)
    assert factors_of(ports, user) == FactorCounts()
    assert check_code(ports, NOBODY, user, added.recovery_codes[0]) is None
    turn_off_app(ports, actor)
    assert len(trail(ports, "second_factor.remove")) == 1
    assert len(mails(ports, MailKind.SECOND_FACTOR_REMOVED)) == 1


def test_last_factor_stays_while_staff_need_one(ports: Ports) -> None:
    staff_id, customer_id = make_staff(ports), make_user(ports)
    staff, customer = actor_of(ports, staff_id), actor_of(ports, customer_id)
    configure_shop(ports, staff_second_factor="REQUIRED")
    set_up(ports, staff)
    set_up(ports, customer)
    assert refused(lambda: turn_off_app(ports, staff)) == [(None, "REQUIRED")]
    assert factors_of(ports, staff_id) == ONLY_APP
    turn_off_app(ports, customer)
    assert not factors_of(ports, customer_id).is_active

    configure_shop(ports, staff_second_factor="OPTIONAL")
    turn_off_app(ports, staff)
    assert not factors_of(ports, staff_id).is_active


def test_recovery_codes_are_replaced(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    make_authenticator_app(ports, user)
    old = make_recovery_codes(ports, user)
    new = replace_own_recovery_codes(ports, actor)
    assert len(new) == RECOVERY_CODES
    assert check_code(ports, NOBODY, user, old[0]) is None
    assert check_code(ports, NOBODY, user, new[0]) is RECOVERY
    assert trail(ports, "recovery_codes.replace")[-1].after == {"count": RECOVERY_CODES}
    assert len(mails(ports, MailKind.RECOVERY_CODES_REPLACED)) == 1


def test_recovery_codes_need_a_factor(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    assert refused(lambda: replace_own_recovery_codes(ports, actor)) == [(None, "NOT_FOUND")]


@pytest.mark.both_databases
def test_parallel_confirmations_show_one_set_of_codes(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    start_app_setup(ports, actor)
    code = one_time_code(ports, secret_shown(ports, actor))

    def confirm(_number: int) -> tuple[str, ...]:
        try:
            return confirm_app_setup(ports, actor, code=code).recovery_codes
        except Refused:
            return ()

    with ThreadPoolExecutor(4) as threads:
        shown = [codes for codes in threads.map(confirm, range(4)) if codes]
    assert len(shown) == 1
    assert check_code(ports, NOBODY, user, shown[0][0]) is RECOVERY


CHANGES: list[Callable[[Ports, Actor], object]] = [
    start_app_setup,
    show_app_setup,
    lambda ports, actor: confirm_app_setup(ports, actor, code="000000"),
    turn_off_app,
    replace_own_recovery_codes,
]


def test_changes_need_a_fresh_proof(ports: Ports) -> None:
    actor = replace(actor_of(ports, make_user(ports)), proof_is_old=True)
    for change in CHANGES:
        with pytest.raises(ProofRequired):
            change(ports, actor)


def test_only_the_owner_changes_their_factors(ports: Ports) -> None:
    user = make_user(ports)
    extension = replace(actor_of(ports, user), app_id=7)
    app = Actor(kind=ActorKind.APP, app_id=7)
    for change, actor in product((*CHANGES, cancel_app_setup), (extension, app, NOBODY)):
        with pytest.raises(PermissionDenied):
            change(ports, actor)
