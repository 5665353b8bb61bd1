"""Codes and refresh tokens are used once, and a grant counts as the sign-in behind it does."""

from dataclasses import replace
from threading import Barrier, Thread

import jwt
import pytest
from sqlalchemy import Connection, Engine, event, insert

from app import models
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.oauth import DEFAULT_SCOPES, OFFLINE, OAuthClient
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused, TrafficClosed
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.oauth.client_tokens import find_issued_token, revoke_grant
from app.services.oauth.clients import ClientChange, update_client
from app.services.oauth.consents import (
    allow_client,
    disconnect_program,
    list_connected_programs,
    scopes_to_allow,
)
from app.services.oauth.grants import (
    CodeRequest,
    Granted,
    find_code,
    find_refresh_token,
    issue_code,
    use_code,
    use_refresh_token,
)
from app.services.sign_in.sessions import end_sessions, list_sessions
from app.services.sign_in.tokens import refresh_token
from tests.builders.oauth import CALLBACK, CHALLENGE, grant, make_client, make_code
from tests.builders.oauth import person_at_pages as at_pages
from tests.builders.people import NOBODY, make_user, sessions_of, sign_in, visit
from tests.builders.shop import close_storefront, set_mode
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements

OFFLINE_SCOPES = DEFAULT_SCOPES | {OFFLINE}
ORDERS = Permission.MANAGE_ORDERS


def refresh(ports: Ports, client: OAuthClient, token: str) -> Granted | None:
    found = find_refresh_token(ports, NOBODY, token)
    return None if found is None else use_refresh_token(ports, NOBODY, client, found.id)


def works(ports: Ports, token: str) -> bool:
    return identify(ports, visit(token)).actor.is_user


def exchange(ports: Ports, client: OAuthClient, code: str) -> Granted | None:
    found = find_code(ports, NOBODY, client, code)
    return None if found is None else use_code(ports, NOBODY, client, found.id)


