"""An app's page: its facts, tokens, webhooks and extensions, and the questions before changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from markupsafe import Markup

from app.console.frame.formatting import breakable, global_id, html_text, time_element
from app.console.frame.metadata import MetadataCard, Subject, make_metadata_card
from app.console.frame.parts import Consequence, Fact, Pill, Question, Tab, make_tabs
from app.domain.apps import apps
from app.domain.authorization.actor import Actor, manages_app
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.metadata import StoredMetadata
from app.domain.values.text import translatable
from app.services.apps.app_lists import AppWebhook
from app.services.apps.app_tokens import ClientLink
from app.services.webhooks.app_reach import UnconfirmedWebhook
from app.web.translation import enumeration, text

QUESTIONS = ("deactivate", "remove", "rotate", "revoke", "unlink")
"""What can be asked about: the app, one of its tokens, or a client that is linked to it."""

VIEWS = {
    "overview": translatable("Overview"),
    "tokens": translatable("Tokens"),
    "permissions": translatable("Permissions"),
    "webhooks": translatable("Webhooks"),
    "activity": translatable("Activity"),
    "extensions": translatable("Extensions"),
    "settings": translatable("Settings"),
}
"""The tabs of an app's page; without the permission to manage apps it has but the first."""

_ASKED_IN = {
    **dict.fromkeys(("rotate", "revoke", "unlink"), "tokens"),
    **dict.fromkeys(("deactivate", "remove"), "settings"),
}


def view_of_question(question_name: str | None) -> str:
    return _ASKED_IN.get(question_name or "", "overview")


@dataclass(frozen=True, slots=True)
class AppParts:
    """What belongs to an app, as far as the person can see it."""

    tokens: Sequence[apps.AppToken] = ()
    webhooks: Sequence[AppWebhook] = ()
    extensions: Sequence[apps.Extension] = ()
    clients: Sequence[ClientLink] = ()
    problems: Sequence[apps.AppProblem] = ()

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
    app: apps.App,
    parts: AppParts,
    now: datetime,
    question_name: str | None,
    token: apps.AppToken | None,
) -> Question | None:
    """Return the question that is ``question_name``; none about a token that isn't there."""
    if question_name in _ABOUT_APP:
        return _ABOUT_APP[question_name](app, parts)
    if token is None:
        return None
    if question_name == "rotate":
        return _rotation(app, token)
    return _revocation(app, parts, token, now) if question_name == "revoke" else None


def make_unlink_question(link: ClientLink) -> Question:
    rejected = text("Its tokens are rejected from the next request on.")
    return Question(
        title=text("Unlink client {client}?", client=link.client_id),
        action=text("Unlink client"),
        endpoint="console.app_clients.unlink",
        arguments={"key": link.app_id, "link_id": link.id},
        consequences=(
            Consequence("bad", rejected),
            Consequence("ok", text("The client stays at the provider. You can link it again.")),
        ),
    )


def make_grant_question(
    app: apps.App,
    permissions: frozenset[Permission],
    webhooks: Sequence[UnconfirmedWebhook],
    loaded: str,
) -> Question:
    """Return the question before ``permissions`` are granted that their savers lacked.

    ``loaded`` is what the form shows of the app.
    """
    fields = (("permissions", one.value) for one in in_order(permissions))
    return Question(
        title=text("Grant these permissions to {app}?", app=app.name),
        action=text("Grant permissions"),
        endpoint="console.apps.save_permissions",
        arguments={"key": app.id},
        hidden=(("confirmed", "yes"), ("loaded", loaded), *fields),
        consequences=(*(_unconfirmed_webhook(one) for one in webhooks), _saved_by_you(webhooks)),
    )


