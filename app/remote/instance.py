"""The port ``Instance`` on another installation's API, its documents, and saved logins."""

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
from app.ports import instance
from app.ports.http import Http
from app.remote.api import Api, GivenToken, LoginEnded, SavedLogin, read_as, read_text

_WEBHOOK = """
fragment Hook on Webhook {
  id name targetUrl isActive isPaused maxRate subscriptionQuery customHeaders secretKey
  asyncEvents { eventType }
}
"""
_OWNED = """
fragment Owned on Webhook { ...Hook app { id name isActive permissions { code } } }
"""
_DELIVERY = """
fragment Sent on EventDelivery {
  id createdAt status eventType payload
  attempts(first: 1) {
    edges { node { createdAt status duration responseStatusCode response requestHeaders } }
  }
}
"""
_APPS = """
query Apps($after: String) {
  apps(first: 100, after: $after, sortBy: {field: CREATION_DATE, direction: ASC}) {
    edges { node { id name isActive } }
    pageInfo { hasNextPage endCursor }
  }
}
"""
_OWN_APP = "query OwnApp { app { id name isActive } }"
_CALLER = "query Caller { me { userPermissions { code } } }"
_CALLING_APP = "query CallingApp { app { id name isActive permissions { code } } }"
_CREATE_APP = """
mutation CreateApp($input: AppInput!) {
  appCreate(input: $input) {
    app { id name isActive permissions { code } } errors { field message code }
  }
}
"""
_DELETE_APP = """
mutation DeleteApp($id: ID!) {
  appDelete(id: $id) { errors { field message code } }
}
"""
_WEBHOOKS = f"""
query Webhooks($after: String) {{
  apps(first: 100, after: $after, sortBy: {{field: CREATION_DATE, direction: ASC}}) {{
    edges {{ node {{ id name isActive webhooks {{ ...Hook }} }} }}
    pageInfo {{ hasNextPage endCursor }}
  }}
}}
{_WEBHOOK}
"""
_OWN_WEBHOOKS = f"""
query OwnWebhooks {{ app {{ id name isActive webhooks {{ ...Hook }} }} }}
{_WEBHOOK}
"""
_EVENTS = """
query Events {
  __type(name: "WebhookEventTypeAsyncEnum") { enumValues { name description } }
}
"""
_CREATE_WEBHOOK = f"""
mutation Create($input: WebhookCreateInput!) {{
  webhookCreate(input: $input) {{
    webhook {{ ...Owned }} errors {{ field message code }}
  }}
}}
{_OWNED}{_WEBHOOK}
"""
_UPDATE_WEBHOOK = f"""
mutation Update($id: ID!, $input: WebhookUpdateInput!) {{
  webhookUpdate(id: $id, input: $input) {{
    webhook {{ ...Owned }} errors {{ field message code }}
  }}
}}
{_OWNED}{_WEBHOOK}
"""
_DELETE_WEBHOOK = """
mutation Delete($id: ID!) {
  webhookDelete(id: $id) { errors { field message code } }
}
"""
_DRY_RUN = """
mutation DryRun($objectId: ID, $query: String, $app: ID) {
  webhookDryRun(objectId: $objectId, query: $query, app: $app) {
    payload errors { field message code }
  }
}
"""
_DELIVERIES = f"""
query Deliveries($id: ID!, $first: Int!, $after: String, $filter: EventDeliveryFilterInput) {{
  webhook(id: $id) {{
    eventDeliveries(first: $first, after: $after, filter: $filter) {{
      edges {{ node {{ ...Sent }} }}
      pageInfo {{ hasNextPage endCursor }}
    }}
  }}
}}
{_DELIVERY}
"""
_RETRY = f"""
mutation Retry($id: ID!) {{
  eventDeliveryRetry(id: $id) {{
    delivery {{ ...Sent }} errors {{ field message code }}
  }}
}}
{_DELIVERY}
"""
_REPLAY = """
mutation Replay(
  $id: ID!, $since: DateTime!, $failed: Boolean, $missing: Boolean, $beforeCreation: Boolean,
  $preview: Boolean
) {
  webhookReplay(
    id: $id, since: $since, failed: $failed, missing: $missing, beforeCreation: $beforeCreation,
    preview: $preview
  ) {
    failed missing hasMore earlier errors { field message code }
  }
}
"""
_SEND_WAITING = """
mutation SendWaiting($id: ID!) {
  webhookSendWaiting(id: $id) { count errors { field message code } }
}
"""

