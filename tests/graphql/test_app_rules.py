"""Who may do what with apps: every operation, every kind of caller."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from app.domain.actor import OPERATOR
from app.domain.ids import to_global_id
from app.domain.permissions import ALL_PERMISSIONS, Permission
from app.ports import Ports
from app.services.app_tokens import list_app_tokens
from app.services.extension_tokens import make_extension_token
from tests.builders.apps import make_app, make_extension_app
from tests.builders.people import actor_of, make_staff, make_user, sign_in
from tests.graphql.front import Front

APPS = Permission.MANAGE_APPS
ALL_BUT = ALL_PERMISSIONS - {APPS}
DENIED, OUT_OF_SCOPE, FINE = "PermissionDenied", "OUT_OF_SCOPE_APP", "fine"
URL = "http://127.0.0.1:9/manifest"

MANAGING = {
    "appCreate": 'appCreate(input: {name: "x"}) { errors { code } }',
    "appActivate": 'appActivate(id: "APP") { errors { code } }',
    "appDeactivate": 'appDeactivate(id: "APP") { errors { code } }',
    "appTokenRotate": 'appTokenRotate(id: "TOKEN") { errors { code } }',
    "appTokenDelete": 'appTokenDelete(id: "TOKEN") { errors { code } }',
    "appInstall": 'appInstall(input: {appName: "x", manifestUrl: "URL"}) { errors { code } }',
    "appRetryInstall": 'appRetryInstall(id: "NONE") { errors { code } }',
    "appDeleteFailedInstallation": 'appDeleteFailedInstallation(id: "NONE") { errors { code } }',
    "appFetchManifest": 'appFetchManifest(manifestUrl: "URL") { errors { code } }',
}
SCOPED = {
    "appUpdate": 'appUpdate(id: "APP", input: {name: "x"}) { errors { code } }',
    "appDelete": 'appDelete(id: "APP") { errors { code } }',
    "appTokenCreate": 'appTokenCreate(input: {app: "APP"}) { errors { code } }',
}
READING = {
    "apps": "apps(first: 1) { edges { node { name } } }",
    "appsInstallations": "appsInstallations { id }",
    "appExtensions": "appExtensions(first: 1) { edges { node { label } } }",
    "appExtension": 'appExtension(id: "NONE") { label }',
}
PUBLIC = {"appTokenVerify": 'appTokenVerify(token: "x") { errors { code } }'}

STAFF_ROWS = {"staff without", "staff with", "superuser", "extension", "extension with"}
APP_ROWS = {"app without", "app with"}
MANAGERS = {"staff with", "superuser"}


@dataclass(frozen=True, slots=True)
class Row:
    """One operation: who it is fine for, and who is told something else than to have no right."""

    query: str
    fine: frozenset[str]
    scoped: frozenset[str] = frozenset()


def rows() -> Mapping[str, Row]:
    managers = frozenset(MANAGERS)
    found = {name: Row(f"mutation {{ {text} }}", managers) for name, text in MANAGING.items()}
    for name, text in SCOPED.items():
        found[name] = Row(f"mutation {{ {text} }}", managers, frozenset({"app with"}))
    everybody = frozenset(STAFF_ROWS | APP_ROWS)
    for name, fine in (
        ("apps", frozenset(STAFF_ROWS)),
        ("appsInstallations", managers),
        ("appExtensions", everybody),
        ("appExtension", everybody),
    ):
        found[name] = Row(f"{{ {READING[name]} }}", fine)
    for name, text in PUBLIC.items():
        found[name] = Row(f"mutation {{ {text} }}", frozenset(CALLERS))
    return found


def _extension(ports: Ports, *granted: Permission) -> str:
    boss = make_user(ports, f"boss{len(granted)}@example.com", is_superuser=True)
    page = make_extension_app(ports, "page", *granted)
    token = make_extension_token(ports, actor_of(ports, boss), page)
    assert token is not None
    return token


def _staff(ports: Ports, email: str, *permissions: Permission) -> str:
    return sign_in(ports, make_staff(ports, email, *permissions)).access


def _superuser(ports: Ports) -> str:
    return sign_in(ports, make_user(ports, "super@example.com", is_superuser=True)).access


CALLERS: Mapping[str, Callable[[Ports], str | None]] = {
    "nobody": lambda ports: None,
    "customer": lambda ports: sign_in(ports, make_user(ports)).access,
    "staff without": lambda ports: _staff(ports, "without@example.com", *ALL_BUT),
    "staff with": lambda ports: _staff(ports, "with@example.com", APPS),
    "superuser": _superuser,
    "app without": lambda ports: make_app(ports, "without", *ALL_BUT)[1],
    "app with": lambda ports: make_app(ports, "with", *ALL_PERMISSIONS)[1],
    "extension": _extension,
    "extension with": lambda ports: _extension(ports, *ALL_PERMISSIONS),
}


def outcome(front: Front, query: str, credential: str | None) -> str:
    """Denied, out of scope, or whatever else: then the caller was let in."""
    answer = front.ask(query, credential)
    if "errors" in answer:
        code: str = answer["errors"][0]["extensions"]["exception"]["code"]
        return code
    (value,) = answer["data"].values()
    problems = value.get("errors", []) if isinstance(value, dict) else []
    codes = [problem["code"] for problem in problems]
    return OUT_OF_SCOPE if OUT_OF_SCOPE in codes else FINE


def expected(row: Row, who: str) -> str:
    if who in row.fine:
        return FINE
    return OUT_OF_SCOPE if who in row.scoped else DENIED


@pytest.mark.parametrize("name", [*MANAGING, *SCOPED, *READING, *PUBLIC])
def test_every_operation_admits_exactly_whom_it_is_for(ports: Ports, name: str) -> None:
    row, front = rows()[name], Front(ports)
    key, _ = make_app(ports, "target")
    [token] = list_app_tokens(ports, OPERATOR, key)
    query = row.query.replace("APP", to_global_id("App", key), 1)
    query = query.replace("TOKEN", to_global_id("AppToken", token.id), 1).replace("URL", URL)
    answered = {who: outcome(front, query, make(ports)) for who, make in CALLERS.items()}
    assert answered == {who: expected(row, who) for who in CALLERS}
