"""The Postman collection in ``docs``: valid, complete, and run by Postman's own command line."""

import json
import subprocess
from itertools import chain
from pathlib import Path
from typing import Any

import requests
from graphql import parse, validate

from app.graphql.schema import schema
from docs import FOLDER as DOCS
from tests.builders.images import png
from tests.clients.conftest import ADMIN, FOLDER, PASSWORD, Shop
from tests.servers.provider import node
from tests.servers.sandbox import PATIENCE

FILE = DOCS / "collection" / "latchkey.postman_collection.json"
NEWMAN = FOLDER / "newman" / "node_modules" / "newman" / "bin" / "newman.js"
ENDS_SESSIONS = ("passwordChange", "accountDelete", "sessionsEndOthers", "tokensDeactivateAll")
"""Sent last."""

OF_THE_DOCUMENT = {"GraphQLError", "GraphQLSyntaxError"}

Item = dict[str, Any]


def items() -> list[Item]:
    folders = json.loads(FILE.read_text())["item"]
    found = list(chain.from_iterable(folder["item"] for folder in folders))
    return sorted(found, key=lambda item: item["name"] in ENDS_SESSIONS)


def document(item: Item) -> str:
    body = item["request"]["body"]
    if body["mode"] == "graphql":
        return str(body["graphql"]["query"])
    return str(json.loads(body["formdata"][0]["value"])["query"])


def test_collection_has_every_operation_once() -> None:
    """But for those that always answer the same."""
    kinds = (schema.graphql_schema.query_type, schema.graphql_schema.mutation_type)
    operations = [
        name
        for kind in kinds
        if kind
        for name, field in kind.fields.items()
        if not getattr(field.resolve, "constant", False)
    ]
    assert sorted(item["name"] for item in items()) == sorted(operations)


def test_each_operation_is_in_the_folder_of_its_subject() -> None:
    folders = {
        folder["name"]: {item["name"] for item in folder["item"]}
        for folder in json.loads(FILE.read_text())["item"]
    }

    assert all(folders.values()), folders
    assert "passwordChange" in folders["Passwords"]
    assert "channelCreate" in folders["Channels"]
    assert "appTokenCreate" in folders["Apps"]
    assert "mails" in folders["Mail log"]


def test_queries_of_the_collection_are_valid() -> None:
    problems = [
        f"{item['name']}: {problem}"
        for item in items()
        for problem in validate(schema.graphql_schema, parse(document(item)))
    ]
    assert problems == []


def test_server_executes_every_request_of_the_collection(shop: Shop) -> None:
    values = {"email": ADMIN, "password": PASSWORD, "token": "", "refreshToken": ""}
    for item in items():
        response = send(shop, item, values)
        assert response.status_code == 200, f"{item['name']}: {response.text}"
        reply = response.json()
        codes = {error["extensions"]["exception"]["code"] for error in reply.get("errors", ())}
        assert not codes & OF_THE_DOCUMENT, f"{item['name']}: {response.text}"
        if item["name"] == "tokenCreate":
            values |= {
                name: reply["data"]["tokenCreate"][name] for name in ("token", "refreshToken")
            }


def send(shop: Shop, item: Item, values: dict[str, str]) -> requests.Response:
    """Send a request as Postman does, with the collection's variables filled in."""
    body = item["request"]["body"]
    headers = {one["key"]: one["value"] for one in item["request"]["header"]}
    if item["request"].get("auth", {}).get("type") != "noauth":
        headers["Authorization"] = f"Bearer {values['token']}"
    url = shop.server.issuer
    if body["mode"] == "graphql":
        variables = body["graphql"]["variables"]
        for name, value in values.items():
            variables = variables.replace(f"{{{{{name}}}}}", value)
        sent = {"query": body["graphql"]["query"], "variables": json.loads(variables)}
        return requests.post(url, json=sent, headers=headers, timeout=PATIENCE)
    texts = {one["key"]: one["value"] for one in body["formdata"] if one["type"] == "text"}
    files = {one["key"]: png(64, 64) for one in body["formdata"] if one["type"] == "file"}
    return requests.post(url, data=texts, files=files, headers=headers, timeout=PATIENCE)


def test_postman_signs_in_refreshes_and_queries(shop: Shop, tmp_path: Path) -> None:
    names = ["tokenCreate", "tokenRefresh", "me", "shop", "customers", "apps", "signInEvents"]
    report = tmp_path / "report.json"
    run_newman(shop, names, report)
    run = json.loads(report.read_text())["run"]
    assert run["failures"] == []
    replies = {one["item"]["name"]: reply_of(one) for one in run["executions"]}
    assert list(replies) == sorted(names, key=[item["name"] for item in items()].index)
    assert replies["me"]["data"]["me"]["email"] == ADMIN
    assert not [name for name, reply in replies.items() if reply.get("errors")]


def run_newman(shop: Shop, names: list[str], report: Path) -> None:
    variables = (f"url={shop.server.issuer}", f"email={ADMIN}", f"password={PASSWORD}")
    done = subprocess.run(
        [
            node(),
            NEWMAN,
            *("run", FILE),
            *chain.from_iterable(("--env-var", variable) for variable in variables),
            *chain.from_iterable(("--folder", name) for name in names),
            *("--reporters", "json", "--reporter-json-export", report),
        ],
        capture_output=True,
        text=True,
        timeout=6 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def reply_of(execution: Item) -> Any:
    return json.loads(bytes(execution["response"]["stream"]["data"]))
