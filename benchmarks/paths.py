"""The requests that are measured."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from app.domain.values.ids import to_global_id
from benchmarks.load_client import Target, request_bytes
from benchmarks.shop import BenchShop
from tests.builders.people import PASSWORD

ME = "{ me { id email firstName lastName userPermissions { code name } } }"
_PAGE = "edges { node { %s } } pageInfo { hasNextPage }"
_PRODUCTS = f"{{ products(first: 20) {{ {_PAGE % 'id name slug'} }} }}"
_CUSTOMERS = f"{{ customers(first: 20) {{ {_PAGE % 'id email firstName lastName dateJoined'} }} }}"
_ORDERS = f"{{ orders(first: 20) {{ {_PAGE % 'id number status created userEmail'} }} }}"
_DELIVERIES = (
    "query ($id: ID!) { webhook(id: $id) { eventDeliveries(first: 20)"
    f" {{ {_PAGE % 'id createdAt status eventType'} }} }} }}"
)


@dataclass(frozen=True, slots=True)
class Path:
    """One request, and the status that its answer must have."""

    name: str
    request: bytes
    status: int = 200

    def at(self, port: int) -> Target:
        return Target(port, self.request, self.status)


def graphql(
    port: int, query: str, token: str = "", variables: Mapping[str, object] | None = None
) -> bytes:
    """A request to ``/graphql/`` with that token."""
    body = json.dumps({"query": query, "variables": variables or {}}).encode()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return request_bytes("/graphql/", body, headers, port=port)


def me(port: int, shop: BenchShop) -> Path:
    return Path("`me` with an access token", graphql(port, ME, shop.access))


def app_request(port: int, shop: BenchShop) -> Path:
    return Path(
        "`shop { name }` with an app token", graphql(port, "{ shop { name } }", shop.app_token)
    )


def steady(port: int, shop: BenchShop) -> list[Path]:
    """Everything that answers without hashing a password."""
    verify = "mutation ($token: String) { tokenVerify(token: $token) { isValid errors { code } } }"
    refresh = "mutation ($token: String) { tokenRefresh(refreshToken: $token) { token } }"
    hook = {"id": to_global_id("Webhook", shop.webhook)}
    return [
        me(port, shop),
        Path("`shop { name }`, anonymous", graphql(port, "{ shop { name } }")),
        app_request(port, shop),
        Path("`products(first: 20)` with an app token", graphql(port, _PRODUCTS, shop.app_token)),
        Path("`customers(first: 20)`", graphql(port, _CUSTOMERS, shop.reader_token)),
        Path("`orders(first: 20)`", graphql(port, _ORDERS, shop.reader_token)),
        Path("`eventDeliveries(first: 20)`", graphql(port, _DELIVERIES, shop.reader_token, hook)),
        Path("`tokenVerify`", graphql(port, verify, variables={"token": shop.access})),
        Path("`tokenRefresh`", graphql(port, refresh, variables={"token": shop.refresh})),
        *provider(port, shop),
        Path("key set", request_bytes("/.well-known/jwks.json", port=port)),
    ]


def form(port: int, shop: BenchShop, path: str, **fields: str) -> bytes:
    """A form of the OAuth client to an endpoint of the OpenID provider."""
    secret = b64encode(f"{shop.client.id}:{shop.client.secret}".encode()).decode()
    headers = {
        "Authorization": f"Basic {secret}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    return request_bytes(path, urlencode(fields).encode(), headers, port=port)


def provider(port: int, shop: BenchShop) -> list[Path]:
    """What clients ask the OpenID provider about a token again and again."""
    token = shop.granted.access_token
    bearer = {"Authorization": f"Bearer {token}"}
    return [
        Path("introspection", form(port, shop, "/oauth/introspect", token=token)),
        Path("userinfo", request_bytes("/oauth/userinfo", headers=bearer, port=port)),
    ]


def closed(port: int) -> Path:
    return Path("closed storefront (401)", graphql(port, "{ shop { name } }"), 401)


def login(port: int, address: str) -> bytes:
    """A login as a client behind the proxy sends it, each from its own address."""
    query = (
        "mutation ($email: String, $password: String)"
        " { tokenCreate(email: $email, password: $password) { token errors { code } } }"
    )
    variables = {"email": "manager@example.com", "password": PASSWORD}
    body = json.dumps({"query": query, "variables": variables}).encode()
    return request_bytes("/graphql/", body, {"X-Forwarded-For": address}, port=port)