Node = Mapping[str, Any]


def _trigger(variables: str, arguments: str) -> str:
    return f"""
mutation Trigger($webhookId: ID!{variables}) {{
  webhookTrigger(webhookId: $webhookId{arguments}) {{
    delivery {{ ...Sent }} errors {{ field message code }}
  }}
}}
{_DELIVERY}
"""


def to_app(node: Node) -> instance.InstanceApp:
    return instance.InstanceApp(
        id=read_text(node, "id"),
        name=_text_if_any(node, "name"),
        is_active=node["isActive"],
        permissions=_codes(node.get("permissions")),
    )


def _codes(permissions: Sequence[Node] | None) -> frozenset[str] | None:
    if permissions is None:
        return None
    return frozenset(read_text(permission, "code") for permission in permissions)


def to_webhook(node: Node, app: instance.InstanceApp) -> instance.InstanceWebhook:
    return instance.InstanceWebhook(
        id=read_text(node, "id"),
        app=app,
        name=_text_if_any(node, "name"),
        target_url=read_text(node, "targetUrl"),
        is_active=node["isActive"],
        events=tuple(event["eventType"] for event in node["asyncEvents"]),
        query=_text_if_any(node, "subscriptionQuery"),
        custom_headers=_texts(node["customHeaders"]),
        has_secret=bool(node["secretKey"]),
        is_paused=node["isPaused"],
        max_rate=node["maxRate"],
    )


def to_delivery(node: Node) -> instance.InstanceDelivery:
    attempts = [edge["node"] for edge in node["attempts"]["edges"]]
    return instance.InstanceDelivery(
        id=read_text(node, "id"),
        event=read_text(node, "eventType"),
        status=read_text(node, "status"),
        created_at=_moment(node["createdAt"]),
        payload=read_json(node["payload"]) if node["payload"] else "",
        attempt=_to_attempt(attempts[0]) if attempts else None,
    )


