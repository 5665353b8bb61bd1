"""Staff let in a device that asks for rights over the shop, such as ``flask login``.

Works while the storefront is closed: the console's sign-in is no storefront traffic.
"""

from flask import request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import StringField
from wtforms.validators import InputRequired

from app.console.frame.formatting import device_words
from app.console.frame.forms import ConsoleForm
from app.console.frame.navigation import PageGroup
from app.console.frame.page_layout import (
    form_page,
    page,
    redirect_with_error,
    redirect_with_success,
)
from app.console.frame.session import actor, ports, proved_at
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.domain.oauth import MAX_ENTERED_CODE
from app.domain.values.errors import Problem, Refused
from app.services.oauth.devices import (
    DeviceChanged,
    WaitingDevice,
    allow_device,
    deny_device,
    find_waiting_device,
)
from app.services.sign_in.sessions import SecondFactorSkipped
from app.web.translation import lazy_text, scope_texts, text

_SIGN_IN_AGAIN = Problem(
    "INVALID", "Your account got a second factor since you signed in. Sign out and in again."
)

blueprint = PageGroup("device", __name__, url_prefix="/device")


class DeviceForm(ConsoleForm):
    """The code that a device shows."""

    names = {"userCode": "user_code"}  # noqa: RUF012
    user_code = StringField(
        lazy_text("Code"), validators=[InputRequired(lazy_text("Enter the code."))]
    )


@blueprint.route("", methods=["GET", "POST"], strict_slashes=False)
def index() -> BaseResponse:
    """Ask for a device's code, then show who asks, and take the decision.

    No link fills in the code: staff read it from the device.
    """
    form = DeviceForm()
    if form.validate_on_submit():
        with form.catching_refusals():
            code = str(form.user_code.data)[:MAX_ENTERED_CODE]
            return _answer(code, request.form.get("decision", ""))
    return form_page("account/device.html", form)


def _answer(code: str, decision: str) -> BaseResponse:
    proof = request.form.get("proof", "")
    if decision == "allow":
        return _allow(code, proof)
    if decision == "deny":
        device = deny_device(ports(), actor(), code, proof)
        message = text("{program} was refused.", program=device.client.name)
        return redirect_with_success(message, "console.account.index")
    return _who_asks(find_waiting_device(ports(), actor(), code))


def _who_asks(device: WaitingDevice) -> BaseResponse:
    return page(
        "account/device_asks.html",
        device=device,
        asked_by=device_words(device.device),
        grants=_grants(device.scopes),
    )


def _allow(code: str, proof: str) -> BaseResponse:
    try:
        device = allow_device(ports(), actor(), code, proof, proved_at())
    except DeviceChanged as changed:
        return _who_asks(changed.device)
    except SecondFactorSkipped:
        return redirect_with_error(Refused(_SIGN_IN_AGAIN), "console.account.index")
    message = text(
        "{program} is signed in as you. Its session is listed below.", program=device.client.name
    )
    return redirect_with_success(message, "console.account.index")


def _grants(scopes: frozenset[str]) -> list[str]:
    """Return what a program is allowed, in sentences."""
    if scopes >= ALL_PERMISSIONS:
        return [text("Do everything that you can do here"), *scope_texts(scopes - ALL_PERMISSIONS)]
    return scope_texts(scopes)
