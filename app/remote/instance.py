"""The port ``Instance`` on another installation's API, and its data as commands' values."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from app.domain.deliveries.deliveries import ReplayResult, ReplayScope
from app.domain.events import NEVER_SENT
from app.domain.urls.web_urls import key_set_url
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.inputs import Absent
from app.domain.values.installation import OnProgress, Unreachable, ignore_progress
from app.ports.http import Http
from app.ports.instance import (
    DeliveryPage,
    DeliveryQuery,
    InstanceApp,
    InstanceAttempt,
    InstanceDelivery,
    InstanceWebhook,
    Profile,
    Profiles,
    WebhookDraft,
)
from app.remote import documents
from app.remote.api import Api, GivenToken, LoginEnded, SavedLogin, read_as, read_text

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


Read = TypeVar("Read")


class RemoteInstance:
    """An instance behind its API."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def apps(self) -> tuple[InstanceApp, ...]:
        return self._read(
            lambda: tuple(map(to_app, self._owners(documents.OWN_APP, documents.APPS)))
        )

    def own_app(self) -> InstanceApp | None:
        return None if self._held_by_person() is not None else self._calling_app()

    def permissions(self) -> frozenset[str]:
        held = self._held_by_person()
        return self._calling_app().permissions or frozenset() if held is None else held

    def create_app(self, name: str, permissions: Collection[str]) -> InstanceApp:
        new = {"name": name, "permissions": sorted(permissions)}
        payload = self._api.change("appCreate", documents.CREATE_APP, input=new)
        return self._read(lambda: to_app(payload["app"]))

    def delete_app(self, app: InstanceApp) -> None:
        self._api.change("appDelete", documents.DELETE_APP, id=app.id)

    def webhooks(self) -> tuple[InstanceWebhook, ...]:
        def read() -> tuple[InstanceWebhook, ...]:
            owners = self._owners(documents.OWN_WEBHOOKS, documents.WEBHOOKS)
            return tuple(
                to_webhook(node, to_app(owner)) for owner in owners for node in owner["webhooks"]
            )

        return self._read(read)

    def event_types(self) -> Mapping[str, str]:
        data = self._api.ask(documents.EVENTS)
        return self._read(
            lambda: {
                enum_value["name"]: enum_value["description"] or ""
                for enum_value in data["__type"]["enumValues"]
                if enum_value["description"] != NEVER_SENT
            }
        )

    def create(self, app_id: str, draft: WebhookDraft) -> InstanceWebhook:
        variables = {"app": app_id, **_input(draft)}
        payload = self._api.change("webhookCreate", documents.CREATE, input=variables)
        return self._read(lambda: _owned(payload["webhook"]))

    def change(self, webhook: InstanceWebhook, draft: WebhookDraft) -> InstanceWebhook:
        payload = self._api.change(
            "webhookUpdate", documents.UPDATE, id=webhook.id, input=_input(draft)
        )
        return self._read(lambda: _owned(payload["webhook"]))

    def delete(self, webhook: InstanceWebhook) -> None:
        self._api.change("webhookDelete", documents.DELETE, id=webhook.id)

    def dry_run(
        self, *, object_id: str | None = None, query: str | None = None, app_id: str | None = None
    ) -> str:
        payload = self._api.change(
            "webhookDryRun", documents.DRY_RUN, objectId=object_id, query=query, app=app_id
        )
        return self._read(lambda: read_json(payload["payload"]))

    def trigger(self, webhook_id: str, object_id: str | None, event: str = "") -> InstanceDelivery:
        variables = {"webhookId": webhook_id}
        # Other versions require an object, and know no event.
        document = documents.TRIGGER_NEWEST if object_id is None else documents.TRIGGER
        if object_id is not None:
            variables["objectId"] = object_id
        if event:
            document = documents.TRIGGER_EVENT
            variables["event"] = event
        payload = self._api.change("webhookTrigger", document, **variables)
        return self._read(lambda: to_delivery(payload["delivery"]))

    def deliveries(self, webhook_id: str, query: DeliveryQuery) -> DeliveryPage:
        names = {"status": query.status, "eventType": query.event}
        data = self._api.ask(
            documents.DELIVERIES,
            id=webhook_id,
            first=query.size,
            after=query.after or None,
            filter={name: value for name, value in names.items() if value},
        )
        if self._read(lambda: data["webhook"]) is None:
            raise Refused(Problem("NOT_FOUND", "There is no such webhook.", "id"))
        return self._read(lambda: _page(data["webhook"]["eventDeliveries"], query.after))

    def retry(self, delivery_id: str) -> InstanceDelivery:
        payload = self._api.change("eventDeliveryRetry", documents.RETRY, id=delivery_id)
        return self._read(lambda: to_delivery(payload["delivery"]))

    def replay(
        self,
        webhook_id: str,
        since: datetime,
        scope: ReplayScope,
        *,
        preview: bool = False,
        on_progress: OnProgress = ignore_progress,
    ) -> ReplayResult:
        payload = self._api.change(
            "webhookReplay",
            documents.REPLAY,
            id=webhook_id,
            since=since.isoformat(),
            failed=scope.failed,
            missing=scope.missing,
            beforeCreation=scope.before_creation,
            preview=preview,
        )
        return self._read(
            lambda: ReplayResult(
                payload["failed"],
                payload["missing"],
                payload["hasMore"],
                payload["earlier"] or 0,
            )
        )

    def send_waiting(self, webhook_id: str) -> int:
        payload = self._api.change("webhookSendWaiting", documents.SEND_WAITING, id=webhook_id)
        return self._read(lambda: int(payload["count"]))

    def key_set(self) -> bytes:
        url = key_set_url(self._api.url)
        response = self._api.get(url)
        if not response.is_good:
            raise Unreachable(url, f"it responded with HTTP {response.status}.")
        return response.body

    def _held_by_person(self) -> frozenset[str] | None:
        """Return the permissions of the person who calls; ``None`` for an app."""
        person = self._api.ask(documents.CALLER)["me"]
        if person is None:
            return None
        return self._read(lambda: frozenset(held["code"] for held in person["userPermissions"]))

    def _calling_app(self) -> InstanceApp:
        data = self._api.ask(documents.CALLING_APP)
        return self._read(lambda: to_app(data["app"]))

    def _owners(self, own: str, all_of_them: str) -> Iterator[Node]:
        """The apps that the caller can manage; for an app, only itself."""
        after = None
        try:
            data = self._api.ask(all_of_them, after=after)
        except LoginEnded:
            raise
        except PermissionDenied as denied:
            yield self._itself(own, denied)
            return
        while True:
            yield from (edge["node"] for edge in data["apps"]["edges"])
            if not data["apps"]["pageInfo"]["hasNextPage"]:
                return
            after = _further(data["apps"]["pageInfo"]["endCursor"], than=after)
            data = self._api.ask(all_of_them, after=after)

    def _itself(self, own: str, denied: PermissionDenied) -> Node:
        try:
            app: Node | None = self._api.ask(own)["app"]
        except PermissionDenied:
            raise denied from None
        if app is None:
            raise denied
        return app

    def _read(self, read: Callable[[], Read]) -> Read:
        return read_as(self._api.url, read)


