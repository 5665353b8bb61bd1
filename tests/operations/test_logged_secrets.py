"""What is logged of a workload at the lowest level: requests and security events, no secrets."""

import html
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.servers.forked_commands import ForkedCommand
from tests.servers.sandbox import PATIENCE
from tests.spec.server import SECRET, Server, environment, running

ADMIN, CUSTOMER = "admin@example.com", "customer@example.com"
PASSWORD, WRONG = "Parrots-write-9-logs", "Guessed-wrong-7-times"
CHOSEN, NEW = "Seven-new-lanterns-3", "Changed-by-me-55-now"
FIELDS = {"timestamp", "level", "logger", "event", "request_id", "method", "route", "status"}


@dataclass
class Workload:
    """Requests of people, apps and attackers; ``secrets`` are all that they used or got."""

    server: Server
    address: str = "198.51.100.7"
    secrets: set[str] = field(default_factory=set)

    def ask(self, query: str, token: str = "", **headers: str) -> Any:
        if token:
            headers["Authorization"] = f"Bearer {token}"
        response = requests.post(
            f"{self.server.url}/graphql/",
            json={"query": query},
            headers={"X-Forwarded-For": self.address, **headers},
            timeout=PATIENCE,
        )
        return response.json()

    def run(self) -> None:
        self.secrets |= {PASSWORD, WRONG, CHOSEN, NEW, SECRET, "a-secret-of-a-webhook"}
        token = self.sign_in()
        self.make_integrations(token)
        self.register()
        self.use_console()
        self.attack(token)

    def sign_in(self) -> str:
        query = f"""mutation {{ tokenCreate(email: "{ADMIN}", password: "{PASSWORD}")
            {{ token refreshToken errors {{ message }} }} }}"""
        answer = self.ask(query)
        assert "errors" not in answer, answer
        pair = answer["data"]["tokenCreate"]
        assert pair["errors"] == []
        refresh = f"""mutation {{ tokenRefresh(refreshToken: "{pair["refreshToken"]}")
            {{ token errors {{ message }} }} }}"""
        fresh = self.ask(refresh)["data"]["tokenRefresh"]
        assert fresh["errors"] == []
        self.secrets |= {pair["token"], pair["refreshToken"], fresh["token"]}
        token: str = fresh["token"]
        return token

    def make_integrations(self, token: str) -> None:
        answer = self.ask(
            """mutation { appCreate(input: {name: "Hooks", permissions: [MANAGE_ORDERS]})
            { authToken app { id } errors { message } } }""",
            token,
        )
        assert "errors" not in answer, answer
        app = answer["data"]["appCreate"]
        assert app["errors"] == []
        self.secrets.add(app["authToken"])
        self.ask("{ app { id } }", app["authToken"])
        self.ask("{ app { id } }", f"{app['authToken'][:-3]}abc")
        made = None
        for target in ("https://user:wordpass@hooks.example.com/", "https://hooks.example.com/"):
            made = self.ask(
                f"""mutation {{ webhookCreate(input: {{app: "{app["app"]["id"]}", name: "W",
                targetUrl: "{target}", secretKey: "a-secret-of-a-webhook",
                query: "subscription {{ event {{ ... on OrderCreated {{ order {{ id }} }} }} }}"}})
                {{ errors {{ message }} }} }}""",
                token,
            )
        assert made == {"data": {"webhookCreate": {"errors": []}}}
        self.secrets |= {"wordpass", f"{app['authToken'][:-3]}abc"}

    def register(self) -> None:
        query = f"""mutation {{ accountRegister(input: {{email: "{CUSTOMER}",
            password: "{CHOSEN}", redirectUrl: "https://localhost/", channel: "default-channel"}})
            {{ errors {{ message }} }} }}"""
        registered = self.ask(query)
        assert registered == {"data": {"accountRegister": {"errors": []}}}
        self.ask(
            f"""mutation {{ setPassword(email: "{CUSTOMER}", token: "a-guessed-link-token",
            password: "{NEW}") {{ errors {{ message }} }} }}"""
        )
        self.secrets.add("a-guessed-link-token")

    def use_console(self) -> None:
        with requests.Session() as browser:
            browser.headers["X-Forwarded-For"] = "198.51.100.8"
            page = f"{self.server.url}/console/sign-in"
            shown = browser.get(page, timeout=PATIENCE).text
            found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', shown)
            assert found is not None
            form = {"csrf_token": html.unescape(found[1]), "email": ADMIN, "password": PASSWORD}
            home = browser.post(page, form, timeout=PATIENCE)
            assert "Sign out" in home.text
            cookies = {value for name, value in browser.cookies.items() if "language" not in name}
            self.secrets |= {html.unescape(found[1]), *cookies}
            browser.get(
                f"{self.server.url}/console/staff/?email=a-searched-text", timeout=PATIENCE
            )
        self.secrets.add("a-searched-text")

    def attack(self, token: str) -> None:
        forged = f"{token[:-8]}AAAAAAAA"
        self.ask("{ me { email } }", forged)
        self.ask(f'mutation {{ tokenCreate(email: "{ADMIN}", password: "{WRONG}") {{ token }} }}')
        self.ask(f'{{ me(password: "{WRONG}") {{ email }} }}')
        self.ask("{ me { email } }", "", **{"X-Request-ID": token})
        for path in (f"/graphql/?query={{me}}&variables=%7B%22a%22:%22{WRONG}%22%7D", f"/{WRONG}"):
            requests.get(
                f"{self.server.url}{path}",
                headers={"Accept": "application/json"},
                timeout=PATIENCE,
            )
        self.secrets.add(forged)


