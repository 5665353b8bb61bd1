"""Channels: where the shop sells; listed, created, edited, activated, deactivated and deleted."""

from collections.abc import Iterator
from dataclasses import dataclass

from flask import request, url_for
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse
from wtforms import BooleanField, SelectField, StringField
from wtforms.validators import InputRequired

from app.console.frame.forms import EditedThing, EditForm
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import (
    form_page,
    page,
    redirect_with_error,
    redirect_with_success,
    refused_page,
)
from app.console.frame.parts import Consequence, Pill, Question, link, pill
from app.console.frame.session import actor, ports, require
from app.console.frame.submissions import Created, CreatingForm, create_once
from app.console.lists.filters import choice, search
from app.console.lists.list_page import Column, EmptyState, ListPage, RowCount, reader
from app.domain.accounts.addresses import COUNTRY_NAMES
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import (
    MAX_NAME_LENGTH,
    MAX_SLUG_LENGTH,
    Channel,
    ChannelChanges,
    NewChannel,
)
from app.domain.commerce.money import CURRENCY
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.services.commerce import channels
from app.web.translation import country_label, lazy_text, text

_PAGE = "console.channels.show"
_LENGTHS = {"name_length": MAX_NAME_LENGTH, "slug_length": MAX_SLUG_LENGTH}


def _status(channel: Channel) -> Pill:
    return Pill("ok", text("Active")) if channel.is_active else Pill("off", text("Inactive"))


CHANNELS = ListPage[Channel](
    template="channels/index.html",
    title="Channels",
    intro="Carts and orders belong to a channel.",
    label="Channels",
    filter_label="Filter channels",
    caption="Channels",
    count=RowCount(
        none="No channels",
        no_match="No matching channels",
        one="1 channel",
        many="{count} channels",
        some="{matching} of {total} channels",
    ),
    read=reader(channels.find_channels, channels.ChannelFilter),
    filters=(
        search("Name or slug"),
        choice(
            "on",
            "Active",
            {"yes": "Yes", "no": "No"},
            {"yes": True, "no": False},
            argument="is_active",
        ),
    ),
    columns=(
        Column(
            "Channel",
            lambda channel: link(channel.name, _PAGE, key=channel.id),
            ("is-cut",),
            is_title=True,
        ),
        Column("Slug", lambda channel: channel.slug, ("is-cut",)),
        Column("Currency", lambda channel: channel.currency, ("is-when",)),
        Column("Country", lambda channel: country_label(channel.country), ("is-cut", "is-wide")),
        Column("Status", lambda channel: pill(_status(channel)), ("is-state",)),
    ),
    file="channels",
    file_columns={
        "id": lambda channel: to_global_id("Channel", channel.id),
        "slug": lambda channel: channel.slug,
        "name": lambda channel: channel.name,
        "currency": lambda channel: channel.currency,
        "country": lambda channel: channel.country,
        "is_active": lambda channel: channel.is_active,
    },
    hint="Try another name.",
    empty=EmptyState("shop", "No channels yet", "Create a channel for each market you sell in."),
)

blueprint = PageGroup(
    "channels",
    __name__,
    Entry(
        "Create channel",
        "plus-lg",
        "new market add make",
        view="new",
        needs=channels.create_channel,
    ),
    Entry(
        "Channels", "shop", "markets currency country", Heading.SHOP, needs=channels.find_channels
    ),
    url_prefix="/channels",
    list_name="channels",
)


def country_choices() -> list[tuple[str, str]]:
    """Return the countries by code, sorted by their names."""
    names = [(code, country_label(code)) for code in COUNTRY_NAMES]
    return [("", text("Choose a country")), *sorted(names, key=lambda one: one[1].casefold())]


class ChannelForm(EditForm):
    names = {"defaultCountry": "country"}  # noqa: RUF012
    name = StringField(lazy_text("Name"), validators=[InputRequired(lazy_text("Enter a name."))])
    slug = StringField(lazy_text("Slug"), validators=[InputRequired(lazy_text("Enter a slug."))])
    country = SelectField(
        lazy_text("Country"),
        choices=country_choices,
        validate_choice=False,
        validators=[InputRequired(lazy_text("Choose a country."))],
    )