def connect_by_token(http: Http, url: str, token: str) -> RemoteInstance:
    """Return the instance at ``url``, called with ``token``."""
    return RemoteInstance(Api(http, url, GivenToken(token)))


def connect_by_profile(http: Http, profiles: Profiles, profile: Profile) -> RemoteInstance:
    """The instance of a login that was kept."""
    return RemoteInstance(Api(http, profile.url, SavedLogin(profiles, profile)))


def _owned(node: Node) -> InstanceWebhook:
    return to_webhook(node, to_app(node["app"]))


def _further(cursor: object, than: object) -> object:
    """Return ``cursor``; raise ``ValueError`` if it didn't advance."""
    if not cursor or cursor == than:
        raise ValueError("This list has no end.")
    return cursor


def _page(connection: Node, after: str) -> DeliveryPage:
    info = connection["pageInfo"]
    return DeliveryPage(
        items=tuple(to_delivery(edge["node"]) for edge in connection["edges"]),
        next=str(_further(info["endCursor"], than=after)) if info["hasNextPage"] else "",
    )


def _input(draft: WebhookDraft) -> dict[str, object]:
    names: dict[str, object] = {
        "name": draft.name,
        "targetUrl": draft.target_url,
        "asyncEvents": draft.events,
        "isActive": draft.is_active,
        "query": draft.query,
        "secretKey": draft.secret_key,
    }
    changes = {name: value for name, value in names.items() if not isinstance(value, Absent)}
    if not isinstance(draft.custom_headers, Absent):
        changes["customHeaders"] = json.dumps(dict(draft.custom_headers))
    return changes