@dataclass
class Logged:
    """The logs after the workload."""

    workload: Workload
    server: str
    security: str

    def lines(self, text: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path) -> Logged:
    folder = tmp_path_factory.mktemp("logged")
    copied = folder / "shop.sqlite3"
    copied.write_bytes(_migrated_file.read_bytes())
    security = folder / "security.jsonl"
    settings = {
        "APP_ENV": "production",
        "PUBLIC_URL": "http://shop.test",
        "MAIL_URL": f"file:{folder}/mails.txt",
        "LOG_LEVEL": "DEBUG",
        "ACCESS_LOG": "true",
        "SECURITY_LOG": str(security),
        "ALLOWED_CLIENT_HOSTS": "localhost",
    }
    url = f"sqlite:///{copied}"
    create_admin(folder, environment(url, **settings))
    with running(folder, url, **settings) as server:
        workload = Workload(server)
        workload.run()
    return Logged(workload, server.log.read_text(), security.read_text())


def create_admin(folder: Path, settings: dict[str, str]) -> None:
    typed = folder / "typed"
    typed.write_text(f"{PASSWORD}\n")
    command = ("user", "create", ADMIN, "--superuser", "--password-stdin")
    with typed.open() as stdin, (folder / "printed").open("w") as output:
        files = (stdin.fileno(), output.fileno(), output.fileno())
        made = ForkedCommand(command, folder, settings, files).wait(PATIENCE)
    assert made == 0, (folder / "printed").read_text()


def test_no_secret_is_logged(logged: Logged) -> None:
    assert len(logged.workload.secrets) > 14
    for secret in logged.workload.secrets:
        assert len(secret) > 7
        assert secret not in logged.server, secret
        assert secret not in logged.security, secret


def test_no_email_is_logged(logged: Logged) -> None:
    requests_logged = [
        json.dumps(line) for line in logged.lines(logged.server) if line["event"] == "request"
    ]
    for email in (ADMIN, CUSTOMER):
        assert email not in "".join(requests_logged)
        assert email not in logged.security


def test_every_request_has_a_line(logged: Logged) -> None:
    found = [line for line in logged.lines(logged.server) if line["event"] == "request"]
    assert all(set(line) >= FIELDS for line in found)
    by_field = {name: line for line in found for name in line.get("root_fields", ())}
    assert {"tokenCreate", "tokenRefresh", "appCreate", "webhookCreate", "setPassword"} <= set(
        by_field
    )
    assert by_field["appCreate"]["caller"].startswith("User:")
    assert by_field["appCreate"]["client_ip"] == "198.51.100.7"
    assert by_field["app"]["caller_kind"] in ("app", "anonymous")
    routes = {line["route"] for line in found}
    assert {"/graphql/", "/console/sign-in", "/console/staff/", "unmatched"} <= routes


def test_security_events_are_written(logged: Logged) -> None:
    events = [(line["event"], line.get("action", "")) for line in logged.lines(logged.security)]
    assert ("user_created", "user.create") in events
    assert ("user_created", "account.register") in events
    assert ("authn_login_success", "") in events
    assert ("authn_login_fail", "") in events
    assert ("authn_login_lock", "") in events
    assert {action for _, action in events} >= {"app.create", "webhook.create"}
