"""Whatever an instance answers becomes the error that it means."""

from collections.abc import Callable

import pytest

from app.domain.values.errors import PermissionDenied, Refused, TokenRejected, TrafficClosed
from app.domain.values.installation import Fault, Unreachable
from app.ports.http import CallFailed, CallFault, HttpRequest, HttpResponse
from app.remote.instance import connect_by_token
from tests.fixtures.cases import cases
from tests.remote.fake_instance import JSON, URL, Instance, answering, failing, raw

CLOSED = {
    "message": "Storefront traffic is not allowed.",
    "extensions": {"code": "STOREFRONT_TRAFFIC_NOT_ALLOWED"},
}


def unreachable(_request: HttpRequest) -> HttpResponse:
    raise CallFailed(CallFault.TIMEOUT, "shop.example.com did not answer within 30 seconds.")


def no_response(_request: HttpRequest) -> HttpResponse:
    raise CallFailed(CallFault.UNREACHABLE, "shop.example.com cannot be reached.")


def remote_access(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(308, {"location": "https://other.example.com/graphql/"})


@cases(
    ("response", "kind", "message"),
    [
        (unreachable, Unreachable, "within 30 seconds"),
        (no_response, Unreachable, "no response"),
        (remote_access, Unreachable, "https://other.example.com/graphql/"),
        (raw(200, b"<html>Welcome</html>", "text/html; charset=utf-8"), Unreachable, "a web page"),
        (
            raw(502, b"<html>Bad gateway</html>", "text/html"),
            Unreachable,
            "HTTP 502: it has a problem",
        ),
        (raw(429, b"", "text/plain"), Unreachable, "HTTP 429: it has a problem"),
        (raw(200, b"", "text/plain"), Unreachable, "something"),
        (raw(200, b"\xff\xfe{", "application/json"), Unreachable, "other JSON"),
        (raw(200, b"[" * 100_000, "application/json"), Unreachable, "other JSON"),
        (answering([]), Unreachable, "other JSON"),
        (answering({"swagger": "2.0"}), Unreachable, "other JSON"),
        (answering({"data": []}), Unreachable, "other JSON"),
        (raw(401, b"<html>Who are you?</html>", "text/html"), PermissionDenied, "HTTP 401"),
        (answering({"errors": [CLOSED]}, 401), TrafficClosed, f"flask login {URL} --app-token"),
        (answering({"errors": [{"message": "Go away"}]}, 403), PermissionDenied, "Go away"),
        (failing("PermissionDenied", "You need MANAGE_APPS"), PermissionDenied, "MANAGE_APPS"),
        (
            failing("InvalidTokenError"),
            TokenRejected,
            ("is not accepted there. Sign in with: flask"),
        ),
        (failing("InvalidSignatureError"), TokenRejected, "is not accepted"),
        (failing("ExpiredSignatureError"), TokenRejected, "expired"),
        (failing("GraphQLError", "Received cursor is invalid."), Refused, "cursor"),
        (failing("GraphQLError", "Cannot query field 'x'.", 400), Fault, "another version"),
        (failing("Exception", "Internal Server Error"), Fault, "Internal Server Error"),
        (answering({"errors": ["what?"]}), Fault, "without a message"),
        (answering({"data": {"apps": None}}), Fault, "another version"),
        (answering({"data": {}}), Fault, "another version"),
        (answering({"data": {"apps": {"edges": [{"node": 7}]}}}), Fault, "another version"),
    ],
)
def test_response_is_mapped_to_its_error(
    response: Callable[[HttpRequest], HttpResponse], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message.replace("?", r"\?")) as raised:
        connect_by_token(Instance(response), URL, "a token").webhooks()
    assert type(raised.value) is kind


def test_errors_contain_no_token() -> None:
    with pytest.raises(Unreachable) as raised:
        connect_by_token(Instance(unreachable), URL, "geheim").apps()
    assert "geheim" not in str(raised.value)


def test_app_without_manage_apps_uses_its_own_webhooks() -> None:
    own = {"id": "QXBwOjE=", "name": "Warehouse", "isActive": True, "webhooks": []}
    answers = failing("PermissionDenied"), answering({"data": {"app": own}})
    assert connect_by_token(Instance(*answers), URL, "a token").webhooks() == ()
    apps = connect_by_token(Instance(*answers), URL, "a token").apps()
    assert [app.name for app in apps] == ["Warehouse"]


def test_listing_apps_names_the_missing_permission() -> None:
    shop = Instance(
        failing("PermissionDenied", "You need MANAGE_APPS"),
        failing("PermissionDenied", "You need AUTHENTICATED_APP"),
    )
    with pytest.raises(PermissionDenied, match="MANAGE_APPS"):
        connect_by_token(shop, URL, "a token").webhooks()


def test_long_lists_are_read_page_by_page() -> None:
    def page(number: int, *, more: bool) -> dict[str, object]:
        node = {"id": f"{number}", "name": f"app {number}", "isActive": True}
        info = {"hasNextPage": more, "endCursor": f"after {number}"}
        return {"data": {"apps": {"edges": [{"node": node}], "pageInfo": info}}}

    shop = Instance(answering(page(1, more=True)), answering(page(2, more=False)))
    apps = connect_by_token(shop, URL, "a token").apps()
    assert [app.name for app in apps] == ["app 1", "app 2"]
    assert [shop.sent(place)["variables"]["after"] for place in (0, 1)] == [None, "after 1"]


def test_missing_key_set_is_an_unreachable_instance() -> None:
    shop = Instance(lambda _request: HttpResponse(404, JSON, b"{}"))
    with pytest.raises(Unreachable, match="HTTP 404"):
        connect_by_token(shop, URL, "a token").key_set()
    assert shop.requests[0].url == "https://shop.example.com/.well-known/jwks.json"
    assert shop.tokens == [""]
