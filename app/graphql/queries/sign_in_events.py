"""Queries about the sign-in log."""

from typing import Any

import graphene

from app.domain.sign_in.sign_in_log import SignInEvent, SignInFilter
from app.domain.values.pages import Page
from app.graphql.connections import connection_arguments, make_connection, page_request
from app.graphql.context import Info
from app.graphql.global_ids import key_in
from app.graphql.types.lists import moments_in
from app.graphql.types.sign_in_events import SignInEventFilterInput
from app.services.sign_in_log.events import list_sign_ins

SignInEventCountableConnection = make_connection(
    "SignInEvent", "app.graphql.types.sign_in_events.SignInEvent"
)


class SignInEventQueries(graphene.ObjectType):
    """Who tried to sign in."""

    sign_in_events = graphene.Field(
        SignInEventCountableConnection,
        filter=SignInEventFilterInput(),
        **connection_arguments(),
        description=(
            "The sign-in log, newest first. For staff with MANAGE_STAFF, who see all "
            "attempts, and staff with MANAGE_USERS, who see those of customers. Failed "
            "attempts appear within a minute."
        ),
    )

    @staticmethod
    def resolve_sign_in_events(_root: object, info: Info, **arguments: Any) -> Page[SignInEvent]:
        page = page_request("signInEvents", arguments)
        filter_ = _filter(arguments.get("filter") or {})
        return list_sign_ins(info.context.ports, info.context.actor, page, filter_)


def _filter(given: dict[str, Any]) -> SignInFilter:
    span = moments_in(given.get("at"))
    user_id, app_id = given.get("user_id"), given.get("app_id")
    return SignInFilter(
        user_id=None if user_id is None else key_in(user_id, "User"),
        app_id=None if app_id is None else key_in(app_id, "App"),
        method=given.get("method"),
        result=given.get("result"),
        reason=given.get("reason"),
        account_type=given.get("account_type"),
        address=given.get("address") or "",
        since=None if span is None else span.gte,
        until=None if span is None else span.lte,
        text=given.get("search") or "",
    )
