"""A gateway serves the API and another subgraph as one graph."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.conftest import (
    ADMIN,
    CUSTOMER,
    LIFETIME,
    PASSWORD,
    Shop,
    run_client,
    running_shop,
    watched,
)
from tests.servers.free_ports import free_port

pytestmark = pytest.mark.first

_CREATE = """
mutation { productCreate(input: { name: "Bowl", price: 12.5, isPublished: true }) {
  product { id } errors { field code }
} }"""


@pytest.fixture
def gateway_url() -> str:
    """The URL at which the gateway will serve the graph: the shop's public one."""
    return f"http://127.0.0.1:{free_port()}"


@pytest.fixture
def shop(tmp_path: Path, _migrated_file: Path, gateway_url: str) -> Iterator[Shop]:
    """A shop behind a gateway, whose access tokens expire after some seconds."""
    settings = {"JWT_TTL_ACCESS": LIFETIME, "PUBLIC_URL": gateway_url}
    with running_shop(tmp_path, _migrated_file, **settings) as running, watched(running) as shop:
        yield shop


def test_storefront_signs_in_and_reads_one_graph_through_a_gateway(
    shop: Shop, gateway_url: str
) -> None:
    created = shop.run(_CREATE)["productCreate"]
    assert created["errors"] == []
    product, url = created["product"]["id"], f"{gateway_url}/graphql/"
    run_client("federation/check.mjs", shop, url, product, ADMIN, CUSTOMER, PASSWORD)
