"""What an instance's data says, as the values that commands work with."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from app.ports.instance import InstanceApp, InstanceAttempt, InstanceDelivery, InstanceWebhook
from app.remote.responses import read_text

Node = Mapping[str, Any]


def to_app(node: Node) -> InstanceApp:
    return InstanceApp(
        id=read_text(node, "id"),
        name=_text_if_any(node, "name"),
        is_active=node["isActive"],
        permissions=_codes(node.get("permissions")),
    )


def _codes(permissions: Sequence[Node] | None) -> frozenset[str] | None:
    if permissions is None:
        return None
    return frozenset(read_text(permission, "code") for permission in permissions)


def to_webhook(node: Node, app: InstanceApp) -> InstanceWebhook:
    return InstanceWebhook(
        id=read_text(node, "id"),
        app=app,
        name=_text_if_any(node, "name"),
        target_url=read_text(node, "targetUrl"),
        is_active=node["isActive"],
        events=tuple(event["eventType"] for event in node["asyncEvents"]),
        query=_text_if_any(node, "subscriptionQuery"),
        custom_headers=_texts(node["customHeaders"]),
        has_secret=bool(node["secretKey"]),
    )


def to_delivery(node: Node) -> InstanceDelivery:
    attempts = [edge["node"] for edge in node["attempts"]["edges"]]
    return InstanceDelivery(
        id=read_text(node, "id"),
        event=read_text(node, "eventType"),
        status=read_text(node, "status"),
        created_at=_moment(node["createdAt"]),
        payload=read_json(node["payload"]) if node["payload"] else "",
        attempt=_to_attempt(attempts[0]) if attempts else None,
    )


def _to_attempt(node: Node) -> InstanceAttempt:
    return InstanceAttempt(
        created_at=_moment(node["createdAt"]),
        status=node["status"],
        response_status=node["responseStatusCode"],
        duration=node["duration"],
        response=node["response"] or "",
        request_headers=_texts(node["requestHeaders"]),
    )


def _text_if_any(node: Node, name: str) -> str:
    return read_text(node, name) if node[name] else ""


def read_json(text: str) -> str:
    """``text`` as it is; raises ``ValueError`` or ``TypeError`` if it is no JSON."""
    json.loads(text)
    return text


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("A moment without a zone.")
    return moment


def _texts(text: str | None) -> dict[str, str]:
    """The headers in a JSON object."""
    return {name: str(value) for name, value in json.loads(text or "{}").items()}