class NewChannelForm(CreatingForm):
    names = {**ChannelForm.names, "currencyCode": "currency"}  # noqa: RUF012
    name = ChannelForm.name
    slug = ChannelForm.slug
    country = ChannelForm.country
    currency = StringField(
        lazy_text("Currency"), validators=[InputRequired(lazy_text("Enter a currency code."))]
    )
    is_active = BooleanField(lazy_text("Active"))


@dataclass(frozen=True, slots=True)
class Deletion:
    """The question before a channel is deleted, or why it can't be (``problem``).

    ``targets`` are the channels by global ID that its orders and carts can move to.
    """

    question: Question
    targets: tuple[tuple[str, str], ...]
    problem: str


blueprint.add_url_rule("/", "index", CHANNELS.show)
blueprint.add_url_rule("/export.csv", "export", CHANNELS.export)


@blueprint.route("/new", methods=["GET", "POST"])
def new() -> BaseResponse:
    require(Permission.MANAGE_CHANNELS)
    form = NewChannelForm(currency=CURRENCY, is_active=True)
    if form.validate_on_submit():
        with form.catching_refusals():
            return create_once(form, lambda: _create(form))
    hint = text(
        "It can't be changed later. Products have prices in {currency}.", currency=CURRENCY
    )
    return form_page("channels/new.html", form, currency_hint=hint, **_LENGTHS)


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """One channel; with ``ask`` the question before it is deactivated or deleted."""
    require(Permission.MANAGE_CHANNELS)
    channel = _channel(key)
    return page("channels/show.html", **_values(channel, request.args.get("ask", "")))


@blueprint.post("/<key:key>/save")
def save(key: int) -> BaseResponse:
    require(Permission.MANAGE_CHANNELS)
    channel = _channel(key)
    stored = _stored(channel)
    form = ChannelForm.from_request(stored, _edited_thing(channel))
    if form.validate():
        changes = ChannelChanges(
            name=form.name.data, slug=form.slug.data, country=form.country.data, seen=stored
        )
        with form.catching_refusals():
            saved = channels.update_channel(ports(), actor(), _id(key), changes)
            message = text("Saved the channel {name}.", name=saved.name)
            return redirect_with_success(message, _PAGE, key=key)
    return refused_page("channels/show.html", **{**_values(channel), "form": form})


@blueprint.post("/<key:key>/activate")
def activate(key: int) -> BaseResponse:
    """Take carts and orders in the channel."""
    return _set_active(key, active=True)


@blueprint.post("/<key:key>/deactivate")
def deactivate(key: int) -> BaseResponse:
    """Take no more carts in the channel."""
    return _set_active(key, active=False)


@blueprint.post("/<key:key>/delete")
def delete(key: int) -> BaseResponse:
    """Delete a channel; its orders and carts move to the chosen one."""
    target = request.form.get("target") or None
    try:
        gone = channels.delete_channel(ports(), actor(), _id(key), target)
    except Refused as refused:
        return redirect_with_error(refused, _PAGE, key=key)
    message = text("Deleted the channel {name}.", name=gone.name)
    return redirect_with_success(message, "console.channels.index")


def _set_active(key: int, *, active: bool) -> BaseResponse:
    try:
        saved = channels.set_channel_active(ports(), actor(), _id(key), active=active)
    except Refused as refused:
        return redirect_with_error(refused, _PAGE, key=key)
    message = text("Deactivated the channel {name}.", name=saved.name)
    if active:
        message = text("Activated the channel {name}.", name=saved.name)
    return redirect_with_success(message, _PAGE, key=key)


def _create(form: NewChannelForm) -> Created:
    new_channel = NewChannel(
        name=form.name.data,
        slug=form.slug.data,
        currency=form.currency.data.strip().upper(),
        country=form.country.data,
        is_active=form.is_active.data,
    )
    channel = channels.create_channel(ports(), actor(), new_channel)
    message = text("Created the channel {name}.", name=channel.name)
    return Created(message, _PAGE, {"key": channel.id})


