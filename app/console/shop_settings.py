"""Settings: the shop's name, mail, links and customer accounts, each saved on its own."""

from flask import flash, request
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from app.console.forms import ConsoleForm
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, page, refused_page, server_url
from app.console.reauthentication import ask_first
from app.console.second_factor_settings import (
    SecondFactorForm,
    make_question,
    make_second_factor_card,
    saved_second_factor,
)
from app.console.session import actor, now, ports
from app.console.shop_settings_page import (
    GROUPS,
    make_form,
    make_shop_settings_page,
    saved_message,
    values_of,
)
from app.domain.shop.setting_table import SettingGroup, update_of
from app.domain.shop.settings import ShopSettings
from app.domain.values.errors import Refused
from app.services.authorization.register import needs_proof
from app.services.console.setup import sends_mail
from app.services.shop.second_factor_impact import count_second_factors
from app.services.shop.settings import show_settings, update_shop
from app.services.webhooks.link_apps import list_link_apps
from app.web.translation import text

blueprint = PageGroup(
    "shop_settings",
    __name__,
    Entry(
        "Settings",
        "gear",
        "shop name description sender mail email from links confirmation preferences mfa 2fa",
        Heading.SHOP,
        needs=update_shop,
    ),
    url_prefix="/settings",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """Show the settings, each group in a separate form; ``ask`` confirms a change of the rule."""
    shop = show_settings(ports(), actor())
    if request.args.get("ask") != SettingGroup.SECOND_FACTOR.value:
        return page("settings/index.html", **_values(shop))
    form = SecondFactorForm(request.args, meta={"csrf": False})
    if not form.validate():
        return refused_page("settings/index.html", **_values(shop, factor_form=form))
    update = form.update()
    if needs_proof(ports(), actor(), update_shop, update):
        return ask_first("shop_settings.set_second_factor", request.full_path)
    counts = count_second_factors(ports(), actor())
    question = make_question(shop, update, counts, now())
    if question is None:
        flash(text("There is no change to review."), "info")
    return page("settings/index.html", **_values(shop, factor_form=form), question=question)


@blueprint.post("/second-factor")
def set_second_factor() -> BaseResponse:
    """Set whether staff need a second factor, and the grace period."""
    shop = show_settings(ports(), actor())
    form = SecondFactorForm()
    try:
        if not form.validate():
            return refused_page("settings/index.html", **_values(shop, factor_form=form))
        saved = update_shop(ports(), actor(), form.update())
    except Refused as refused:
        form.refuse(refused)
        return refused_page("settings/index.html", **_values(shop, factor_form=form))
    message = saved_second_factor(saved, now())
    return done(message, "console.shop_settings.index", _anchor=SettingGroup.SECOND_FACTOR.value)


@blueprint.post("/<slug:name>")
def save(name: str) -> BaseResponse:
    """Save the settings of the group ``name``, and leave the others alone."""
    shop = show_settings(ports(), actor())
    if name not in GROUPS:
        raise NotFound
    group = SettingGroup(name)
    form = make_form(group, shop, is_sent=True)
    try:
        saved = update_shop(ports(), actor(), update_of(values_of(group, form)))
    except Refused as refused:
        form.refuse(refused)
        return refused_page("settings/index.html", **_values(shop, {group: form}))
    return done(saved_message(group, saved), "console.shop_settings.index", _anchor=name)


def _values(
    shop: ShopSettings,
    sent: dict[SettingGroup, ConsoleForm] | None = None,
    factor_form: SecondFactorForm | None = None,
) -> dict[str, object]:
    forms = {group: make_form(group, shop) for group in GROUPS} | (sent or {})
    is_sent = sends_mail(ports(), actor())
    counts = count_second_factors(ports(), actor())
    return {
        "settings": make_shop_settings_page(
            forms,
            f"{server_url()}/graphql/",
            list_link_apps(ports(), actor()),
            sends_mail=is_sent,
        ),
        "second_factor": make_second_factor_card(shop, counts, factor_form, now()),
    }
