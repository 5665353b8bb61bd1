"""The address of the shop's company, on a page of its own below the settings."""

from dataclasses import asdict
from typing import Any

from flask import url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import SelectField, StringField, TelField

from app.console.frame.forms import EditedThing, EditForm
from app.console.frame.navigation import Entry, PageGroup
from app.console.frame.page_layout import page, redirect_with_success, refused_page
from app.console.frame.session import actor, ports, require
from app.console.shop.channels import country_choices
from app.domain.accounts.addresses import (
    MAX_LENGTHS,
    NO_DETAILS,
    AddressChange,
    AddressDetails,
    one_line,
)
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import SHOP_ID
from app.services.shop.settings import show_company_address, update_company_address
from app.web.translation import lazy_text, text

blueprint = PageGroup(
    "company_address",
    __name__,
    Entry(
        "Company address",
        "building",
        "settings legal imprint invoice post",
        needs=update_company_address,
    ),
    url_prefix="/settings/company-address",
)


class CompanyAddressForm(EditForm):
    names = {  # noqa: RUF012
        "streetAddress1": "street_address_1",
        "streetAddress2": "street_address_2",
    }
    company_name = StringField(lazy_text("Company"))
    first_name = StringField(lazy_text("First name"))
    last_name = StringField(lazy_text("Last name"))
    street_address_1 = StringField(lazy_text("Street"))
    street_address_2 = StringField(lazy_text("Second line of the street"))
    postal_code = StringField(lazy_text("Postal code"))
    city = StringField(lazy_text("City"))
    city_area = StringField(lazy_text("Part of the city"))
    country_area = StringField(lazy_text("State or region"))
    country = SelectField(lazy_text("Country"), choices=country_choices, validate_choice=False)
    phone = TelField(lazy_text("Phone"))

    @property
    def details(self) -> AddressDetails:
        """Return the address as it was filled in."""
        values: dict[str, Any] = {name: (self[name].data or "").strip() for name in MAX_LENGTHS}
        return AddressDetails(**values)


@blueprint.get("/")
def index() -> BaseResponse:
    require(Permission.MANAGE_SETTINGS)
    stored = show_company_address(ports(), actor())
    return page("settings/company_address.html", **_values(stored))


@blueprint.post("/")
def save() -> BaseResponse:
    """Save the address; without any value it is deleted."""
    require(Permission.MANAGE_SETTINGS)
    stored = show_company_address(ports(), actor())
    thing = EditedThing(text("the company address"), url_for(_PAGE), "Shop", SHOP_ID)
    form = CompanyAddressForm.from_request(asdict(stored), thing)
    details = form.details
    change = None if details == NO_DETAILS else AddressChange(**asdict(details))
    if form.validate():
        with form.catching_refusals():
            update_company_address(ports(), actor(), change, seen=asdict(stored))
            message = text("Deleted the company address.")
            if change is not None:
                message = text("Saved the company address.")
            return redirect_with_success(message, _PAGE)
    return refused_page("settings/company_address.html", **_values(stored, form))


_PAGE = "console.company_address.index"


def _values(stored: AddressDetails, form: CompanyAddressForm | None = None) -> dict[str, object]:
    return {
        "form": form or CompanyAddressForm.showing(asdict(stored)),
        "current": one_line(stored),
        "lengths": MAX_LENGTHS,
    }
