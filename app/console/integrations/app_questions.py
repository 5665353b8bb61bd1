"""The questions before a change of an app or one of its tokens, each with its consequences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.console.formatting import html_text, time_element
from app.console.integrations.apps_page import permission_labels
from app.console.parts import Consequence, Question
from app.domain.apps.apps import App, AppToken
from app.domain.apps.extensions import Extension
from app.domain.authorization.permissions import Permission, in_order
from app.services.apps.summaries import AppWebhook
from app.services.webhooks.permission_grants import UnconfirmedWebhook
from app.web.translation import enumeration, text

QUESTIONS = ("deactivate", "remove", "rotate", "revoke")
"""What can be asked about; the last two about a token."""


@dataclass(frozen=True, slots=True)
class AppParts:
    """What belongs to an app, as far as the person can see it."""

    tokens: Sequence[AppToken] = ()
    webhooks: Sequence[AppWebhook] = ()
    extensions: Sequence[Extension] = ()

    @property
    def counts(self) -> list[str]:
        """How many there are of each kind, without those of which there are none."""
        tokens, webhooks = len(self.tokens), len(self.webhooks)
        extensions = len(self.extensions)
        counts = (
            tokens and text("{count:,} token", "{count:,} tokens", count=tokens),
            webhooks and text("{count:,} webhook", "{count:,} webhooks", count=webhooks),
            extensions and text("{count:,} extension", "{count:,} extensions", count=extensions),
        )
        return [words for words in counts if words]


def make_question(
    app: App, parts: AppParts, now: datetime, question_name: str | None, token: AppToken | None
) -> Question | None:
    """Return the question that is ``question_name``; none about a token that isn't there."""
    if question_name in _ABOUT_APP:
        return _ABOUT_APP[question_name](app, parts)
    if token is None:
        return None
    if question_name == "rotate":
        return _rotation(app, token)
    return _revocation(app, parts, token, now) if question_name == "revoke" else None


def make_grant_question(
    app: App, permissions: frozenset[Permission], webhooks: Sequence[UnconfirmedWebhook]
) -> Question:
    """Return the question before ``permissions`` are granted that their savers lacked."""
    fields = (("permissions", one.value) for one in in_order(permissions))
    return Question(
        title=text("Grant these permissions to {app}?", app=app.name),
        action=text("Grant permissions"),
        endpoint="console.apps.save_permissions",
        arguments={"key": app.id},
        hidden=(("confirmed", "yes"), *fields),
        consequences=(*(_unconfirmed_webhook(one) for one in webhooks), _saved_by_you(webhooks)),
    )


def _deactivation(app: App, parts: AppParts) -> Question:
    return Question(
        title=text("Deactivate {app}?", app=app.name),
        action=text("Deactivate app"),
        endpoint="console.apps.deactivate",
        arguments={"key": app.id},
        consequences=(
            *_stopped(parts),
            Consequence(
                "ok", text("Nothing is deleted. You can activate the app again at any time.")
            ),
        ),
    )


def _stopped(parts: AppParts) -> Iterable[Consequence]:
    if parts.tokens:
        tokens = html_text(
            "{count:,} token is rejected from the next request on.",
            "{count:,} tokens are rejected from the next request on.",
            count=len(parts.tokens),
        )
        yield Consequence("bad", tokens)
    if parts.extensions:
        extensions = html_text(
            "{count:,} extension disappears from the dashboard.",
            "{count:,} extensions disappear from the dashboard.",
            count=len(parts.extensions),
        )
        yield Consequence("bad", extensions)
    if parts.webhooks:
        webhooks = html_text(
            "{count:,} webhook doesn't receive events. Missed events aren't sent later.",
            "{count:,} webhooks don't receive events. Missed events aren't sent later.",
            count=len(parts.webhooks),
        )
        yield Consequence("bad", webhooks)


def _deletion(app: App, parts: AppParts) -> Question:
    deleted = text("{app} is deleted. This can't be undone.", app=app.name)
    if parts.counts:
        deleted = text(
            "{app} is deleted with {parts}. This can't be undone.",
            app=app.name,
            parts=enumeration(parts.counts),
        )
    return Question(
        title=text("Delete {app}?", app=app.name),
        action=text("Delete app"),
        endpoint="console.apps.remove",
        arguments={"key": app.id},
        consequences=(
            Consequence("bad", deleted),
            Consequence("ok", text("The audit log keeps what the app did and who deleted it.")),
        ),
    )


_ABOUT_APP: Mapping[str | None, Callable[[App, AppParts], Question]] = {
    "deactivate": _deactivation,
    "remove": _deletion,
}


def _rotation(app: App, token: AppToken) -> Question:
    return Question(
        title=text("Rotate token …{last_four}?", last_four=token.last_four),
        action=text("Rotate token"),
        endpoint="console.app_tokens.rotate",
        arguments={"key": app.id, "token_id": token.id},
        consequences=(
            Consequence(
                "ok", text("A new token with the same permissions is created and shown once.")
            ),
            Consequence("warn", text("The old token keeps working for a grace period.")),
        ),
        is_harmless=True,
    )


def _revocation(app: App, parts: AppParts, token: AppToken, now: datetime) -> Question:
    others = len(parts.tokens) - 1
    if others:
        rest = text(
            "{count:,} other token of {app} keeps working.",
            "{count:,} other tokens of {app} keep working.",
            count=others,
            app=app.name,
        )
        remaining = Consequence("ok", rest)
    else:
        only = text("This is the only token of {app}. The app will lose all access.", app=app.name)
        remaining = Consequence("warn", only)
    return Question(
        title=text("Revoke token …{last_four}?", last_four=token.last_four),
        action=text("Revoke token"),
        endpoint="console.app_tokens.revoke",
        arguments={"key": app.id, "token_id": token.id},
        consequences=(Consequence("bad", _rejected(token, now)), remaining),
    )


def _rejected(token: AppToken, now: datetime) -> str:
    if token.awaits_first_use:
        return text("It is rejected from the next request on. It hasn't been used here yet.")
    if token.last_used_at is None:
        return text("It is rejected from the next request on. It was never used.")
    moment = time_element(token.last_used_at, now)
    if not token.last_used_address:
        return html_text(
            "It is rejected from the next request on. Last used {moment}.", moment=moment
        )
    return html_text(
        "It is rejected from the next request on. Last used {moment} from {ip}.",
        moment=moment,
        ip=token.last_used_address,
    )


def _unconfirmed_webhook(webhook: UnconfirmedWebhook) -> Consequence:
    sentence = html_text(
        "{name} sends to {url} and was saved by {person}, who doesn't have {permissions}. It will "
        "be sent what the app can read with these permissions.",
        name=webhook.name or text("An unnamed webhook"),
        url=webhook.target_url,
        person=webhook.saved_by,
        permissions=enumeration(permission_labels(webhook.lacking)),
    )
    return Consequence("bad", sentence)


def _saved_by_you(webhooks: Sequence[UnconfirmedWebhook]) -> Consequence:
    sentence = text(
        "If you grant them, the webhook counts as saved by you.",
        "If you grant them, the webhooks count as saved by you.",
        count=len(webhooks),
    )
    return Consequence("warn", sentence)
