"""The caller's passkeys: add, rename and delete them."""

from flask import request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import HiddenField, StringField
from wtforms.validators import InputRequired

from app.console.account.sign_in import why_impossible
from app.console.frame.formatting import device_words
from app.console.frame.forms import EditedThing, EditForm
from app.console.frame.navigation import PageGroup
from app.console.frame.page_layout import (
    page,
    redirect_to,
    redirect_with_error,
    redirect_with_success,
    refused_page,
)
from app.console.frame.parts import Consequence, Question
from app.console.frame.session import actor, caller, ports, prove_now
from app.console.frame.submissions import Created, CreatingForm, create_once
from app.domain.values.errors import Refused
from app.services.accounts import passkeys
from app.services.console.sign_in_methods import show_own_second_factors
from app.services.second_factors.factor_checks import party_of
from app.web.translation import lazy_text, text


def passkey_values(*, can_delete: bool) -> dict[str, object]:
    """Return what the card of the passkeys shows; ``why_none`` is why none can be added.

    ``can_delete`` unless the only one is the second factor that the shop requires.
    """
    own = passkeys.list_passkeys(ports(), actor())
    why_none = _why_full(len(own))
    if party_of(ports(), actor()) is None:
        why_none = why_impossible(actor(), in_development=ports().configuration.development)
    rows = [(one, kind_of(one), device_words(one.device)) for one in own]
    return {"passkey_rows": rows, "why_none": why_none, "can_delete": can_delete}


def _why_full(count: int) -> str:
    if count < passkeys.MAX_PASSKEYS:
        return ""
    return text(
        "You have {count} passkeys, which is the maximum. Delete one to add another.", count=count
    )


def consequences_of_removal(sentence: str, *, is_last: bool) -> list[Consequence]:
    """Return what the removal of a second factor does; ``sentence`` is about the factor itself."""
    own = Consequence("warn", sentence)
    if not is_last:
        return [own]
    return [
        Consequence("bad", text("You sign in without a second factor from then on.")),
        own,
        Consequence("warn", text("Your recovery codes stop working.")),
    ]


def ask_delete(passkey: passkeys.OwnPasskey, *, is_last_factor: bool) -> Question:
    return Question(
        title=text("Delete the passkey {name}?", name=passkey.name),
        endpoint="console.passkeys.delete",
        arguments={"key": passkey.id},
        consequences=consequences_of_removal(
            text("You can't sign in with this passkey anymore."), is_last=is_last_factor
        ),
        detail=text(
            "Delete it in your browser or password manager as well, so that it isn't offered."
        ),
        action=text("Delete passkey"),
    )


def kind_of(passkey: passkeys.OwnPasskey) -> str:
    """Return where a passkey is kept, or that it doesn't work."""
    if passkey.is_reported:
        return text("Reported: it doesn't work anymore")
    if passkey.is_synced:
        return text("Synced by a password manager")
    return text("Stored on one device or security key")


_SECURITY = "console.second_factors.index"

blueprint = PageGroup("passkeys", __name__, url_prefix="/account/security/passkeys")


class NewPasskeyForm(CreatingForm):
    """A name, and what the browser answered."""

    names = {"challenge": "", "credential": ""}  # noqa: RUF012
    name = StringField(
        lazy_text("Name"), validators=[InputRequired(lazy_text("Enter a name for the passkey."))]
    )
    challenge = HiddenField(default="", render_kw={"id": False})
    credential = HiddenField(default="", render_kw={"id": False})


class RenameForm(EditForm):
    name = StringField(
        lazy_text("Name"), validators=[InputRequired(lazy_text("Enter a name for the passkey."))]
    )


@blueprint.route("/new", methods=["GET", "POST"])
def begin() -> BaseResponse:
    """Ask for a name, and let the browser make a passkey."""
    if request.method == "GET":
        return redirect_to(_SECURITY)
    return _new_page(NewPasskeyForm(formdata=None))


@blueprint.post("/add")
def add() -> BaseResponse:
    """Add the passkey; show recovery codes once if they are new."""
    form = NewPasskeyForm()
    if form.validate():
        with form.catching_refusals():
            return create_once(form, lambda: _add(form))
    return _new_page(form)


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show one passkey; with ``ask=delete`` the question before it is deleted."""
    try:
        passkey = passkeys.show_passkey(ports(), actor(), key)
    except Refused as refused:
        return redirect_with_error(refused, _SECURITY)
    form = RenameForm.showing({"name": passkey.name})
    return page("account/passkey.html", **_values(passkey, form))


@blueprint.post("/<key:key>/rename")
def rename(key: int) -> BaseResponse:
    try:
        passkey = passkeys.show_passkey(ports(), actor(), key)
        stored = {"name": passkey.name}
        form = RenameForm.from_request(stored, _edited_thing(passkey))
        if form.validate():
            with form.catching_refusals():
                passkeys.rename_passkey(
                    ports(), actor(), passkey_id=key, name=form.name.data, seen=stored
                )
                return redirect_with_success(text("Passkey renamed."), _SECURITY)
    except Refused as refused:
        return redirect_with_error(refused, _SECURITY)
    return refused_page("account/passkey.html", **_values(passkey, form))


@blueprint.post("/<key:key>/delete")
def delete(key: int) -> BaseResponse:
    try:
        passkeys.delete_passkey(ports(), actor(), passkey_id=key)
    except Refused as refused:
        return redirect_with_error(refused, _SECURITY)
    return redirect_with_success(text("Passkey deleted."), _SECURITY)


def _edited_thing(passkey: passkeys.OwnPasskey) -> EditedThing:
    address = url_for("console.passkeys.show", key=passkey.id)
    return EditedThing(passkey.name, address, "User", caller().user.id)


def _new_page(form: NewPasskeyForm) -> BaseResponse:
    """Return the form with new options: those of a refused answer can't be answered again."""
    try:
        begun = passkeys.begin_passkey(ports(), actor())
    except Refused as refused:
        return redirect_with_error(refused, _SECURITY)
    show = refused_page if form.is_submitted() and form.errors else page
    form.name.data = form.name.data or device_words(begun.name)
    form.challenge.data, form.credential.data = begun.challenge, ""
    return show(
        "account/passkey_new.html",
        form=form,
        options=begun.options,
        max_length=passkeys.MAX_NAME_LENGTH,
    )


def _add(form: NewPasskeyForm) -> Created:
    added = passkeys.add_passkey(
        ports(),
        actor(),
        challenge=form.challenge.data,
        credential=form.credential.data,
        name=form.name.data,
    )
    prove_now(by_factor=True)
    message = text("Passkey added.")
    if added.other_sessions:
        message = text(
            "Passkey added. {count} other session stays signed in.",
            "Passkey added. {count} other sessions stay signed in.",
            count=added.other_sessions,
        )
    return Created(message, _SECURITY, secret=" ".join(added.recovery_codes))


def _values(passkey: passkeys.OwnPasskey, form: RenameForm) -> dict[str, object]:
    factors = show_own_second_factors(ports(), actor())
    is_last = factors.counts.passkeys == 1 and not factors.counts.has_authenticator_app
    asks = request.args.get("ask") == "delete" and not factors.is_last_kept
    return {
        "passkey": passkey,
        "kind": kind_of(passkey),
        "form": form,
        "max_length": passkeys.MAX_NAME_LENGTH,
        "dialog": ask_delete(passkey, is_last_factor=is_last) if asks else None,
    }
