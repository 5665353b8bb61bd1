"""Single sign-on: the list of identity providers, one provider's page, enabling it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from flask import Response, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame import page_layout
from app.console.frame.formatting import exact, html_text, tally
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.parts import Consequence, Question, make_tabs
from app.console.frame.reauthentication import ask_before_dialog
from app.console.frame.session import actor, now, ports
from app.console.lists.filters import Sort, search
from app.console.lists.list_page import EmptyState, ListPage, RowCount
from app.console.security import providers_page
from app.domain.shop.lockouts import AccessChange
from app.domain.single_sign_on.waiting_changes import changer_of
from app.domain.values.errors import Refused
from app.domain.values.pages import Page, PageRequest
from app.services.authorization.register import needs_proof
from app.services.shop.lockout_guard import lockout
from app.services.single_sign_on import provider_settings
from app.services.single_sign_on.provider_coverage import (
    ProviderCoverage,
    ProviderDisableImpact,
    show_provider_coverage,
    show_provider_disable_impact,
)
from app.web.converters import one_of
from app.web.translation import problem_text, text

_SWITCH_ENDPOINT = "console.single_sign_on.switch"


def state_sentence(name: str, *, active: bool) -> str:
    if active:
        return text("{name} is enabled.", name=name)
    return text("{name} is disabled.", name=name)


def enabling(plugin: provider_settings.Plugin, coverage: ProviderCoverage) -> Question:
    return Question(
        title=text("Enable {name}?", name=plugin.name),
        action=text("Enable"),
        endpoint=_SWITCH_ENDPOINT,
        arguments={"slug": plugin.slug},
        consequences=tuple(_enabled(plugin, providers_page.missing_settings(plugin), coverage)),
        detail=text("The change applies immediately."),
        hidden=(("to", "on"),),
        is_harmless=True,
    )


def disabling(
    plugin: provider_settings.Plugin, impact: ProviderDisableImpact, now: datetime
) -> Question:
    """Return the question before ``plugin`` is disabled; ``impact`` was counted at ``now``."""
    return Question(
        title=text("Disable {name}?", name=plugin.name),
        action=text("Disable"),
        endpoint=_SWITCH_ENDPOINT,
        arguments={"slug": plugin.slug},
        consequences=tuple(_disabled(plugin, impact)),
        detail=text("The change applies immediately. As of {moment}.", moment=exact(now)),
        hidden=(("to", "off"),),
    )


def _enabled(
    plugin: provider_settings.Plugin, missing: providers_page.Missing, coverage: ProviderCoverage
) -> Iterator[Consequence]:
    values = plugin.values
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


def _disabled(
    plugin: provider_settings.Plugin, impact: ProviderDisableImpact
) -> Iterator[Consequence]:
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
    if plugin.maps_groups:
        yield Consequence(
            "warn",
            html_text(
                Markup(
                    "People stay in the groups of its table. <code>{command}</code> disables it "
                    "and removes them."
                ),
                command=providers_page.command_line(
                    "flask oidc set active false --remove-members", plugin.slug
                ),
            ),
        )
    yield Consequence(
        "ok",
        html_text(
            Markup(
                "Its settings are kept. To enable it again, use this page or "
                "<code>{command}</code>."
            ),
            command=providers_page.command_line("flask oidc set active true", plugin.slug),
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


_ASKED = {"on": True, "off": False}
_SWITCH = {
    word: provider_settings.ProviderUpdate({}, active=active, asks_first=True)
    for word, active in _ASKED.items()
}


def _read(
    request: PageRequest,
    *,
    search: str = "",
    sort: provider_settings.PluginSort = provider_settings.PluginSort.AGE,
) -> Page[provider_settings.Plugin]:
    return provider_settings.list_plugins(ports(), actor(), request, sort, search=search)


PROVIDERS = ListPage[provider_settings.Plugin](
    template="single_sign_on/index.html",
    title="Single sign-on",
    intro="Let people sign in with an identity provider.",
    label="Identity providers",
    filter_label="Filter providers",
    caption="Identity providers",
    count=RowCount(
        none="No identity providers",
        no_match="No matching providers",
        one="1 provider",
        many="{count} providers",
        some="{matching} of {total} providers",
    ),
    read=_read,
    filters=(search("Name"),),
    sorts=(
        Sort("age", "Default first"),
        Sort("name", "Name", {"sort": provider_settings.PluginSort.NAME}),
    ),
    file="identity-providers",
    file_columns={
        "slug": lambda plugin: plugin.slug,
        "name": lambda plugin: plugin.name,
        "enabled": lambda plugin: plugin.active,
        "issuer": lambda plugin: plugin.values["issuer"],
        "client_id": lambda plugin: plugin.values["client_id"],
    },
    empty=EmptyState(
        "shield-lock",
        "No identity providers yet",
        "People sign in with their existing account, and lose access here when it is removed "
        "there.",
        "flask oidc discover https://id.example.com",
        "console.provider_editing.new",
        "Add identity provider",
    ),
)

_UNTRIED = providers_page.Trial()

blueprint = PageGroup(
    "single_sign_on",
    __name__,
    Entry(
        "Single sign-on",
        "shield-lock",
        "sso oidc openid identity provider issuer login",
        Heading.SHOP,
        needs=provider_settings.list_plugins,
    ),
    url_prefix="/single-sign-on",
    list_name="single-sign-on",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List the providers, the default one first unless sorted by name."""
    found = PROVIDERS.load_page(PROVIDERS.requested())
    slugs = [plugin.slug for plugin in found.items]
    columns = providers_page.provider_columns(show_provider_coverage(ports(), actor(), slugs))
    return PROVIDERS.show(found, columns=columns)