def _deactivation(app: apps.App, parts: AppParts) -> Question:
    return Question(
        title=text("Deactivate {app}?", app=app.name),
        action=text("Deactivate app"),
        endpoint="console.apps.deactivate",
        arguments={"key": app.id},
        consequences=(
            *_stopped(parts),
            Consequence(
                "ok", text("No data is deleted. You can activate the app again at any time.")
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
    if parts.clients:
        clients = html_text(
            "{count:,} linked client is rejected from the next request on.",
            "{count:,} linked clients are rejected from the next request on.",
            count=len(parts.clients),
        )
        yield Consequence("bad", clients)
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


def _deletion(app: apps.App, parts: AppParts) -> Question:
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


_ABOUT_APP: Mapping[str | None, Callable[[apps.App, AppParts], Question]] = {
    "deactivate": _deactivation,
    "remove": _deletion,
}


def _rotation(app: apps.App, token: apps.AppToken) -> Question:
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


def _revocation(app: apps.App, parts: AppParts, token: apps.AppToken, now: datetime) -> Question:
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


def _rejected(token: apps.AppToken, now: datetime) -> str:
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


_EVENTS = 2
"""How many events a webhook's line names."""

_CODE = Markup("<code>{}</code>")
_LINK = Markup('<a href="{}" rel="noreferrer">{}</a>')


@dataclass(frozen=True, slots=True)
class Secret:
    """A new token, as it is shown once."""

    title: str
    value: str = field(repr=False)
    header: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token in the table; ``label`` names it in buttons."""

    token: apps.AppToken
    name: str
    label: str
    notes: tuple[str, ...]
    last_four: str
    unused: str
    can_rotate: bool


@dataclass(frozen=True, slots=True)
class WebhookRow:
    id: int
    name: str
    sends: str
    state: Pill


@dataclass(frozen=True, slots=True)
class ExtensionRow:
    label: str
    opens: str


@dataclass(frozen=True, slots=True)
class AppPage:
    """An app's page, and the question before a change if one is asked."""

    long_lived_tokens: int
    status: Pill
    facts: tuple[Fact, ...]
    tokens: tuple[TokenRow, ...]
    token_reach: str
    token_command: str
    client_command: str
    webhooks: tuple[WebhookRow, ...]
    extensions: tuple[ExtensionRow, ...]
    logo: str
    no_extensions: str
    effect: str
    question: Question | None


def app_metadata_card(
    app: apps.App, stored: StoredMetadata, asked: Mapping[str, str], actor: Actor
) -> MetadataCard:
    """Return the card with an app's metadata, for people who manage apps."""
    subject = Subject(
        id=app.id,
        name=app.name,
        noun="app",
        endpoint="console.apps.show",
        save_endpoint="console.metadata.save_of_app",
        delete_endpoint="console.metadata.delete_of_app",
    )
    return make_metadata_card(
        subject, stored, asked, sees_private=True, can_change=manages_app(actor, app.permissions)
    )


def app_status(app: apps.App) -> Pill:
    return Pill("ok", text("Active")) if app.is_active else Pill("off", text("Inactive"))


def permission_labels(permissions: Iterable[Permission]) -> list[str]:
    """Return the labels of ``permissions`` in alphabetical order."""
    return sorted(text(permission.label) for permission in permissions)


def app_tabs(app: apps.App, parts: AppParts, view: str) -> tuple[Tab, ...]:
    """Return the tabs of an app's page, for people who manage apps."""
    counts = {
        "tokens": len(parts.tokens),
        "permissions": len(app.permissions),
        "webhooks": len(parts.webhooks),
        "extensions": len(parts.extensions),
    }
    without = () if parts.extensions or app.type is not apps.AppType.LOCAL else ("extensions",)
    views = {name: label for name, label in VIEWS.items() if name == view or name not in without}
    return make_tabs(views, view, counts, "console.apps.show", key=app.id)


def make_app_page(
    app: apps.App, parts: AppParts, now: datetime, question: Question | None = None
) -> AppPage:
    return AppPage(
        long_lived_tokens=apps.count_long_lived(parts.tokens, now),
        status=app_status(app),
        facts=tuple(_facts(app, now)),
        tokens=tuple(_token(one, now) for one in parts.tokens),
        token_reach=_token_reach(parts.tokens),
        token_command=f"flask app token create {app.id}",
        client_command=f"flask app link-client {app.id}",
        webhooks=tuple(_webhook(one) for one in parts.webhooks),
        extensions=tuple(_extension(one) for one in parts.extensions),
        logo=apps.logo_path(app.logo, apps.LOGO_SIZES[0]) if app.logo else "",
        no_extensions=_no_extensions(app),
        effect=_effect(app, parts),
        question=question,
    )


def make_secret(token: apps.AppToken, secret: str) -> Secret:
    title = text("Token created")
    if token.name:
        title = text("Token “{name}” created", name=token.name)
    return Secret(title, secret, f"Authorization: Bearer {secret}")


def _facts(app: apps.App, now: datetime) -> Iterable[Fact]:
    is_custom = app.type is apps.AppType.LOCAL
    yield Fact(text("Type"), text("Custom") if is_custom else text("Installed from manifest"))
    if app.version:
        yield Fact(text("Version"), app.version)
    if app.author:
        yield Fact(text("Author"), app.author)
    if app.identifier:
        yield Fact(text("Identifier"), app.identifier, is_copied=True)
    if app.app_url:
        yield Fact(text("Website"), _LINK.format(app.app_url, breakable(app.app_url)))
    if app.manifest_url:
        yield Fact(text("Manifest"), app.manifest_url, is_copied=True)
    if app.support_url:
        yield Fact(text("Support"), _LINK.format(app.support_url, breakable(app.support_url)))
    made = text("Created") if is_custom else text("Installed")
    yield Fact(made, time_element(app.created_at, now))
    yield Fact(text("API ID"), global_id(app.id, "App"), is_copied=True)


def _token(token: apps.AppToken, now: datetime) -> TokenRow:
    return TokenRow(
        token=token,
        name=token.name or text("Unnamed token"),
        label=token.name or text("token …{last_four}", last_four=token.last_four),
        notes=tuple(_notes(token, now)),
        last_four=text("…{last_four}", last_four=token.last_four),
        unused=text("Not used here yet") if token.awaits_first_use else text("Never"),
        can_rotate=token.replaced_at is None and not token.is_by_client,
    )


def _token_reach(tokens: Iterable[apps.AppToken]) -> str:
    """Return to which tokens the app's permissions apply."""
    limited = sum(token.permissions is not None for token in tokens)
    if not limited:
        return text("Permissions apply to all of this app's tokens.")
    return text(
        "Permissions apply to this app's tokens, except that {count} token is limited to some.",
        "Permissions apply to this app's tokens, except that {count} tokens are limited to some.",
        count=limited,
    )


def _notes(token: apps.AppToken, now: datetime) -> Iterable[str]:
    if token.awaits_first_use:
        yield html_text("Imported {moment}", moment=time_element(token.created_at, now))
    else:
        yield html_text("Created {moment}", moment=time_element(token.created_at, now))
    if token.replaced_at is not None:
        yield text("Rotated; this token works until it expires")
    if token.permissions is not None:
        labels = ", ".join(permission_labels(token.permissions)) or text("none")
        yield text("Limited to: {permissions}", permissions=labels)


def _webhook(webhook: AppWebhook) -> WebhookRow:
    name = webhook.name or text("Unnamed webhook")
    return WebhookRow(webhook.id, name, _sends(webhook), _webhook_state(webhook))


def _sends(webhook: AppWebhook) -> str:
    named = Markup(", ").join(_CODE.format(breakable(event)) for event in webhook.events[:_EVENTS])
    url = breakable(webhook.target_url)
    if not webhook.events:
        return html_text("No events to {url}", url=url)
    more = len(webhook.events) - _EVENTS
    if more > 0:
        return html_text("{events}, +{count} to {url}", events=named, count=more, url=url)
    return html_text("{events} to {url}", events=named, url=url)


def _webhook_state(webhook: AppWebhook) -> Pill:
    if webhook.disabled_reason:
        return Pill("bad", text("Disabled"))
    if not webhook.is_active:
        return Pill("off", text("Disabled"))
    if webhook.is_failing:
        return Pill("bad", text("Failing"))
    return Pill("ok", text("Active"))


def reported_problems(parts: AppParts) -> list[tuple[apps.AppProblem, str]]:
    """Return the problems that aren't dismissed, and how often each was reported."""
    return [
        (one, text("Reported once", "Reported {count:,} times", count=one.count))
        for one in parts.problems
        if one.dismissed_by is None
    ]


def _extension(extension: apps.Extension) -> ExtensionRow:
    values = {"mount": _CODE.format(breakable(extension.mount)), "url": extension.url}
    if not extension.permissions:
        return ExtensionRow(extension.label, html_text("{mount} opens {url}", **values))
    labels = enumeration(permission_labels(extension.permissions))
    opens = html_text(
        "{mount} opens {url}, for staff with {permissions}", permissions=labels, **values
    )
    return ExtensionRow(extension.label, opens)


def _no_extensions(app: apps.App) -> str:
    if app.type is apps.AppType.LOCAL:
        return text("Extensions come from an app's manifest. Custom apps have none.")
    return text("{name} doesn't declare any in its manifest.", name=app.name)


def _effect(app: apps.App, parts: AppParts) -> str:
    """Return what deactivating the app stops, or what its being inactive stops."""
    if not app.is_active:
        return text(
            "Its tokens are rejected and its webhooks don't send events until you activate it."
        )
    stopped = enumeration(AppParts(parts.tokens, parts.webhooks).counts)
    if not stopped:
        return text("Deactivating stops the app until you activate it again.")
    return text(
        "Deactivating stops its {stopped} until you activate the app again.", stopped=stopped
    )
