"""Queries about the mail log."""

from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.domain.mails.mail_log import MailEntry, MailFilter
from app.domain.values.pages import Page
from app.graphql.connections import connection_arguments, make_connection, page_request
from app.graphql.context import RequestContext
from app.graphql.global_ids import key_in
from app.graphql.types.lists import moments_in
from app.graphql.types.mails import MailFilterInput
from app.services.operations.mail_log import list_mails

MailCountableConnection = make_connection("Mail", "app.graphql.types.mails.Mail")


class MailQueries(graphene.ObjectType):
    """Which emails were sent."""

    mails = graphene.Field(
        MailCountableConnection,
        filter=MailFilterInput(),
        **connection_arguments(),
        description=(
            "The mail log, newest first. For staff with MANAGE_STAFF, who see all emails, and "
            "staff with MANAGE_USERS, who see those about customers."
        ),
    )

    @staticmethod
    def resolve_mails(
        _root: object, info: GraphQLResolveInfo, **arguments: Any
    ) -> Page[MailEntry]:
        context: RequestContext = info.context
        page = page_request("mails", arguments)
        filter_ = _filter(arguments.get("filter") or {})
        return list_mails(context.ports, context.actor, page, filter_)


def _filter(given: dict[str, Any]) -> MailFilter:
    span = moments_in(given.get("created_at"))
    user_id = given.get("user_id")
    return MailFilter(
        user_id=None if user_id is None else key_in(user_id, "User"),
        status=given.get("status"),
        since=None if span is None else span.gte,
        until=None if span is None else span.lte,
        text=given.get("search") or "",
    )
