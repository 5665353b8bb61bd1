"""Emails of the mail log, and the shop's own email templates."""

from enum import Enum

import graphene

from app.domain.mails import mail_log as domain
from app.domain.mails.mail import KIND_LABELS, MailKind
from app.graphql import fields
from app.graphql.context import Info
from app.services.mails import mail_templates as service

MailStatusEnum = fields.described_enum(
    domain.MailStatus,
    "MailStatusEnum",
    "How far an email is.",
    {
        "QUEUED": "It waits for its first attempt.",
        "WAITING": "It waits for an app to send it instead.",
        "SENT_BY_APP": "An app accepted the event with its link, to send it.",
        "SENT": "The mail server accepted it. Bounces aren't recorded.",
        "DEFERRED": "An attempt failed. It is tried again.",
        "FAILED": "It isn't tried again.",
    },
)


class MailFilterInput(graphene.InputObjectType):
    """Conditions on emails; all given ones must match."""

    status = graphene.InputField(MailStatusEnum)
    user_id = graphene.ID(description="The account that the emails are about.")
    created_at = graphene.InputField(
        "app.graphql.types.lists.DateTimeRangeInput", description="When it was queued."
    )
    search = graphene.String(
        description="A part of the recipient or of the account's name, within the newest 10,000 "
        "emails that match the rest."
    )


class Mail(graphene.ObjectType):
    """An email in the mail log, without its content."""

    id = fields.own_id("Mail")
    kind = graphene.NonNull(graphene.String, description="Such as `password_reset`.")
    recipient = graphene.NonNull(graphene.String, description="The email that it was sent to.")
    user_id = fields.id_or_null("User", "user_id", description="The account that it is about.")
    status = graphene.NonNull(MailStatusEnum)
    error = fields.text_or_null(
        "error",
        description="Why the last attempt failed, with what the mail server answered. Emails and "
        "URLs in it are hidden.",
    )
    attempts = graphene.NonNull(graphene.Int, description="How often it was tried.")
    created_at = graphene.NonNull(graphene.DateTime, description="When it was queued.")
    attempted_at = graphene.DateTime(description="The time of the last attempt.")
    next_attempt_at = graphene.DateTime(description="Null if it isn't tried again.")
    sent_at = graphene.DateTime(description="When the mail server or the app accepted it.")
    sent_by = fields.text_or_null(
        "sent_by", description="The name of the app that sent it instead."
    )
    waits_for = graphene.String(
        description="The name of the app that it waits for; empty before one was found."
    )


MailKindEnum = graphene.Enum.from_enum(
    MailKind,
    name="MailKindEnum",
    description=lambda kind: "A kind of email." if kind is None else f"{KIND_LABELS[kind.value]}.",
)
_LANGUAGE = "The language that it is for. Null for all languages without one."
_VERSION = "0 for a template of the folder `MAIL_TEMPLATES`."
_SAVED_AT = "When it was saved."
_SAVED_BY = "Who saved it."
_FAULT = "Why it can't be used, so that the default is sent."


def template_arguments() -> dict[str, graphene.Argument]:
    """Return the arguments that choose a template."""
    return {
        "kind": graphene.Argument(MailKindEnum, required=True, description="The kind of email."),
        "language_code": graphene.Argument(
            "app.graphql.types.languages.LanguageCodeEnum",
            description="The template for this language; without it, the one for all.",
        ),
    }


def template_language(code: Enum | None) -> str:
    """Return the language of an argument, "" for all."""
    return "" if code is None else str(code.value)


def _fault(details: service.TemplateEntry | service.TemplateDetails, _info: Info) -> str | None:
    return None if details.fault is None else service.described(details.fault)


class MailTemplate(graphene.ObjectType):
    """A template that is used instead of the default for a kind of email."""

    kind = graphene.NonNull(MailKindEnum, description="The kind of email.")
    language_code = graphene.Field(
        "app.graphql.types.languages.LanguageCodeEnum", description=_LANGUAGE
    )
    version = graphene.NonNull(graphene.Int, description=_VERSION)
    saved_at = graphene.DateTime(description=_SAVED_AT)
    saved_by = fields.text_or_null("saved_by", description=_SAVED_BY)
    fault = graphene.String(description=_FAULT, resolver=_fault)

    def resolve_language_code(self: service.TemplateEntry, _info: Info) -> str | None:
        return self.language_code or None


class MailTemplateVersion(graphene.ObjectType):
    """A saved version of a template."""

    version = graphene.NonNull(graphene.Int, description="Its number, from 1.")
    is_current = graphene.NonNull(graphene.Boolean, description="Whether it is used.")
    saved_at = graphene.NonNull(graphene.DateTime, description=_SAVED_AT)
    saved_by = graphene.NonNull(graphene.String, description=_SAVED_BY)


def _source(name: str, label: str) -> graphene.NonNull:
    description, read = f"The source of the {label}.", fields.part(f"template.{name}")
    return graphene.NonNull(graphene.String, description=description, resolver=read)


class MailTemplateSources(graphene.ObjectType):
    """The sources of a template, or of the default if there is none."""

    version = graphene.NonNull(
        graphene.Int, description="0 for the default or a template of the folder."
    )
    subject = _source("subject", "subject")
    html = _source("html", "HTML")
    text = _source("text", "text")
    versions = graphene.NonNull(
        graphene.List(graphene.NonNull(MailTemplateVersion)), description="The newest first."
    )
    fault = graphene.String(description=_FAULT, resolver=_fault)


class MailTemplateInput(graphene.InputObjectType):
    """An email template; the editor in the console explains what it can show."""

    kind = graphene.InputField(MailKindEnum, required=True, description="The kind of email.")
    language_code = graphene.InputField(
        "app.graphql.types.languages.LanguageCodeEnum",
        description="EN, DE, FR, ES, PL or AR. Without it, for all languages.",
    )
    subject = graphene.String(required=True, description="The source of the subject.")
    html = graphene.String(required=True, description="The source of the HTML.")
    text = graphene.String(required=True, description="The source of the text.")
    based_on = graphene.Int(
        required=True,
        description="The version that was edited, 0 for the default. Another one in use is kept.",
    )


class MailTemplateError(fields.MutationError, graphene.ObjectType):
    """Why a template was refused."""

    code = graphene.NonNull("app.graphql.types.error_codes.ShopErrorCode")
    lines = graphene.List(
        graphene.NonNull(graphene.Int),
        description="The lines of the source, from 1.",
        resolver=fields.part_or_null("lines"),
    )