def _channel(key: int) -> Channel:
    channel = channels.show_channel(ports(), actor(), channel_id=_id(key))
    if channel is None:
        raise NotFound
    return channel


def _id(key: int) -> str:
    return to_global_id("Channel", key)


def _stored(channel: Channel) -> dict[str, object]:
    return {"name": channel.name, "slug": channel.slug, "country": channel.country}


def _edited_thing(channel: Channel) -> EditedThing:
    address = url_for(_PAGE, key=channel.id)
    return EditedThing(channel.name, address, "Channel", channel.id)


def _values(channel: Channel, question_name: str = "") -> dict[str, object]:
    is_editable = actor().reaches_channel(channel.id)
    warning = text(
        "Products have prices in {currency}, so no cart can be created in this channel.",
        currency=CURRENCY,
    )
    asks = question_name == "deactivate" and channel.is_active and is_editable
    return {
        "channel": channel,
        "status": _status(channel),
        "is_editable": is_editable,
        "warning": "" if channel.currency == CURRENCY else warning,
        "question": _deactivation(channel) if asks else None,
        "deletion": _deletion(channel) if question_name == "delete" and is_editable else None,
        "form": ChannelForm.showing(_stored(channel)),
        **_LENGTHS,
    }


def _deactivation(channel: Channel) -> Question:
    return Question(
        title=text("Deactivate the channel {name}?", name=channel.name),
        endpoint="console.channels.deactivate",
        arguments={"key": channel.id},
        consequences=(
            Consequence("bad", text("No cart can be created in it.")),
            Consequence("ok", text("Its carts and orders stay. You can activate it again.")),
        ),
        action=text("Deactivate channel"),
    )


def _deletion(channel: Channel) -> Deletion:
    used = channels.show_channel_use(ports(), actor(), _id(channel.id))
    others = [one for one in channels.list_channels(ports(), actor()) if one.id != channel.id]
    targets = [
        (_id(one.id), one.name)
        for one in others
        if one.currency == channel.currency and actor().reaches_channel(one.id)
    ]
    if not used.orders:
        targets = [("", text("No channel: delete the carts")), *targets] if used.carts else []
    return Deletion(
        question=Question(
            title=text("Delete the channel {name}?", name=channel.name),
            endpoint="console.channels.delete",
            arguments={"key": channel.id},
            consequences=tuple(_losses(channel, used)),
            action=text("Delete channel"),
        ),
        targets=tuple(targets),
        problem=_why_not(channel, used, others=bool(others), targets=bool(targets)),
    )


def _why_not(channel: Channel, used: channels.ChannelUse, *, others: bool, targets: bool) -> str:
    if not others:
        return text("A shop has at least one channel: create another one first.")
    if used.orders and not targets:
        return text(
            "It has {count} order, which can only move to a channel with the same currency, "
            "{currency}, and there is none. Deactivate the channel instead.",
            "It has {count} orders, which can only move to a channel with the same currency, "
            "{currency}, and there is none. Deactivate the channel instead.",
            count=used.orders,
            currency=channel.currency,
        )
    return ""


def _losses(channel: Channel, used: channels.ChannelUse) -> Iterator[Consequence]:
    yield Consequence(
        "bad", text("Clients that send its slug, {slug}, are refused.", slug=channel.slug)
    )
    if used.orders:
        orders = text(
            "{count} order moves to another channel.",
            "{count} orders move to another channel.",
            count=used.orders,
        )
        yield Consequence("warn", orders)
    if used.carts:
        carts = text(
            "{count} cart moves to the channel that you choose, or is deleted.",
            "{count} carts move to the channel that you choose, or are deleted.",
            count=used.carts,
        )
        if used.orders:
            carts = text(
                "{count} cart moves with them.", "{count} carts move with them.", count=used.carts
            )
        yield Consequence("warn", carts)
    if used.groups:
        groups = text(
            "{count} group that is limited to channels loses access to its orders.",
            "{count} groups that are limited to channels lose access to its orders.",
            count=used.groups,
        )
        yield Consequence("warn", groups)
    yield Consequence("bad", text("This can't be undone."))
