"""Queries about the mail log."""

from enum import Enum
from typing import Any

import graphene

from app.domain.mails.mail import MailKind
from app.domain.mails.mail_log import MailEntry, MailFilter
from app.domain.values.pages import Page
from app.graphql.connections import connection_arguments, make_connection, page_request
from app.graphql.context import Info
from app.graphql.fields import key_in
from app.graphql.types.lists import moments_in
from app.graphql.types.mails import MailFilterInput, template_arguments, template_language
from app.services.mails.mail_log import list_mails
from app.services.mails.mail_templates import (
    TemplateDetails,
    TemplateEntry,
    list_templates,
    show_template,
)

MailCountableConnection = make_connection("Mail", "app.graphql.types.mails.Mail")


class MailQueries(graphene.ObjectType):
    """Which emails were sent, and the templates of emails."""

    mail_templates = graphene.Field(
        graphene.NonNull(graphene.List(graphene.NonNull("app.graphql.types.mails.MailTemplate"))),
        description="The email templates in use. For staff with MANAGE_SETTINGS.",
    )
    mail_template = graphene.Field(
        "app.graphql.types.mails.MailTemplateSources",
        **template_arguments(),
        version=graphene.Int(description="An earlier version; without it, the one in use."),
        description=(
            "The sources of an email template, or of the default. Null if there is no such "
            "version. For staff with MANAGE_SETTINGS."
        ),
    )

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
    def resolve_mails(_root: object, info: Info, **arguments: Any) -> Page[MailEntry]:
        page = page_request("mails", arguments)
        filter_ = _filter(arguments.get("filter") or {})
        return list_mails(info.context.ports, info.context.actor, page, filter_)

    @staticmethod
    def resolve_mail_templates(_root: object, info: Info) -> tuple[TemplateEntry, ...]:
        return list_templates(info.context.ports, info.context.actor)

    @staticmethod
    def resolve_mail_template(
        _root: object,
        info: Info,
        kind: MailKind,
        language_code: Enum | None = None,
        version: int | None = None,
    ) -> TemplateDetails | None:
        language = template_language(language_code)
        return show_template(info.context.ports, info.context.actor, kind, language, version or 0)


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
