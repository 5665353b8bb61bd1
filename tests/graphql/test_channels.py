"""Channels by GraphQL, and the channels of groups, people, carts and orders."""

import json

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import NewChannel
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.commerce.channels import create_channel
from tests.builders.orders import make_order, order_id
from tests.builders.people import actor_of, make_group, make_staff, make_user, sign_in
from tests.graphql.shop_client import ApiClient

DETAILS = """
  id isActive name slug currencyCode defaultCountry { code country }
  stockSettings { allocationStrategy }
"""
CREATE = f"""mutation ($input: ChannelCreateInput!) {{
  channelCreate(input: $input) {{
    errors {{ field code }} channelErrors {{ code }}
    channel {{ {DETAILS} hasOrders metadata {{ key value }} privateMetadata {{ key value }} }}
  }}
}}"""
UPDATE = """mutation ($id: ID!, $input: ChannelUpdateInput!) {
  channelUpdate(id: $id, input: $input) { errors { field code } channel { name slug isActive } }
}"""
GROUP = """
  name restrictedAccessToChannels accessibleChannels { slug }
"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    key = make_staff(ports, "m@example.com", Permission.MANAGE_CHANNELS, Permission.MANAGE_STAFF)
    return sign_in(ports, key).access


def test_staff_list_channels(ports: Ports, api: ApiClient) -> None:
    create_channel(ports, OPERATOR, NewChannel("Poland", "pl", "PLN", "PL"))
    staff = sign_in(ports, make_staff(ports)).access
    channels = api.run(f"{{ channels {{ {DETAILS} }} }}", staff)
    assert [one["slug"] for one in channels] == ["default-channel", "pl"]
    channels[1].pop("id")
    assert channels[1] == {
        "isActive": False,
        "name": "Poland",
        "slug": "pl",
        "currencyCode": "PLN",
        "defaultCountry": {"code": "PL", "country": "Poland"},
        "stockSettings": {"allocationStrategy": "PRIORITIZE_SORTING_ORDER"},
    }


def test_anyone_sees_the_slug_of_an_active_channel(api: ApiClient) -> None:
    shown = api.run('{ channel(slug: "default-channel") { id slug metadata { key } } }')
    assert shown["slug"] == "default-channel"
    by_id = api.run("query ($id: ID) { channel(id: $id) { slug } }", id=shown["id"])
    assert by_id == {"slug": "default-channel"}
    for field in ("name", "isActive", "currencyCode", "stockSettings { allocationStrategy }"):
        query = f'{{ channel(slug: "default-channel") {{ {field} }} }}'
        assert api.code(query) == "PermissionDenied"


def test_channel_is_managed(api: ApiClient, manager: str) -> None:
    color = [{"key": "color", "value": "red"}]
    new = {
        "name": "Poland",
        "slug": "pl",
        "currencyCode": "EUR",
        "defaultCountry": "PL",
        "metadata": color,
        "privateMetadata": color,
    }
    made = api.run(CREATE, manager, input=new)
    assert made["errors"] == made["channelErrors"] == []
    assert (made["channel"]["isActive"], made["channel"]["hasOrders"]) == (False, False)
    assert made["channel"]["metadata"] == made["channel"]["privateMetadata"] == color
    taken = api.run(CREATE, manager, input=new)
    assert taken["errors"] == [{"field": "slug", "code": "UNIQUE"}]
    id_ = made["channel"]["id"]
    updated = api.run(UPDATE, manager, id=id_, input={"name": "Polska", "isActive": None})
    assert updated["channel"] == {"name": "Polska", "slug": "pl", "isActive": False}
    for name, active in (("channelActivate", True), ("channelDeactivate", False)):
        query = f"mutation ($id: ID!) {{ {name}(id: $id) {{ channel {{ isActive }} }} }}"
        assert api.run(query, manager, id=id_) == {"channel": {"isActive": active}}
    metadata = """mutation ($id: ID!, $input: [MetadataInput!]!) {
      updateMetadata(id: $id, input: $input) { errors { code } item { metadata { value } } }
    }"""
    changed = api.run(metadata, manager, id=id_, input=[{"key": "color", "value": "blue"}])
    assert changed == {"errors": [], "item": {"metadata": [{"value": "blue"}]}}
    delete = """mutation ($id: ID!, $input: ChannelDeleteInput) {
      channelDelete(id: $id, input: $input) { errors { field code } channel { slug } }
    }"""
    assert api.run(delete, manager, id=id_) == {"errors": [], "channel": {"slug": "pl"}}
    first = api.run('{ channel(slug: "default-channel") { id } }')["id"]
    refused = api.run(delete, manager, id=first, input={"channelId": first})
    assert refused["errors"] == [{"field": "channelId", "code": "INVALID"}]


def test_groups_and_people_have_channels(ports: Ports, api: ApiClient, manager: str) -> None:
    channel = create_channel(ports, OPERATOR, NewChannel("Poland", "pl", "EUR", "PL"))
    channel_id = to_global_id("Channel", channel.id)
    create = f"""mutation ($input: PermissionGroupCreateInput!) {{
      permissionGroupCreate(input: $input) {{
        permissionGroupErrors {{ field channels }} group {{ id {GROUP} }}
      }}
    }}"""
    new = {"name": "Polish", "restrictedAccessToChannels": True, "addChannels": [channel_id]}
    made = api.run(create, manager, input=new)
    group_id = made["group"].pop("id")
    polish = [{"slug": "pl"}]
    every = [{"slug": "default-channel"}, {"slug": "pl"}]
    assert made == {
        "permissionGroupErrors": [],
        "group": {
            "name": "Polish",
            "restrictedAccessToChannels": True,
            "accessibleChannels": polish,
        },
    }
    unrestricted = api.run(create, manager, input={"name": "All", "addChannels": [channel_id]})
    assert unrestricted["group"]["restrictedAccessToChannels"] is False
    assert unrestricted["group"]["accessibleChannels"] == every
    unknown = api.run(
        create,
        manager,
        input={**new, "name": "None", "addChannels": [to_global_id("Channel", 99)]},
    )
    assert unknown["permissionGroupErrors"] == [
        {"field": "addChannels", "channels": [to_global_id("Channel", 99)]}
    ]
    member = make_user(ports, "polish@example.com", is_staff=True)
    update = f"""mutation ($id: ID!, $input: PermissionGroupUpdateInput!) {{
      permissionGroupUpdate(id: $id, input: $input) {{
        errors {{ field code channels }} group {{ {GROUP} }}
      }}
    }}"""
    joined = {"addUsers": [to_global_id("User", member)]}
    assert api.run(update, manager, id=group_id, input=joined)["errors"] == []
    me = "{ me { restrictedAccessToChannels accessibleChannels { slug } } }"
    token = sign_in(ports, member).access
    assert api.run(me, token) == {"restrictedAccessToChannels": True, "accessibleChannels": polish}
    opened = api.run(update, manager, id=group_id, input={"restrictedAccessToChannels": False})
    assert opened["group"]["accessibleChannels"] == every
    assert api.run(me, token) == {"restrictedAccessToChannels": False, "accessibleChannels": every}
    customer = sign_in(ports, make_user(ports)).access
    assert api.run(me, customer) == {"restrictedAccessToChannels": True, "accessibleChannels": []}


def test_restricted_managers_cannot_manage_a_wider_group(ports: Ports, api: ApiClient) -> None:
    staff = Permission.MANAGE_STAFF
    own, wider = make_group(ports, "Own", staff, channels=[]), make_group(ports, "All")
    key = make_user(ports, "limited@example.com", is_staff=True, groups=[own])
    token = sign_in(ports, key).access
    query = "{ permissionGroups(first: 9) { edges { node { name userCanManage } } } }"
    nodes = [edge["node"] for edge in api.run(query, token)["edges"]]
    assert nodes == [
        {"name": "All", "userCanManage": False},
        {"name": "Own", "userCanManage": True},
    ]
    update = """mutation ($id: ID!) {
      permissionGroupUpdate(id: $id, input: {name: "New"}) { errors { field code channels } }
    }"""
    refused = api.run(update, token, id=to_global_id("Group", wider))
    assert refused["errors"] == [{"field": "id", "code": "OUT_OF_SCOPE_CHANNEL", "channels": None}]


def test_carts_and_orders_have_the_channel_they_were_made_in(ports: Ports, api: ApiClient) -> None:
    create_channel(ports, OPERATOR, NewChannel("Poland", "pl", "EUR", "PL", is_active=True))
    create = """mutation ($channel: String) {
      checkoutCreate(input: {channel: $channel}) {
        errors { field code } checkout { channel { slug } }
      }
    }"""
    assert api.run(create, channel="pl")["checkout"] == {"channel": {"slug": "pl"}}
    for channel, code in ((None, "MISSING_CHANNEL_SLUG"), ("none", "NOT_FOUND")):
        refused = api.run(create, channel=channel)
        assert refused["errors"] == [{"field": "channel", "code": code}]


def test_orders_of_a_channel(ports: Ports, api: ApiClient) -> None:
    buyer = actor_of(ports, make_user(ports))
    order = order_id(make_order(ports, buyer))
    create_channel(ports, OPERATOR, NewChannel("Poland", "pl", "EUR", "PL"))
    every, none = (
        sign_in(ports, make_user(ports, f"{name}@example.com", is_staff=True, groups=[group]))
        for name, group in (
            ("every", make_group(ports, "All", Permission.MANAGE_ORDERS)),
            ("none", make_group(ports, "None", Permission.MANAGE_ORDERS, channels=[])),
        )
    )
    listed = """query ($channel: String) {
      orders(first: 9, channel: $channel) { edges { node { id channel { slug } } } }
    }"""
    found = {"edges": [{"node": {"id": order, "channel": {"slug": "default-channel"}}}]}
    assert api.run(listed, every.access) == found
    assert api.run(listed, every.access, channel="default-channel") == found
    assert api.run(listed, every.access, channel="pl") == {"edges": []}
    assert api.run(listed, none.access) == {"edges": []}
    assert api.code(listed, none.access, channel="pl") == "PermissionDenied"
    one = "query ($id: ID!) { order(id: $id) { id } }"
    assert api.run(one, every.access, id=order) == {"id": order}
    assert api.run(one, none.access, id=order) is None
    confirm = "mutation ($id: ID!) { orderConfirm(id: $id) { errors { code } } }"
    assert api.run(confirm, none.access, id=order) == {"errors": [{"code": "NOT_FOUND"}]}
    assert api.run(confirm, every.access, id=order) == {"errors": []}


def test_payload_of_a_group_has_its_restriction(ports: Ports, api: ApiClient) -> None:
    boss = sign_in(ports, make_user(ports, "boss@example.com", is_superuser=True)).access
    dry_run = """mutation ($id: ID!, $text: String!) {
      webhookDryRun(objectId: $id, query: $text) { payload errors { field message } }
    }"""
    selected = f"permissionGroup {{ {GROUP} }}"
    query = f"subscription {{ event {{ ... on PermissionGroupUpdated {{ {selected} }} }} }}"
    for channels, expected in (((), []), (None, ["default-channel"])):
        key = to_global_id("Group", make_group(ports, f"Sales {channels}", channels=channels))
        answer = api.run(dry_run, boss, id=key, text=query)
        assert answer["errors"] == []
        group = json.loads(answer["payload"])["permissionGroup"]
        assert group["restrictedAccessToChannels"] is (channels is not None)
        assert [one["slug"] for one in group["accessibleChannels"]] == expected
