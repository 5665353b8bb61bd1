"""What staff, customers and the own account share: list filters, names, sessions, dialogs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import request, url_for
from markupsafe import Markup
from wtforms import EmailField, Field, StringField, TextAreaField

from app.console.frame.formatting import breakable, device_words, html_text, method_words
from app.console.frame.forms import EditedThing, EditForm
from app.console.frame.metadata import MetadataCard, Subject, make_metadata_card
from app.console.frame.parts import Consequence, Pill, Question, named, pill, small
from app.console.frame.session import actor, ports
from app.console.lists.filters import ListOrder, Sort, choice, search
from app.domain.accounts.search import UserSort
from app.domain.accounts.users import User
from app.domain.passwords.imported_hashes import ImportedPasswordState
from app.domain.second_factors import SecondFactorType
from app.domain.sign_in.devices import SignedIn
from app.domain.values.inputs import ABSENT, Absent
from app.domain.values.metadata import StoredMetadata
from app.domain.values.text import Sentence, translatable
from app.services.people.user_status import Person
from app.services.people.users import Details
from app.services.second_factors.stored_factors import FactorCounts, second_factors_of_users
from app.web.converters import one_of
from app.web.translation import lazy_text, text

STATUSES = {"active": translatable("Active"), "inactive": translatable("Deactivated")}
"""Whether accounts are active, as lists are filtered by it."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in a table; ``end_label`` names the button that ends it."""

    id: int
    device: str
    is_current: bool
    address: str
    method: str
    last_active_at: datetime
    started_at: datetime
    end_label: str


