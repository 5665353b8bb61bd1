"""The card "Second factor for staff" of the settings, and the question before a change."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from markupsafe import Markup
from wtforms import IntegerField, StringField
from wtforms.validators import AnyOf, InputRequired

from app.console.frame.formatting import exact, html_text
from app.console.frame.forms import ConsoleForm
from app.console.frame.parts import Consequence, Question
from app.domain.shop.setting_table import given_values
from app.domain.shop.settings import (
    MAX_GRACE_DAYS,
    ShopSettings,
    ShopUpdate,
    StaffSecondFactor,
    with_second_factor,
)
from app.domain.values.ids import parse_key
from app.domain.values.text import translatable
from app.services.shop.impact import SecondFactorCounts
from app.web.translation import lazy_text, text

_LABELS = {
    StaffSecondFactor.OPTIONAL: translatable("Optional"),
    StaffSecondFactor.REQUIRED: translatable("Required"),
}
_SENTENCES = {
    StaffSecondFactor.OPTIONAL: translatable("Staff can add a passkey or an authenticator app."),
    StaffSecondFactor.REQUIRED: translatable(
        "Staff without one get customer-level access after the grace period."
    ),
}


class DaysField(IntegerField):  # type: ignore[misc]
    """A number of days within the limit."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Read the number; raises ``ValueError`` for anything else."""
        given = valuelist[0].strip() if valuelist else ""
        days = parse_key(given)
        self.data = days if days is not None and days <= MAX_GRACE_DAYS else None
        if given and self.data is None:
            raise ValueError(text("Enter a number of days from 0 to {most}.", most=MAX_GRACE_DAYS))


class SecondFactorForm(ConsoleForm):
    """Whether staff need a second factor, and the grace period."""

    names = {"staffSecondFactor": "factor", "secondFactorGraceDays": "grace"}  # noqa: RUF012
    factor = StringField(
        lazy_text("Second factor for staff"),
        validators=[AnyOf(tuple(_LABELS), lazy_text("Choose one of the options."))],
    )
    grace = DaysField(
        lazy_text("Grace period in days"),
        validators=[InputRequired(lazy_text("Enter a number of days."))],
    )

    def update(self) -> ShopUpdate:
        """Return the change as it was filled in."""
        return ShopUpdate(
            staff_second_factor=StaffSecondFactor(self.factor.data),
            second_factor_grace_days=self.grace.data,
        )


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """One of the two rules; ``warnings`` say who would be affected by the other one."""

    value: str
    label: str
    sentence: str
    is_current: bool
    is_chosen: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SecondFactorCard:
    """The card; ``since`` says from when the rule applies."""

    choices: tuple[RuleChoice, ...]
    since: str
    form: SecondFactorForm


def make_second_factor_card(
    shop: ShopSettings, counts: SecondFactorCounts, form: SecondFactorForm | None, now: datetime
) -> SecondFactorCard:
    """Return the card; ``form`` was refused, ``None`` shows the current settings."""
    rule = shop.staff_second_factor
    shown = form or SecondFactorForm(
        formdata=None, factor=rule.value, grace=shop.second_factor_grace_days
    )
    warnings = tuple(_without(counts)) if counts.without else ()
    choices = tuple(
        RuleChoice(
            value=choice.value,
            label=text(label),
            sentence=text(_SENTENCES[choice]),
            is_current=choice is rule,
            is_chosen=choice.value == shown.factor.data,
            warnings=warnings if choice is StaffSecondFactor.REQUIRED else (),
        )
        for choice, label in _LABELS.items()
    )
    return SecondFactorCard(choices, _since(shop, now), shown)


def make_question(
    shop: ShopSettings, update: ShopUpdate, counts: SecondFactorCounts, now: datetime
) -> Question | None:
    """Return the question before ``update``; ``None`` if it changes nothing."""
    after = _after(shop, update, now)
    if after == shop:
        return None
    is_required = after.staff_second_factor is StaffSecondFactor.REQUIRED
    was_required = shop.staff_second_factor is StaffSecondFactor.REQUIRED
    title, action = _OF_RULE.get((was_required, is_required), _OF_GRACE)
    consequences = _of_optional() if was_required else _of_later()
    if is_required:
        consequences = tuple(_of_requiring(after, counts, now))
    return Question(
        title=text(title),
        action=text(action),
        endpoint="console.shop_settings.set_second_factor",
        consequences=consequences,
        hidden=(
            ("factor", after.staff_second_factor.value),
            ("grace", str(after.second_factor_grace_days)),
        ),
        is_harmless=not is_required and not was_required,
    )


def saved_second_factor(shop: ShopSettings, now: datetime) -> str:
    """Return what applies now."""
    if shop.second_factor_from is None:
        return text("A second factor is optional for staff.")
    if shop.second_factor_from <= now:
        return text("Staff need a second factor now.")
    return text("Staff need a second factor from {moment}.", moment=exact(shop.second_factor_from))


_OF_RULE = {
    (False, True): (
        translatable("Require a second factor for staff?"),
        translatable("Require second factor"),
    ),
    (True, False): (
        translatable("Make the second factor optional?"),
        translatable("Make optional"),
    ),
}
"""The question and its button, by whether a factor was required and will be."""

_OF_GRACE = translatable("Change the grace period?"), translatable("Change grace period")


def _of_optional() -> tuple[Consequence, ...]:
    back = text("Staff without a second factor get their permissions back at once.")
    return (
        Consequence("bad", back),
        Consequence("ok", text("Staff who have a second factor still sign in with it.")),
    )


def _of_later() -> tuple[Consequence, ...]:
    later = text("Applies when you require a second factor. Access doesn't change now.")
    return (Consequence("ok", later),)


def _after(shop: ShopSettings, update: ShopUpdate, now: datetime) -> ShopSettings:
    values: dict[str, Any] = {setting.name: value for setting, value in given_values(update)}
    after = replace(shop, **values)
    return shop if after == shop else with_second_factor(shop, after, now)


def _of_requiring(
    after: ShopSettings, counts: SecondFactorCounts, now: datetime
) -> Iterator[Consequence]:
    begins = after.second_factor_from
    if counts.without:
        yield Consequence("warn", Markup(" ").join(_without(counts)))
        if begins is not None and begins > now:
            yield Consequence(
                "bad",
                html_text("They get customer-level access on {moment}.", moment=exact(begins)),
            )
        else:
            yield Consequence("bad", text("They get customer-level access at once."))
    else:
        yield Consequence("ok", text("All active staff have a second factor."))
    if counts.caller_without:
        first = text("You're one of them. Add a second factor under Sign-in and security first.")
        yield Consequence("warn", first)
    always = text("Staff can always add one when they sign in to this console.")
    yield Consequence("ok", always)
    yield Consequence("ok", text("Customers and apps aren't affected."))


def _without(counts: SecondFactorCounts) -> Iterator[Markup]:
    yield html_text(
        Markup("<b>{count:,} of {all:,} staff</b> has no second factor."),
        Markup("<b>{count:,} of {all:,} staff</b> have no second factor."),
        count=counts.without,
        all=counts.staff,
    )
    if counts.without_by_password:
        yield html_text(
            "{count:,} of them signs in with a password only.",
            "{count:,} of them sign in with a password only.",
            count=counts.without_by_password,
        )


def _since(shop: ShopSettings, now: datetime) -> str:
    begins = shop.second_factor_from
    if begins is None:
        return ""
    if begins <= now:
        return text("Required since {moment}", moment=exact(begins))
    return text("Required from {moment}", moment=exact(begins))
