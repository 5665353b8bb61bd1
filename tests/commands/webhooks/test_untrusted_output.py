"""An instance whose texts are meant for the terminal of whoever reads them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from app.ports import Ports
from tests.builders.remote_instances import make_remote_access
from tests.commands.fake_remote_shop import operation
from tests.commands.real_installation import Installation
from tests.commands.shell import run
from tests.fakes.keys import SECRET
from tests.fixtures.cases import cases
from tests.servers.http import HttpServer, Received, Reply, http_server

TREACHEROUS = "a\x1b]0;title\x07\x1b[31m\x9b2J\u202e\x7f\x85\r\nb"
PAGE = {"hasNextPage": False, "endCursor": None}
HOOK = {
    "id": f"V2Vi{TREACHEROUS}",
    "name": TREACHEROUS,
    "targetUrl": f"https://app.example.com/{TREACHEROUS}",
    "isActive": True,
    "asyncEvents": [{"eventType": TREACHEROUS}],
    "subscriptionQuery": TREACHEROUS,
    "isPaused": False,
    "maxRate": 0,
    "customHeaders": json.dumps({TREACHEROUS: "7"}),
    "secretKey": None,
}
OWNER = {"id": f"QXBw{TREACHEROUS}", "name": TREACHEROUS, "isActive": True}
ATTEMPT = {
    "createdAt": "2026-03-01T12:00:00+00:00",
    "status": TREACHEROUS,
    "responseStatusCode": 500,
    "duration": 0.5,
    "response": TREACHEROUS,
    "requestHeaders": "{}",
}
SENT = {
    "id": TREACHEROUS,
    "createdAt": "2026-03-01T12:00:00+00:00",
    "status": TREACHEROUS,
    "eventType": TREACHEROUS,
    "payload": json.dumps({TREACHEROUS: TREACHEROUS}, ensure_ascii=False),
    "attempts": {"edges": [{"node": ATTEMPT}]},
}
REFUSAL = [{"code": TREACHEROUS, "message": TREACHEROUS, "field": TREACHEROUS}]
ANSWERS: dict[str, object] = {
    "Webhooks": {
        "apps": {"edges": [{"node": {**OWNER, "webhooks": [HOOK, HOOK]}}], "pageInfo": PAGE}
    },
    "Apps": {
        "apps": {"edges": [{"node": OWNER}, {"node": {**OWNER, "id": "b"}}], "pageInfo": PAGE}
    },
    "Events": {
        "__type": {
            "enumValues": [{"name": f"ORDER_PAID{TREACHEROUS}", "description": TREACHEROUS}]
        }
    },
    "Deliveries": {"webhook": {"eventDeliveries": {"edges": [{"node": SENT}], "pageInfo": PAGE}}},
    "DryRun": {"webhookDryRun": {"payload": json.dumps({"name": TREACHEROUS}), "errors": []}},
    "Retry": {"eventDeliveryRetry": {"delivery": None, "errors": REFUSAL}},
    "Update": {"webhookUpdate": {"webhook": None, "errors": REFUSAL}},
    "SignIn": {"tokenCreate": {"token": None, "refreshToken": None, "errors": REFUSAL}},
}


@pytest.fixture
def untrusted_server() -> Iterator[HttpServer]:
    def answer(received: Received) -> Reply:
        return Reply(200, json.dumps({"data": ANSWERS[operation(received)]}).encode())

    with http_server() as server:
        server.routes["/graphql/"] = answer
        yield server


def at(ports: Ports, folder: Path, server: HttpServer, *words: str) -> Result:
    """``flask WORDS`` on that server, which says nothing to the terminal."""
    remote_access = make_remote_access(folder / "config", token="a token")
    done = run(ports, *words, stdin="a password\n", remote_access=remote_access)
    for text in (done.stdout, done.stderr):
        unprintable = {one for one in text if not one.isprintable()}
        assert unprintable <= {"\n", "\t"}, text
    return done


@cases("form", [(), ("--short",), ("--json",)])
@cases(
    ("words", "code"),
    [
        (("list",), 0),
        (("events",), 0),
        (("deliveries", "--payload"), 0),
        (("dry-run", "--query", "subscription"), 0),
        (("update", "--inactive", "--preview"), 0),
        (("update", "--inactive", "--yes"), 3),
        (("update", "--inactive"), 2),
        (("retry", "RXZl"), 3),
        (("show", "nothing"), 3),
        (("show", TREACHEROUS), 3),
        (("delete", f"V2Vi{TREACHEROUS}"), 2),
        (("create", "--target-url", "https://a.example.com", "--event", "ORDER_PAID"), 2),
        (("create", "--target-url", "https://a.example.com", "--event", "X", "--app", "b"), 2),
        (("create", "--target-url", "https://a.example.com", "--event", "X", "--app", "c"), 3),
    ],
)
def test_no_text_of_an_instance_speaks_to_the_terminal(
    ports: Ports,
    tmp_path: Path,
    untrusted_server: HttpServer,
    words: tuple[str, ...],
    code: int,
    form: tuple[str, ...],
) -> None:
    done = at(
        ports, tmp_path, untrusted_server, "webhook", *words, "-u", untrusted_server.url, *form
    )
    assert done.exit_code == code, done.output


def test_json_means_what_the_instance_said(
    ports: Ports, tmp_path: Path, untrusted_server: HttpServer
) -> None:
    done = at(
        ports, tmp_path, untrusted_server, "webhook", "list", "--json", "-u", untrusted_server.url
    )
    assert json.loads(done.stdout)[0]["name"] == TREACHEROUS


@cases(
    "reply",
    [
        Reply(200, json.dumps({"errors": [{"message": TREACHEROUS}]}).encode()),
        Reply(403, json.dumps({"errors": [{"message": TREACHEROUS}]}).encode()),
        Reply(302, b"", {"Location": "https://x.example.com/\x1b[31m"}),
    ],
)
def test_error_text_is_escaped(
    ports: Ports, tmp_path: Path, untrusted_server: HttpServer, reply: Reply
) -> None:
    untrusted_server.answer("/graphql/", reply)
    assert (
        at(
            ports, tmp_path, untrusted_server, "webhook", "list", "-u", untrusted_server.url
        ).exit_code
        > 0
    )


def test_refused_login_text_is_escaped(
    ports: Ports, tmp_path: Path, untrusted_server: HttpServer
) -> None:
    words = ("login", untrusted_server.url, "--email", "ann@example.com", "--password-stdin")
    assert at(ports, tmp_path, untrusted_server, *words).exit_code == 4


@pytest.mark.first
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("form", ["--json", "--short"])
def test_unencodable_characters_are_escaped(
    tmp_path: Path, untrusted_server: HttpServer, encoding: str, form: str
) -> None:
    names = [{**HOOK, "name": "漢字 \ud800"}]
    page = {"edges": [{"node": {**OWNER, "webhooks": names}}], "pageInfo": PAGE}
    untrusted_server.answer("/graphql/", Reply(200, json.dumps({"data": {"apps": page}}).encode()))
    environment = {
        "LATCHKEY_TOKEN": "a token",
        "SECRET_KEY": SECRET,
        "HOME": str(tmp_path),
        "PYTHONIOENCODING": encoding,
    }
    comparable_output = Installation(tmp_path, environment).run(
        "webhook", "list", "-u", untrusted_server.url, form
    )
    assert (comparable_output.returncode, comparable_output.stderr) == (0, "")
    assert (
        "\\u6f22\\u5b57 \\ud800" in comparable_output.stdout or "漢字" in comparable_output.stdout
    )
    if form == "--json":
        assert json.loads(comparable_output.stdout)[0]["name"] == "漢字 \ud800"
