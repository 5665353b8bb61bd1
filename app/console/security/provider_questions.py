"""The questions before an identity provider is enabled or disabled."""

from collections.abc import Iterator
from datetime import datetime

from markupsafe import Markup

from app.console.formatting import exact, html_text, tally
from app.console.parts import Consequence, Question
from app.console.security.providers_page import (
    Missing,
    Notice,
    command_line,
    missing_settings,
    values_of,
)
from app.services.single_sign_on.provider_coverage import ProviderCoverage, ProviderDisableImpact
from app.services.single_sign_on.provider_settings import Plugin
from app.web.translation import text

_SWITCH = "console.single_sign_on.switch"


def unchanged(plugin: Plugin) -> Notice:
    """Return the notice that the provider already is as it was asked to be."""
    if plugin.active:
        return Notice(text("No change to review"), text("{name} is enabled.", name=plugin.name))
    return Notice(text("No change to review"), text("{name} is disabled.", name=plugin.name))


def enabling(plugin: Plugin, coverage: ProviderCoverage) -> Question:
    """Return the question before ``plugin`` is enabled."""
    return Question(
        title=text("Enable {name}?", name=plugin.name),
        action=text("Enable"),
        endpoint=_SWITCH,
        arguments={"slug": plugin.slug},
        consequences=tuple(_enabled(plugin, missing_settings(plugin), coverage)),
        detail=text("The change applies immediately."),
        hidden=(("to", "on"),),
        is_harmless=True,
    )


def disabling(plugin: Plugin, impact: ProviderDisableImpact, now: datetime) -> Question:
    """Return the question before ``plugin`` is disabled; ``impact`` was counted at ``now``."""
    return Question(
        title=text("Disable {name}?", name=plugin.name),
        action=text("Disable"),
        endpoint=_SWITCH,
        arguments={"slug": plugin.slug},
        consequences=tuple(_disabled(plugin, impact)),
        detail=text("The change applies immediately. As of {moment}.", moment=exact(now)),
        hidden=(("to", "off"),),
    )


def _enabled(
    plugin: Plugin, missing: Missing, coverage: ProviderCoverage
) -> Iterator[Consequence]:
    values = values_of(plugin)
    if not missing.sign_in:
        yield Consequence(
            "ok",
            html_text(
                Markup(
                    "The sign-in page shows <b>Continue with {name}</b>, and storefronts can use "
                    "the provider for customers."
                ),
                name=plugin.name,
            ),
        )
    if not missing.tokens:
        yield Consequence(
            "ok",
            html_text(Markup("Its access tokens are accepted as <code>Bearer</code> tokens.")),
        )
    yield Consequence("warn", text("Anyone it authenticates gets an account."))
    if values["staff_user_domains"]:
        yield Consequence(
            "warn",
            html_text(
                Markup("Verified emails at <b>{domains}</b> become staff."),
                domains=values["staff_user_domains"],
            ),
        )
    if values["trust_emails"] == "true":
        yield Consequence(
            "warn",
            html_text(Markup("Emails without <code>email_verified</code> count as verified.")),
        )
    if values["use_oauth_scope_permissions"] == "true":
        yield Consequence(
            "warn", text("The provider's permissions apply instead of those set here.")
        )
    if coverage.people.number:
        yield Consequence(
            "ok",
            html_text(
                Markup("<b>{people} person</b> with a linked account can sign in again."),
                Markup("<b>{people} people</b> with a linked account can sign in again."),
                count=coverage.people.number,
                people=tally(coverage.people),
            ),
        )


def _disabled(plugin: Plugin, impact: ProviderDisableImpact) -> Iterator[Consequence]:
    yield Consequence("warn", text("Its access tokens are rejected immediately."))
    if impact.people.number:
        yield from _people(impact)
    if impact.sessions.number:
        yield Consequence(
            "ok",
            html_text(
                Markup("<b>{sessions} active session</b> of it continues until it expires."),
                Markup("<b>{sessions} active sessions</b> of it continue until they expire."),
                count=impact.sessions.number,
                sessions=tally(impact.sessions),
            ),
        )
    yield Consequence(
        "ok",
        html_text(
            Markup(
                "Its settings are kept. To enable it again, use this page or "
                "<code>{command}</code>."
            ),
            command=command_line("flask oidc set active true", plugin.slug),
        ),
    )


def _people(impact: ProviderDisableImpact) -> Iterator[Consequence]:
    yield Consequence(
        "bad",
        html_text(
            Markup("<b>{people} person</b> with a linked account can't sign in with it anymore."),
            Markup("<b>{people} people</b> with a linked account can't sign in with it anymore."),
            count=impact.people.number,
            people=tally(impact.people),
        ),
    )
    if impact.losing_access:
        yield _losing_access(impact)
    elif impact.people.is_more:
        yield Consequence(
            "ok",
            html_text(
                "The first {number:,} of them have another way to sign in.",
                number=impact.people.number,
            ),
        )
    else:
        yield Consequence("ok", text("All of them have another way to sign in."))
    if impact.staff_losing_access:
        yield Consequence(
            "bad",
            html_text(
                Markup("<b>{count:,}</b> of them is staff: {named}."),
                Markup("<b>{count:,}</b> of them are staff: {named}."),
                count=impact.staff_losing_access,
                named=_named(impact),
            ),
        )


def _losing_access(impact: ProviderDisableImpact) -> Consequence:
    if impact.people.is_more:
        return Consequence(
            "bad",
            html_text(
                Markup(
                    "Of the first {number:,}, <b>{count:,} person</b> has no other way to sign in."
                ),
                Markup(
                    "Of the first {number:,}, <b>{count:,} people</b> have no other way to sign "
                    "in."
                ),
                count=impact.losing_access,
                number=impact.people.number,
            ),
        )
    return Consequence(
        "bad",
        html_text(
            Markup("<b>{count:,} person</b> has no other way to sign in."),
            Markup("<b>{count:,} people</b> have no other way to sign in."),
            count=impact.losing_access,
        ),
    )


def _named(impact: ProviderDisableImpact) -> str:
    named = ", ".join(impact.named)
    more = impact.staff_losing_access - len(impact.named)
    return text("{named}, +{more:,} more", named=named, more=more) if more > 0 else named