blueprint.add_url_rule("/export.csv", "export", PROVIDERS.export)


@blueprint.get("/<slug:slug>/")
def show(slug: str) -> BaseResponse:
    """Show a provider; ``ask`` opens the confirmation to enable or disable it."""
    state = request.args.get("ask", "")
    if state not in _ASKED:
        return provider_page(slug)
    act = needs_proof(ports(), actor(), provider_settings.save_provider, slug, _SWITCH[state])
    if act:
        return ask_before_dialog(act, url_for("console.single_sign_on.show", slug=slug, ask=state))
    return provider_page(slug, state=state)


@blueprint.post("/<slug:slug>/switch")
def switch(slug: str) -> BaseResponse:
    """Enable or disable the provider; refused if no administrator could undo it."""
    plugin = provider_settings.show_provider(ports(), actor(), slug)
    state = request.form.get("to", "")
    if state not in _ASKED:
        return page_layout.redirect_to("console.single_sign_on.show", slug=slug)
    try:
        provider_settings.save_provider(ports(), actor(), slug, _SWITCH[state])
    except Refused as refused:
        return provider_page(slug, wrong=[problem_text(problem) for problem in refused.problems])
    sentence = state_sentence(plugin.name, active=_ASKED[state])
    return page_layout.redirect_with_success(sentence, "console.single_sign_on.show", slug=slug)


@blueprint.post("/<slug:slug>/confirm")
def confirm(slug: str) -> BaseResponse:
    """Confirm the changes that wait, as they were shown."""
    plugin = provider_settings.show_provider(ports(), actor(), slug)
    version = request.form.get("version", "")
    try:
        provider_settings.confirm_provider(
            ports(), actor(), slug, int(version) if version.isdecimal() else -1
        )
    except Refused as refused:
        return provider_page(slug, wrong=[problem_text(problem) for problem in refused.problems])
    sentence = text("The settings of {name} are confirmed.", name=plugin.name)
    return page_layout.redirect_with_success(sentence, "console.single_sign_on.show", slug=slug)


def provider_page(
    slug: str,
    *,
    state: str = "",
    wrong: Sequence[str] = (),
    trial: providers_page.Trial = _UNTRIED,
) -> Response:
    """Return the page of a provider, with what was asked, refused or tried."""
    plugin = provider_settings.show_provider(ports(), actor(), slug)
    closes = state == "off" and plugin.active
    impact = show_provider_disable_impact(ports(), actor(), slug) if closes else None
    if impact is None:
        coverage = show_provider_coverage(ports(), actor(), [slug])[slug]
    else:
        coverage = ProviderCoverage(impact.people, impact.sessions)
    reason = _lockout_reason(slug) if closes else ""
    show_it = page_layout.refused_page if wrong else page_layout.page
    asked_in = "overview" if trial is _UNTRIED else "test"
    view = request.args.get("view", type=one_of(providers_page.VIEWS)) or asked_in
    return show_it(
        "single_sign_on/show.html",
        view=view,
        tabs=make_tabs(providers_page.VIEWS, view, {}, "console.single_sign_on.show", slug=slug),
        plugin=plugin,
        provider=providers_page.make_provider_page(plugin, coverage, trial),
        trial=trial,
        question=None if reason else _question(plugin, state, coverage, impact),
        notice=state_sentence(plugin.name, active=plugin.active)
        if state and plugin.active is _ASKED[state]
        else "",
        wrong=[*wrong, reason] if reason else wrong,
        waiting=providers_page.make_waiting_card(
            plugin, now(), can_confirm=changer_of(actor()) is None
        ),
        callback=page_layout.full_url("console.sign_in.finish", plugin_id=plugin.id),
        backchannel=f"{page_layout.server_url()}/oidc/{slug}/backchannel-logout",
    )


def _question(
    plugin: provider_settings.Plugin,
    state: str,
    coverage: ProviderCoverage,
    impact: ProviderDisableImpact | None,
) -> Question | None:
    if impact is not None:
        return disabling(plugin, impact, now())
    if state == "on" and not plugin.active:
        return enabling(plugin, coverage)
    return None


def _lockout_reason(slug: str) -> str:
    """Return why disabling the provider is refused; empty if it isn't."""
    judged = lockout(ports(), actor(), AccessChange(provider_off=slug))
    return text(judged.reason.value) if judged.reason else ""
