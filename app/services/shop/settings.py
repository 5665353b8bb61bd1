"""The shop's settings and its two switches."""

from dataclasses import dataclass, fields

from app.domain.accounts.emails import email_problem
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, Shop, mode_change_problem
from app.domain.values.errors import Problem, Refused
from app.domain.values.text_rules import line_problem, prose_problem
from app.domain.values.unset import ABSENT, Absent
from app.models import ShopRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import fresh_proof, part, requires
from app.services.passwords.email_links import redirect_refusal


@dataclass(frozen=True, slots=True)
class ShopUpdate:
    """What is to change; ``ABSENT`` leaves a setting as it is, ``None`` came as null."""

    name: str | Absent | None = ABSENT
    description: str | Absent | None = ABSENT
    default_mail_sender_name: str | Absent | None = ABSENT
    default_mail_sender_address: str | Absent | None = ABSENT
    customer_set_password_url: str | Absent | None = ABSENT
    enable_account_confirmation_by_email: bool | Absent | None = ABSENT
    allow_login_without_confirmation: bool | Absent | None = ABSENT
    allow_storefront_traffic: bool | Absent | None = ABSENT
    password_login_mode: PasswordLoginMode | Absent | None = ABSENT


_CAMEL = {
    "name": "name",
    "description": "description",
    "default_mail_sender_name": "defaultMailSenderName",
    "default_mail_sender_address": "defaultMailSenderAddress",
    "customer_set_password_url": "customerSetPasswordUrl",
    "enable_account_confirmation_by_email": "enableAccountConfirmationByEmail",
    "allow_login_without_confirmation": "allowLoginWithoutConfirmation",
    "allow_storefront_traffic": "allowStorefrontTraffic",
    "password_login_mode": "passwordLoginMode",
}
_LONGEST = {
    "name": 256,
    "description": 10_000,
    "default_mail_sender_name": 256,
    "default_mail_sender_address": 254,
    "customer_set_password_url": 1024,
}


@requires(Permission.MANAGE_SETTINGS)
def show_settings(ports: Ports, actor: Actor) -> Shop:
    """Every setting of the shop."""
    return _read(ports)


def _shuts(_ports: Ports, _actor: Actor, update: ShopUpdate) -> bool:
    is_off = update.password_login_mode is PasswordLoginMode.DISABLED
    return is_off or update.allow_storefront_traffic is False


@fresh_proof("when it turns off password login or closes the storefront", _shuts)
@requires(Permission.MANAGE_SETTINGS)
def update_shop(ports: Ports, actor: Actor, update: ShopUpdate) -> Shop:
    """Change settings (`shopSettingsUpdate`); all of ``update`` or, when refused, nothing of it.

    Refuses PASSWORD_AUTH_RESTRICTION on ``passwordLoginMode`` (contract, "Password login mode"),
    REQUIRED for a null mode, INVALID for a null switch, for texts that cannot be used, and on
    ``customerSetPasswordUrl`` for a host that is not among ``ALLOWED_CLIENT_HOSTS``.
    """
    wanted = _wanted(update)
    found = [_problem(ports, name, value) for name, value in wanted.items()]
    if isinstance(update.password_login_mode, PasswordLoginMode):
        found.append(mode_change_problem(actor, update.password_login_mode))
    problems = [problem for problem in found if problem is not None]
    if problems:
        raise Refused(*problems)
    with ports.database.transaction() as session:
        # Locked, so that what the audit trail calls "before" is what was there.
        shop = session.get_one(ShopRecord, SHOP_ID, with_for_update=True)
        changed = {name: value for name, value in wanted.items() if getattr(shop, name) != value}
        before = {name: getattr(shop, name) for name in changed}
        for name, value in changed.items():
            setattr(shop, name, value)
        if changed:
            change = Change("shop.update", "Shop", SHOP_ID, shop.name, before, changed)
            record(ports, actor, session, change)
        return shop_value(shop)


def _read(ports: Ports) -> Shop:
    with ports.database.reading() as session:
        return shop_value(session.get_one(ShopRecord, SHOP_ID))


@part
def shop_value(shop: ShopRecord) -> Shop:
    """The settings as a value."""
    return Shop(
        name=shop.name,
        description=shop.description,
        default_mail_sender_name=shop.default_mail_sender_name,
        default_mail_sender_address=shop.default_mail_sender_address,
        customer_set_password_url=shop.customer_set_password_url,
        enable_account_confirmation_by_email=shop.enable_account_confirmation_by_email,
        allow_login_without_confirmation=shop.allow_login_without_confirmation,
        password_login_mode=PasswordLoginMode(shop.password_login_mode),
        allow_storefront_traffic=shop.allow_storefront_traffic,
    )


def _wanted(update: ShopUpdate) -> dict[str, object]:
    """What was sent, by name; a null text clears it."""
    wanted: dict[str, object] = {}
    for field in fields(update):
        value = getattr(update, field.name)
        if value is not ABSENT:
            wanted[field.name] = "" if value is None and field.name in _LONGEST else value
    return wanted


def _problem(ports: Ports, name: str, value: object) -> Problem | None:
    field = _CAMEL[name]
    if name in _LONGEST:
        problem = _text_problem(name, str(value), field)
        if problem is None and name == "customer_set_password_url" and value:
            problem = redirect_refusal(ports, str(value), field)
        return problem
    if value is not None:
        return None
    if name == "password_login_mode":
        return Problem("REQUIRED", "This is required.", field)
    return Problem("INVALID", "Say true or false.", field)


def _text_problem(name: str, text: str, field: str) -> Problem | None:
    if name == "name" and not text.strip():
        return Problem("REQUIRED", "This is required.", field)
    check = prose_problem if name == "description" else line_problem
    problem = check(text, field, longest=_LONGEST[name])
    if problem is None and name == "default_mail_sender_address" and text:
        problem = email_problem(text, field)
    return problem
