"""An OAuth client's page: its facts, who uses it, and the questions before changes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import url_for

from app.console.frame.formatting import breakable, time_element
from app.console.frame.parts import Consequence, Fact, Pill, Question, link, moment
from app.console.frame.session import actor, now, ports
from app.domain.apps.apps import LOGO_SIZES
from app.domain.oauth import OAuthClient, client_logo_path, write_scopes
from app.domain.values.text import translatable
from app.services.oauth.client_pages import ClientUse, ClientUser
from app.services.oauth.userinfo import issuer_of
from app.web.translation import text

CLIENT_PAGE = "console.oauth_clients.show"
PARTIES = {"first": translatable("First party"), "third": translatable("Third party")}

VIEWS = {
    "overview": translatable("Overview"),
    "sign-in": translatable("Sign-in"),
    "activity": translatable("Activity"),
    "settings": translatable("Settings"),
}
QUESTIONS = {"rotate": "overview", "disable": "settings", "delete": "settings"}
"""What can be asked about a client, and in which tab."""


@dataclass(frozen=True, slots=True)
class PersonRow:
    email: str
    url: str
    icon: str
    used_at: datetime


def client_status(client: OAuthClient) -> Pill:
    return Pill("ok", text("Enabled")) if client.is_active else Pill("off", text("Disabled"))


def client_kind(client: OAuthClient) -> str:
    if client.app_id is not None:
        return text("Acts as {app}", app=client.app_name)
    return text("Without a server") if client.is_public else text("With a server")


def client_party(client: OAuthClient) -> str:
    """Return whose program a client is; empty for one that acts as an app."""
    if client.app_id is not None:
        return ""
    return text(PARTIES["first" if client.is_first_party else "third"])


def scopes_text(client: OAuthClient) -> str:
    return write_scopes(client.scopes, ports().configuration.scope_prefix)


def client_values(client: OAuthClient, use: ClientUse | None, asks: str | None) -> dict[str, Any]:
    """Return what the page of ``client`` shows; ``use`` is for its activity and for questions."""
    return {
        "client": client,
        "status": client_status(client),
        "facts": _facts(client),
        "scopes": scopes_text(client).split(),
        "logo": client_logo_path(client.logo, LOGO_SIZES[0]) if client.logo else "",
        "use": use,
        "people": () if use is None else tuple(map(_person_row, use.latest)),
        "use_facts": () if use is None else _use_facts(client, use),
        "question": None if use is None else _question(client, use, asks),
    }


def _facts(client: OAuthClient) -> Iterator[Fact]:
    issuer = issuer_of(actor())
    yield Fact(text("Client ID"), client.client_id, is_copied=True)
    if client.app_id is None:
        yield Fact(text("Type"), client_kind(client))
        yield Fact(text("Belongs to"), client_party(client))
        subjects = (
            text("Pairwise: no other client knows them")
            if client.is_pairwise
            else text("The person's ID, as other clients know it")
        )
        yield Fact(text("Subjects"), subjects)
        discovery = f"{issuer}/.well-known/openid-configuration"
        yield Fact(text("Discovery URL"), discovery, is_copied=True)
        for uri in client.redirect_uris:
            yield Fact(text("Redirect URI"), breakable(uri))
    else:
        yield Fact(text("Acts as"), link(client.app_name, "console.apps.show", key=client.app_id))
        yield Fact(text("Token endpoint"), f"{issuer}/oauth/token", is_copied=True)
    yield Fact(text("Created"), time_element(client.created_at, now()))
    yield Fact(text("Last used"), moment(client.last_used_at))


def _person_row(user: ClientUser) -> PersonRow:
    page = "console.staff.show" if user.is_staff else "console.customers.show"
    icon = "person-badge" if user.is_staff else "person"
    return PersonRow(user.email, url_for(page, key=user.id), icon, user.used_at)


def _use_facts(client: OAuthClient, use: ClientUse) -> Iterator[Fact]:
    yield Fact(text("Last used"), moment(client.last_used_at))
    if client.app_id is None:
        yield Fact(text("People in the last 30 days"), f"{use.people:,}")
        yield Fact(text("Sessions"), f"{use.sessions:,}")
        if not client.is_first_party:
            yield Fact(text("People who allowed it"), f"{use.consents:,}")


def _question(client: OAuthClient, use: ClientUse, name: str | None) -> Question | None:
    if name == "rotate" and client.has_secret:
        return _rotation(client)
    if name == "disable" and client.is_active:
        return _disabling(client, use)
    return _deletion(client, use) if name == "delete" else None


def _rotation(client: OAuthClient) -> Question:
    return Question(
        title=text("Rotate the secret of {client}?", client=client.name),
        action=text("Rotate secret"),
        endpoint="console.oauth_clients.rotate",
        arguments={"key": client.id},
        consequences=(
            Consequence("ok", text("A new secret is created and shown once.")),
            Consequence("warn", text("The current secret keeps working for a grace period.")),
        ),
        is_harmless=True,
    )


def _disabling(client: OAuthClient, use: ClientUse) -> Question:
    back = text("No data is deleted. You can enable it again at any time.")
    return Question(
        title=text("Disable {client}?", client=client.name),
        action=text("Disable client"),
        endpoint="console.oauth_clients.disable",
        arguments={"key": client.id},
        consequences=(*_stopped(client, use), Consequence("ok", back)),
    )


def _deletion(client: OAuthClient, use: ClientUse) -> Question:
    gone = text("{client} is deleted. This can't be undone.", client=client.name)
    kept = text("People's accounts stay. The audit log keeps who deleted it.")
    return Question(
        title=text("Delete {client}?", client=client.name),
        action=text("Delete client"),
        endpoint="console.oauth_clients.delete",
        arguments={"key": client.id},
        consequences=(Consequence("bad", gone), *_stopped(client, use), Consequence("ok", kept)),
    )


def _stopped(client: OAuthClient, use: ClientUse) -> Iterator[Consequence]:
    if client.app_id is not None:
        stopped = text("The tokens that it got for {app} are rejected.", app=client.app_name)
        yield Consequence("bad", stopped)
        return
    yield Consequence("bad", text("No one can sign in with it."))
    if use.sessions:
        sessions = text(
            "{count:,} session stops working.",
            "{count:,} sessions stop working.",
            count=use.sessions,
        )
        yield Consequence("bad", sessions)
