"""Single sign-on: the list of identity providers, one provider's page, enabling it."""

from collections.abc import Sequence

from flask import Response, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.console.exports import export_list
from app.console.lists import query_params, requested_page, tags, turns
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, full_url, go, page, refused_page, server_url
from app.console.parts import Question
from app.console.reauthentication import ask_first
from app.console.security.provider_questions import disabling, enabling, unchanged
from app.console.security.providers_page import (
    COLUMNS,
    Trial,
    make_provider_page,
    make_providers_page,
    make_waiting_card,
)
from app.console.session import actor, now, ports
from app.domain.shop.lockouts import AccessChange
from app.domain.single_sign_on.providers import DEFAULT_SLUG
from app.domain.single_sign_on.waiting_changes import changer_of
from app.domain.values.errors import Problem, Refused
from app.domain.values.text import translatable
from app.services.authorization.register import needs_proof
from app.services.shop.lockout_guard import lockout
from app.services.single_sign_on.provider_changes import confirm_provider
from app.services.single_sign_on.provider_coverage import (
    ProviderCoverage,
    ProviderDisableImpact,
    show_provider_coverage,
    show_provider_disable_impact,
)
from app.services.single_sign_on.provider_settings import (
    Plugin,
    PluginSort,
    ProviderUpdate,
    list_plugins,
    save_provider,
    show_plugin,
)
from app.web.translation import problem_text, text, texts

_ASKED = {"on": True, "off": False}
_SWITCH = {
    word: ProviderUpdate({}, active=active, asks_first=True) for word, active in _ASKED.items()
}
_SORTS = {"name": translatable("Name")}
_UNTRIED = Trial()

blueprint = PageGroup(
    "single_sign_on",
    __name__,
    Entry(
        "Single sign-on",
        "shield-lock",
        "sso oidc openid identity provider issuer login",
        Heading.SECURITY,
        needs=list_plugins,
    ),
    url_prefix="/single-sign-on",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List the providers, the default one first unless sorted by name."""
    search, sort = _requested_order()
    found = list_plugins(ports(), actor(), requested_page(), sort, search=search)
    slugs = [plugin.slug for plugin in found.items]
    return page(
        "single_sign_on/index.html",
        providers=make_providers_page(
            found.items, show_provider_coverage(ports(), actor(), slugs), found.counts
        ),
        params=query_params("q", "sort"),
        tags=tags({"q": text("Name")}),
        sorts=texts(_SORTS),
        turns=turns(found),
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    """Export every matching provider, streamed while it is read."""
    search, sort = _requested_order()
    return export_list(
        "identity-providers",
        COLUMNS,
        lambda page: list_plugins(ports(), actor(), page, sort, search=search),
    )


@blueprint.get("/<slug:slug>/")
def show(slug: str) -> BaseResponse:
    """Show a provider; ``ask`` opens the confirmation to enable or disable it."""
    state = request.args.get("ask", "")
    if state in _ASKED and needs_proof(ports(), actor(), save_provider, slug, _SWITCH[state]):
        next_path = url_for("console.single_sign_on.show", slug=slug, ask=state)
        return ask_first("single_sign_on.switch", next_path)
    return provider_page(slug, state=state if state in _ASKED else "")


@blueprint.post("/<slug:slug>/switch")
def switch(slug: str) -> BaseResponse:
    """Enable or disable the provider; refused if no administrator could undo it."""
    plugin = find_plugin(slug)
    state = request.form.get("to", "")
    if state not in _ASKED:
        return go("console.single_sign_on.show", slug=slug)
    active = _ASKED[state]
    try:
        save_provider(ports(), actor(), slug, _SWITCH[state])
    except Refused as refused:
        return provider_page(slug, wrong=[problem_text(problem) for problem in refused.problems])
    sentence = (
        text("{name} is enabled.", name=plugin.name)
        if active
        else text("{name} is disabled.", name=plugin.name)
    )
    return done(sentence, "console.single_sign_on.show", slug=slug)


@blueprint.post("/<slug:slug>/confirm")
def confirm(slug: str) -> BaseResponse:
    """Confirm the changes that wait, as they were shown."""
    plugin = find_plugin(slug)
    version = request.form.get("version", "")
    try:
        confirm_provider(ports(), actor(), slug, int(version) if version.isdecimal() else -1)
    except Refused as refused:
        return provider_page(slug, wrong=[problem_text(problem) for problem in refused.problems])
    sentence = text("The settings of {name} are confirmed.", name=plugin.name)
    return done(sentence, "console.single_sign_on.show", slug=slug)


def _requested_order() -> tuple[str, PluginSort]:
    """Return the name that is searched for, and how the list is sorted."""
    sort = PluginSort.NAME if request.args.get("sort") == "name" else PluginSort.AGE
    return request.args.get("q", "").strip(), sort


def provider_page(
    slug: str,
    *,
    state: str = "",
    wrong: Sequence[str] = (),
    trial: Trial = _UNTRIED,
) -> Response:
    """Return the page of a provider, with what was asked, refused or tried."""
    plugin = find_plugin(slug)
    closes = state == "off" and plugin.active
    impact = show_provider_disable_impact(ports(), actor(), slug) if closes else None
    if impact is None:
        coverage = show_provider_coverage(ports(), actor(), [slug])[slug]
    else:
        coverage = ProviderCoverage(impact.people, impact.sessions)
    reason = _lockout_reason(slug) if closes else ""
    show_it = refused_page if wrong else page
    return show_it(
        "single_sign_on/show.html",
        provider=make_provider_page(
            plugin,
            coverage,
            trial=trial,
            question=None if reason else _question(plugin, state, coverage, impact),
            notice=unchanged(plugin) if state and plugin.active is _ASKED[state] else None,
            wrong=[*wrong, reason] if reason else wrong,
            waiting=make_waiting_card(plugin, now(), can_confirm=changer_of(actor()) is None),
        ),
        callback=full_url("console.sign_in.finish", plugin_id=plugin.id),
        backchannel=f"{server_url()}/oidc/{slug}/backchannel-logout",
    )


def _question(
    plugin: Plugin,
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
    return text(judged.reason.message) if judged.reason else ""


def find_plugin(slug: str) -> Plugin:
    """Return the provider with exactly this slug; refuses NOT_FOUND."""
    vendor = ports().configuration.vendor.lower()
    word = vendor if slug == DEFAULT_SLUG else slug
    plugin = show_plugin(ports(), actor(), f"{word}.authentication.openidconnect")
    if plugin is None or plugin.slug != slug:
        raise Refused(
            Problem("NOT_FOUND", "There is no provider {slug}.", "provider", values={"slug": slug})
        )
    return plugin
