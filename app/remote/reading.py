"""What an instance's data says, as the values that commands work with."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.ports.instance import KnownApp, KnownAttempt, KnownDelivery, KnownWebhook

Node = Mapping[str, Any]


def to_app(node: Node) -> KnownApp:
    return KnownApp(node["id"], node["name"] or "", node["isActive"])


def to_webhook(node: Node, app: KnownApp) -> KnownWebhook:
    return KnownWebhook(
        id=node["id"],
        app=app,
        name=node["name"] or "",
        target_url=node["targetUrl"],
        is_active=node["isActive"],
        events=tuple(one["eventType"] for one in node["asyncEvents"]),
        query=node["subscriptionQuery"] or "",
        custom_headers=_texts(node["customHeaders"]),
        has_secret=bool(node["secretKey"]),
    )


def to_delivery(node: Node) -> KnownDelivery:
    attempts = [edge["node"] for edge in node["attempts"]["edges"]]
    return KnownDelivery(
        id=node["id"],
        event=node["eventType"],
        status=node["status"],
        created_at=datetime.fromisoformat(node["createdAt"]),
        payload=node["payload"] or "",
        attempt=_to_attempt(attempts[0]) if attempts else None,
    )


def _to_attempt(node: Node) -> KnownAttempt:
    return KnownAttempt(
        created_at=datetime.fromisoformat(node["createdAt"]),
        status=node["status"],
        response_status=node["responseStatusCode"],
        duration=node["duration"],
        response=node["response"] or "",
        request_headers=_texts(node["requestHeaders"]),
    )


def _texts(text: str | None) -> dict[str, str]:
    """The headers in a JSON object."""
    return {name: str(value) for name, value in json.loads(text or "{}").items()}
