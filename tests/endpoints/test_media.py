"""Pictures of people, from the upload to the browser that shows them."""

import json
from io import BytesIO
from typing import Any

import pytest
from flask.testing import FlaskClient
from PIL import Image

from app import models
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.images import png
from tests.builders.people import make_user, sign_in
from tests.fixtures.cases import cases

UPDATE = """mutation ($image: Upload!) {
  userAvatarUpdate(image: $image) {
    user { email small: avatar(size: 50) { url alt } avatar { url alt } }
    errors { field code message } accountErrors { code }
  }
}"""
DELETE = "mutation { userAvatarDelete { user { avatar { url } } errors { code } } }"
ME = "{ me { avatar(size: 128) { url alt } } }"


@pytest.fixture
def token(ports: Ports) -> str:
    """The access token of Ann Lee."""
    return sign_in(ports, make_user(ports, first_name="Ann", last_name="Lee")).access


def send(client: FlaskClient, token: str | None, data: bytes, name: str = "me.png") -> Any:
    form = {
        "operations": json.dumps({"query": UPDATE, "variables": {"image": None}}),
        "map": json.dumps({"0": ["variables.image"]}),
        "0": (BytesIO(data), name, "image/png"),
    }
    headers = {"GraphQL-Require-Preflight": "1"} | _credential(token)
    return client.post("/graphql/", data=form, headers=headers).json


def run(client: FlaskClient, query: str, token: str | None, **variables: object) -> Any:
    body = {"query": query, "variables": variables}
    return client.post("/graphql/", json=body, headers=_credential(token)).json


def _credential(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def uploaded(client: FlaskClient, token: str) -> str:
    """The path of the large picture."""
    url: str = send(client, token, png())["data"]["userAvatarUpdate"]["user"]["avatar"]["url"]
    return url.removeprefix("http://localhost")


def test_uploaded_avatar_is_served_at_its_url(client: FlaskClient, token: str) -> None:
    payload = send(client, token, png())["data"]["userAvatarUpdate"]
    assert payload["errors"] == payload["accountErrors"] == []
    user = payload["user"]
    assert user["avatar"]["alt"] == "Ann Lee"
    for picture, size in ((user["small"], 64), (user["avatar"], 512)):
        assert picture["url"].startswith("http://localhost/media/avatars/")
        response = client.get(picture["url"])
        assert response.status_code == 200
        with Image.open(BytesIO(response.data)) as image:
            assert (image.format, image.size) == ("WEBP", (size, size))
    me = run(client, ME, token)["data"]["me"]
    assert me["avatar"]["url"].endswith("-128.webp")


def test_deleted_avatar_is_not_found(client: FlaskClient, token: str) -> None:
    path = uploaded(client, token)
    payload = run(client, DELETE, token)["data"]["userAvatarDelete"]
    assert payload == {"user": {"avatar": None}, "errors": []}
    assert client.get(path).status_code == 404
    assert run(client, ME, token) == {"data": {"me": {"avatar": None}}}


def test_avatar_response_forbids_sniffing(client: FlaskClient, token: str) -> None:
    response = client.get(uploaded(client, token))
    assert response.headers["Content-Type"] == "image/webp"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Disposition"] == "inline"
    assert response.headers["Content-Security-Policy"].endswith("; sandbox")
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Set-Cookie" not in response.headers


def test_matching_etag_is_304(client: FlaskClient, token: str) -> None:
    path = uploaded(client, token)
    etag = client.get(path).headers["ETag"]
    response = client.get(path, headers={"If-None-Match": etag})
    assert (response.status_code, response.data) == (304, b"")
    head = client.head(path)
    assert (head.status_code, head.data) == (200, b"")


@cases(
    "path",
    [
        "x.webp",
        f"{'x' * 32}-64.webp",
        f"{'x' * 32}-65.webp",
        "..%2f..%2fsettings.py",
        "%00",
        f"{'é' * 32}-64.webp",
    ],
)
def test_other_paths_are_not_found(client: FlaskClient, path: str) -> None:
    response = client.get(f"/media/avatars/{path}")
    assert response.status_code == 404
    assert "immutable" not in response.headers.get("Cache-Control", "")


def test_only_get_and_head_are_allowed(client: FlaskClient, token: str) -> None:
    path = uploaded(client, token)
    for method in ("POST", "PUT", "DELETE"):
        assert client.open(path, method=method).status_code == 405
    assert client.get(path).status_code == 200


@cases("data", [b"", b"<svg onload='alert(1)'/>", png()[:60]])
def test_non_image_file_is_a_payload_error(client: FlaskClient, token: str, data: bytes) -> None:
    payload = send(client, token, data)["data"]["userAvatarUpdate"]
    assert payload["user"] is None
    [error] = payload["errors"]
    assert (error["field"], error["code"]) == ("image", "INVALID")
    assert payload["accountErrors"] == [{"code": "INVALID"}]


def test_uploaded_file_name_is_not_used(client: FlaskClient, token: str) -> None:
    response = send(client, token, png(), name="../../secret.svg")
    assert "secret" not in json.dumps(response)


def test_avatar_upload_needs_a_session(client: FlaskClient) -> None:
    [error] = send(client, None, png())["errors"]
    assert error["extensions"]["exception"]["code"] == "PermissionDenied"
    assert error["extensions"]["requiredPermissions"] == ["AUTHENTICATED_USER"]


@cases("image", ["text", 1, {"name": "me.png"}, None])
def test_upload_of_a_non_file_is_not_executed(
    client: FlaskClient, token: str, image: object
) -> None:
    [error] = run(client, UPDATE, token, image=image)["errors"]
    assert error["extensions"]["exception"]["code"] == "GraphQLError"


def test_file_literal_in_a_document_is_refused(client: FlaskClient, token: str) -> None:
    query = 'mutation { userAvatarUpdate(image: "me.png") { errors { code } } }'
    [error] = run(client, query, token)["errors"]
    assert error["extensions"]["exception"]["code"] == "GraphQLError"


def test_logo_of_an_app_is_served_under_its_own_type(client: FlaskClient, ports: Ports) -> None:
    name = "a" * 32
    app_id, _ = make_app(ports)
    with ports.database.transaction() as session:
        for size, data in ((0, b"PNG of ours"), (64, b"WebP of ours")):
            session.add(models.AppLogo(name=name, size=size, app_id=app_id, data=data))
    for file, kind, data in (
        (f"{name}.png", "image/png", b"PNG of ours"),
        (f"{name}-64.webp", "image/webp", b"WebP of ours"),
    ):
        response = client.get(f"/media/apps/{file}")
        assert (response.content_type, response.data) == (kind, data)
        assert "immutable" in response.headers["Cache-Control"]
        assert "sandbox" in response.headers["Content-Security-Policy"]
    for file in (f"{name}-128.webp", f"{name}-65.webp", f"{name}.webp", f"{'b' * 32}.png", "x"):
        assert client.get(f"/media/apps/{file}").status_code == 404
