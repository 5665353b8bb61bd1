"""Which requests pass Flask by."""

from collections.abc import Iterable
from typing import Any

from werkzeug.test import Client

from app.web.dispatch import Application, Dispatch, StartResponse
from tests.fixtures.cases import cases


def answering(text: bytes) -> Application:
    """An application that says ``text`` to everything."""

    def application(environ: dict[str, Any], start_response: StartResponse, /) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [text]

    return application


DISPATCH = Dispatch(
    answering(b"rest"),
    {"/api/": answering(b"mounted")},
    is_page=lambda environ: environ.get("HTTP_ACCEPT") == "a page",
    aliases={("/short", "POST"): "/api/"},
)


@cases(
    ("path", "response"),
    [
        ("/api/", b"mounted"),
        ("/api/?a=b", b"mounted"),
        ("/api", b"rest"),
        ("/api//", b"rest"),
        ("/api/more", b"rest"),
        ("//api/", b"rest"),
        ("/", b"rest"),
    ],
)
def test_exactly_the_mounted_path_is_dispatched(path: str, response: bytes) -> None:
    assert Client(DISPATCH).post(path).data == response


def test_alias_leads_its_method_alone_to_the_mounted_path() -> None:
    client = Client(DISPATCH)
    assert client.post("/short").data == b"mounted"
    assert client.put("/short").data == b"rest"
    assert client.post("/short/").data == b"rest"


@cases(("accept", "response"), [("a page", b"rest"), ("data", b"mounted")])
def test_pages_stay_with_the_application(accept: str, response: bytes) -> None:
    assert Client(DISPATCH).get("/api/", headers={"Accept": accept}).data == response
