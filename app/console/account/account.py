"""The caller's account: profile, password, email, sessions and sign-in methods."""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import request, session, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import EmailField, PasswordField, RadioField, SelectField, StringField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired

from app.console.frame import page_layout
from app.console.frame.forms import ConsoleForm, EditedThing, EditForm, uploaded_image
from app.console.frame.navigation import Entry, PageGroup
from app.console.frame.parts import Consequence, Question
from app.console.frame.session import actor, caller, ports
from app.console.people.person_page import SessionRow, ended_sessions, newest_of, session_rows
from app.domain.accounts.languages import (
    CONSOLE_TAGS,
    LANGUAGE_NAMES,
    SHIPPED_LANGUAGES,
    shipped_tag,
)
from app.domain.accounts.users import (
    MAX_AVATAR_SIZE,
    User,
    avatar_path,
    time_zone_problem,
    time_zones,
)
from app.domain.sign_in.devices import SignedIn
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.text import translatable
from app.services.accounts.account_details import (
    Details,
    delete_avatar,
    set_time_zone,
    update_account,
    update_avatar,
)
from app.services.accounts.email_changes import confirm_email_change, request_email_change
from app.services.accounts.password_changes import change_password
from app.services.console.sign_in_methods import SignInMethods, show_own_sign_in_methods
from app.services.sign_in.sessions import SESSION, end_other_sessions, end_session, list_sessions
from app.web.sessions import WAITING
from app.web.translation import (
    language_name,
    lazy_text,
    person_language,
    reasons_text,
    text,
    use_language,
)

_SHOWN = 128
"""Pixels of the picture's side, for sharp screens."""

_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class AccountPage:
    """The account; ``has_others`` when there are sessions besides the current one."""

    email: str
    language_hint: str
    picture: str
    picture_hint: str
    sessions: tuple[SessionRow, ...]
    sessions_summary: str
    has_others: bool
    has_password: bool
    no_password: str
    password_status: str
    sso_status: str
    is_superuser: bool
    permissions: tuple[str, ...]
    dialog: Question | None


def make_account_page(
    user: User, sessions: Sequence[SignedIn], methods: SignInMethods, *, asks_others: bool = False
) -> AccountPage:
    others = methods.sessions - sum(session.is_current for session in sessions)
    providers = ", ".join(methods.providers)
    return AccountPage(
        email=user.email,
        language_hint=_language_hint(user.language_code),
        picture=avatar_path(user.avatar, _SHOWN) if user.avatar else "",
        picture_hint=text(
            "PNG, JPEG or WebP, up to {megabytes} MiB. Metadata is removed.",
            megabytes=MAX_AVATAR_SIZE // _MEBIBYTE,
        ),
        sessions=session_rows(sessions),
        sessions_summary=newest_of(len(sessions), methods.sessions),
        has_others=others > 0,
        has_password=methods.has_password,
        no_password=_no_password(providers),
        password_status=text("Set") if methods.has_password else text("Not set"),
        sso_status=providers or text("Not linked"),
        is_superuser=user.is_superuser,
        permissions=tuple(sorted(text(permission.label) for permission in user.permissions)),
        dialog=_end_others(others) if asks_others and others > 0 else None,
    )


def _language_hint(code: str) -> str:
    """Return what is in this language; the console isn't translated into all of them."""
    if shipped_tag(code, CONSOLE_TAGS):
        return text("For your emails and the console.")
    if shipped_tag(code):
        return text("For your emails. The console is in English.")
    return text("Your emails are in the shop's default language, the console is in English.")


def _no_password(providers: str) -> str:
    if not providers:
        return text("You don't have a password.")
    return text("You don't have a password. You sign in with {providers}.", providers=providers)


def _end_others(others: int) -> Question:
    return Question(
        title=text("End all other sessions?"),
        endpoint="console.account.end_others",
        consequences=(
            *ended_sessions(others),
            Consequence("warn", text("Unsaved work on those devices is lost.")),
            Consequence("ok", text("You stay signed in here.")),
        ),
        action=text("End all other sessions"),
    )


_LINK = f"{WAITING}email_link"
_NO_LANGUAGE = Problem("INVALID", "Choose a language from the list.", "languageCode")
_MOST = 100
"""Sessions that are listed; more can only be ended together."""

blueprint = PageGroup(
    "account",
    __name__,
    Entry(
        "Your account",
        "person",
        "own profile change password sessions devices email sign log out everywhere logout "
        "theme dark light mode appearance",
    ),
    url_prefix="/account",
)


_THEMES = {"auto": lazy_text("System"), "light": lazy_text("Light"), "dark": lazy_text("Dark")}


