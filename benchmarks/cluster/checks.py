"""Changes through one host, and what the other host answers right afterwards."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count, cycle
from typing import Any
from urllib.parse import urlsplit

import psycopg
import requests

from app.domain.values.ids import to_global_id
from benchmarks.cluster.cluster import Cluster
from benchmarks.cluster.hosts import Host
from tests.builders.people import make_user

_ME = "{ me { email } }"
_APP = "{ app { name } }"
_SWITCH = """
mutation ($open: Boolean!) {
  shopSettingsUpdate(input: {allowStorefrontTraffic: $open}) { errors { code } }
}"""
_END = "mutation { tokensDeactivateAll { errors { code } } }"
_ISSUE = """
mutation ($app: ID!) {
  appTokenCreate(input: {app: $app}) { authToken appToken { id } errors { code } }
}"""
_REVOKE = "mutation ($id: ID!) { appTokenDelete(id: $id) { errors { code } } }"
_REFRESH = "mutation ($t: String!) { tokenRefresh(refreshToken: $t) { token errors { code } } }"
_SIGN_IN = """
mutation ($email: String!) {
  tokenCreate(email: $email, password: "a wrong password") { token errors { code message } }
}"""
_DELAYED = "LOGIN_ATTEMPT_DELAYED"
_WAIT = re.compile(r"in (\d+) s")
_TWO = 2
"""Seconds of a block after two failures; after three it is 4 s."""

_PATIENCE = 60.0
_CLIENT = "203.0.113.9"

_SHOPPER = "shopper@example.com"
_COPY_PASSWORD = """
UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = %s)
WHERE email = %s"""
_GUESSERS = 4
_addresses = count(1)


@dataclass(slots=True)
class Figures:
    """How often the other host was asked, and the answers that were wrong, by kind.

    ``throttled``: rounds of wrong passwords on both hosts that were counted together;
    ``blocks_known``: those whose block the other host knew right away.
    """

    asked: int = 0
    late: Counter[str] = field(default_factory=Counter)
    throttled: int = 0
    blocks_known: int = 0
    throttle_rounds: int = 0

    def check(self, kind: str, *, right: bool) -> None:
        self.asked += 1
        if not right:
            self.late[kind] += 1


class CrossHostChecks:
    """Asks hosts directly, each process in turn, as nginx does."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._session = requests.Session()
        self._session.trust_env = False
        self._name = urlsplit(cluster.api.url).netloc
        self._urls: dict[str, Iterator[str]] = {
            host.place.name: cycle(host.urls) for host in cluster.hosts
        }
        self._customer = make_user(cluster.ports, _SHOPPER)
        self._leaving = make_user(cluster.ports, "leaving@example.com", password=None)
        self._users = count(1)

    def run(self, rounds: int, throttle_rounds: int) -> Figures:
        """Make ``rounds`` of each change, in both directions, and count wrong answers."""
        figures = Figures()
        one, other = self._cluster.hosts
        token = self._cluster.sign_in(self._customer)
        for number in range(rounds):
            here, there = (one, other) if number % 2 else (other, one)
            self._switch(figures, here, there, token)
            self._end_session(figures, here, there)
            self._revoke(figures, here, there)
            self._refresh(figures, here, there)
        emails = [self._make_guessed() for _ in range(throttle_rounds)]
        with ThreadPoolExecutor(_GUESSERS) as pool:
            sides = cycle([(one, other), (other, one)])
            for is_counted, is_known in pool.map(self._throttle, emails, sides):
                figures.throttle_rounds += 1
                figures.throttled += is_counted
                figures.blocks_known += is_known
        return figures

    def _switch(self, figures: Figures, here: Host, there: Host, token: str) -> None:
        for is_open in (False, True):
            self._staff(here, _SWITCH, open=is_open)
            status = self._ask(there, _ME, token).status_code
            expected = requests.codes.ok if is_open else requests.codes.unauthorized
            kind = "the storefront opened" if is_open else "the storefront closed"
            figures.check(kind, right=status == expected)

    def _end_session(self, figures: Figures, here: Host, there: Host) -> None:
        token = self._cluster.sign_in(self._leaving)
        figures.check("a session began", right=self._knows(there, _ME, token, "me"))
        self._data(self._ask(here, _END, token))
        figures.check("a session ended", right=not self._knows(there, _ME, token, "me"))

    def _revoke(self, figures: Figures, here: Host, there: Host) -> None:
        app = to_global_id("App", self._cluster.app)
        made = self._staff(here, _ISSUE, app=app)["appTokenCreate"]
        token, name = made["authToken"], made["appToken"]["id"]
        figures.check("an app token issued", right=self._knows(there, _APP, token, "app"))
        self._staff(here, _REVOKE, id=name)
        figures.check("an app token revoked", right=not self._knows(there, _APP, token, "app"))

    def _refresh(self, figures: Figures, here: Host, there: Host) -> None:
        """Use a token at one host that the other has just signed."""
        answer = self._staff(here, _REFRESH, t=self._cluster.api.refresh_token)
        token = answer["tokenRefresh"]["token"]
        figures.check("a token refreshed", right=self._knows(there, _ME, token, "me"))

    def _make_guessed(self) -> str:
        email = f"guessed-{next(self._users)}@example.com"
        make_user(self._cluster.ports, email, password=None)
        with psycopg.connect(self._cluster.database.own_url) as connection:
            connection.execute(_COPY_PASSWORD, [_SHOPPER, email])
        return email

    def _throttle(self, email: str, sides: tuple[Host, Host]) -> tuple[bool, bool]:
        """Fail at one host, the other and the first again, from one IP address.

        Return whether all three were counted together, and whether the other host knows the block.
        """
        here, there = sides
        number = next(_addresses)
        address = f"198.18.{number // 250}.{number % 250 + 1}"
        for host in (here, there, here):
            self._fail(host, email, address)
        is_known = self._guess(there, email, address)[0] == _DELAYED
        code, message = self._guess(here, email, address)
        wait = _WAIT.search(message)
        return code == _DELAYED and wait is not None and int(wait[1]) > _TWO, is_known

    def _fail(self, host: Host, email: str, address: str) -> None:
        """Enter a wrong password as soon as the IP address isn't blocked any more."""
        deadline = time.monotonic() + _PATIENCE
        while self._guess(host, email, address)[0] != "INVALID_CREDENTIALS":
            if time.monotonic() > deadline:
                raise TimeoutError(f"{address} is still blocked.")
            time.sleep(0.05)

    def _guess(self, host: Host, email: str, address: str) -> tuple[str, str]:
        response = self._ask(host, _SIGN_IN, "", address, email=email)
        response.raise_for_status()
        answer = response.json()
        if "errors" in answer:  # too many passwords at once
            return "", answer["errors"][0]["message"]
        [error] = answer["data"]["tokenCreate"]["errors"]
        return error["code"], error["message"]

    def _staff(self, host: Host, query: str, **variables: object) -> Any:
        return self._data(self._ask(host, query, self._cluster.api.token, _CLIENT, **variables))

    def _knows(self, host: Host, query: str, token: str, name: str) -> bool:
        response = self._ask(host, query, token)
        if response.status_code not in (requests.codes.ok, requests.codes.unauthorized):
            raise RuntimeError(f"{host.place.name}: {response.status_code} {response.text}")
        return bool((response.json().get("data") or {}).get(name))

    def _ask(
        self, host: Host, query: str, token: str, address: str = _CLIENT, **variables: object
    ) -> requests.Response:
        headers = {"Host": self._name, "X-Forwarded-For": address, "X-Forwarded-Proto": "https"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return self._session.post(
            f"{next(self._urls[host.place.name])}/graphql/",
            json={"query": query, "variables": variables},
            headers=headers,
            timeout=30,
        )

    @staticmethod
    def _data(response: requests.Response) -> Any:
        response.raise_for_status()
        answer = response.json()
        if answer.get("errors"):
            raise RuntimeError(f"{answer['errors']}")
        for value in answer["data"].values():
            if value["errors"]:
                raise RuntimeError(f"{value['errors']}")
        return answer["data"]