def _to_attempt(node: Node) -> instance.InstanceAttempt:
    return instance.InstanceAttempt(
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

    def apps(self) -> tuple[instance.InstanceApp, ...]:
        return self._read(lambda: tuple(map(to_app, self._owners(_OWN_APP, _APPS))))

    def own_app(self) -> instance.InstanceApp | None:
        return None if self._held_by_person() is not None else self._calling_app()

    def permissions(self) -> frozenset[str]:
        held = self._held_by_person()
        return self._calling_app().permissions or frozenset() if held is None else held

    def create_app(self, name: str, permissions: Collection[str]) -> instance.InstanceApp:
        new = {"name": name, "permissions": sorted(permissions)}
        payload = self._api.change("appCreate", _CREATE_APP, input=new)
        return self._read(lambda: to_app(payload["app"]))

    def delete_app(self, app: instance.InstanceApp) -> None:
        self._api.change("appDelete", _DELETE_APP, id=app.id)

    def webhooks(self) -> tuple[instance.InstanceWebhook, ...]:
        def read() -> tuple[instance.InstanceWebhook, ...]:
            owners = self._owners(_OWN_WEBHOOKS, _WEBHOOKS)
            return tuple(
                to_webhook(node, to_app(owner)) for owner in owners for node in owner["webhooks"]
            )

        return self._read(read)

    def event_types(self) -> Mapping[str, str]:
        data = self._api.ask(_EVENTS)
        return self._read(
            lambda: {
                enum_value["name"]: enum_value["description"] or ""
                for enum_value in data["__type"]["enumValues"]
                if enum_value["description"] != NEVER_SENT
            }
        )

    def create(self, app_id: str, draft: instance.WebhookDraft) -> instance.InstanceWebhook:
        variables = {"app": app_id, **_input(draft)}
        payload = self._api.change("webhookCreate", _CREATE_WEBHOOK, input=variables)
        return self._read(lambda: _owned(payload["webhook"]))

    def change(
        self, webhook: instance.InstanceWebhook, draft: instance.WebhookDraft
    ) -> instance.InstanceWebhook:
        payload = self._api.change(
            "webhookUpdate", _UPDATE_WEBHOOK, id=webhook.id, input=_input(draft)
        )
        return self._read(lambda: _owned(payload["webhook"]))

    def change_unchanged(
        self, webhook: instance.InstanceWebhook, draft: instance.WebhookDraft
    ) -> instance.InstanceWebhook:
        return self.change(webhook, draft)

    def delete(self, webhook: instance.InstanceWebhook) -> None:
        self._api.change("webhookDelete", _DELETE_WEBHOOK, id=webhook.id)

    def dry_run(
        self, *, object_id: str | None = None, query: str | None = None, app_id: str | None = None
    ) -> str:
        payload = self._api.change(
            "webhookDryRun", _DRY_RUN, objectId=object_id, query=query, app=app_id
        )
        return self._read(lambda: read_json(payload["payload"]))

    def trigger(
        self, webhook_id: str, object_id: str | None, event: str = ""
    ) -> instance.InstanceDelivery:
        variables = {"webhookId": webhook_id}
        # Other versions require an object, and know no event.
        document = _trigger("", "")
        if object_id is not None:
            document = _trigger(", $objectId: ID!", ", objectId: $objectId")
            variables["objectId"] = object_id
        if event:
            document = _trigger(
                ", $objectId: ID, $event: WebhookEventTypeAsyncEnum",
                ", objectId: $objectId, event: $event",
            )
            variables["event"] = event
        payload = self._api.change("webhookTrigger", document, **variables)
        return self._read(lambda: to_delivery(payload["delivery"]))

    def deliveries(self, webhook_id: str, query: instance.DeliveryQuery) -> instance.DeliveryPage:
        names = {"status": query.status, "eventType": query.event}
        data = self._api.ask(
            _DELIVERIES,
            id=webhook_id,
            first=query.size,
            after=query.after or None,
            filter={name: value for name, value in names.items() if value},
        )
        if self._read(lambda: data["webhook"]) is None:
            raise Refused(Problem("NOT_FOUND", "There is no such webhook.", "id"))
        return self._read(lambda: _page(data["webhook"]["eventDeliveries"], query.after))

    def retry(self, delivery_id: str) -> instance.InstanceDelivery:
        payload = self._api.change("eventDeliveryRetry", _RETRY, id=delivery_id)
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
            _REPLAY,
            id=webhook_id,
            since=since.isoformat(),
            failed=scope.failed,
            missing=scope.missing,
            beforeCreation=scope.before_creation,
            preview=preview,
        )
        return self._read(
            lambda: ReplayResult(
                payload["failed"], payload["missing"], payload["hasMore"], payload["earlier"] or 0
            )
        )

    def send_waiting(self, webhook_id: str) -> int:
        payload = self._api.change("webhookSendWaiting", _SEND_WAITING, id=webhook_id)
        return self._read(lambda: int(payload["count"]))

    def key_set(self) -> bytes:
        url = key_set_url(self._api.url)
        response = self._api.get(url)
        if not response.is_good:
            raise Unreachable(url, f"it responded with HTTP {response.status}.")
        return response.body

    def _held_by_person(self) -> frozenset[str] | None:
        """Return the permissions of the person who calls; ``None`` for an app."""
        person = self._api.ask(_CALLER)["me"]
        if person is None:
            return None
        return self._read(lambda: frozenset(held["code"] for held in person["userPermissions"]))

    def _calling_app(self) -> instance.InstanceApp:
        data = self._api.ask(_CALLING_APP)
        return self._read(lambda: to_app(data["app"]))

    def _owners(self, own: str, all_of_them: str) -> Iterator[Node]:
        """The apps that the caller can manage; for an app, only itself."""
        after = None
        try:
            data = self._api.ask(all_of_them, after=after)
        except LoginEnded:
            raise
        except PermissionDenied as denied:
            yield self._own_app(own, denied)
            return
        while True:
            yield from (edge["node"] for edge in data["apps"]["edges"])
            if not data["apps"]["pageInfo"]["hasNextPage"]:
                return
            after = _require_progress(data["apps"]["pageInfo"]["endCursor"], than=after)
            data = self._api.ask(all_of_them, after=after)

    def _own_app(self, own: str, denied: PermissionDenied) -> Node:
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