class NameForm(EditForm):
    first_name = StringField(lazy_text("First name"))
    last_name = StringField(lazy_text("Last name"))


class PreferencesForm(EditForm):
    """The look, language and time zone of the caller's console; emails have its language, too.

    A time zone can be written in any case, and with spaces: ``europe/new york`` is found.
    """

    names = {"languageCode": "language", "timeZone": "time_zone"}  # noqa: RUF012
    theme = RadioField(
        lazy_text("Theme"),
        choices=[SelectChoice(*one) for one in _THEMES.items()],
        validate_choice=False,
    )
    language = SelectField(lazy_text("Language"), validate_choice=False)
    time_zone = StringField(lazy_text("Time zone"))


class PasswordChangeForm(ConsoleForm):
    """Another password; asked for once, a manager fills it in."""

    old_password = PasswordField(
        lazy_text("Current password"),
        validators=[InputRequired(lazy_text("Enter your current password."))],
    )
    new_password = PasswordField(
        lazy_text("New password"), validators=[InputRequired(lazy_text("Enter a new password."))]
    )


class EmailChangeForm(ConsoleForm):
    """Another address, which has to be confirmed by a link that is mailed there."""

    names = {"redirectUrl": ""}  # noqa: RUF012
    new_email = EmailField(
        lazy_text("New email"), validators=[InputRequired(lazy_text("Enter an email."))]
    )
    password = PasswordField(
        lazy_text("Password"), validators=[InputRequired(lazy_text("Enter your password."))]
    )


@blueprint.get("/")
def index() -> BaseResponse:
    """The account; with ``ask=others`` the question before all other sessions end."""
    return page_layout.page("account/index.html", **_values())


@blueprint.post("/name")
def save_name() -> BaseResponse:
    stored = _name()
    form = NameForm.from_request(stored, _own_account())
    names = Details(form.first_name.data or "", form.last_name.data or "", seen=stored)
    if form.validate():
        with form.catching_refusals():
            update_account(ports(), actor(), names)
            return page_layout.redirect_with_success(text("Name saved."), "console.account.index")
    return page_layout.refused_page("account/index.html", **_values(name_form=form))


@blueprint.post("/preferences")
def save_preferences() -> BaseResponse:
    """Choose look, language and time zone; a field that isn't sent stays as it is."""
    user = caller().user
    offered = {"language": _languages(user.language_code)}
    form = PreferencesForm.from_request(_chosen(user), _own_account(), offered)
    if form.is_continued:
        return page_layout.refused_page("account/index.html", **_values(preferences_form=form))
    language = form.language.data or user.language_code
    zone = _zone_called(form.time_zone.data or "")
    problem = _NO_LANGUAGE if language not in LANGUAGE_NAMES else time_zone_problem(zone)
    if problem is not None:
        form.refuse(Refused(problem))
        return page_layout.refused_page("account/index.html", **_values(preferences_form=form))
    if zone != user.time_zone:
        set_time_zone(ports(), actor(), zone, {"time_zone": user.time_zone})
    if language != user.language_code:
        seen = {"language_code": user.language_code}
        update_account(ports(), actor(), Details(language_code=language, seen=seen))
        use_language(person_language(language))
    answer = page_layout.redirect_with_success(text("Preferences saved."), "console.account.index")
    if form.theme.data in page_layout.THEMES:
        page_layout.keep_theme(answer, form.theme.data)
    return answer


def _zone_called(entered: str) -> str | None:
    """Return the time zone that is meant; what is none as it is, and ``None`` for UTC."""
    name = "_".join(entered.split()).casefold()
    if name in ("", "utc"):
        return None
    return next((zone for zone in time_zones() if zone.casefold() == name), entered)


@blueprint.post("/picture")
def save_picture() -> BaseResponse:
    """Show another picture; what is none, or too large, is refused with the reason."""
    try:
        update_avatar(ports(), actor(), uploaded_image(MAX_AVATAR_SIZE))
    except Refused as refused:
        return page_layout.refused_page(
            "account/index.html", **_values(picture_error=reasons_text(refused))
        )
    return page_layout.redirect_with_success(text("Picture saved."), "console.account.index")


@blueprint.post("/picture/remove")
def remove_picture() -> BaseResponse:
    delete_avatar(ports(), actor())
    return page_layout.redirect_with_success(text("Picture removed."), "console.account.index")


@blueprint.post("/password")
def save_password() -> BaseResponse:
    """Another password; every other session ends."""
    form = PasswordChangeForm()
    if form.validate():
        with form.catching_refusals():
            change_password(
                ports(),
                actor(),
                old_password=form.old_password.data,
                new_password=form.new_password.data,
            )
            message = text("Password changed. All your other sessions ended.")
            return page_layout.redirect_with_success(message, "console.account.index")
    return page_layout.refused_page("account/index.html", **_values(password_form=form))