@dataclass(frozen=True, slots=True)
class SessionsTable:
    """A person's sessions; ``summary`` says how many more there are."""

    caption: str
    rows: tuple[SessionRow, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class AccountActions:
    """What can be done with an account; a note says why something can't, or what it does."""

    link_note: str
    status_note: str
    can_send_link: bool = False
    can_deactivate: bool = False
    can_activate: bool = False
    can_remove: bool = False
    can_export: bool = False
    can_erase: bool = False


@dataclass(frozen=True, slots=True)
class OriginFacts:
    """Where an imported account came from; ``replaced_at`` follows what ``password`` says."""

    source: str
    imported_at: datetime
    password: str
    replaced_at: datetime | None


_IMPORTED_PASSWORDS = {
    ImportedPasswordState.IMPORTED: translatable("Works. The next sign-in replaces its hash."),
    ImportedPasswordState.REPLACED: translatable("Replaced at sign-in"),
    ImportedPasswordState.CHANGED: translatable("Changed since the import"),
    ImportedPasswordState.MUST_RESET: translatable("Couldn't be imported. Must be reset."),
    ImportedPasswordState.NONE: translatable("None"),
}
_NO_ACCESS = translatable(
    "This person has permissions you don't have. Only someone with all of them can do this."
)
_BOLD = Markup("<b>{}</b>")


CUSTOMER_VIEWS = {
    "overview": translatable("Overview"),
    "sessions": translatable("Sessions"),
    "emails": translatable("Emails"),
    "account": translatable("Account"),
}
STAFF_VIEWS = {
    "overview": translatable("Overview"),
    "permissions": translatable("Groups and permissions"),
    **{name: label for name, label in CUSTOMER_VIEWS.items() if name != "overview"},
}
"""The tabs of a person's page."""

_ASKED_IN = {
    **dict.fromkeys(("sign-out", "reset-factors"), "sessions"),
    **dict.fromkeys(("link", "deactivate", "remove", "export", "erase"), "account"),
}


def asked_view(views: Mapping[str, str], question_name: str) -> str:
    """Return the tab of the URL, else the one in which the question is asked."""
    default = _ASKED_IN.get(question_name, "overview")
    return request.args.get("view", type=one_of(views)) or default


def name_of(user: User) -> str:
    """Return the account's name, or else its email."""
    return text("{first} {last}", first=user.first_name, last=user.last_name).strip() or user.email


def email_below_name(user: User) -> str:
    """Return the email of an account that has a name."""
    return "" if name_of(user) == user.email else user.email


def person_cell(user: User, endpoint: str, *, is_viewer: bool = False) -> Markup:
    """Return the title of a person's row in a list, which leads to their page."""
    you = Markup(" {}").format(pill(Pill("info", text("You")))) if is_viewer else Markup()
    email = small(breakable(email_below_name(user)))
    return named(name_of(user), url_for(endpoint, key=user.id), you, email)


def status_pill(user: User) -> Pill:
    state = "active" if user.is_active else "inactive"
    return Pill("ok" if user.is_active else "off", text(STATUSES[state]))


def factor_words(factors: FactorCounts) -> str:
    """Return an account's second factors in a few words; empty if it has none."""
    words = []
    if factors.passkeys == 1:
        words.append(text("Passkey"))
    elif factors.passkeys:
        words.append(text("{count:,} passkey", "{count:,} passkeys", count=factors.passkeys))
    if factors.has_authenticator_app:
        words.append(text("app") if words else text("Authenticator app"))
    return ", ".join(words)


FACTOR_TYPES: Mapping[str, Sentence] = {
    SecondFactorType.PASSKEY: translatable("Passkey"),
    SecondFactorType.AUTHENTICATOR_APP: translatable("Authenticator app"),
    SecondFactorType.RECOVERY_CODES: translatable("Recovery codes"),
}


@dataclass(frozen=True, slots=True)
class FactorRow:
    """A passkey or second factor in a table; ``name`` is the owner's, empty without one."""

    type: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


def factor_rows(user: User) -> tuple[FactorRow, ...]:
    """Return an account's passkeys and second factors, which the viewer's permission opens."""
    factors = second_factors_of_users(ports(), actor(), [user])[user.id]
    return tuple(
        FactorRow(text(FACTOR_TYPES[one.type]), one.name, one.created_at, one.last_used_at)
        for one in factors
    )


def origin_facts(person: Person) -> OriginFacts | None:
    """Return where the account was imported from, ``None`` if it was created here."""
    origin = person.origin
    if origin is None:
        return None
    words = _IMPORTED_PASSWORDS[origin.password]
    if origin.password is ImportedPasswordState.REPLACED and origin.replaced_at is None:
        words = translatable("Works")
    is_replaced = origin.password is ImportedPasswordState.REPLACED
    return OriginFacts(
        origin.source, origin.imported_at, text(words), origin.replaced_at if is_replaced else None
    )


def session_rows(sessions: Sequence[SignedIn]) -> tuple[SessionRow, ...]:
    return tuple(
        SessionRow(
            id=session.id,
            device=device_words(session.device),
            is_current=session.is_current,
            address=session.address or text("Unknown"),
            method=method_words(session.origin, by_passkey=session.by_passkey),
            last_active_at=session.last_used_at or session.created_at,
            started_at=session.created_at,
            end_label=_end_label(session),
        )
        for session in sessions
    )


def _end_label(session: SignedIn) -> str:
    if not session.address:
        return text("End session on {device}", device=device_words(session.device))
    device = device_words(session.device)
    return text("End session on {device} at {address}", device=device, address=session.address)


def sessions_table(person: Person) -> SessionsTable:
    shown = len(person.sessions)
    return SessionsTable(
        caption=text("Sessions of {name}", name=name_of(person.user)),
        rows=session_rows(person.sessions),
        summary=newest_of(shown, person.session_count),
    )


def newest_of(shown: int, sessions: int) -> str:
    """Say that only the newest sessions are shown, if there are more."""
    if sessions <= shown:
        return ""
    return text("Newest {shown:,} of {count:,} sessions", shown=shown, count=sessions)


def account_actions(
    person: Person, *, is_manageable: bool, is_self: bool = False, holds_all: bool = False
) -> AccountActions:
    """Return what the viewer can do with the account; ``holds_all`` permissions."""
    user = person.user
    if not is_manageable:
        return AccountActions(text(_NO_ACCESS), text(_NO_ACCESS))
    link_note = (
        text("The link lets them choose a password. It is sent only to them.")
        if user.is_active
        else text("Activate the account to send a password reset link.")
    )
    if is_self:
        note = text("You can't deactivate or remove your own account. Ask another staff manager.")
        return AccountActions(link_note, note, can_send_link=user.is_active, can_export=holds_all)
    if user.is_superuser:
        note = text("Only a server administrator can deactivate or remove a superuser.")
        return AccountActions(link_note, note, can_send_link=user.is_active, can_export=holds_all)
    return AccountActions(
        link_note=link_note,
        can_send_link=user.is_active,
        status_note=_deactivation(person),
        can_deactivate=user.is_active,
        can_activate=not user.is_active,
        can_remove=True,
        can_export=holds_all,
        can_erase=holds_all,
    )


def _deactivation(person: Person) -> str:
    if not person.user.is_active:
        return text("This account is deactivated and can't sign in.")
    if not person.session_count:
        return text("Deactivating blocks sign-in. No data is deleted.")
    return text(
        "Deactivating ends {count:,} session and blocks sign-in. No data is deleted.",
        "Deactivating ends {count:,} sessions and blocks sign-in. No data is deleted.",
        count=person.session_count,
    )


def person_metadata_card(
    person: Person, endpoint: str, asked: Mapping[str, str], *, is_manageable: bool
) -> MetadataCard:
    """Return the card with a person's metadata; private if the reader manages the person."""
    user = person.user
    subject = Subject(
        id=user.id,
        name=name_of(user),
        noun="account",
        endpoint=endpoint,
        save_endpoint="console.metadata.save_of_person",
        delete_endpoint="console.metadata.delete_of_person",
    )
    manages = person.metadata is not None
    return make_metadata_card(
        subject,
        person.metadata or StoredMetadata(person.public_metadata, {}),
        asked,
        sees_private=manages,
        can_change=manages and is_manageable,
    )


def account_dialog(question_name: str, person: Person) -> Question | None:
    make = _DIALOGS.get(question_name)
    return None if make is None else make(person)


def ended_sessions(count: int) -> tuple[Consequence, ...]:
    """Say how many sessions end, unless there is none."""
    if not count:
        return ()
    sentence = html_text(
        Markup("<b>{count:,} session</b> ends immediately."),
        Markup("<b>{count:,} sessions</b> end immediately."),
        count=count,
    )
    return (Consequence("bad", sentence),)


def _deactivate(person: Person) -> Question:
    name = name_of(person.user)
    return Question(
        title=text("Deactivate {name}?", name=name),
        endpoint="console.account_actions.deactivate",
        arguments={"key": person.user.id},
        consequences=(
            *ended_sessions(person.session_count),
            Consequence("bad", text("Sign-in is blocked, with a password and with SSO.")),
            Consequence("ok", text("No data is deleted. You can activate the account again.")),
        ),
        action=text("Deactivate {name}", name=name),
    )


def _remove(person: Person) -> Question:
    user, name = person.user, name_of(person.user)
    email = _BOLD.format(user.email)
    deleted = html_text("The account {email} is deleted. This can't be undone.", email=email)
    if user.groups:
        deleted = html_text(
            "The account {email} is deleted and leaves {count} group. This can't be undone.",
            "The account {email} is deleted and leaves {count} groups. This can't be undone.",
            email=email,
            count=len(user.groups),
        )
    kept = (
        text("The audit log keeps their activity.")
        if user.is_staff
        else text("Their orders are kept. The audit log records who removed the account.")
    )
    return Question(
        title=text("Remove {name}?", name=name),
        endpoint="console.account_actions.remove",
        arguments={"key": user.id},
        consequences=(
            Consequence("bad", deleted),
            *ended_sessions(person.session_count),
            Consequence("ok", kept),
        ),
        action=text("Remove {name}", name=name),
    )


def _export(person: Person) -> Question:
    name = name_of(person.user)
    return Question(
        title=text("Export everything that is stored about {name}?", name=name),
        endpoint="console.account_actions.export",
        arguments={"key": person.user.id},
        consequences=(
            Consequence(
                "ok",
                text(
                    "A JSON file with their account, addresses, sessions, sign-ins, orders, "
                    "emails, audit entries and deliveries to apps, without passwords and other "
                    "secrets."
                ),
            ),
            Consequence("warn", text("The audit log records that you exported it.")),
        ),
        action=text("Export data"),
        is_harmless=True,
    )


def _erase(person: Person) -> Question:
    user, name = person.user, name_of(person.user)
    email = _BOLD.format(user.email)
    return Question(
        title=text("Erase {name}?", name=name),
        endpoint="console.account_actions.erase",
        arguments={"key": user.id},
        consequences=(
            Consequence(
                "bad",
                html_text("The account {email} is deleted. This can't be undone.", email=email),
            ),
            *ended_sessions(person.session_count),
            Consequence(
                "bad",
                text(
                    "Orders and log entries stay under the account's ID, without email, name, IP "
                    "address and device. Emails to them and deliveries about them are deleted."
                ),
            ),
            Consequence("warn", text("Backups and log files aren't changed.")),
        ),
        action=text("Erase {name}", name=name),
    )


def _reset_factors(person: Person) -> Question:
    name, email = name_of(person.user), _BOLD.format(person.user.email)
    removed = html_text(
        "Removed: {factors}, and all recovery codes.", factors=factor_words(person.factors)
    )
    kept = html_text(
        "{email} gets an email, and signs in without a second factor until they add one.",
        email=email,
    )
    return Question(
        title=text("Reset the second factors of {name}?", name=name),
        endpoint="console.account_actions.reset_factors",
        arguments={"key": person.user.id},
        consequences=(
            Consequence("bad", removed),
            *ended_sessions(person.session_count),
            Consequence("warn", kept),
        ),
        action=text("Reset second factors"),
        detail=text("Check first that they asked for it themselves, for example by phone."),
    )


def _sign_out(person: Person) -> Question:
    name = name_of(person.user)
    return Question(
        title=text("End all sessions of {name}?", name=name),
        endpoint="console.account_actions.sign_out",
        arguments={"key": person.user.id},
        consequences=(
            *ended_sessions(person.session_count),
            Consequence("warn", text("Unsaved work on those devices is lost.")),
            Consequence("ok", html_text("{name} can sign in again right away.", name=name)),
        ),
        action=text("End all sessions"),
    )


def _link(person: Person) -> Question:
    name, email = name_of(person.user), _BOLD.format(person.user.email)
    mailed = html_text("We'll email {email} a link to choose a new password.", email=email)
    return Question(
        title=text("Send {name} a password reset link?", name=name),
        endpoint="console.account_actions.send_link",
        arguments={"key": person.user.id},
        consequences=(
            Consequence("ok", mailed),
            Consequence("ok", text("The current password works until then.")),
            Consequence("warn", text("Choosing a new password ends all their sessions.")),
        ),
        action=text("Send password reset link"),
        is_harmless=True,
    )


_DIALOGS = {
    "deactivate": _deactivate,
    "export": _export,
    "erase": _erase,
    "remove": _remove,
    "reset-factors": _reset_factors,
    "sign-out": _sign_out,
    "link": _link,
}

PEOPLE_FILTERS = (
    search("Name, email or address"),
    choice(
        "status", "Status", STATUSES, {"active": True, "inactive": False}, argument="is_active"
    ),
)
"""What lists of people can be filtered by; with a search they are sorted by how it matches."""

NEWEST_PEOPLE = Sort(
    "newest",
    "Newest first",
    {"sort": UserSort.CREATED_AT, "descending": True},
    ListOrder.NEWEST_FIRST,
)
OLDEST_PEOPLE = Sort(
    "oldest", "Oldest first", {"sort": UserSort.CREATED_AT}, ListOrder.OLDEST_FIRST
)
PEOPLE_BY_NAME = (
    Sort("email", "Email", {"sort": UserSort.EMAIL}),
    Sort("name", "Last name", {"sort": UserSort.LAST_NAME}),
)


class PersonForm(EditForm):
    first_name = StringField(lazy_text("First name"))
    last_name = StringField(lazy_text("Last name"))
    email = EmailField(lazy_text("Email"))
    external_reference = StringField(lazy_text("External reference"))
    note = TextAreaField(lazy_text("Note"))

    @property
    def details(self) -> Details:
        return Details(
            first_name=self.first_name.data or "",
            last_name=self.last_name.data or "",
            email=self.email.data or "",
            external_reference=_sent(self.external_reference),
            note=_sent(self.note),
        )


def _sent(field: Field) -> str | Absent:
    """Return what was typed, with line breaks as they are stored; ``ABSENT`` without the field."""
    return ABSENT if field.data is None else str(field.data).replace("\r\n", "\n")


def details_of(person: Person) -> dict[str, object]:
    user = person.user
    return {
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "external_reference": person.external_reference,
        "note": person.note,
    }


def edited_person(user: User, endpoint: str) -> EditedThing:
    """Return the person whose page is at ``endpoint`` for their forms."""
    return EditedThing(name_of(user), url_for(endpoint, key=user.id), "User", user.id)
