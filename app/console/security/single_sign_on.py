"""Single sign-on: the list of identity providers, one provider's page, and its switch."""

from collections.abc import Mapping

from flask import Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.console.lists import asked_page, tags, told, turns
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, go, page, refused_page
from app.console.session import actor, ports
from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.lockouts import AccessChange
from app.domain.single_sign_on.providers import DEFAULT_SLUG
from app.domain.values.errors import Problem, Refused, problem_text
from app.services.authorization.register import needs_proof
from app.services.shop.lockout_guard import lockout
from app.services.single_sign_on.provider_coverage import (
    show_provider_coverage,
    show_provider_disable_impact,
)
from app.services.single_sign_on.provider_settings import (
    Plugin,
    ProviderUpdate,
    list_plugins,
    save_provider,
    show_plugin,
)
from app.web.caller import base_url

_ASKED = {"on": True, "off": False}
_SWITCH = {
    word: ProviderUpdate({}, active=active, asks_first=True) for word, active in _ASKED.items()
}
_SIGNING_IN = (
    "client_id",
    "oauth_authorization_url",
    "oauth_token_url",
    "json_web_key_set_url",
)
_TAKING_TOKENS = ("json_web_key_set_url", "user_info_url")

blueprint = PageGroup(
    "single_sign_on",
    __name__,
    Entry(
        "Single sign-on",
        "shield-lock",
        "sso oidc openid provider issuer",
        Heading.SECURITY,
        needs=list_plugins,
    ),
    url_prefix="/single-sign-on",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List the providers, the default one first unless sorted by name."""
    search = request.args.get("q", "").strip()
    by_name = request.args.get("sort") == "name"
    found = list_plugins(ports(), actor(), asked_page(), search=search, by_name=by_name)
    slugs = [plugin.slug for plugin in found.items]
    return page(
        "single_sign_on/index.html",
        found=found,
        reach=show_provider_coverage(ports(), actor(), slugs),
        told=told("q", "sort"),
        tags=tags({"q": "Name"}),
        turns=turns(found, "Earlier", "Later"),
        values={plugin.slug: values_of(plugin) for plugin in found.items},
        missing={plugin.slug: missing_of(plugin) for plugin in found.items},
        default=DEFAULT_SLUG,
    )


@blueprint.get("/<slug:slug>/")
def show(slug: str) -> BaseResponse:
    """One provider; with ``ask`` the question before it is switched on or off."""
    asked = request.args.get("ask", "")
    if asked in _ASKED and needs_proof(ports(), actor(), save_provider, slug, _SWITCH[asked]):
        return _prove(slug, asked)
    return provider_page(slug, asked=asked if asked in _ASKED else "")


@blueprint.post("/<slug:slug>/switch")
def switch(slug: str) -> BaseResponse:
    """Enable or disable the provider; refused if no administrator could undo it."""
    plugin = find_plugin(slug)
    asked = request.form.get("to", "")
    if asked not in _ASKED:
        return go("console.single_sign_on.show", slug=slug)
    active = _ASKED[asked]
    try:
        save_provider(ports(), actor(), slug, _SWITCH[asked])
    except Refused as refused:
        wrong = [problem_text(problem) for problem in refused.problems]
        return provider_page(slug, wrong=wrong)
    what = "lets people in now" if active else "lets nobody in any more"
    return done(f"{plugin.name} {what}.", "console.single_sign_on.show", slug=slug)


def provider_page(
    slug: str, *, asked: str = "", wrong: list[str] | None = None, **values: object
) -> Response:
    """The page of a provider, with whatever was asked, refused, or found on it."""
    plugin = find_plugin(slug)
    closes = asked == "off" and plugin.active
    closing = show_provider_disable_impact(ports(), actor(), slug) if closes else None
    judged = lockout(ports(), actor(), AccessChange(provider_off=slug)) if closes else None
    refusal = judged.reason.message if judged is not None and judged.reason else ""
    show_it = refused_page if wrong else page
    base = ports().configuration.public_url or base_url(request.environ)
    callback = url_for("console.sign_in.finish", plugin_id=plugin.id)
    answers = {"findings": None, "preview": None, "trouble": "", **values}
    return show_it(
        "single_sign_on/show.html",
        plugin=plugin,
        values=values_of(plugin),
        missing=missing_of(plugin),
        reach=closing or show_provider_coverage(ports(), actor(), [slug])[slug],
        closing=closing,
        asked="" if refusal else asked,
        wrong=[*(wrong or []), *([refusal] if refusal else [])],
        default=DEFAULT_SLUG,
        callback=f"{base}{callback}",
        backchannel=f"{base}/oidc/{slug}/backchannel-logout",
        by_password=actor().origin is SessionOrigin.PASSWORD,
        **answers,
    )


def find_plugin(slug: str) -> Plugin:
    """The provider that is called so, and no other; refuses NOT_FOUND."""
    vendor = ports().configuration.vendor.lower()
    word = vendor if slug == DEFAULT_SLUG else slug
    plugin = show_plugin(ports(), actor(), f"{word}.authentication.openidconnect")
    if plugin is None or plugin.slug != slug:
        raise Refused(
            Problem("NOT_FOUND", "There is no provider {slug}.", "provider", values={"slug": slug})
        )
    return plugin


def values_of(plugin: Plugin) -> Mapping[str, str]:
    """The settings by name as they read back; empty where there is none."""
    return {one.setting.name: one.value or "" for one in plugin.settings}


def missing_of(plugin: Plugin) -> Mapping[str, list[str]]:
    """What each of the two ways in still lacks, by the labels of the settings."""
    lacks = {one.setting.name: one.setting.label for one in plugin.settings if not one.value}
    return {
        "login": [lacks[name] for name in _SIGNING_IN if name in lacks],
        "tokens": [lacks[name] for name in _TAKING_TOKENS if name in lacks],
    }


def _prove(slug: str, asked: str) -> BaseResponse:
    wanted = url_for("console.single_sign_on.show", slug=slug, ask=asked)
    return redirect(url_for("console.sign_in.prove", next=wanted), 303)