@blueprint.post("/email")
def ask_for_email() -> BaseResponse:
    """Request a change of email: a link goes to the new one, nothing changes yet."""
    form = EmailChangeForm()
    if form.validate():
        with form.catching_refusals():
            request_email_change(
                ports(),
                actor(),
                new_email=form.new_email.data,
                password=form.password.data,
                redirect_url=page_layout.full_url("console.account.follow"),
            )
            message = page_layout.mail_message(
                translatable(
                    "Open the link we sent to {email}. Until then your email doesn't change."
                ),
                translatable(
                    "No mail server is set up. The link for {email} was written to a file on the "
                    "server. Until it's opened your email doesn't change."
                ),
                email=form.new_email.data,
            )
            return page_layout.redirect_with_success(message, "console.account.index")
    return page_layout.refused_page("account/index.html", **_values(email_form=form))


@blueprint.get("/follow")
def follow() -> BaseResponse:
    """Open an emailed link: its secret leaves the URL before anything is shown.

    It works without a session, so that no sign-in URL has the secret.
    """
    session[_LINK] = request.args.get("token", "")[:128]
    return page_layout.redirect_to("console.account.confirm")


@blueprint.route("/new-email", methods=["GET", "POST"])
def confirm() -> BaseResponse:
    """Move the account, once its owner says so; signing in again has forgotten the link."""
    form = ConsoleForm()
    token = str(session.get(_LINK, ""))
    if form.validate_on_submit():
        with form.catching_refusals():
            user = confirm_email_change(ports(), actor(), token=token)
            session.pop(_LINK, None)
            message = text("Email changed to {email}.", email=user.email)
            return page_layout.redirect_with_success(message, "console.account.index")
        session.pop(_LINK, None)
    return page_layout.form_page(
        "account/confirm.html", form, has_link=bool(token) and not form.form_errors
    )


@blueprint.post("/sessions/<key:session_id>/end")
def end_own_session(session_id: int) -> BaseResponse:
    try:
        end_session(ports(), actor(), to_global_id(SESSION, session_id))
    except Refused as refused:
        return page_layout.redirect_with_message(
            reasons_text(refused), "bad", "console.account.index"
        )
    return page_layout.redirect_with_success(text("Session ended."), "console.account.index")


@blueprint.post("/sessions/end-others")
def end_others() -> BaseResponse:
    ended = end_other_sessions(ports(), actor())
    message = text(
        "Ended {count:,} other session.", "Ended {count:,} other sessions.", count=ended
    )
    return page_layout.redirect_with_success(message, "console.account.index")


def _preferences(user: User) -> PreferencesForm:
    """Return the form with what is chosen; an unset time zone is empty."""
    form = PreferencesForm.showing(_chosen(user))
    form.language.choices = _languages(user.language_code)
    return form


def _chosen(user: User) -> dict[str, object]:
    language, zone = user.language_code, user.time_zone or ""
    return {"theme": page_layout.theme(), "language": language, "time_zone": zone}


def _languages(chosen: str) -> list[tuple[str, str]]:
    """Return the languages of emails, most of which the console has; and the caller's own."""
    others = {} if chosen in SHIPPED_LANGUAGES else {chosen: language_name(chosen)}
    return [
        (code, name if shipped_tag(code, CONSOLE_TAGS) else _only_emails(name))
        for code, name in SHIPPED_LANGUAGES.items()
    ] + [*others.items()]


def _only_emails(language: str) -> str:
    return text("{language} (emails only)", language=language)


def _values(
    *,
    preferences_form: PreferencesForm | None = None,
    name_form: NameForm | None = None,
    password_form: PasswordChangeForm | None = None,
    email_form: EmailChangeForm | None = None,
    picture_error: str = "",
) -> dict[str, object]:
    user = caller().user
    sessions = list_sessions(ports(), actor(), limit=_MOST)
    methods = show_own_sign_in_methods(ports(), actor())
    asks_others = request.args.get("ask") == "others"
    return {
        "account": make_account_page(user, sessions, methods, asks_others=asks_others),
        "picture_error": picture_error,
        "name_form": name_form or NameForm.showing(_name()),
        "preferences_form": preferences_form or _preferences(user),
        "time_zones": time_zones(),
        "password_form": password_form or PasswordChangeForm(formdata=None),
        "email_form": email_form or EmailChangeForm(formdata=None),
    }


def _name() -> dict[str, object]:
    return {"first_name": caller().user.first_name, "last_name": caller().user.last_name}


def _own_account() -> EditedThing:
    address = url_for("console.account.index")
    return EditedThing(text("your account"), address, "User", caller().user.id)
