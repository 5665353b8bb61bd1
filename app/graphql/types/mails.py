"""Emails of the mail log."""

import graphene

from app.domain.mails import mail_log as domain
from app.domain.values.ids import to_global_id
from app.graphql.context import Info

_STATUSES = {
    "QUEUED": "It waits for its first attempt.",
    "WAITING": "It waits for an app to send it instead.",
    "SENT_BY_APP": "An app accepted the event with its link, to send it.",
    "SENT": "The mail server accepted it. Bounces aren't recorded.",
    "DEFERRED": "An attempt failed. It is tried again.",
    "FAILED": "It isn't tried again.",
}
MailStatusEnum = graphene.Enum.from_enum(
    domain.MailStatus,
    name="MailStatusEnum",
    description=lambda value: "How far an email is." if value is None else _STATUSES[value.name],
)


class MailFilterInput(graphene.InputObjectType):
    """Conditions on emails; all given ones must match."""

    status = graphene.InputField(MailStatusEnum)
    user_id = graphene.ID(description="The account that the emails are about.")
    created_at = graphene.InputField(
        "app.graphql.types.lists.DateTimeRangeInput", description="When it was queued."
    )
    search = graphene.String(
        description=(
            "A part of the recipient or of the account's name, within the newest 10,000 emails "
            "that match the rest."
        )
    )


class Mail(graphene.ObjectType):
    """An email in the mail log, without its content."""

    id = graphene.NonNull(graphene.ID)
    kind = graphene.NonNull(graphene.String, description="Such as `password_reset`.")
    recipient = graphene.NonNull(graphene.String, description="The email that it was sent to.")
    user_id = graphene.ID(description="The account that it is about.")
    status = graphene.NonNull(MailStatusEnum)
    error = graphene.String(
        description=(
            "Why the last attempt failed, with what the mail server answered. Emails and URLs in "
            "it are hidden."
        )
    )
    attempts = graphene.NonNull(graphene.Int, description="How often it was tried.")
    created_at = graphene.NonNull(graphene.DateTime, description="When it was queued.")
    attempted_at = graphene.DateTime(description="The time of the last attempt.")
    next_attempt_at = graphene.DateTime(description="Null if it isn't tried again.")
    sent_at = graphene.DateTime(description="When the mail server or the app accepted it.")
    sent_by = graphene.String(description="The name of the app that sent it instead.")
    waits_for = graphene.String(
        description="The name of the app that it waits for; empty before one was found."
    )

    def resolve_id(self: domain.MailEntry, _info: Info) -> str:
        return to_global_id("Mail", self.id)

    def resolve_user_id(self: domain.MailEntry, _info: Info) -> str | None:
        return None if self.user_id is None else to_global_id("User", self.user_id)

    def resolve_error(self: domain.MailEntry, _info: Info) -> str | None:
        return self.error or None

    def resolve_sent_by(self: domain.MailEntry, _info: Info) -> str | None:
        return self.sent_by or None