def connect_by_profile(
    http: Http, profiles: instance.Profiles, profile: instance.Profile
) -> RemoteInstance:
    """The instance of a login that was kept."""
    return RemoteInstance(Api(http, profile.url, SavedLogin(profiles, profile)))


def _owned(node: Node) -> instance.InstanceWebhook:
    return to_webhook(node, to_app(node["app"]))


def _require_progress(cursor: object, than: object) -> object:
    """Return ``cursor``; raise ``ValueError`` if it didn't advance."""
    if not cursor or cursor == than:
        raise ValueError("This list has no end.")
    return cursor


def _page(connection: Node, after: str) -> instance.DeliveryPage:
    info = connection["pageInfo"]
    return instance.DeliveryPage(
        items=tuple(to_delivery(edge["node"]) for edge in connection["edges"]),
        next=str(_require_progress(info["endCursor"], than=after)) if info["hasNextPage"] else "",
    )


def _input(draft: instance.WebhookDraft) -> dict[str, object]:
    names: dict[str, object] = {
        "name": draft.name,
        "targetUrl": draft.target_url,
        "asyncEvents": draft.events,
        "isActive": draft.is_active,
        "isPaused": draft.is_paused,
        "maxRate": draft.max_rate,
        "query": draft.query,
        "secretKey": draft.secret_key,
    }
    changes = {name: value for name, value in names.items() if not isinstance(value, Absent)}
    if not isinstance(draft.custom_headers, Absent):
        changes["customHeaders"] = json.dumps(dict(draft.custom_headers))
    return changes


_CREATE = """
mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    token refreshToken errors { field message code }
  }
}
"""
_CHALLENGE = """
mutation AskForSecondFactor($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    secondFactorChallenge { challenge }
  }
}
"""
_VERIFY = """
mutation AnswerSecondFactor($challenge: String!, $code: String!) {
  secondFactorVerify(challenge: $challenge, code: $code) {
    token refreshToken errors { field message code }
  }
}
"""
_APP = "query App { app { id name } }"


def sign_in_person(
    http: Http, url: str, email: str, password: str, read_code: Callable[[], str]
) -> instance.Profile:
    """Open a session for that person; raises ``PermissionDenied`` with the instance's message.

    ``read_code`` returns the code of an account with a second factor.
    """
    api = Api(http, url, GivenToken(""))
    try:
        payload = _open_session(api, email, password, read_code)
    except Refused as refused:
        raise PermissionDenied(message=str(refused)) from None
    return read_as(
        url,
        lambda: instance.Profile(
            url, read_text(payload, "token"), read_text(payload, "refreshToken"), email
        ),
    )


def _open_session(
    api: Api, email: str, password: str, read_code: Callable[[], str]
) -> Mapping[str, Any]:
    try:
        return api.change("tokenCreate", _CREATE, email=email, password=password)
    except Refused as refused:
        if refused.problems[0].code != "SECOND_FACTOR_REQUIRED":
            raise
    # Asked for only now: older versions don't have the field.
    asked = api.ask(_CHALLENGE, email=email, password=password)
    challenge = read_as(
        api.url, lambda: read_text(asked["tokenCreate"]["secondFactorChallenge"], "challenge")
    )
    return api.change("secondFactorVerify", _VERIFY, challenge=challenge, code=read_code())


def sign_in_app(http: Http, url: str, token: str) -> instance.Profile:
    """An app's token, after the instance knew it; raises what is wrong with it otherwise."""
    api = Api(http, url, GivenToken(token))
    data = api.ask(_APP)
    if read_as(url, lambda: data["app"]) is None:
        raise PermissionDenied(message=f"No app at {url} has this token.")
    return instance.Profile(url, token)