def test_grant_is_one_session_that_its_person_sees_and_ends(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    person = at_pages(ports, user)
    before = len(list_sessions(ports, person))
    granted = grant(ports, client, user, OFFLINE_SCOPES)
    assert works(ports, granted.access_token)
    # That of the pages, and the grant's.
    assert len(list_sessions(ports, person)) == before + 2
    again = refresh(ports, client, granted.refresh_token)
    assert again is not None
    assert len(list_sessions(ports, person)) == before + 2
    with ports.database.transaction() as session:
        end_sessions(ports, session, user)
    assert not works(ports, again.access_token)
    assert refresh(ports, client, again.refresh_token) is None


def test_code_that_comes_again_ends_the_session_that_it_began(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    code = make_code(ports, client, at_pages(ports, user))
    granted = exchange(ports, client, code)
    assert granted is not None
    assert works(ports, granted.access_token)
    assert exchange(ports, client, code) is None
    assert not works(ports, granted.access_token)


def test_code_is_exchanged_once_by_several_at_once(ports: Ports, second_process: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    code = make_code(ports, client, at_pages(ports, user))
    barrier, found = Barrier(2, timeout=30), list[Granted | None]()

    def run(process: Ports) -> None:
        barrier.wait()
        found.append(exchange(process, client, code))

    threads = [Thread(target=run, args=(process,)) for process in (ports, second_process)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(one is not None for one in found) == [False, True]


def test_code_ends_with_its_minute_its_client_and_its_sign_in(
    ports: Ports, clock: FakeClock
) -> None:
    user, client = make_user(ports), make_client(ports).client
    other = make_client(ports, "Board").client
    assert exchange(ports, other, make_code(ports, client, at_pages(ports, user))) is None
    late = make_code(ports, client, at_pages(ports, user))
    clock.pass_(seconds=61)
    assert exchange(ports, client, late) is None
    signed_out = make_code(ports, client, at_pages(ports, user))
    with ports.database.transaction() as session:
        end_sessions(ports, session, user)
    assert exchange(ports, client, signed_out) is None


@pytest.mark.both_databases
def test_consent_that_is_stored_in_two_tabs_at_once_has_the_scopes_of_both(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    person, now = at_pages(ports, user), ports.clock.now()
    times = {"created_at": now, "updated_at": now}
    rows = [{"user_id": user, "client_id": client.id, "scope": "email", **times}]

    def add(connection: Connection, _cursor: object, statement: str, *_rest: object) -> None:
        if rows and statement.startswith(f"INSERT INTO {models.OAuthConsent.__tablename__}"):
            connection.execute(insert(models.OAuthConsent), rows.pop())

    event.listen(Engine, "before_cursor_execute", add)
    try:
        allow_client(ports, person, client, {"profile"})
    finally:
        event.remove(Engine, "before_cursor_execute", add)
    assert rows == []
    assert scopes_to_allow(ports, person, client, {"email", "profile", OFFLINE}) == {OFFLINE}


def test_third_party_gets_no_code_for_what_its_person_has_not_allowed(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    person = at_pages(ports, user)
    asked = CodeRequest(client, CALLBACK, DEFAULT_SCOPES, CHALLENGE, ports.clock.now())
    with pytest.raises(PermissionDenied):
        issue_code(ports, person, asked)
    assert scopes_to_allow(ports, person, client, DEFAULT_SCOPES) == DEFAULT_SCOPES
    granted = grant(ports, client, user)
    assert issue_code(ports, person, asked)
    assert scopes_to_allow(ports, person, client, OFFLINE_SCOPES) == {OFFLINE}
    assert [one.name for one in list_connected_programs(ports, person)] == ["Forum"]
    on_its_way = issue_code(ports, person, asked)
    disconnect_program(ports, person, client.client_id)
    assert exchange(ports, client, on_its_way) is None
    assert not works(ports, granted.access_token)
    assert list_connected_programs(ports, person) == ()
    with pytest.raises(Refused):
        disconnect_program(ports, person, client.client_id)
    own = make_client(ports, "Storefront", is_first_party=True).client
    assert scopes_to_allow(ports, person, own, OFFLINE_SCOPES) == frozenset()


def test_refresh_token_rotates_and_one_that_comes_again_ends_the_family(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    first = grant(ports, client, user, OFFLINE_SCOPES)
    second = refresh(ports, client, first.refresh_token)
    assert second is not None
    assert second.refresh_token != first.refresh_token
    assert second.authenticated_at == first.authenticated_at
    assert refresh(ports, client, first.refresh_token) is None
    for token in (first.access_token, second.access_token):
        assert not works(ports, token)
    assert refresh(ports, client, second.refresh_token) is None


def test_refreshing_does_not_prolong_a_grant(ports: Ports, clock: FakeClock) -> None:
    client, user = make_client(ports).client, make_user(ports)
    granted = grant(ports, client, user, OFFLINE_SCOPES)
    lifetime = ports.configuration.jwt_ttl_refresh
    clock.pass_(seconds=lifetime - 60)
    later = refresh(ports, client, granted.refresh_token)
    assert later is not None
    assert later.expires_in <= 60
    clock.pass_(seconds=61)
    assert refresh(ports, client, later.refresh_token) is None
    assert not works(ports, later.access_token)


def test_refresh_token_belongs_to_its_client_and_to_this_endpoint(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    granted = grant(ports, client, user, OFFLINE_SCOPES)
    other = make_client(ports, "Board", is_first_party=True).client
    assert refresh(ports, other, granted.refresh_token) is None
    with pytest.raises(Refused):
        refresh_token(ports, NOBODY, token=granted.refresh_token)
    assert refresh(ports, client, sign_in(ports, user).refresh) is None
    assert refresh(ports, client, granted.refresh_token) is not None


def test_grant_keeps_the_origin_of_its_sign_in_in_every_mode(ports: Ports) -> None:
    user = make_user(ports, "staff@example.com", is_staff=True, permissions=[ORDERS])
    scopes = frozenset(("openid", OFFLINE, ORDERS.value))
    client = make_client(ports, scopes=scopes, is_first_party=True).client
    local = grant(ports, client, user, scopes)
    by_provider = grant(ports, client, user, scopes, SessionOrigin.OIDC)

    def held(granted: Granted) -> bool:
        return identify(ports, visit(granted.access_token)).actor.holds(ORDERS)

    assert held(local)
    assert held(by_provider)
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    assert works(ports, local.access_token)
    assert not held(local)
    assert held(by_provider)
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert not works(ports, local.access_token)
    assert refresh(ports, client, local.refresh_token) is None
    assert held(by_provider)
    assert refresh(ports, client, by_provider.refresh_token) is not None


def test_closed_storefront_gives_tokens_to_staff_by_a_live_grant_alone(ports: Ports) -> None:
    staff = make_user(ports, "staff@example.com", is_staff=True)
    customer = make_user(ports)
    scopes = OFFLINE_SCOPES | {"staff"}
    client = make_client(ports, scopes=scopes, is_first_party=True).client
    of_staff, of_customer = (grant(ports, client, one, scopes) for one in (staff, customer))
    # A person's role counts only in a grant that names it.
    narrow = grant(ports, client, staff, OFFLINE_SCOPES)
    codes = [make_code(ports, client, at_pages(ports, one), scopes) for one in (staff, customer)]
    close_storefront(ports)
    assert exchange(ports, client, codes[0]) is not None
    with pytest.raises(TrafficClosed):
        exchange(ports, client, codes[1])
    assert refresh(ports, client, of_staff.refresh_token) is not None
    for granted in (of_customer, narrow):
        with pytest.raises(TrafficClosed):
            refresh(ports, client, granted.refresh_token)
    assert len(sessions_of(ports, customer)) == 3


def test_disabled_client_has_no_working_token_until_it_is_enabled(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    granted = grant(ports, client, user, OFFLINE_SCOPES)
    code = make_code(ports, client, at_pages(ports, user))
    update_client(ports, OPERATOR, client.client_id, ClientChange(is_active=False))
    assert not works(ports, granted.access_token)
    assert refresh(ports, client, granted.refresh_token) is None
    assert find_issued_token(ports, NOBODY, client, granted.access_token) is None
    update_client(ports, OPERATOR, client.client_id, ClientChange(is_active=True))
    assert works(ports, granted.access_token)
    assert exchange(ports, client, code) is not None


def test_grant_is_read_in_the_one_statement_of_every_request(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    tokens = sign_in(ports, user).access, grant(ports, client, user).access_token
    for token in tokens:
        assert works(ports, token)
        with recorded_statements() as statements:
            assert works(ports, token)
        assert len(statements) == 1


def test_scope_that_is_taken_from_a_client_is_gone_from_its_grants(ports: Ports) -> None:
    user = make_user(ports, is_staff=True, permissions=[ORDERS])
    scopes = frozenset(("openid", ORDERS.value))
    client = make_client(ports, scopes=scopes, is_first_party=True).client
    token = grant(ports, client, user, scopes).access_token
    assert identify(ports, visit(token)).actor.permissions == {ORDERS}
    fewer = ClientChange(scopes=frozenset({"openid"}))
    update_client(ports, OPERATOR, client.client_id, fewer)
    actor = identify(ports, visit(token)).actor
    assert (actor.permissions, actor.is_staff) == (frozenset(), False)


def test_scope_that_is_taken_from_a_client_is_in_no_new_grant(ports: Ports) -> None:
    """Neither by a code that was issued before, nor in what its token names."""
    user, stored = make_user(ports), make_client(ports)
    code = make_code(ports, stored.client, at_pages(ports, user), OFFLINE_SCOPES)
    fewer = ClientChange(scopes=frozenset(("openid", "profile")))
    client = update_client(ports, OPERATOR, stored.id, fewer)
    granted = exchange(ports, client, code)
    assert granted is not None
    assert granted.scopes == {"openid", "profile"}
    assert granted.refresh_token == ""
    claims = jwt.decode(granted.access_token, options={"verify_signature": False})
    assert (claims["email"], claims["scope"]) == ("", "openid profile")
    # It doesn't come back with the scope: the person granted this session without it.
    update_client(ports, OPERATOR, stored.id, ClientChange(scopes=OFFLINE_SCOPES))
    found = find_issued_token(ports, NOBODY, client, granted.access_token)
    assert found is not None
    assert found.scopes == {"openid", "profile"}


def test_refresh_tokens_end_when_the_client_loses_offline_access(ports: Ports) -> None:
    user, stored = make_user(ports), make_client(ports)
    granted = grant(ports, stored.client, user, OFFLINE_SCOPES)
    fewer = ClientChange(scopes=DEFAULT_SCOPES)
    client = update_client(ports, OPERATOR, stored.id, fewer)
    assert find_issued_token(ports, NOBODY, client, granted.refresh_token) is None
    assert refresh(ports, client, granted.refresh_token) is None
    # Control: the access token works on, and refreshing does when the client has it back.
    assert works(ports, granted.access_token)
    client = update_client(ports, OPERATOR, stored.id, ClientChange(scopes=OFFLINE_SCOPES))
    assert find_issued_token(ports, NOBODY, client, granted.refresh_token) is not None
    assert refresh(ports, client, granted.refresh_token) is not None


def test_client_looks_up_and_revokes_its_own_tokens_alone(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    granted = grant(ports, client, user, OFFLINE_SCOPES)
    other = make_client(ports, "Board").client
    tokens = granted.access_token, granted.refresh_token
    for token in tokens:
        found = find_issued_token(ports, NOBODY, client, token)
        assert found is not None
        assert found.scopes == OFFLINE_SCOPES
        assert found.is_refresh is (token == granted.refresh_token)
        assert find_issued_token(ports, NOBODY, other, token) is None
        revoke_grant(ports, NOBODY, other, token)
    for foreign in (sign_in(ports, user).access, "lkrt_unknown", "x"):
        assert find_issued_token(ports, NOBODY, client, foreign) is None
    assert works(ports, granted.access_token)
    revoke_grant(ports, NOBODY, client, granted.refresh_token)
    assert not works(ports, granted.access_token)


def test_session_without_offline_access_ends_with_its_access_token(
    ports: Ports, clock: FakeClock
) -> None:
    user, client = make_user(ports), make_client(ports).client
    granted = grant(ports, client, user)
    assert granted.refresh_token == ""
    assert granted.expires_in == ports.configuration.jwt_ttl_access
    clock.pass_(seconds=granted.expires_in)
    assert not works(ports, granted.access_token)


def test_consent_is_asked_again_for_another_name_or_site(ports: Ports) -> None:
    """Whoever can edit a client could else get what people allowed to another program."""
    user, stored = make_user(ports), make_client(ports)
    person = at_pages(ports, user)
    granted: Granted | None = grant(ports, stored.client, user, OFFLINE_SCOPES)
    elsewhere = "https://evil.example/callback"
    for change, is_asked in (
        (ClientChange(redirect_uris=(CALLBACK, f"{CALLBACK}/second")), False),
        (ClientChange(allows_devices=True), False),
        (ClientChange(redirect_uris=(CALLBACK, elsewhere)), True),
        (ClientChange(redirect_uris=(CALLBACK,)), False),
        (ClientChange(name="Bank"), True),
    ):
        code = make_code(ports, stored.client, person, DEFAULT_SCOPES)
        changed = update_client(ports, OPERATOR, stored.id, change)
        missing = scopes_to_allow(ports, person, changed, DEFAULT_SCOPES)
        assert missing == (DEFAULT_SCOPES if is_asked else frozenset()), change
        assert (exchange(ports, changed, code) is None) is is_asked, change
        # Who is connected stays so: tokens go nowhere else.
        assert granted is not None
        granted = refresh(ports, changed, granted.refresh_token)
        assert granted is not None
        allow_client(ports, person, changed, OFFLINE_SCOPES)
        stored = replace(stored, client=changed)
    # A page that showed the client as it was isn't consent to what it became.
    renamed = update_client(ports, OPERATOR, stored.id, ClientChange(name="Forum"))
    allow_client(ports, person, stored.client, DEFAULT_SCOPES)
    assert scopes_to_allow(ports, person, renamed, DEFAULT_SCOPES) == DEFAULT_SCOPES
    # What was allowed long ago isn't allowed again with something less.
    allow_client(ports, person, renamed, frozenset({"openid"}))
    assert scopes_to_allow(ports, person, renamed, {"openid", "email"}) == {"email"}


def test_who_is_connected_stays_so_after_allowing_a_renamed_client_less(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports).client
    person = at_pages(ports, user)
    granted = grant(ports, client, user, OFFLINE_SCOPES)
    renamed = update_client(ports, OPERATOR, client.client_id, ClientChange(name="Bank"))
    allow_client(ports, person, renamed, frozenset({"openid"}))
    again = refresh(ports, renamed, granted.refresh_token)
    assert again is not None
    assert again.scopes == granted.scopes
    [program] = list_connected_programs(ports, person)
    assert program.scopes == OFFLINE_SCOPES, "people see what it still has"
    # Controls: a new grant has to be allowed, and disconnecting ends this one.
    assert scopes_to_allow(ports, person, renamed, {"email"}) == {"email"}
    disconnect_program(ports, person, renamed.client_id)
    allow_client(ports, person, renamed, OFFLINE_SCOPES)
    assert refresh(ports, renamed, again.refresh_token) is None


def test_consent_counts_when_tokens_are_given(ports: Ports, clock: FakeClock) -> None:
    """One that was taken back on the way, or that a first party never needed, is none."""
    user, client = make_user(ports), make_client(ports, is_first_party=True).client
    person = at_pages(ports, user)
    code = make_code(ports, client, person, OFFLINE_SCOPES)
    granted = exchange(ports, client, make_code(ports, client, person, OFFLINE_SCOPES))
    assert granted is not None
    third = update_client(ports, OPERATOR, client.client_id, ClientChange(is_first_party=False))
    assert exchange(ports, third, code) is None
    assert refresh(ports, third, granted.refresh_token) is None
    clock.pass_(seconds=1)
    allow_client(ports, person, third, frozenset({"openid"}))
    assert refresh(ports, third, granted.refresh_token) is None, "nobody was asked for the rest"
    # Control: the same grant once its person has allowed it.
    allow_client(ports, person, third, OFFLINE_SCOPES)
    assert refresh(ports, third, granted.refresh_token) is not None
