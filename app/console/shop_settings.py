"""Settings: the shop's name, mail, links and customer accounts, each saved on its own."""

from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from app.console.forms import ConsoleForm
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, page, refused_page, server_url
from app.console.session import actor, ports
from app.console.shop_settings_page import (
    GROUPS,
    ShopSettingsPage,
    make_form,
    make_shop_settings_page,
    saved_message,
    values_of,
)
from app.domain.shop.settings import SettingGroup, ShopSettings, update_of
from app.domain.values.errors import Refused
from app.services.console.setup import sends_mail
from app.services.shop.settings import show_settings, update_shop

blueprint = PageGroup(
    "shop_settings",
    __name__,
    Entry(
        "Settings",
        "gear",
        "shop name description sender mail email from links confirmation preferences",
        Heading.SHOP,
        needs=update_shop,
    ),
    url_prefix="/settings",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """Show the settings, each group in a separate form."""
    shop = show_settings(ports(), actor())
    return page("settings/index.html", settings=_page_of(shop))


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
        return refused_page("settings/index.html", settings=_page_of(shop, {group: form}))
    return done(saved_message(group, saved), "console.shop_settings.index", _anchor=name)


def _page_of(
    shop: ShopSettings, sent: dict[SettingGroup, ConsoleForm] | None = None
) -> ShopSettingsPage:
    forms = {group: make_form(group, shop) for group in GROUPS} | (sent or {})
    is_sent = sends_mail(ports(), actor())
    return make_shop_settings_page(forms, f"{server_url()}/graphql/", sends_mail=is_sent)
