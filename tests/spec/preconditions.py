"""The state in which each exchange was recorded."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.pages import PageRequest
from app.services.people.directory import list_customers
from tests.builders.people import PASSWORD, make_user
from tests.spec.client import Client, new_address
from tests.spec.documents import CHANGE_PASSWORD, LOGIN
from tests.spec.exchanges import Exchange, recorded
from tests.spec.forged_tokens import Forger
from tests.spec.recorded_apps import add_apps
from tests.spec.recorded_shop import DOMAIN
from tests.spec.recorded_webhooks import add_webhooks
from tests.spec.replay import NEW_PASSWORD, Replay
from tests.spec.single_sign_on import (
    before,
    set_password_by_link,
    set_up_provider,
    sign_in_as_client,
)

_PEOPLE = {"customer": "customer", "manager": "manager", "superuser": "staff"}
"""Whom a line of ``mode`` means by a word of its name."""


def arrange(replay: Replay, exchange: Exchange) -> None:
    """Bring the installation into the state in which ``exchange`` was recorded."""
    by_group = _GROUPS.get(exchange.group)
    if by_group is not None:
        by_group(replay, exchange)
    by_name = ARRANGED.get(exchange.id)
    if by_name is not None:
        by_name(replay)


def _in_its_mode(replay: Replay, exchange: Exchange) -> None:
    """The tokens are older than the mode, unless the line itself fetches new ones."""
    who = (person for word, person in _PEOPLE.items() if f"_{word}" in exchange.name)
    session = replay.shop.session(next(who, "customer"))
    replay.given |= {"ACCESS": session.access, "REFRESH": session.refresh}
    if "extension_token" in exchange.name:
        add_apps(replay, exchange)
    replay.shop.set_switches(
        next(mode for mode in PasswordLoginMode if exchange.name.startswith(mode))
    )


def _closed(replay: Replay, exchange: Exchange) -> None:
    if exchange.name.startswith(("set_", "after_")):
        return
    if exchange.name.startswith(PasswordLoginMode.CUSTOMERS_ONLY):
        replay.shop.access("staff")  # from before the mode
        replay.shop.set_switches(PasswordLoginMode.CUSTOMERS_ONLY, allow_storefront_traffic=False)
    else:
        replay.shop.set_switches(allow_storefront_traffic=False)


def _signed_in_twice(replay: Replay, exchange: Exchange) -> None:
    """The lines of a person who signs out everywhere; all but one come after that."""
    first = replay.shop.session("customer2")
    replay.given |= {"ACCESS": first.access, "REFRESH": first.refresh}
    if exchange.name not in ("ok", "app"):
        second = replay.shop.sign_in("customer2")
        replay.play(recorded()["deactivate/ok"])
        if exchange.name == "me_with_the_users_other_token":
            replay.given |= {"ACCESS": second.access}


def _with_a_session(replay: Replay, _exchange: Exchange) -> None:
    replay.given["ACCESS"] = replay.shop.access("customer2")


def _password_changed(replay: Replay) -> None:
    """The recordings lack the exchange that changed the password."""
    variables = {"old": PASSWORD, "new": NEW_PASSWORD}
    response = replay.client.run(CHANGE_PASSWORD, replay.given["ACCESS"], **variables)
    assert response.data["passwordChange"]["errors"] == []


def _with_a_link(replay: Replay, _exchange: Exchange) -> None:
    replay.given["RESET_TOKEN"] = replay.shop.reset_link("reset")


def _password_set(replay: Replay) -> None:
    before = replay.shop.refresh("reset")
    replay.play(recorded()["reset/set_ok"])
    replay.given["REFRESH"] = before


def _after(name: str) -> Callable[[Replay], None]:
    def play(replay: Replay) -> None:
        replay.play(recorded()[name])

    return play


def _blocked_here(replay: Replay) -> None:
    replay.shop.fail_logins(replay.client.address, 2, "throttle")


def _blocked_elsewhere(replay: Replay) -> None:
    replay.shop.fail_logins(new_address(), 2, "throttle")


def _thirteen_strangers(replay: Replay) -> None:
    replay.shop.fail_logins(replay.client.address, 13, None)


def _one_login_from_each_of_two_addresses(replay: Replay) -> None:
    answers = _at_once(replay, [replay.client.address, new_address()])
    assert answers == [[], []]


def _four_logins_from_one_address(replay: Replay) -> None:
    """Some may come after another has ended, but none runs beside another."""
    answers = _at_once(replay, [replay.client.address] * 4)
    assert [] in answers
    assert all(errors in ([], ["LOGIN_ATTEMPT_DELAYED"]) for errors in answers)


def _at_once(replay: Replay, addresses: list[str]) -> list[list[str]]:
    def log_in(address: str) -> list[str]:
        client = Client(replay.client.server, replay.client.http, address)
        response = client.run(LOGIN, email=f"customer@{DOMAIN}", password=PASSWORD)
        return [error["code"] for error in response.data["tokenCreate"]["errors"]]

    with ThreadPoolExecutor(len(addresses)) as pool:
        return list(pool.map(log_in, addresses))


def _inactive_refresh(replay: Replay) -> None:
    replay.given["JWT"] = Forger(replay.shop).make("inactive_refresh")


def _manager_of_staff(replay: Replay) -> None:
    """Whoever does not manage staff is refused before it is asked what a group is to give."""
    replay.shop.grant("manager", Permission.MANAGE_STAFF)


def _thirty_customers(replay: Replay) -> None:
    ports = replay.shop.ports
    there = list_customers(ports, OPERATOR, PageRequest(1)).count()
    for number in range(there, 30):
        make_user(ports, f"shopper{number}@{DOMAIN}")


def _at_its_provider(replay: Replay, exchange: Exchange) -> None:
    shop, provider = replay.shop, replay.shop.provider
    set_up_provider(shop, provider, exchange)
    for earlier in before(exchange):
        replay.play(earlier)
    if exchange.name.endswith(("after_reset", "after_second_oidc")):
        set_password_by_link(shop)
    if exchange.name.startswith("client_"):
        replay.given["ACCESS"] = sign_in_as_client(replay.client, provider)
    if exchange.name == "client_mode_DISABLED_me":
        shop.set_switches(PasswordLoginMode.DISABLED)


_GROUPS: Mapping[str, Callable[[Replay, Exchange], None]] = {
    "app": add_apps,
    "deactivate": _signed_in_twice,
    "mode": _in_its_mode,
    "oidc": _at_its_provider,
    "passwordChange": _with_a_session,
    "reset": _with_a_link,
    "storefront": _closed,
    "webhook": add_webhooks,
}
ARRANGED: Mapping[str, Callable[[Replay], None]] = {
    "app/extension_token_of_staff_customers": _thirty_customers,
    "mode/CUSTOMERS_ONLY_mode_after_manager_set_ENABLED": _after(
        "mode/CUSTOMERS_ONLY_manager_set_ENABLED"
    ),
    "mode/CUSTOMERS_ONLY_superuser_me_refreshed": _after(
        "mode/CUSTOMERS_ONLY_superuser_tokenRefresh"
    ),
    "passwordChange/after_change_access_still_valid_probe": _password_changed,
    "passwordChange/login_new_password": _password_changed,
    "permission/permissionGroupCreate_out_of_scope": _manager_of_staff,
    "reset/login_old_password_after_reset": _password_set,
    "reset/old_refresh_token_after_reset": _password_set,
    "throttle/concurrent_2_two_ips__next_after": _one_login_from_each_of_two_addresses,
    "throttle/concurrent_4_correct__next_after": _four_logins_from_one_address,
    "throttle/known_correct_password_while_blocked": _blocked_here,
    "throttle/known_fail2_next_attempt_immediately": _blocked_here,
    "throttle/known_same_user_other_ip_while_blocked": _blocked_elsewhere,
    "throttle/tokenRefresh_from_blocked_ip": _blocked_here,
    "throttle/unknown_x13_then_immediately": _thirteen_strangers,
    "tokenRefresh/inactive_user": _inactive_refresh,
    "tokenRefresh/twice_same_refresh_token": _after("tokenRefresh/header_garbage_token"),
}
